//! What a script returns, as a reply.
//!
//! Tables are looked at without their metatables: a reply runs no Lua.

use crate::arguments::truncated;
use crate::failure::Counted;
use basalt_resp::{Protocol, Reply};
use mlua::{Table, Value};
use std::cell::{Cell, RefCell};
use std::mem::take;
use std::rc::Rc;

/// What a value takes in Lua's memory at least, and how much more a table does.
const VALUE_BYTES: usize = 16;
const TABLE_BYTES: usize = 56;

/// Deepest nesting of tables in an answer.
const NESTING_MAX: usize = 100;

/// Is told of an error: its text, and whether it has been counted.
pub type NoteError<'a> = &'a mut dyn FnMut(&[u8], Counted);

/// What a script has returned.
pub struct Answer {
    pub(crate) value: Returned,
    /// The protocol in which the script speaks (`redis.setresp`).
    pub(crate) protocol: Protocol,
    /// How large it may be, as a reply, and in Lua if no table stood in two places; one more string
    /// may come on top. As much as the memory that the script may use: what has room there passes.
    pub(crate) bytes_max: usize,
}

impl Answer {
    /// Writes it to its client, and tells `note` of each error in it.
    pub fn write(&self, reply: &mut Reply<'_>, note: NoteError<'_>) {
        const TOO_LARGE: &str = "ERR the answer of the script is too large";
        let before = reply.mark();
        // A look into a table allocates nothing and calls nothing, so it fails only where
        // `write_value` has it fail: a table can name another one many times, and a few of them
        // make an answer without end.
        let bytes_max = reply.bytes_owed().saturating_add(self.bytes_max);
        let writer = Writer {
            protocol: self.protocol,
            bytes_max,
            lua_bytes_left: Cell::new(self.bytes_max),
            note: RefCell::new(note),
        };
        if writer.write_returned(&self.value, reply).is_err() {
            reply.cut(before);
            writer.write_error(TOO_LARGE.as_bytes(), Counted::NotYet, reply);
        }
    }
}

/// A value that a script has returned.
pub(crate) enum Returned {
    Nil,
    Truth(bool),
    Number(f64),
    Text(Text),
    /// Any other, and a string that is long.
    Other(Value),
}

/// A string that a script has returned, in room that the next one gets.
pub(crate) struct Text {
    bytes: Vec<u8>,
    room: Rc<TextRoom>,
}

/// Room for the strings that scripts return, as long as nobody has it.
#[derive(Default)]
pub(crate) struct TextRoom(Cell<Vec<u8>>);

impl Text {
    pub(crate) fn copy(text: &[u8], room: &Rc<TextRoom>) -> Text {
        let mut bytes = room.0.take();
        bytes.clear();
        bytes.extend_from_slice(text);
        Text { bytes, room: Rc::clone(room) }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        self.room.0.set(take(&mut self.bytes));
    }
}

/// Writes an answer.
struct Writer<'a> {
    protocol: Protocol,
    /// Bytes owed to the client at which it stops.
    bytes_max: usize,
    /// How much more its values may take in Lua. A table that stands in two places is written twice
    /// and counted twice, so that the time of writing has a bound, too.
    lua_bytes_left: Cell<usize>,
    /// Is told of errors.
    note: RefCell<NoteError<'a>>,
}

impl Writer<'_> {
    fn write_error(&self, text: &[u8], counted: Counted, reply: &mut Reply<'_>) {
        (self.note.borrow_mut())(text, counted);
        reply.error(text);
    }

    fn write_returned(&self, value: &Returned, reply: &mut Reply<'_>) -> mlua::Result<()> {
        if let Returned::Other(value) = value {
            return self.write_value(value, NESTING_MAX, reply);
        }
        self.take_room(VALUE_BYTES, reply)?;
        match value {
            Returned::Text(text) => reply.bulk(&text.bytes),
            Returned::Number(number) => reply.integer(truncated(*number)),
            Returned::Truth(truth) => self.write_truth(*truth, reply),
            Returned::Nil | Returned::Other(_) => reply.null(),
        }
        Ok(())
    }

    fn write_truth(&self, truth: bool, reply: &mut Reply<'_>) {
        match (self.protocol, truth) {
            (Protocol::Resp3, _) => reply.boolean(truth),
            (Protocol::Resp2, true) => reply.integer(1),
            (Protocol::Resp2, false) => reply.null(),
        }
    }

    /// A value is going to be written that takes so much in Lua.
    fn take_room(&self, lua_bytes: usize, reply: &Reply<'_>) -> mlua::Result<()> {
        let left = self.lua_bytes_left.get().checked_sub(lua_bytes);
        self.lua_bytes_left.set(left.unwrap_or(0));
        if left.is_none() || reply.bytes_owed() > self.bytes_max {
            return Err(mlua::Error::runtime("too large"));
        }
        Ok(())
    }

    fn write_value(
        &self,
        value: &Value,
        nesting_left: usize,
        reply: &mut Reply<'_>,
    ) -> mlua::Result<()> {
        self.take_room(VALUE_BYTES + if value.is_table() { TABLE_BYTES } else { 0 }, reply)?;
        match value {
            Value::String(text) => reply.bulk(&text.as_bytes()),
            Value::Integer(number) => reply.integer(*number),
            Value::Number(number) => reply.integer(truncated(*number)),
            Value::Boolean(truth) => self.write_truth(*truth, reply),
            Value::Table(_) if nesting_left == 0 => {
                self.write_error(b"ERR reached lua stack limit", Counted::NotYet, reply);
            }
            Value::Table(table) => return self.write_table(table, nesting_left - 1, reply),
            _ => reply.null(),
        }
        Ok(())
    }

    fn write_table(
        &self,
        table: &Table,
        nesting_left: usize,
        reply: &mut Reply<'_>,
    ) -> mlua::Result<()> {
        if let Value::String(text) = table.raw_get("err")? {
            self.write_error(&text.as_bytes(), Counted::of(table), reply);
        } else if let Value::String(text) = table.raw_get("ok")? {
            reply.simple(text.as_bytes());
        } else if let Some(number) = number(&table.raw_get("double")?) {
            reply.double(number);
        } else if let Value::Table(map) = table.raw_get("map")? {
            let place = reply.array_deferred();
            let mut count = 0;
            map.for_each(|key: Value, value: Value| {
                count += 1;
                self.write_value(&key, nesting_left, reply)?;
                self.write_value(&value, nesting_left, reply)
            })?;
            reply.map_end(place, count);
        } else if let Value::Table(set) = table.raw_get("set")? {
            let place = reply.array_deferred();
            let mut count = 0;
            set.for_each(|key: Value, _: Value| {
                count += 1;
                self.write_value(&key, nesting_left, reply)
            })?;
            reply.set_end(place, count);
        } else if let Value::String(digits) = table.raw_get("big_number")? {
            let clean = |digit: char| if digit.is_ascii_control() { ' ' } else { digit };
            reply.big_number(&digits.to_string_lossy().chars().map(clean).collect::<String>());
        } else if let Value::Table(parts) = table.raw_get("verbatim_string")? {
            write_verbatim(&parts, reply)?;
        } else {
            self.write_array(table, nesting_left, reply)?;
        }
        Ok(())
    }

    /// The elements from 1 on, up to the first that is `nil`.
    fn write_array(
        &self,
        table: &Table,
        nesting_left: usize,
        reply: &mut Reply<'_>,
    ) -> mlua::Result<()> {
        let place = reply.array_deferred();
        for count in 0.. {
            let value: Value = table.raw_get(count + 1)?;
            if value.is_nil() {
                reply.array_end(place, count);
                break;
            }
            self.write_value(&value, nesting_left, reply)?;
        }
        Ok(())
    }
}

fn write_verbatim(parts: &Table, reply: &mut Reply<'_>) -> mlua::Result<()> {
    let (format, text) = (parts.raw_get("format")?, parts.raw_get("string")?);
    if let (Value::String(format), Value::String(text)) = (format, text)
        && let Ok(format) = <[u8; 3]>::try_from(&*format.as_bytes())
    {
        reply.verbatim(format, &text.as_bytes());
    } else {
        reply.null();
    }
    Ok(())
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_of_a_string_is_used_for_the_next_one() {
        let room = Rc::default();
        let first = Text::copy(b"a long one", &room);
        let place = first.bytes.as_ptr();
        let beside = Text::copy(b"beside", &room);
        assert_eq!((&*first.bytes, &*beside.bytes), (&b"a long one"[..], &b"beside"[..]));
        drop((beside, first));
        let next = Text::copy(b"short", &room);
        assert_eq!(&*next.bytes, b"short");
        assert_eq!(next.bytes.as_ptr(), place);
    }
}
