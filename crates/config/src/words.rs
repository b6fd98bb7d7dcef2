//! The quoting rules of redis.conf: how a line splits into words, and how a word is written.

/// A quote that was not closed, or was not followed by a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unbalanced;

/// Splits a line as Redis does: `"…"` knows `\xHH`, `\n`, `\r`, `\t`, `\a`, `\b` and `\"`; `'…'`
/// knows only `\'`; outside of quotes a backslash is a backslash.
pub(crate) fn split(line: &[u8]) -> Result<Vec<Vec<u8>>, Unbalanced> {
    let mut words = Vec::new();
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() && rest[0] != 0 {
        let mut word = Vec::new();
        rest = one_word(rest, &mut word)?.trim_ascii_start();
        words.push(word);
    }
    Ok(words)
}

fn one_word<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], Unbalanced> {
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'"' => return closed(double_quoted(after, word)?),
            b'\'' => return closed(single_quoted(after, word)?),
            0 => return Ok(rest),
            space if space.is_ascii_whitespace() => return Ok(rest),
            other => word.push(other),
        }
        rest = after;
    }
    Ok(rest)
}

/// After a closing quote there must be a space or the end.
fn closed(rest: &[u8]) -> Result<&[u8], Unbalanced> {
    match rest.first() {
        Some(byte) if !byte.is_ascii_whitespace() => Err(Unbalanced),
        _ => Ok(rest),
    }
}

fn double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], Unbalanced> {
    loop {
        match rest {
            [] => return Err(Unbalanced),
            [b'"', after @ ..] => return Ok(after),
            [b'\\', b'x', high, low, after @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                word.push(hex_digit(*high) << 4 | hex_digit(*low));
                rest = after;
            }
            [b'\\', escaped, after @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 0x08,
                    b'a' => 0x07,
                    other => *other,
                });
                rest = after;
            }
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], Unbalanced> {
    loop {
        match rest {
            [] => return Err(Unbalanced),
            [b'\'', after @ ..] => return Ok(after),
            [b'\\', b'\'', after @ ..] => {
                word.push(b'\'');
                rest = after;
            }
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

fn hex_digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => byte.to_ascii_lowercase() - b'a' + 10,
    }
}

/// Writes a word so that [`split`] reads it back; quotes only where they are needed.
pub(crate) fn push_quoted(word: &[u8], line: &mut Vec<u8>) {
    let plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b'#');
    if !word.is_empty() && word.iter().all(plain) {
        line.extend_from_slice(word);
        return;
    }
    line.push(b'"');
    for &byte in word {
        match byte {
            b'"' | b'\\' => line.extend_from_slice(&[b'\\', byte]),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\t' => line.extend_from_slice(b"\\t"),
            b' '..=b'~' => line.push(byte),
            other => line.extend_from_slice(format!("\\x{other:02x}").as_bytes()),
        }
    }
    line.push(b'"');
}
