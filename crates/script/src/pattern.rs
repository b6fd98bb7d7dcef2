//! Lua's patterns, matched in steps that are counted.
//!
//! Lua's own matcher tries every way to match, which can take longer than the world has existed
//! (`('a?'):rep(60) .. ('a'):rep(60)`), and nothing interrupts it. This one does the same in the
//! same order, and asks after each [`STEPS_BETWEEN_LOOKS`] steps whether to go on. The language is
//! that of Lua 5.1's manual, section 5.4.1, with what its implementation adds: `%f[set]`, `%z`, and
//! a pattern that ends at its first zero byte.
//!
//! A quantifier or a capture is one level of recursion for what follows it. More than [`DEPTH_MAX`]
//! are an error, where Lua 5.1 would use up the stack of the thread.

/// About ten microseconds.
const STEPS_BETWEEN_LOOKS: u32 = 2_000;
const DEPTH_MAX: u32 = 200;
const CAPTURES_MAX: usize = 32;
const ESCAPE: u8 = b'%';
/// A pattern without any of these is plain text.
const SPECIALS: &[u8] = b"^$*+?.([%-";

/// Why a match has ended without a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop<E> {
    /// The pattern is none.
    Malformed(&'static str),
    /// It was not to go on.
    Ended(E),
}

/// A part of the subject that a pattern has captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Capture {
    /// From here to there.
    Text(usize, usize),
    /// `()`: a place, counted from 0.
    Place(usize),
    /// A `(` without its `)`: a problem only if its text is wanted.
    Unfinished,
}

/// A match: where it begins and ends, and its captures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Match {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) captures: Vec<Capture>,
}

/// The length of a capture that is not complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Len {
    Open,
    Place,
    Bytes(usize),
}

/// Whether a pattern is plain text.
pub(crate) fn is_plain(pattern: &[u8]) -> bool {
    !up_to_zero(pattern).iter().any(|byte| SPECIALS.contains(byte))
}

fn up_to_zero(pattern: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, pattern).unwrap_or(pattern.len());
    &pattern[..end]
}

/// Finds the first match that begins at `from` or later.
///
/// # Errors
/// The pattern is malformed, or `go_on` says why to end.
pub(crate) fn find<E>(
    subject: &[u8],
    pattern: &[u8],
    from: usize,
    anchor: Anchor,
    go_on: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Option<Match>, Stop<E>> {
    let pattern = up_to_zero(pattern);
    let (pattern, anchored) = match pattern {
        [b'^', rest @ ..] if anchor == Anchor::Heeded => (rest, true),
        pattern => (pattern, false),
    };
    let captures = [(0, Len::Open); CAPTURES_MAX];
    let mut matcher = Matcher { subject, pattern, captures, level: 0, depth: 0, steps: 0, go_on };
    for start in from..=subject.len() {
        matcher.level = 0;
        if let Some(end) = matcher.run(start, 0)? {
            return Ok(Some(Match { start, end, captures: matcher.captured() }));
        }
        if anchored {
            break;
        }
    }
    Ok(None)
}

/// What a `^` at the beginning of a pattern means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Anchor {
    /// The match begins where the search begins.
    Heeded,
    /// Itself, as in `gmatch`.
    Ignored,
}

struct Matcher<'a, E> {
    subject: &'a [u8],
    pattern: &'a [u8],
    captures: [(usize, Len); CAPTURES_MAX],
    level: usize,
    depth: u32,
    steps: u32,
    go_on: &'a mut dyn FnMut() -> Result<(), E>,
}

type Found<E> = Result<Option<usize>, Stop<E>>;

impl<E> Matcher<'_, E> {
    fn step(&mut self) -> Result<(), Stop<E>> {
        self.steps += 1;
        if self.steps == STEPS_BETWEEN_LOOKS {
            self.steps = 0;
            (self.go_on)().map_err(Stop::Ended)?;
        }
        Ok(())
    }

    /// The byte of the pattern at a place; 0 behind its end.
    fn at(&self, place: usize) -> u8 {
        self.pattern.get(place).copied().unwrap_or(0)
    }

    /// The rest of the pattern, one level deeper.
    fn deeper(&mut self, s: usize, p: usize) -> Found<E> {
        if self.depth == DEPTH_MAX {
            return Err(Stop::Malformed("pattern too complex"));
        }
        self.depth += 1;
        let found = self.run(s, p);
        self.depth -= 1;
        found
    }

    /// Matches the pattern from `p` on at `s`; returns where the match ends.
    fn run(&mut self, mut s: usize, mut p: usize) -> Found<E> {
        loop {
            self.step()?;
            match (self.at(p), self.at(p + 1)) {
                (0, _) => return Ok(Some(s)),
                (b'(', b')') => return self.begin_capture(s, p + 2, Len::Place),
                (b'(', _) => return self.begin_capture(s, p + 1, Len::Open),
                (b')', _) => return self.end_capture(s, p + 1),
                (b'$', 0) => return Ok((s == self.subject.len()).then_some(s)),
                (ESCAPE, b'b') => match self.balanced(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (ESCAPE, b'f') => {
                    p += 2;
                    if self.at(p) != b'[' {
                        return Err(Stop::Malformed("missing '[' after '%f' in pattern"));
                    }
                    let end = self.class_end(p)?;
                    let before = s.checked_sub(1).map_or(0, |before| self.subject[before]);
                    let here = self.subject.get(s).copied().unwrap_or(0);
                    if self.in_set(before, p, end - 1) || !self.in_set(here, p, end - 1) {
                        return Ok(None);
                    }
                    p = end;
                }
                (ESCAPE, digit) if digit.is_ascii_digit() => match self.repeated(s, digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                _ => {
                    let end = self.class_end(p)?;
                    match self.at(end) {
                        b'?' => {
                            if self.is_one(s, p, end)
                                && let Some(found) = self.deeper(s + 1, end + 1)?
                            {
                                return Ok(Some(found));
                            }
                            p = end + 1;
                        }
                        b'*' => return self.longest(s, s, p, end),
                        b'+' if self.is_one(s, p, end) => {
                            return self.longest(s + 1, s + 1, p, end);
                        }
                        b'+' => return Ok(None),
                        b'-' => return self.shortest(s, p, end),
                        _ if self.is_one(s, p, end) => (s, p) = (s + 1, end),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    fn longest(&mut self, least: usize, mut s: usize, p: usize, end: usize) -> Found<E> {
        while self.is_one(s, p, end) {
            self.step()?;
            s += 1;
        }
        loop {
            if let Some(found) = self.deeper(s, end + 1)? {
                return Ok(Some(found));
            }
            if s == least {
                return Ok(None);
            }
            s -= 1;
        }
    }

    fn shortest(&mut self, mut s: usize, p: usize, end: usize) -> Found<E> {
        loop {
            if let Some(found) = self.deeper(s, end + 1)? {
                return Ok(Some(found));
            }
            if !self.is_one(s, p, end) {
                return Ok(None);
            }
            s += 1;
        }
    }

    fn begin_capture(&mut self, s: usize, p: usize, len: Len) -> Found<E> {
        if self.level == CAPTURES_MAX {
            return Err(Stop::Malformed("too many captures"));
        }
        self.captures[self.level] = (s, len);
        self.level += 1;
        let found = self.deeper(s, p)?;
        if found.is_none() {
            self.level -= 1;
        }
        Ok(found)
    }

    fn end_capture(&mut self, s: usize, p: usize) -> Found<E> {
        let open = self.captures[..self.level].iter().rposition(|(_, len)| *len == Len::Open);
        let Some(open) = open else { return Err(Stop::Malformed("invalid pattern capture")) };
        self.captures[open].1 = Len::Bytes(s - self.captures[open].0);
        let found = self.deeper(s, p)?;
        if found.is_none() {
            self.captures[open].1 = Len::Open;
        }
        Ok(found)
    }

    /// `%1` and its like.
    fn repeated(&mut self, s: usize, digit: u8) -> Found<E> {
        const INVALID: &str = "invalid capture index";
        let index = usize::from(digit).checked_sub(usize::from(b'1'));
        let capture = index.and_then(|index| self.captures[..self.level].get(index));
        match capture {
            None | Some((_, Len::Open)) => Err(Stop::Malformed(INVALID)),
            // A place is no text.
            Some((_, Len::Place)) => Ok(None),
            Some(&(start, Len::Bytes(len))) => {
                let text = &self.subject[start..start + len];
                Ok(self.subject[s..].starts_with(text).then_some(s + len))
            }
        }
    }

    /// `%bxy`
    fn balanced(&mut self, s: usize, p: usize) -> Found<E> {
        let (open, close) = (self.at(p), self.at(p + 1));
        if open == 0 || close == 0 {
            return Err(Stop::Malformed("unbalanced pattern"));
        }
        if self.subject.get(s) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1;
        for at in s + 1..self.subject.len() {
            self.step()?;
            let byte = self.subject[at];
            if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(at + 1));
                }
            } else if byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    /// Where the single character at `p` ends in the pattern.
    fn class_end(&self, p: usize) -> Result<usize, Stop<E>> {
        match self.at(p) {
            ESCAPE if self.at(p + 1) == 0 => {
                Err(Stop::Malformed("malformed pattern (ends with '%')"))
            }
            ESCAPE => Ok(p + 2),
            b'[' => {
                let mut at = if self.at(p + 1) == b'^' { p + 2 } else { p + 1 };
                // The first byte of a set is one of it, even `]`.
                loop {
                    match self.at(at) {
                        0 => return Err(Stop::Malformed("malformed pattern (missing ']')")),
                        ESCAPE if self.at(at + 1) != 0 => at += 2,
                        _ => at += 1,
                    }
                    if self.at(at) == b']' {
                        return Ok(at + 1);
                    }
                }
            }
            _ => Ok(p + 1),
        }
    }

    /// Whether the subject has at `s` the single character that the pattern has from `p` to `end`.
    fn is_one(&self, s: usize, p: usize, end: usize) -> bool {
        let Some(&byte) = self.subject.get(s) else { return false };
        match self.at(p) {
            b'.' => true,
            ESCAPE => in_class(byte, self.at(p + 1)),
            b'[' => self.in_set(byte, p, end - 1),
            other => other == byte,
        }
    }

    /// Whether a byte is in the set that begins at `p` and whose `]` is at `end`.
    fn in_set(&self, byte: u8, p: usize, end: usize) -> bool {
        let (mut at, is_in) = if self.at(p + 1) == b'^' { (p + 2, false) } else { (p + 1, true) };
        while at < end {
            if self.at(at) == ESCAPE {
                if in_class(byte, self.at(at + 1)) {
                    return is_in;
                }
                at += 2;
            } else if self.at(at + 1) == b'-' && at + 2 < end {
                if (self.at(at)..=self.at(at + 2)).contains(&byte) {
                    return is_in;
                }
                at += 3;
            } else {
                if self.at(at) == byte {
                    return is_in;
                }
                at += 1;
            }
        }
        !is_in
    }

    fn captured(&self) -> Vec<Capture> {
        let captures = self.captures[..self.level].iter();
        captures
            .map(|&(start, len)| match len {
                Len::Open => Capture::Unfinished,
                Len::Place => Capture::Place(start),
                Len::Bytes(len) => Capture::Text(start, start + len),
            })
            .collect()
    }
}

/// Whether a byte is of the class that a letter behind `%` stands for, as C's functions in its
/// plain locale see it.
fn in_class(byte: u8, class: u8) -> bool {
    let is_in = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        // C's space includes the vertical tab.
        b's' => byte.is_ascii_whitespace() || byte == 0x0B,
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    is_in != class.is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_that_takes_for_ever_is_ended() {
        let pattern = [b"a?".repeat(60), b"a".repeat(60)].concat();
        let mut looks = 0;
        let mut go_on = || {
            looks += 1;
            if looks < 10 { Ok(()) } else { Err("enough") }
        };
        let found = find(&b"a".repeat(59), &pattern, 0, Anchor::Heeded, &mut go_on);
        assert_eq!(found, Err(Stop::Ended("enough")));
        let deep = find(b"x", &b"x?".repeat(1000), 0, Anchor::Heeded, &mut || Ok::<(), ()>(()));
        assert!(deep.is_ok());
        let subject = b"x".repeat(1000);
        let deep = find(&subject, &b"x?".repeat(1000), 0, Anchor::Heeded, &mut || Ok::<(), ()>(()));
        assert_eq!(deep, Err(Stop::Malformed("pattern too complex")));
    }
}
