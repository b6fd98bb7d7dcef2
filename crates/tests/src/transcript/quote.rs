//! redis-cli's quoting: of arguments that are read, and of strings that are shown.

/// Splits a command line into arguments; nothing if its quotes do not match.
pub fn split_args(line: &str) -> Option<Vec<Vec<u8>>> {
    let mut args = Vec::new();
    let mut rest = line.as_bytes();
    loop {
        rest = rest.trim_ascii_start();
        let Some(first) = rest.first() else { return Some(args) };
        let (arg, length) = match first {
            b'"' => double_quoted(&rest[1..])?,
            b'\'' => single_quoted(&rest[1..])?,
            _ => {
                let length = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
                (rest[..length].to_vec(), length)
            }
        };
        rest = &rest[length..];
        if rest.first().is_some_and(|byte| *byte != b' ') {
            return None;
        }
        args.push(arg);
    }
}

/// Shows bytes as a quoted string, the way redis-cli does.
pub fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'\\' | b'"' => out.extend(['\\', *byte as char]),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x07 => out.push_str("\\a"),
            0x08 => out.push_str("\\b"),
            0x20..=0x7e => out.push(*byte as char),
            other => out.push_str(&format!("\\x{other:02x}")),
        }
    }
    out.push('"');
    out
}

/// The argument after an opening quote, and the length including both quotes.
fn double_quoted(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut arg = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return Some((arg, at + 2)),
            b'\\' => {
                let (escaped, length) = escape(text.get(at + 1..)?)?;
                arg.push(escaped);
                at += 1 + length;
            }
            _ => {
                arg.push(*byte);
                at += 1;
            }
        }
    }
    None
}

/// What follows a backslash: the byte meant, and how many bytes it took.
fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let byte = match text.first()? {
        b'x' => {
            let digits = std::str::from_utf8(text.get(1..3)?).ok()?;
            return Some((u8::from_str_radix(digits, 16).ok()?, 3));
        }
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 0x07,
        b'b' => 0x08,
        other => *other,
    };
    Some((byte, 1))
}

fn single_quoted(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut arg = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\'' => return Some((arg, at + 2)),
            b'\\' if text.get(at + 1) == Some(&b'\'') => {
                arg.push(b'\'');
                at += 2;
            }
            _ => {
                arg.push(*byte);
                at += 1;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{quote, split_args};

    #[test]
    fn splits_plain_and_quoted_arguments() {
        let args = split_args(r#"SET  "a \"b\"\x00\n" 'it\'s' "" x"#).expect("the quotes match");
        let expected: [&[u8]; 5] = [b"SET", b"a \"b\"\0\n", b"it's", b"", b"x"];
        assert_eq!(args, expected);
    }

    #[test]
    fn refuses_quotes_that_do_not_match() {
        for line in ["\"a", "'a", "\"a\"b", "\"\\x1"] {
            assert_eq!(split_args(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(split_args(&quote(&all)), Some(vec![all]));
    }
}
