//! Miss ratios, their means, and whether the bound holds.

use serde::Serialize;

use super::models::{LRU, OURS};

/// Our mean miss ratio is at most this much of that of LRU …
const OF_LRU_MAX: f64 = 0.95;
/// … and of that of the best other policy.
const OF_BEST_MAX: f64 = 1.03;

/// One trace at one size of the cache.
#[derive(Debug, Serialize)]
pub(super) struct Cell {
    pub(super) trace: String,
    /// Of the keys.
    pub(super) size_percent: u64,
    /// Keys that the cache holds.
    pub(super) capacity: usize,
    /// Requests, without those that warmed the caches.
    pub(super) counted: usize,
    /// By policy, in the order of the report's policies.
    pub(super) miss_ratios: Vec<f64>,
}

/// What the bound says.
#[derive(Debug, Serialize)]
pub(super) struct Verdict {
    /// Mean miss ratio of our policy, by that of LRU.
    pub(super) of_lru: f64,
    /// The policy, of all but ours, with the lowest mean.
    pub(super) best: String,
    /// Mean miss ratio of our policy, by that of the best.
    pub(super) of_best: f64,
    pub(super) holds: bool,
}

/// The mean miss ratio of each policy; each cell counts as much as any other.
pub(super) fn means(cells: &[Cell], policies: usize) -> Vec<f64> {
    let count = cells.len().max(1) as f64;
    let of = |policy: usize| cells.iter().map(|cell| cell.miss_ratios[policy]).sum::<f64>();
    (0..policies).map(|policy| of(policy) / count).collect()
}

/// Compares our mean with the others'; `None` unless LRU and we are among the policies.
pub(super) fn judge<'a>(means: impl Iterator<Item = (&'a str, f64)> + Clone) -> Option<Verdict> {
    let of = |wanted: &str| means.clone().find(|(name, _)| *name == wanted).map(|(_, mean)| mean);
    let (ours, lru) = (of(OURS)?, of(LRU)?);
    let others = means.clone().filter(|(name, _)| *name != OURS);
    let (best, lowest) = others.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let (of_lru, of_best) = (ours / lru, ours / lowest);
    let holds = of_lru <= OF_LRU_MAX && of_best <= OF_BEST_MAX;
    Some(Verdict { of_lru, best: best.to_owned(), of_best, holds })
}

impl Verdict {
    pub(super) fn text(&self) -> String {
        format!(
            "mean miss ratio of {OURS}: {:.3} of that of {LRU} (at most {OF_LRU_MAX}), {:.3} of that \
             of the best, {} (at most {OF_BEST_MAX}): the bound {}\n",
            self.of_lru,
            self.of_best,
            self.best,
            if self.holds { "holds" } else { "DOES NOT HOLD" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(lru: f64, other: f64, ours: f64) -> Verdict {
        let means = [(LRU, lru), ("other", other), (OURS, ours)];
        judge(means.into_iter()).expect("both are there")
    }

    #[test]
    fn the_bound_is_of_lru_and_of_the_best() {
        assert!(verdict(0.5, 0.46, 0.47).holds);
        assert!(!verdict(0.5, 0.5, 0.48).holds, "too near to LRU");
        assert!(!verdict(0.5, 0.4, 0.42).holds, "too far from the best");
        let verdict = verdict(0.5, 0.4, 0.3);
        assert_eq!((verdict.best.as_str(), verdict.of_lru), ("other", 0.6));
        assert!(verdict.text().contains("the bound holds"));
        assert!(judge([("other", 0.1), (OURS, 0.1)].into_iter()).is_none());
    }

    #[test]
    fn each_cell_counts_alike() {
        let cell = |counted, miss_ratios| Cell {
            trace: "t".into(),
            size_percent: 1,
            capacity: 1,
            counted,
            miss_ratios,
        };
        let cells = [cell(10, vec![0.2, 0.5]), cell(1_000, vec![0.4, 0.7])];
        let means = means(&cells, 2);
        assert!((means[0] - 0.3).abs() < 1e-9 && (means[1] - 0.6).abs() < 1e-9);
    }
}
