//! Replies as values, and requests as bytes.
//!
//! Decodes both protocols; which one a reply is in can be told from the reply itself.

use std::fmt;

/// How deep a reply may nest before it is refused.
const DEPTH_MAX: usize = 32;

/// One reply of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `+OK`
    Simple(Vec<u8>),
    /// `-ERR text`, without the dash.
    Error(Vec<u8>),
    /// `:1`
    Integer(i64),
    /// `$3`
    Bulk(Vec<u8>),
    /// `$-1` or `_`
    Null,
    /// `*-1`
    NullArray,
    /// `*2`
    Array(Vec<Value>),
    /// `%1`
    Map(Vec<(Value, Value)>),
    /// `~2`
    Set(Vec<Value>),
    /// `>2`
    Push(Vec<Value>),
    /// `,3.14`, as the server wrote it.
    Double(String),
    /// `#t`
    Boolean(bool),
    /// `(123`
    BigNumber(String),
    /// `=7`: the format's three letters, and the text.
    Verbatim(String, Vec<u8>),
}

/// The server sent what is no reply.
#[derive(Debug, PartialEq, Eq)]
pub struct DecodeError(pub String);

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "not a reply: {}", self.0)
    }
}

impl std::error::Error for DecodeError {}

type Decoded<T> = Result<Option<(T, usize)>, DecodeError>;

/// Decodes the reply at the front of `bytes`, with its length; nothing if it is incomplete.
pub fn decode(bytes: &[u8]) -> Decoded<Value> {
    decode_nested(bytes, DEPTH_MAX)
}

/// Appends a request to `out`.
pub fn encode_request(args: &[impl AsRef<[u8]>], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("*{}\r\n", args.len()).as_bytes());
    for arg in args {
        out.extend_from_slice(format!("${}\r\n", arg.as_ref().len()).as_bytes());
        out.extend_from_slice(arg.as_ref());
        out.extend_from_slice(b"\r\n");
    }
}

fn decode_nested(bytes: &[u8], depth: usize) -> Decoded<Value> {
    let Some((line, header)) = first_line(bytes) else { return Ok(None) };
    let Some((kind, rest)) = line.split_first() else { return refuse("an empty line") };
    if depth == 0 {
        return refuse("too deeply nested");
    }
    let text = || String::from_utf8_lossy(rest).into_owned();
    let value = match kind {
        b'+' => Value::Simple(rest.to_vec()),
        b'-' => Value::Error(rest.to_vec()),
        b':' => Value::Integer(number(rest)?),
        b'_' => Value::Null,
        b',' => Value::Double(text()),
        b'#' => Value::Boolean(rest == b"t"),
        b'(' => Value::BigNumber(text()),
        b'$' | b'=' => return bulk(bytes, *kind, number(rest)?, header),
        b'*' | b'~' | b'>' | b'%' => {
            return aggregate(bytes, *kind, number(rest)?, header, depth);
        }
        other => return refuse(&format!("begins with {:?}", *other as char)),
    };
    Ok(Some((value, header)))
}

fn refuse<T>(text: &str) -> Result<T, DecodeError> {
    Err(DecodeError(text.to_owned()))
}

/// The line without its end, and the length with it.
fn first_line(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    Some((&bytes[..end], end + 2))
}

fn number(digits: &[u8]) -> Result<i64, DecodeError> {
    let text = std::str::from_utf8(digits).ok();
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| DecodeError(format!("{:?} is no number", String::from_utf8_lossy(digits))))
}

fn bulk(bytes: &[u8], kind: u8, length: i64, header: usize) -> Decoded<Value> {
    if length == -1 {
        return Ok(Some((Value::Null, header)));
    }
    let Ok(length) = usize::try_from(length) else { return refuse("a negative length") };
    let end = header + length;
    if bytes.len() < end + 2 {
        return Ok(None);
    }
    if &bytes[end..end + 2] != b"\r\n" {
        return refuse("a bulk string without its line end");
    }
    let body = &bytes[header..end];
    let value = match kind {
        b'=' if body.len() >= 4 => {
            Value::Verbatim(String::from_utf8_lossy(&body[..3]).into_owned(), body[4..].to_vec())
        }
        b'=' => return refuse("a verbatim string without its format"),
        _ => Value::Bulk(body.to_vec()),
    };
    Ok(Some((value, end + 2)))
}

fn aggregate(bytes: &[u8], kind: u8, count: i64, header: usize, depth: usize) -> Decoded<Value> {
    if count == -1 {
        return Ok(Some((Value::NullArray, header)));
    }
    let Ok(count) = usize::try_from(count) else { return refuse("a negative count") };
    let total = if kind == b'%' { count * 2 } else { count };
    let mut items = Vec::new();
    let mut at = header;
    for _ in 0..total {
        let Some((item, length)) = decode_nested(&bytes[at..], depth - 1)? else { return Ok(None) };
        items.push(item);
        at += length;
    }
    let value = match kind {
        b'%' => Value::Map(pairs(items)),
        b'~' => Value::Set(items),
        b'>' => Value::Push(items),
        _ => Value::Array(items),
    };
    Ok(Some((value, at)))
}

fn pairs(items: Vec<Value>) -> Vec<(Value, Value)> {
    let mut items = items.into_iter();
    let mut pairs = Vec::new();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        pairs.push((key, value));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_nested_replies_and_waits_for_the_rest() {
        let bytes = b"%1\r\n+k\r\n*3\r\n:1\r\n$2\r\na\n\r\n_\r\nrest";
        let inner = vec![Value::Integer(1), Value::Bulk(b"a\n".to_vec()), Value::Null];
        let value = Value::Map(vec![(Value::Simple(b"k".to_vec()), Value::Array(inner))]);
        assert_eq!(decode(bytes), Ok(Some((value, bytes.len() - 4))));
        for end in 0..bytes.len() - 4 {
            assert_eq!(decode(&bytes[..end]), Ok(None), "{end}");
        }
    }

    #[test]
    fn refuses_what_is_no_reply() {
        assert!(decode(b"hello\r\n").is_err());
        assert!(decode(b"$x\r\n").is_err());
        assert!(decode(b"$1\r\nabc").is_err());
        assert!(decode("*1\r\n".repeat(100).as_bytes()).is_err());
    }

    #[test]
    fn encodes_a_request() {
        let mut out = Vec::new();
        encode_request(&["GET", "k"], &mut out);
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    }
}
