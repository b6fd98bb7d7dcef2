//! `cmsgpack.unpack` and its like.
//!
//! Nesting costs no stack of the thread: what is not complete stands in a list of containers.

use super::VALUES_BETWEEN_LOOKS;
use crate::arguments::Arguments;
use crate::current::Current;
use mlua::{Lua, MultiValue, Table, Value};

/// Containers within one another. Redis allows about 4,000, and fails in the same words.
const NESTING_MAX: usize = 1000;
/// Values that one call gives, as many as Lua's stack has room for.
const VALUES_MAX: usize = 7900;

/// How many values are wanted, from where on.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) limit: i64,
    pub(super) offset: i64,
}

impl Part {
    /// Everything.
    pub(super) const ALL: Part = Part { limit: 0, offset: 0 };
}

/// The values, behind the place where the next one begins unless all were wanted.
pub(super) fn unpack(
    lua: &Lua,
    args: &Arguments<'_>,
    part: Part,
    current: &Current,
) -> mlua::Result<MultiValue> {
    let text = args.string(1)?;
    let bytes = text.as_bytes();
    let Part { limit, offset } = part;
    if offset < 0 || limit < 0 {
        let (offset, len) = (offset as i32, bytes.len() as i32);
        let text = format!("Invalid request to unpack with offset of {offset} and limit of {len}.");
        return Err(args.error(&text));
    }
    let Some(rest) = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)) else {
        let (offset, len) = (offset as i32, bytes.len() as i32);
        let text = format!("Start offset {offset} greater than input length {len}.");
        return Err(args.error(&text));
    };
    let wants_all = limit == 0 && offset == 0;
    let mut values = MultiValue::new();
    let mut reader = Reader { lua, rest, containers: Vec::new(), values: 0, current };
    while !reader.rest.is_empty() && (wants_all || (values.len() as i64) < limit) {
        if values.len() == VALUES_MAX {
            return Err(args.error(&too_much(
                "too many return values at once; use unpack_one or unpack_limit instead.",
            )));
        }
        let value = reader.value().map_err(|stop| match stop {
            Stop::Short => args.error("Missing bytes in input."),
            Stop::Malformed => args.error("Bad data format in input."),
            Stop::TooDeep(place) => args.error(&too_much(place)),
            Stop::Lua(error) => error,
        })?;
        values.push_back(value);
    }
    if !wants_all {
        let next = match reader.rest.len() {
            0 => -1.0,
            left => (bytes.len() - left) as f64,
        };
        values.push_front(Value::Number(next));
    }
    Ok(values)
}

fn too_much(what: &str) -> String {
    format!("stack overflow ({what})")
}

enum Stop {
    Short,
    Malformed,
    TooDeep(&'static str),
    Lua(mlua::Error),
}

impl From<mlua::Error> for Stop {
    fn from(error: mlua::Error) -> Stop {
        Stop::Lua(error)
    }
}

/// What has been begun.
enum Container {
    Array { table: Table, index: usize, left: usize },
    Map { table: Table, key: Option<Value>, left: usize },
}

/// A value, or the beginning of one.
enum Item {
    Whole(Value),
    Array(usize),
    Map(usize),
}

struct Reader<'a> {
    lua: &'a Lua,
    rest: &'a [u8],
    containers: Vec<Container>,
    values: u32,
    current: &'a Current,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Value, Stop> {
        loop {
            self.values = self.values.wrapping_add(1);
            if self.values.is_multiple_of(VALUES_BETWEEN_LOOKS) {
                self.current.go_on()?;
            }
            let mut value = match self.item()? {
                Item::Whole(value) => value,
                Item::Array(left) => {
                    let table = self.begin("in function mp_decode_to_lua_array")?;
                    if left > 0 {
                        self.containers.push(Container::Array { table, index: 1, left });
                        continue;
                    }
                    Value::Table(table)
                }
                Item::Map(left) => {
                    let table = self.begin("in function mp_decode_to_lua_hash")?;
                    if left > 0 {
                        self.containers.push(Container::Map { table, key: None, left });
                        continue;
                    }
                    Value::Table(table)
                }
            };
            // Put it where it belongs; a container that is full is itself a value.
            loop {
                let Some(container) = self.containers.last_mut() else { return Ok(value) };
                match container.put(value)? {
                    false => break,
                    true => match self.containers.pop() {
                        Some(Container::Array { table, .. } | Container::Map { table, .. }) => {
                            value = Value::Table(table);
                        }
                        None => return Err(Stop::Malformed),
                    },
                }
            }
        }
    }

    fn begin(&self, place: &'static str) -> Result<Table, Stop> {
        match self.containers.len() < NESTING_MAX {
            true => Ok(self.lua.create_table()?),
            false => Err(Stop::TooDeep(place)),
        }
    }

    fn take(&mut self, len: usize) -> Result<&[u8], Stop> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Stop::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    /// An unsigned number of `len` bytes.
    fn unsigned(&mut self, len: usize) -> Result<u64, Stop> {
        Ok(self.take(len)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn signed(&mut self, len: usize) -> Result<i64, Stop> {
        let unused = 64 - 8 * len as u32;
        Ok((self.unsigned(len)? << unused) as i64 >> unused)
    }

    fn len(&mut self, bytes: usize) -> Result<usize, Stop> {
        self.unsigned(bytes).map(|len| len as usize)
    }

    fn string(&mut self, len: usize) -> Result<Item, Stop> {
        let lua = self.lua;
        Ok(Item::Whole(Value::String(lua.create_string(self.take(len)?)?)))
    }

    fn item(&mut self) -> Result<Item, Stop> {
        let first = self.take(1)?[0];
        let number = |number: i64| Ok(Item::Whole(Value::Number(number as f64)));
        let low = usize::from(first);
        match first {
            0x00..=0x7F => number(i64::from(first)),
            0x80..=0x8F => Ok(Item::Map(low & 0xF)),
            0x90..=0x9F => Ok(Item::Array(low & 0xF)),
            0xA0..=0xBF => self.string(low & 0x1F),
            0xC0 => Ok(Item::Whole(Value::Nil)),
            0xC2 | 0xC3 => Ok(Item::Whole(Value::Boolean(first == 0xC3))),
            0xCA => {
                let bits = self.unsigned(4)? as u32;
                Ok(Item::Whole(Value::Number(f64::from(f32::from_bits(bits)))))
            }
            0xCB => Ok(Item::Whole(Value::Number(f64::from_bits(self.unsigned(8)?)))),
            // As in Redis, what is above the largest signed number comes out negative.
            0xCC..=0xCF => number(self.unsigned(1 << (first - 0xCC))? as i64),
            0xD0..=0xD3 => number(self.signed(1 << (first - 0xD0))?),
            0xD9..=0xDB => {
                let len = self.len(1 << (first - 0xD9))?;
                self.string(len)
            }
            0xDC | 0xDD => Ok(Item::Array(self.len(2 << (first - 0xDC))?)),
            0xDE | 0xDF => Ok(Item::Map(self.len(2 << (first - 0xDE))?)),
            0xE0..=0xFF => number(i64::from(first as i8)),
            _ => Err(Stop::Malformed),
        }
    }
}

impl Container {
    /// Returns whether it is full with that.
    fn put(&mut self, value: Value) -> Result<bool, Stop> {
        let left = match self {
            Container::Array { table, index, left } => {
                table.raw_set(*index, value)?;
                *index += 1;
                left
            }
            Container::Map { key: key @ None, .. } => {
                *key = Some(value);
                return Ok(false);
            }
            Container::Map { table, key, left } => {
                let key = key.take().unwrap_or(Value::Nil);
                match &key {
                    Value::Nil => return Err(Arguments::plain_error("table index is nil").into()),
                    Value::Number(number) if number.is_nan() => {
                        return Err(Arguments::plain_error("table index is NaN").into());
                    }
                    _ => table.raw_set(key, value)?,
                }
                left
            }
        };
        *left -= 1;
        Ok(*left == 0)
    }
}
