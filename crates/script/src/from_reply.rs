//! Replies as Lua values: what `redis.call` returns.
//!
//! In the protocol's version 2: a status is `{ok = …}`, an error `{err = …}`, no value `false`.
//! Version 3 has more, each in a table of its own so that it can be told from the rest: `{map =
//! …}`, `{set = …}`, `{double = …}`, `{big_number = …}`, `{verbatim_string = {format = …, string =
//! …}}`; no value is `nil`.

use crate::failure::Counted;
use basalt_number::parse_i64;
use basalt_resp::{Output, Protocol, Value as ReplyValue, decode};
use mlua::{Lua, Table, Value};
use std::io::IoSlice;

/// The one reply that `out` holds.
pub(crate) fn to_lua(lua: &Lua, out: &mut Output, protocol: Protocol) -> mlua::Result<Value> {
    let mut slices = [IoSlice::new(&[]), IoSlice::new(&[])];
    let decoded = match out.io_slices(&mut slices) {
        0 | 1 => decode(&slices[0]),
        _ => decode(&gather(out)),
    };
    match decoded {
        Ok(Some((reply, _))) => value(lua, reply, protocol),
        // Commands write whole replies; one nested too deep to be read is the only other case.
        Ok(None) | Err(_) => {
            error(lua, "ERR the reply cannot be given to a script", Counted::NotYet)
        }
    }
}

/// A reply that needs no look at what is in it.
pub(crate) enum Plain<'a> {
    Text(&'a [u8]),
    Status(&'a [u8]),
    Integer(i64),
    Null,
}

/// The one reply that `bytes` are, if it is plain.
pub(crate) fn plain(bytes: &[u8]) -> Option<Plain<'_>> {
    let (kind, rest) = bytes.split_first()?;
    let rest = rest.strip_suffix(b"\r\n")?;
    match kind {
        b'$' if rest == b"-1" => Some(Plain::Null),
        b'$' => {
            let end = rest.iter().position(|byte| *byte == b'\r')?;
            let text = rest.get(end + 2..)?;
            (parse_i64(&rest[..end])? == text.len() as i64).then_some(Plain::Text(text))
        }
        b':' => parse_i64(rest).map(Plain::Integer),
        b'+' => Some(Plain::Status(rest)),
        b'_' => Some(Plain::Null),
        _ => None,
    }
}

/// `{err = text}`
pub(crate) fn error(lua: &Lua, text: impl AsRef<[u8]>, counted: Counted) -> mlua::Result<Value> {
    let table = lua.create_table_with_capacity(0, 2)?;
    table.raw_set("err", lua.create_string(text)?)?;
    counted.note(&table)?;
    Ok(Value::Table(table))
}

/// Copies a reply that stands in several pieces.
fn gather(out: &mut Output) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(out.len());
    while !out.is_empty() {
        let mut slices = [IoSlice::new(&[])];
        out.io_slices(&mut slices);
        bytes.extend_from_slice(&slices[0]);
        let taken = slices[0].len();
        out.advance(taken);
    }
    bytes
}

fn value(lua: &Lua, reply: ReplyValue, protocol: Protocol) -> mlua::Result<Value> {
    let text = |bytes: Vec<u8>| lua.create_string(bytes);
    Ok(match reply {
        ReplyValue::Simple(line) => wrapped(lua, "ok", text(line)?)?,
        ReplyValue::Error(line) => error(lua, line, Counted::Already)?,
        ReplyValue::Integer(number) => Value::Number(number as f64),
        ReplyValue::Bulk(bytes) => Value::String(text(bytes)?),
        ReplyValue::Null | ReplyValue::NullArray => match protocol {
            Protocol::Resp2 => Value::Boolean(false),
            Protocol::Resp3 => Value::Nil,
        },
        ReplyValue::Array(elements) | ReplyValue::Push(elements) => {
            let table = lua.create_table_with_capacity(elements.len(), 0)?;
            for (index, element) in elements.into_iter().enumerate() {
                table.raw_set(index + 1, value(lua, element, protocol)?)?;
            }
            Value::Table(table)
        }
        ReplyValue::Map(pairs) => {
            let map = lua.create_table_with_capacity(0, pairs.len())?;
            for (key, element) in pairs {
                set_key(&map, value(lua, key, protocol)?, value(lua, element, protocol)?)?;
            }
            wrapped(lua, "map", map)?
        }
        ReplyValue::Set(elements) => {
            let set = lua.create_table_with_capacity(0, elements.len())?;
            for element in elements {
                set_key(&set, value(lua, element, protocol)?, Value::Boolean(true))?;
            }
            wrapped(lua, "set", set)?
        }
        ReplyValue::Double(number) => wrapped(lua, "double", number)?,
        ReplyValue::Boolean(truth) => Value::Boolean(truth),
        ReplyValue::BigNumber(digits) => wrapped(lua, "big_number", text(digits)?)?,
        ReplyValue::Verbatim { format, text: bytes } => {
            let parts = lua.create_table()?;
            parts.raw_set("format", lua.create_string(format)?)?;
            parts.raw_set("string", text(bytes)?)?;
            wrapped(lua, "verbatim_string", parts)?
        }
    })
}

/// Lua's tables have no place for `nil` as a key.
fn set_key(table: &Table, key: Value, value: Value) -> mlua::Result<()> {
    if key.is_nil() { Ok(()) } else { table.raw_set(key, value) }
}

fn wrapped(lua: &Lua, name: &str, value: impl mlua::IntoLua) -> mlua::Result<Value> {
    let table = lua.create_table_with_capacity(0, 1)?;
    table.raw_set(name, value)?;
    Ok(Value::Table(table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_resp::Reply;

    /// The long way of a plain reply.
    fn decoded(bytes: &[u8]) -> Option<ReplyValue> {
        decode(bytes).ok()?.map(|(value, len)| {
            assert_eq!(len, bytes.len(), "one reply");
            value
        })
    }

    fn as_decoded(plain: &Plain<'_>) -> ReplyValue {
        match *plain {
            Plain::Text(text) => ReplyValue::Bulk(text.to_vec()),
            Plain::Status(text) => ReplyValue::Simple(text.to_vec()),
            Plain::Integer(number) => ReplyValue::Integer(number),
            Plain::Null => ReplyValue::Null,
        }
    }

    fn reply(protocol: Protocol, write: impl Fn(&mut Reply<'_>)) -> Vec<u8> {
        let mut out = Output::new();
        write(&mut Reply::new(&mut out, protocol));
        gather(&mut out)
    }

    #[test]
    fn a_plain_reply_is_read_as_the_decoder_reads_it() {
        let texts = [&b""[..], b"a", b"\r\n", b"$1\r\na\r\n", &[0xFF; 300]];
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            let mut replies = vec![
                reply(protocol, |reply| reply.null()),
                reply(protocol, |reply| reply.ok()),
                reply(protocol, |reply| reply.simple("a b")),
            ];
            for text in texts {
                replies.push(reply(protocol, |reply| reply.bulk(text)));
            }
            for number in [0, 1, -1, i64::MAX, i64::MIN, 1 << 53] {
                replies.push(reply(protocol, |reply| reply.integer(number)));
            }
            for bytes in replies {
                let plain = plain(&bytes).map(|plain| as_decoded(&plain));
                assert!(plain.is_some(), "{}", bytes.escape_ascii());
                assert_eq!(plain, decoded(&bytes), "{}", bytes.escape_ascii());
            }
            for bytes in [
                reply(protocol, |reply| reply.error("ERR no")),
                reply(protocol, |reply| reply.array(0)),
                reply(protocol, |reply| reply.double(1.5)),
                reply(Protocol::Resp3, |reply| reply.boolean(true)),
                reply(Protocol::Resp3, |reply| reply.map(0)),
                b"$2\r\na\r\n".to_vec(),
                b"$1\r\nab\r\n".to_vec(),
                b"$-2\r\n".to_vec(),
                b":\r\n".to_vec(),
                b"$1\r\na".to_vec(),
                b"".to_vec(),
            ] {
                let plain = plain(&bytes).map(|plain| as_decoded(&plain));
                let is_text = matches!(decoded_or_none(&bytes), Some(ReplyValue::Bulk(_)));
                assert!(plain.is_none() || is_text, "{}", bytes.escape_ascii());
            }
        }
    }

    fn decoded_or_none(bytes: &[u8]) -> Option<ReplyValue> {
        decode(bytes).ok()?.map(|(value, _)| value)
    }
}
