//! Figures of a round, and the bounds that they are held to.

use serde::Serialize;

use crate::compare::Arena;
use crate::error::BenchError;
use crate::report::TestReport;
use crate::server_info::ServerInfo;

/// A figure of a round.
#[derive(Debug, Serialize)]
struct Figure {
    round: usize,
    check: &'static str,
    /// What was measured, such as `get, 1024 bytes, 50 connections`.
    what: String,
    name: &'static str,
    value: f64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    held: Option<Held>,
}

/// A bound, and whether the figure keeps to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Held {
    bound: Bound,
    is_held: bool,
}

/// What a figure is held to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn is_held_by(self, value: f64) -> bool {
        match self {
            Bound::AtMost(most) => value <= most,
            Bound::AtLeast(least) => value >= least,
        }
    }

    fn text(self) -> String {
        match self {
            Bound::AtMost(most) => format!("at most {}", rounded(most)),
            Bound::AtLeast(least) => format!("at least {}", rounded(least)),
        }
    }
}

/// Where figures go: to the screen as they come, and to the file at the end.
pub(super) struct Figures<'a, 'b> {
    arena: &'a Arena<'b>,
    pub(super) round: usize,
    pub(super) check: &'static str,
    all: Vec<Figure>,
}

/// Fails if some bounds do not hold, so that the command's status says so.
pub(super) fn all_hold(count_not_held: usize) -> Result<(), BenchError> {
    match count_not_held {
        0 => Ok(()),
        count => Err(BenchError::NotHeld { count }),
    }
}

impl<'a, 'b> Figures<'a, 'b> {
    pub(super) fn new(arena: &'a Arena<'b>) -> Self {
        Figures { arena, round: 0, check: "", all: Vec::new() }
    }

    /// Figures without bounds.
    pub(super) fn say(
        &mut self,
        what: &str,
        figures: &[(&'static str, f64)],
    ) -> Result<(), BenchError> {
        let texts: Vec<String> =
            figures.iter().map(|(name, value)| format!("{name} {}", rounded(*value))).collect();
        self.arena.print(&format!("  {:9} {what}: {}\n", self.check, texts.join(", ")))?;
        for &(name, value) in figures {
            self.keep(what, name, value, None);
        }
        Ok(())
    }

    /// A figure beside its bound.
    pub(super) fn hold(
        &mut self,
        what: &str,
        (name, value): (&'static str, f64),
        bound: Bound,
    ) -> Result<(), BenchError> {
        let held = Held { bound, is_held: bound.is_held_by(value) };
        let verdict = if held.is_held { "held" } else { "NOT held" };
        let (check, value_text, bound_text) = (self.check, rounded(value), bound.text());
        self.arena.print(&format!(
            "  {check:9} {what}: {name} {value_text}, {bound_text}: {verdict}\n"
        ))?;
        self.keep(what, name, value, Some(held));
        Ok(())
    }

    /// Says if requests of a load were refused or not answered: its figures are of another load
    /// then.
    pub(super) fn hold_answers(
        &mut self,
        what: &str,
        report: &TestReport,
    ) -> Result<(), BenchError> {
        let failed = report.errors + report.unfinished;
        if failed == 0 {
            return Ok(());
        }
        let first = report.first_error.as_deref().unwrap_or("not answered");
        let what = format!("{what} ({first})");
        self.hold(&what, ("requests that failed", failed as f64), Bound::AtMost(0.0))
    }

    fn keep(&mut self, what: &str, name: &'static str, value: f64, held: Option<Held>) {
        let Figures { round, check, .. } = *self;
        self.all.push(Figure { round, check, what: what.to_owned(), name, value, held });
    }

    /// Prints how many bounds were held, and writes all figures to the file that was asked for.
    pub(super) fn finish(self, servers: Vec<(&'static str, ServerInfo)>) -> Result<(), BenchError> {
        let (held, bounds) = self.held();
        self.arena.print(&format!("{held} of {bounds} bounds held\n"))?;
        self.arena.write_json(servers, &self.all)?;
        all_hold(bounds - held)
    }

    /// How many bounds were held, of how many.
    fn held(&self) -> (usize, usize) {
        let bounds = || self.all.iter().filter_map(|figure| figure.held);
        (bounds().filter(|held| held.is_held).count(), bounds().count())
    }
}

fn rounded(value: f64) -> String {
    let decimals = match value.abs() {
        value if value >= 100.0 || value == value.trunc() => 0,
        value if value >= 10.0 => 2,
        // Bounds differ from what is just beyond them in the third place.
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// A part of a whole. Something out of nothing is more than every bound; nothing out of nothing is
/// nothing.
pub(super) fn ratio(part: f64, whole: f64) -> f64 {
    if part == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_what_they_allow() {
        assert!(Bound::AtMost(1.01).is_held_by(1.01) && !Bound::AtMost(1.01).is_held_by(1.011));
        assert!(Bound::AtLeast(0.6).is_held_by(0.6) && !Bound::AtLeast(0.6).is_held_by(0.59));
        assert!(!Bound::AtMost(1.0).is_held_by(f64::NAN));
        assert!(!Bound::AtLeast(1.0).is_held_by(f64::NAN));
    }

    #[test]
    fn a_figure_just_beyond_its_bound_looks_different() {
        let texts = [0.6, 1.0104, 1.01, 31.456, 123.4, 2.0].map(rounded);
        assert_eq!(texts, ["0.6000", "1.0104", "1.0100", "31.46", "123", "2"]);
        assert!(rounded(f64::INFINITY) == "inf" && rounded(f64::NAN) == "NaN");
    }

    #[test]
    fn nothing_is_no_share_of_nothing() {
        assert_eq!((ratio(1.0, 4.0), ratio(0.0, 0.0)), (0.25, 0.0));
        assert!(!Bound::AtMost(3.0).is_held_by(ratio(1.0, 0.0)));
    }

    #[test]
    fn a_bound_stands_beside_its_figure_in_the_file() {
        let held = Held { bound: Bound::AtMost(2.0), is_held: false };
        let figure = |held| Figure {
            round: 0,
            check: "zipf",
            what: "what".into(),
            name: "x",
            value: 3.0,
            held,
        };
        let json = |held| serde_json::to_string(&figure(held)).expect("figures are plain");
        assert!(json(Some(held)).ends_with(r#""bound":{"at_most":2.0},"is_held":false}"#));
        assert!(json(None).ends_with(r#""value":3.0}"#));
    }
}
