//! Splits Rust source into its code and its comments, line by line.
//!
//! The rules search for words; a word in a string or a comment is not code. So each character is
//! put into one of two copies of the text, and a space into the other; literals go into neither
//! (their quotes stay in the code). Line ends stay in both, which keeps line numbers. This is a
//! lexer for comments and literals only, not a parser.

#[derive(Clone, Copy)]
enum State {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text,
    RawText { hashes: usize },
}

/// Returns (code, comments), each with the lines of `text`.
pub fn split(text: &str) -> (String, String) {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Halves { code: String::new(), comments: String::new() };
    let mut state = State::Code;
    let mut at = 0;
    while at < chars.len() {
        let (next_state, taken) = step(state, &chars, at);
        for (offset, char) in chars[at..at + taken].iter().enumerate() {
            let quote = offset == taken - 1 && *char == '"';
            let literal = taken >= 3 && chars[at] == '\'';
            let half = if literal { Half::Neither } else { half(state, next_state) };
            out.push(*char, half, quote && !literal);
        }
        state = next_state;
        at += taken;
    }
    (out.code, out.comments)
}

struct Halves {
    code: String,
    comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
    Code,
    Comment,
    Neither,
}

impl Halves {
    fn push(&mut self, char: char, half: Half, quote: bool) {
        let blank = if char == '\n' { '\n' } else { ' ' };
        let in_code = half == Half::Code || quote;
        self.code.push(if in_code && half != Half::Comment { char } else { blank });
        self.comments.push(if half == Half::Comment { char } else { blank });
    }
}

/// Which copy a piece belongs to, seen from the states before and after it.
fn half(before: State, after: State) -> Half {
    match (before, after) {
        (State::LineComment | State::BlockComment { .. }, _)
        | (_, State::LineComment | State::BlockComment { .. }) => Half::Comment,
        (State::Code, State::Code) => Half::Code,
        _ => Half::Neither,
    }
}

/// Reads one piece at `at`; returns the state after it and its length in characters (at least 1).
fn step(state: State, chars: &[char], at: usize) -> (State, usize) {
    let next = chars.get(at + 1).copied();
    match (state, chars[at]) {
        (State::Code, '/') if next == Some('/') => (State::LineComment, 2),
        (State::Code, '/') if next == Some('*') => (State::BlockComment { depth: 1 }, 2),
        (State::Code, '"') => (State::Text, 1),
        (State::Code, 'r') if !follows_word(chars, at) => match raw_hashes(chars, at + 1) {
            Some(hashes) => (State::RawText { hashes }, hashes + 2),
            None => (State::Code, 1),
        },
        (State::Code, '\'') => (State::Code, char_literal(chars, at)),
        (State::LineComment, '\n') => (State::Code, 1),
        (State::BlockComment { depth }, '/') if next == Some('*') => {
            (State::BlockComment { depth: depth + 1 }, 2)
        }
        (State::BlockComment { depth: 1 }, '*') if next == Some('/') => (State::Code, 2),
        (State::BlockComment { depth }, '*') if next == Some('/') => {
            (State::BlockComment { depth: depth - 1 }, 2)
        }
        (State::Text, '\\') => (State::Text, 2.min(chars.len() - at)),
        (State::Text, '"') => (State::Code, 1),
        (State::RawText { hashes }, '"') if closes_raw(chars, at, hashes) => {
            (State::Code, hashes + 1)
        }
        _ => (state, 1),
    }
}

/// Whether the character before `at` continues a word (then `r"` is the end of an identifier; `br"`
/// is not).
fn follows_word(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|index| chars[index]);
    match before {
        Some('b') => at >= 2 && is_word(chars[at - 2]),
        Some(char) => is_word(char),
        None => false,
    }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The number of `#` between `r` and `"`, or nothing if this is not a raw string.
fn raw_hashes(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at..].iter().take_while(|char| **char == '#').count();
    (chars.get(at + hashes) == Some(&'"')).then_some(hashes)
}

fn closes_raw(chars: &[char], at: usize, hashes: usize) -> bool {
    chars.get(at + 1..at + 1 + hashes).is_some_and(|tail| tail.iter().all(|char| *char == '#'))
}

/// Length of the character literal at `at`, or 1 if this quote begins a lifetime.
fn char_literal(chars: &[char], at: usize) -> usize {
    if chars.get(at + 1) == Some(&'\\') {
        let end = chars.iter().skip(at + 3).position(|char| *char == '\'');
        return end.map_or(1, |distance| distance + 4);
    }
    if chars.get(at + 2) == Some(&'\'') { 3 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn separates_comments_from_code_and_blanks_literals() {
        let (code, comments) = split("let a = \"// no\"; // yes\nlet b = r#\"x\"y\"#;\n/* c */ d");
        assert!(!code.contains("no") && !code.contains("yes") && !code.contains('y'), "{code}");
        assert!(comments.contains("// yes") && comments.contains("/* c */"), "{comments}");
        assert!(!comments.contains("no"));
        assert!(code.contains("let b =") && code.ends_with(" d"));
    }

    #[test]
    fn tells_a_lifetime_from_a_character() {
        let (code, comments) = split("fn f<'a>(x: &'a str) { let q = '\"'; g('\\'', '{') } // end");
        assert!(code.contains("g(") && code.matches('{').count() == 1, "{code}");
        assert_eq!(comments.trim(), "// end");
    }

    #[test]
    fn keeps_line_numbers() {
        let text = "a\n\"b\nc\"\n// d\n/* e\nf */\ng";
        let (code, comments) = split(text);
        assert_eq!(code.lines().count(), text.lines().count());
        assert_eq!(comments.lines().count(), text.lines().count());
        assert_eq!(code.lines().last(), Some("g"));
    }
}
