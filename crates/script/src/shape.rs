//! What a script is but for its constants.
//!
//! Many clients write what a script is to work with into its text, and send another text each time.
//! What is known of the keys that such scripts use is known of their shape: the text without
//! strings, numbers, comments and blanks. Two scripts of one shape that use other keys all the same
//! cost each other nothing but locks, or beginning again.

use crate::sha1::Sha1;

/// The digest of a text's shape.
pub(crate) fn shape(text: &[u8]) -> Sha1 {
    let (mut kept, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        at += match byte {
            b'-' if rest.starts_with(b"--") => comment_len(rest),
            b'"' | b'\'' => {
                kept.push(b'"');
                quoted_len(rest)
            }
            b'[' => match long_bracket_len(rest) {
                Some(len) => {
                    kept.push(b'"');
                    len
                }
                None => {
                    kept.push(byte);
                    1
                }
            },
            b'0'..=b'9' => {
                kept.push(b'0');
                word_len(rest)
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let len = word_len(rest);
                // Two words that only a blank has kept apart stay two.
                kept.push(b' ');
                kept.extend_from_slice(&rest[..len]);
                len
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    kept.push(byte);
                }
                1
            }
        };
    }
    Sha1::of(&kept)
}

/// Letters, digits and what stands in numbers.
fn word_len(text: &[u8]) -> usize {
    let is_in = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    text.iter().take_while(is_in).count()
}

fn comment_len(text: &[u8]) -> usize {
    match long_bracket_len(&text[2..]) {
        Some(len) => 2 + len,
        None => memchr::memchr(b'\n', text).unwrap_or(text.len()),
    }
}

fn quoted_len(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if byte == text[0] => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// `[[…]]`, or with as many `=` between the brackets on both sides.
fn long_bracket_len(text: &[u8]) -> Option<usize> {
    let after = text.strip_prefix(b"[")?;
    let level = after.iter().take_while(|byte| **byte == b'=').count();
    if after.get(level) != Some(&b'[') {
        return None;
    }
    let end = [b"]", &vec![b'='; level][..], b"]"].concat();
    let begin = level + 2;
    let found = memchr::memmem::find(&text[begin..], &end);
    Some(found.map_or(text.len(), |found| begin + found + end.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_comments_and_blanks_make_no_difference() {
        let like = |one: &str, other: &str| shape(one.as_bytes()) == shape(other.as_bytes());
        assert!(like(
            "return redis.call('SET', KEYS[1], 'a')",
            "return redis.call(\"SET\",KEYS[1],'b\\'c')"
        ));
        assert!(like("local x = 10 -- ten\nreturn x", "local x = 0x1F --[[ many ]] return x"));
        assert!(like("return [[a]]", "return [==[b]]c]==]"));
        assert!(!like("return redis.call('GET', KEYS[1])", "return redis.call('GET', ARGV[1])"));
        assert!(!like("local ab = 1", "local a, b = 1"));
        assert!(!like("return a", "returna"));
    }

    #[test]
    fn texts_that_end_anywhere_have_a_shape() {
        let text = b"'a\\'b' \"c\" [==[d]==] --[[e]] -- f\n 1.5e3 [g[1]]";
        for end in 0..=text.len() {
            for start in 0..end {
                shape(&text[start..end]);
            }
        }
    }
}
