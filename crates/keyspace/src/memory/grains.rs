//! Which grains of a page are in use: a bit for each.

/// Grains of a page.
pub(super) const GRAINS: usize = 1024;
const WORD_BITS: usize = u64::BITS as usize;

/// A bit for each grain: set if it is in use.
#[derive(Clone)]
pub(super) struct GrainMap([u64; GRAINS / WORD_BITS]);

/// Free grains side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FreeRun {
    pub(super) start: usize,
    pub(super) grains: usize,
}

/// Where grains can be taken, and what is left then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fit {
    /// The first one.
    pub(super) start: usize,
    /// The longest free run once they are taken.
    pub(super) longest_then: usize,
}

impl GrainMap {
    pub(super) const FREE: GrainMap = GrainMap([0; GRAINS / WORD_BITS]);

    /// The beginning of the shortest free run with this number of grains or more, and of those the
    /// lowest.
    pub(super) fn fit(&self, grains: usize) -> Option<Fit> {
        let (mut best, mut longest, mut second) = (None::<FreeRun>, 0, 0);
        for run in self.free_runs() {
            if run.grains >= longest {
                (longest, second) = (run.grains, longest);
            } else {
                second = second.max(run.grains);
            }
            if run.grains >= grains && best.is_none_or(|best| run.grains < best.grains) {
                best = Some(run);
            }
        }
        let best = best?;
        let others = if best.grains == longest { second } else { longest };
        Some(Fit { start: best.start, longest_then: others.max(best.grains - grains) })
    }

    /// The longest free run's number of grains.
    pub(super) fn longest(&self) -> usize {
        self.free_runs().map(|run| run.grains).max().unwrap_or(0)
    }

    /// Takes free grains.
    pub(super) fn take(&mut self, start: usize, grains: usize) {
        self.each_word(start, grains, |word, mask| {
            debug_assert_eq!(*word & mask, 0, "a grain is taken twice");
            *word |= mask;
        });
    }

    /// Frees grains; returns how long the free run is that they are in now.
    pub(super) fn free(&mut self, start: usize, grains: usize) -> usize {
        self.each_word(start, grains, |word, mask| {
            debug_assert_eq!(*word & mask, mask, "a grain is freed twice");
            *word &= !mask;
        });
        let end = self.next_used(start + grains).unwrap_or(GRAINS);
        end - self.last_used_before(start).map_or(0, |used| used + 1)
    }

    /// The first grain in use from this one on.
    pub(super) fn next_used(&self, from: usize) -> Option<usize> {
        self.next(from, |word| word)
    }

    fn free_runs(&self) -> impl Iterator<Item = FreeRun> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let start = self.next(from, |word| !word)?;
            from = self.next_used(start).unwrap_or(GRAINS);
            Some(FreeRun { start, grains: from - start })
        })
    }

    /// The first set bit from this one on, of words that `see` has changed.
    fn next(&self, from: usize, see: impl Fn(u64) -> u64) -> Option<usize> {
        let mut index = from / WORD_BITS;
        let mut word = see(*self.0.get(index)?) & (u64::MAX << (from % WORD_BITS));
        while word == 0 {
            index += 1;
            word = see(*self.0.get(index)?);
        }
        Some(index * WORD_BITS + word.trailing_zeros() as usize)
    }

    fn last_used_before(&self, end: usize) -> Option<usize> {
        let mut index = end / WORD_BITS;
        let mut word = self.0.get(index).map_or(0, |word| word & !(u64::MAX << (end % WORD_BITS)));
        while word == 0 {
            index = index.checked_sub(1)?;
            word = self.0[index];
        }
        Some(index * WORD_BITS + WORD_BITS - 1 - word.leading_zeros() as usize)
    }

    fn each_word(&mut self, start: usize, grains: usize, change: impl Fn(&mut u64, u64)) {
        let end = start + grains;
        let mut at = start;
        while at < end {
            let (index, bit) = (at / WORD_BITS, at % WORD_BITS);
            let bits = (WORD_BITS - bit).min(end - at);
            let mask = (u64::MAX >> (WORD_BITS - bits)) << bit;
            change(&mut self.0[index], mask);
            at += bits;
        }
    }
}

#[cfg(test)]
impl GrainMap {
    /// Grains in use.
    pub(super) fn used(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random takes and frees against a plain array.
    #[test]
    fn the_map_agrees_with_an_array() {
        let (mut map, mut array) = (GrainMap::FREE, [false; GRAINS]);
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut random = 1_u64;
        for _ in 0..if cfg!(miri) { 25 } else { 4000 } {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let number = (random >> 33) as usize;
            let grains = 1 + number % 160;
            let fit = map.fit(grains);
            assert_eq!(fit.map(|fit| fit.start), best(&array, grains));
            if let Some(Fit { start, longest_then }) = fit.filter(|_| number % 5 < 3) {
                map.take(start, grains);
                array[start..start + grains].fill(true);
                taken.push((start, grains));
                assert_eq!(map.longest(), longest_then);
            } else if !taken.is_empty() {
                let (start, grains) = taken.swap_remove(number / 7 % taken.len());
                array[start..start + grains].fill(false);
                let run = runs(&array).into_iter().find(|run| run.start + run.grains > start);
                assert_eq!(map.free(start, grains), run.expect("it is free").grains);
            }
            let longest = runs(&array).into_iter().map(|run| run.grains).max();
            assert_eq!(map.longest(), longest.unwrap_or(0));
        }
        assert!(taken.len() > 3);
    }

    fn runs(array: &[bool; GRAINS]) -> Vec<FreeRun> {
        let mut runs = Vec::<FreeRun>::new();
        for grain in (0..GRAINS).filter(|&grain| !array[grain]) {
            match runs.last_mut() {
                Some(run) if run.start + run.grains == grain => run.grains += 1,
                _ => runs.push(FreeRun { start: grain, grains: 1 }),
            }
        }
        runs
    }

    fn best(array: &[bool; GRAINS], grains: usize) -> Option<usize> {
        let fits = runs(array).into_iter().filter(|run| run.grains >= grains);
        fits.min_by_key(|run| (run.grains, run.start)).map(|run| run.start)
    }
}
