//! Inline requests: a line of words, as typed into telnet, with the quoting rules of Redis'
//! `sdssplitargs`.
//!
//! - Words are parted by white space.
//! - `"..."` knows `\n \r \t \b \a`, `\xHH`, and takes any other escaped byte as itself.
//! - `'...'` knows only `\'`.
//! - A quote may open within a word (`a"b c"` is `ab c`), but a closing quote must be followed by
//!   white space.
//!
//! A word never grows by unquoting, so it is unquoted in place and arguments stay offsets into the
//! query buffer, as for multibulk requests. Unlike in Redis, where a zero byte hides the rest of
//! the line, it is a byte like any other.

use crate::arg::Arg;
use crate::error::ProtocolError;

/// Splits `line`, which starts at `base` in the query buffer, into words and unquotes these in
/// place.
pub(crate) fn split(
    line: &mut [u8],
    base: usize,
    args: &mut Vec<Arg>,
) -> Result<(), ProtocolError> {
    let mut at = 0;
    loop {
        at += line[at..].iter().take_while(|&&byte| is_space(byte)).count();
        if at == line.len() {
            return Ok(());
        }
        let word =
            Word { read: at, write: at }.take(line).ok_or(ProtocolError::UnbalancedQuotes)?;
        args.push(Arg { start: base + at, len: word.write - at });
        at = word.read;
    }
}

/// A word being unquoted: `write` never overtakes `read`.
struct Word {
    read: usize,
    write: usize,
}

impl Word {
    /// Goes to the word's end; `None` if a quote does not close properly.
    fn take(mut self, line: &mut [u8]) -> Option<Self> {
        while let Some(&byte) = line.get(self.read) {
            match byte {
                // Not the vertical tab and the form feed, which part words but do not end one.
                b' ' | b'\n' | b'\r' | b'\t' => break,
                b'"' => return self.take_double_quoted(line),
                b'\'' => return self.take_single_quoted(line),
                _ => self.push(line, byte, 1),
            }
        }
        Some(self)
    }

    fn take_double_quoted(mut self, line: &mut [u8]) -> Option<Self> {
        self.read += 1;
        loop {
            match line[self.read..] {
                [] => return None,
                [b'\\', b'x', high, low, ..]
                    if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
                {
                    self.push(line, hex_digit(high) << 4 | hex_digit(low), 4);
                }
                [b'\\', escaped, ..] => self.push(line, unescape(escaped), 2),
                [b'"', ref rest @ ..] => return closes(rest).then_some(self.skip_quote()),
                [byte, ..] => self.push(line, byte, 1),
            }
        }
    }

    fn take_single_quoted(mut self, line: &mut [u8]) -> Option<Self> {
        self.read += 1;
        loop {
            match line[self.read..] {
                [] => return None,
                [b'\\', b'\'', ..] => self.push(line, b'\'', 2),
                [b'\'', ref rest @ ..] => return closes(rest).then_some(self.skip_quote()),
                [byte, ..] => self.push(line, byte, 1),
            }
        }
    }

    fn push(&mut self, line: &mut [u8], byte: u8, bytes_read: usize) {
        line[self.write] = byte;
        self.write += 1;
        self.read += bytes_read;
    }

    fn skip_quote(self) -> Self {
        Self { read: self.read + 1, ..self }
    }
}

/// Whether a closing quote may be followed by `rest`.
fn closes(rest: &[u8]) -> bool {
    rest.first().is_none_or(|&byte| is_space(byte))
}

/// White space as C's `isspace` has it.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn hex_digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::split;
    use crate::ProtocolError;

    fn words(line: &[u8]) -> Result<Vec<Vec<u8>>, ProtocolError> {
        let mut line = line.to_vec();
        let mut args = Vec::new();
        split(&mut line, 0, &mut args)?;
        Ok(args.iter().map(|arg| arg.of(&line).to_vec()).collect())
    }

    #[test]
    fn words_are_split_and_unquoted_as_redis_does() {
        let cases: &[(&[u8], &[&[u8]])] = &[
            (b"", &[]),
            (b"  \t \x0b\x0c\r", &[]),
            (b"PING", &[b"PING"]),
            (b"  set  k\tv  ", &[b"set", b"k", b"v"]),
            (b"echo a\rb", &[b"echo", b"a", b"b"]),
            (b"\x0b\x0cecho a\x0bb", &[b"echo", b"a\x0bb"]),
            (b"a\0b", &[b"a\0b"]),
            (br#""""#, &[b""]),
            (br#"'' """#, &[b"", b""]),
            (br#""a b" 'c d'"#, &[b"a b", b"c d"]),
            (br#"a"b c""#, &[b"ab c"]),
            (br#""\x41\n\r\t\b\a\q\"\\""#, &[b"A\n\r\t\x08\x07q\"\\"]),
            (br#""\xZZ\xf""#, &[b"xZZxf"]),
            (br#""\xfF\x00""#, &[b"\xff\0"]),
            (br"'it\'s \n'", &[br"it's \n"]),
            (br"\x41", &[br"\x41"]),
            (b"\"a\"\x0bb", &[b"a", b"b"]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line).unwrap(), *expected, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn unbalanced_quotes_are_refused() {
        for line in [
            r#"""#,
            "'",
            r#""a"b"#,
            "'a'b",
            r#"a "b c"#,
            "'abc",
            r#""a\""#,
            r#""a\"#,
            r"'a\'",
            r#""a"""#,
        ] {
            assert_eq!(words(line.as_bytes()), Err(ProtocolError::UnbalancedQuotes), "{line}");
        }
    }
}
