//! HOT PATH. The three integers that locate the keys of most commands.

use super::key_spec::{BeginSearch, FindKeys, KeyFlag, KeySpec};

/// `first`, `last` and `step` of COMMAND INFO: plain numbers, made once when the table is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// The first word that is a key, 0 if none is.
    pub first: i16,
    /// The last; if negative, counted from the end of the call (-1 is the last word).
    pub last: i16,
    /// The distance from one key to the next.
    pub step: i16,
}

impl KeyRange {
    /// The positions of the keys in a call of `words` words. Never one that is outside the call.
    #[inline]
    pub fn positions(self, words: usize) -> impl Iterator<Item = usize> {
        let first = usize::try_from(self.first).unwrap_or(0);
        let end = if self.last >= 0 {
            self.last as usize + 1
        } else {
            (words + 1).saturating_sub(self.last.unsigned_abs() as usize)
        };
        let end = if first == 0 { 0 } else { end.min(words) };
        (first..end.max(first)).step_by(self.step.max(1) as usize)
    }
}

/// The three integers for a command, and whether they miss keys (`movablekeys`).
///
/// As in Redis: a single range is taken as it is. Of several specifications, the ranges with step
/// 1 that follow each other without a gap are joined, and any other is missed.
pub(crate) fn summarize(specs: &[KeySpec]) -> (KeyRange, bool) {
    if let [only] = specs
        && let Some((first, last, step)) = as_range(only)
    {
        return (KeyRange { first, last, step }, only.flags.has(KeyFlag::Incomplete));
    }
    let mut is_missing_some = false;
    let mut joined = KeyRange::default();
    for spec in specs {
        let follows = |first| joined.first == 0 || joined.last == first - 1;
        match as_range(spec) {
            Some((first, last, 1)) if follows(first) => {
                is_missing_some |= spec.flags.has(KeyFlag::Incomplete);
                joined.first = if joined.first == 0 { first } else { joined.first };
                joined = KeyRange { last, step: 1, ..joined };
            }
            _ => is_missing_some = true,
        }
    }
    (joined, is_missing_some)
}

/// First, last and step of a plain range, with `last` from the name of the command or from the end.
fn as_range(spec: &KeySpec) -> Option<(i16, i16, i16)> {
    let (BeginSearch::Index(first), FindKeys::Range { last_key, step, .. }) =
        (spec.begin, spec.find)
    else {
        return None;
    };
    let first = i16::try_from(first).ok()?;
    let last = i16::try_from(last_key).ok()?;
    let last = if last < 0 { last } else { first + last };
    Some((first, last, i16::try_from(step).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(first: i16, last: i16, step: i16, words: usize) -> Vec<usize> {
        KeyRange { first, last, step }.positions(words).collect()
    }

    #[test]
    fn positions_stay_inside_the_call() {
        assert_eq!(positions(0, 0, 0, 3), []);
        assert_eq!(positions(1, 1, 1, 3), [1]);
        assert_eq!(positions(1, 1, 1, 1), []);
        assert_eq!(positions(1, -1, 2, 5), [1, 3]);
        assert_eq!(positions(1, -2, 1, 4), [1, 2]);
        assert_eq!(positions(1, -2, 1, 1), []);
        assert_eq!(positions(2, -1, 1, 2), []);
        assert_eq!(positions(1, 2, 1, 2), [1]);
    }
}
