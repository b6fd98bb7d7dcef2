//! Replies in Redis' protocol, version 3, as JSON.
//!
//! | reply | JSON |
//! |---|---|
//! | text | string; what is not UTF-8: `{"$b64": …}` |
//! | integer | number; beyond 2^53, where JavaScript's numbers end, a string |
//! | double | number, or `"inf"`, `"-inf"`, `"nan"` |
//! | null, boolean | the same |
//! | array, set, push | array |
//! | map | object if its keys are distinct texts, else an array of pairs |
//! | big number, verbatim text | string |
//! | an error within | `{"$error": …}` |

use crate::problem::Problem;
use basalt_http1::Status;
use basalt_http1::base64::{self, Alphabet};
use std::collections::{HashSet, VecDeque};
use std::io::{self, Write};

/// Deepest nesting that is written; commands nest less, scripts up to 100.
const DEPTH_MAX: usize = 128;
/// Integers beyond these are not exact in JavaScript.
const EXACT: std::ops::RangeInclusive<i64> = -(1 << 53)..=1 << 53;

/// A reply as JSON of at most `bytes_max`. What is longer is not written to its end: a character
/// can become six.
///
/// # Errors
/// The reply is an error, or too deep, or too large.
pub(crate) fn of_reply(reply: &[u8], bytes_max: usize) -> Result<Vec<u8>, Problem> {
    if let Some((b'-', text, _)) = line(reply, 0) {
        return Err(Problem::of_error(text));
    }
    let too_deep =
        || Problem::new(Status::BadRequest, "REPLYTOODEEP", "the reply is nested too deep");
    let mut objects = Objects { reply, are: VecDeque::new() };
    objects.find(0, 0).ok_or_else(too_deep)?;
    let out = Room { bytes: Vec::with_capacity(reply.len().min(bytes_max)), bytes_max };
    let mut writer = Writer { reply, are_objects: objects.are, out };
    match writer.value(0, 0) {
        Some(end) if end == reply.len() && writer.out.has_held() => Ok(writer.out.bytes),
        _ if !writer.out.has_held() => Err(Problem::reply_too_large(bytes_max)),
        _ => Err(too_deep()),
    }
}

/// A reply as an element of JSON of at most `bytes_max`, errors as those within a reply; `None`
/// if it is too deep or too large.
pub(crate) fn of_element(reply: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let array = [b"*1\r\n", reply].concat();
    let array = of_reply(&array, bytes_max.saturating_add(2)).ok()?;
    Some(array[1..array.len() - 1].to_vec())
}

/// The kind of the value that begins there, the rest of its first line, and where that ends.
fn line(reply: &[u8], at: usize) -> Option<(u8, &[u8], usize)> {
    let rest = reply.get(at..)?;
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    let (kind, text) = rest[..end].split_first()?;
    Some((*kind, text, at + end + 2))
}

fn number(text: &[u8]) -> Option<usize> {
    str::from_utf8(text).ok()?.parse().ok()
}

/// Finds out which maps can be objects: once for all of them, however deep they nest.
struct Objects<'a> {
    reply: &'a [u8],
    /// In the order in which the maps begin.
    are: VecDeque<bool>,
}

impl Objects<'_> {
    /// Looks at the value that begins there; returns where it ends.
    fn find(&mut self, at: usize, depth: usize) -> Option<usize> {
        let (kind, text, mut at) = line(self.reply, at)?;
        match kind {
            b'$' | b'=' => at += number(text)? + 2,
            b'*' | b'~' | b'>' if depth < DEPTH_MAX => {
                for _ in 0..number(text)? {
                    at = self.find(at, depth + 1)?;
                }
            }
            b'%' if depth < DEPTH_MAX => return self.find_in_map(number(text)?, at, depth),
            b'*' | b'~' | b'>' | b'%' => return None,
            _ => {}
        }
        Some(at)
    }

    fn find_in_map(&mut self, count: usize, mut at: usize, depth: usize) -> Option<usize> {
        let place = self.are.len();
        self.are.push_back(true);
        let (reply, mut names) = (self.reply, HashSet::new());
        for _ in 0..count {
            let (kind, text, next) = line(reply, at)?;
            let name = match kind {
                b'+' => Some(text),
                b'$' => Some(reply.get(next..next + number(text)?)?),
                _ => None,
            };
            let is_fit =
                name.is_some_and(|name| str::from_utf8(name).is_ok() && names.insert(name));
            self.are[place] &= is_fit;
            at = self.find(at, depth + 1)?;
            at = self.find(at, depth + 1)?;
        }
        Some(at)
    }
}

struct Writer<'a> {
    reply: &'a [u8],
    /// Of the maps that are not written, in their order.
    are_objects: VecDeque<bool>,
    out: Room,
}

/// What is written, until it is more than there is room for.
struct Room {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Room {
    fn has_held(&self) -> bool {
        self.bytes.len() <= self.bytes_max
    }

    fn push(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }
}

/// Writes pieces of a text.
impl Write for Room {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.extend_from_slice(piece);
        if self.has_held() { Ok(piece.len()) } else { Err(io::ErrorKind::OutOfMemory.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> Writer<'a> {
    /// Writes the value that begins there; returns where it ends.
    fn value(&mut self, at: usize, depth: usize) -> Option<usize> {
        let (kind, text, next) = line(self.reply, at)?;
        if !self.out.has_held() {
            return None;
        }
        match kind {
            b'+' | b'(' => self.text(text),
            b'-' => {
                self.out.extend_from_slice(br#"{"$error":"#);
                self.text(text);
                self.out.push(b'}');
            }
            b':' => self.integer(text),
            b',' => self.double(text),
            b'#' => self.out.extend_from_slice(if text == b"t" { b"true" } else { b"false" }),
            b'_' => self.out.extend_from_slice(b"null"),
            b'$' | b'=' => {
                let len = number(text)?;
                let bytes = self.reply.get(next..next + len)?;
                // Its format, three letters and a colon.
                self.text(if kind == b'=' { bytes.get(4..)? } else { bytes });
                return Some(next + len + 2);
            }
            b'*' | b'~' | b'>' if depth < DEPTH_MAX => {
                return self.array(number(text)?, next, depth);
            }
            b'%' if depth < DEPTH_MAX => return self.map(number(text)?, next, depth),
            _ => return None,
        }
        Some(next)
    }

    fn array(&mut self, count: usize, mut at: usize, depth: usize) -> Option<usize> {
        self.out.push(b'[');
        for number in 0..count {
            self.separate(number);
            at = self.value(at, depth + 1)?;
        }
        self.out.push(b']');
        Some(at)
    }

    fn map(&mut self, count: usize, mut at: usize, depth: usize) -> Option<usize> {
        let is_object = self.are_objects.pop_front()?;
        let (open, between, close, pair_open, pair_close): (u8, u8, u8, &[u8], &[u8]) =
            match is_object {
                true => (b'{', b':', b'}', b"", b""),
                false => (b'[', b',', b']', b"[", b"]"),
            };
        self.out.push(open);
        for number in 0..count {
            self.separate(number);
            self.out.extend_from_slice(pair_open);
            at = self.value(at, depth + 1)?;
            self.out.push(between);
            at = self.value(at, depth + 1)?;
            self.out.extend_from_slice(pair_close);
        }
        self.out.push(close);
        Some(at)
    }

    fn separate(&mut self, number: usize) {
        if number > 0 {
            self.out.push(b',');
        }
    }

    fn text(&mut self, bytes: &[u8]) {
        match str::from_utf8(bytes) {
            Ok(text) => {
                let written = serde_json::to_writer(&mut self.out, text);
                debug_assert!(written.is_ok() || !self.out.has_held(), "memory takes text");
            }
            Err(_) => {
                self.out.extend_from_slice(br#"{"$b64":""#);
                base64::encode(bytes, Alphabet::Standard, &mut self.out.bytes);
                self.out.extend_from_slice(br#""}"#);
            }
        }
    }

    fn integer(&mut self, text: &[u8]) {
        let is_exact = str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok())
            .is_some_and(|number| EXACT.contains(&number));
        if is_exact {
            self.out.extend_from_slice(text);
        } else {
            self.text(text);
        }
    }

    fn double(&mut self, text: &[u8]) {
        if matches!(text, b"inf" | b"-inf" | b"nan") {
            self.text(text);
        } else {
            self.out.extend_from_slice(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(reply: &[u8]) -> String {
        String::from_utf8(of_reply(reply, 1000).unwrap()).unwrap()
    }

    #[test]
    fn every_kind_of_reply_is_json() {
        for (reply, expected) in [
            (&b"+OK\r\n"[..], r#""OK""#),
            (b"$3\r\na\"b\r\n", r#""a\"b""#),
            (b"$2\r\n\r\n\r\n", r#""\r\n""#),
            (b"$2\r\n\x00\xff\r\n", r#"{"$b64":"AP8="}"#),
            (b":9007199254740992\r\n", "9007199254740992"),
            (b":9007199254740993\r\n", r#""9007199254740993""#),
            (b":-9223372036854775808\r\n", r#""-9223372036854775808""#),
            (b",1.5\r\n", "1.5"),
            (b",1e+30\r\n", "1e+30"),
            (b",-inf\r\n", r#""-inf""#),
            (b"_\r\n", "null"),
            (b"#t\r\n", "true"),
            (b"*0\r\n", "[]"),
            (b"~2\r\n:1\r\n-ERR no\r\n", r#"[1,{"$error":"ERR no"}]"#),
            (b"(123456789012345678901234567890\r\n", r#""123456789012345678901234567890""#),
            (b"=7\r\ntxt:abc\r\n", r#""abc""#),
            (b"%2\r\n+a\r\n:1\r\n$1\r\nb\r\n*1\r\n_\r\n", r#"{"a":1,"b":[null]}"#),
            (b"%2\r\n+a\r\n:1\r\n$1\r\na\r\n:2\r\n", r#"[["a",1],["a",2]]"#),
            (b"%1\r\n:1\r\n:2\r\n", "[[1,2]]"),
            (b"%2\r\n+a\r\n%1\r\n:1\r\n:2\r\n+b\r\n%0\r\n", r#"{"a":[[1,2]],"b":{}}"#),
        ] {
            assert_eq!(json(reply), expected, "{}", reply.escape_ascii());
        }
        assert_eq!(of_reply(b"-ERR no\r\n", 1000).unwrap_err().code, "ERR");
    }

    #[test]
    fn what_grows_too_large_is_not_written_to_its_end() {
        let reply = |text: &[u8]| {
            [b"*2\r\n:1\r\n$", text.len().to_string().as_bytes(), b"\r\n", text, b"\r\n"].concat()
        };
        for (text, len) in [(&[0; 1_000][..], 6_000), (&[0xff; 999], 1_332 + 9), (b"abc", 3)] {
            let (reply, len) = (reply(text), len + r#"[1,""]"#.len());
            assert_eq!(of_reply(&reply, len).unwrap().len(), len);
            assert_eq!(of_reply(&reply, len - 1).unwrap_err().code, "REPLYTOOLARGE");
        }
        let mut room = Room { bytes: Vec::new(), bytes_max: 100 };
        assert!(serde_json::to_writer(&mut room, &"\0".repeat(1_000)).is_err());
        assert!(room.bytes.len() < 110, "{}", room.bytes.len());
    }

    #[test]
    fn what_is_too_deep_or_cut_is_refused() {
        let deep = [b"*1\r\n".repeat(200), b"_\r\n".to_vec()].concat();
        assert!(of_reply(&deep, 1000).is_err());
        for cut in [&b"*2\r\n:1\r\n"[..], b"$5\r\nabc\r\n", b"%1\r\n+a\r\n", b"", b"x"] {
            assert!(of_reply(cut, 1000).is_err(), "{}", cut.escape_ascii());
        }
    }
}
