//! Redis' glob patterns, over option names and names of files to include.
//!
//! Time is at most pattern times name: on a mismatch only the last star is tried again with one
//! byte more. An earlier star could only repeat what the last one has seen, so patterns such as
//! `*a*a*a*b` cannot blow up.

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// They do: names of files.
    Differs,
    /// They do not: names of options.
    Ignored,
}

impl Case {
    fn of(self, byte: u8) -> u8 {
        match self {
            Case::Differs => byte,
            Case::Ignored => byte.to_ascii_lowercase(),
        }
    }
}

/// Whether Redis treats the text as a pattern rather than as a plain name.
pub(crate) fn is_pattern(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Whether `name` matches: `*`, `?`, `[abc]`, `[^a-c]` and `\` as in KEYS.
pub(crate) fn matches(pattern: &[u8], name: &[u8], case: Case) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some(_) => one_byte(&pattern[p..], case.of(name[n]), case),
            None => None,
        };
        match (step, star) {
            (Some(length), _) => {
                p += length;
                n += 1;
            }
            (None, Some((after_star, taken))) => {
                star = Some((after_star, taken + 1));
                p = after_star;
                n = taken + 1;
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// Matches one byte against the front of the pattern; returns how much of the pattern it took.
fn one_byte(pattern: &[u8], byte: u8, case: Case) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => class(rest, byte, case).map(|length| length + 1),
        [b'\\', escaped, ..] => (case.of(*escaped) == byte).then_some(2),
        [literal, ..] => (case.of(*literal) == byte).then_some(1),
        [] => None,
    }
}

/// Matches a byte against what follows `[`; an unclosed class ends with the pattern.
fn class(pattern: &[u8], byte: u8, case: Case) -> Option<usize> {
    let negated = pattern.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut found = false;
    while let Some(&first) = pattern.get(at) {
        match (first, &pattern[at + 1..]) {
            (b']', _) => {
                at += 1;
                break;
            }
            (b'\\', [escaped, ..]) => {
                found |= case.of(*escaped) == byte;
                at += 2;
            }
            (low, [b'-', high, ..]) => {
                let (low, high) = (case.of(low), case.of(*high));
                found |= (low.min(high)..=low.max(high)).contains(&byte);
                at += 3;
            }
            (literal, _) => {
                found |= case.of(literal) == byte;
                at += 1;
            }
        }
    }
    (found != negated).then_some(at)
}
