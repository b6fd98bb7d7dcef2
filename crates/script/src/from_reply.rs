//! Replies as Lua values: what `redis.call` returns.
//!
//! In the protocol's version 2: a status is `{ok = …}`, an error `{err = …}`, no value `false`.
//! Version 3 has more, each in a table of its own so that it can be told from the rest: `{map =
//! …}`, `{set = …}`, `{double = …}`, `{big_number = …}`, `{verbatim_string = {format = …, string =
//! …}}`; no value is `nil`.

use crate::failure::Counted;
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
