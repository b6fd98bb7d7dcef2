//! `cjson.encode`
//!
//! A table whose keys are all whole numbers from 1 on is an array, with `null` where there is
//! nothing; one with mostly nothing is refused. Any other table is an object, and so is an empty
//! one.

use super::settings::{Invalid, Settings};
use super::{NESTING_MAX, VALUES_BETWEEN_LOOKS, number};
use crate::arguments::type_name;
use crate::current::Current;
use mlua::{Function, Table, Value};
use std::io::Write;

/// Writes a value as JSON.
///
/// # Errors
/// Outside: the script is to end. Inside: JSON cannot say it, or it would be larger than the
/// script's memory: a table that stands in many places is written in each.
pub(super) fn encode(
    value: Value,
    settings: Settings,
    next: &Function,
    current: &Current,
) -> mlua::Result<Result<Vec<u8>, String>> {
    let mut out =
        Text { bytes: Vec::new(), values: 0, tables: Vec::new(), settings, next, current };
    match out.whole(value) {
        Ok(()) => Ok(Ok(out.bytes)),
        Err(Stop::NotJson(text)) => Ok(Err(text)),
        Err(Stop::Ended(error)) => Err(error),
    }
}

/// A table that has been begun. Nesting costs no stack of the thread.
enum Begun {
    Array {
        table: Table,
        index: usize,
        len: usize,
    },
    /// With the key that has been written last.
    Object {
        table: Table,
        key: Value,
    },
}

/// What has been written.
struct Text<'a> {
    bytes: Vec<u8>,
    values: u32,
    tables: Vec<Begun>,
    settings: Settings,
    /// Lua's function of this name.
    next: &'a Function,
    current: &'a Current,
}

enum Stop {
    NotJson(String),
    Ended(mlua::Error),
}

impl From<mlua::Error> for Stop {
    fn from(error: mlua::Error) -> Stop {
        Stop::Ended(error)
    }
}

impl Text<'_> {
    /// One more value.
    fn count(&mut self) -> Result<(), Stop> {
        if self.bytes.len() > self.current.memory_bytes_max() {
            return Err(Stop::NotJson("not enough memory".to_owned()));
        }
        self.values = self.values.wrapping_add(1);
        if self.values.is_multiple_of(VALUES_BETWEEN_LOOKS) {
            self.current.go_on()?;
        }
        Ok(())
    }

    fn whole(&mut self, value: Value) -> Result<(), Stop> {
        self.value(value)?;
        while let Some(begun) = self.tables.pop() {
            match begun {
                Begun::Array { index, len, .. } if index == len => self.bytes.push(b']'),
                Begun::Array { table, index, len } => {
                    if index > 0 {
                        self.bytes.push(b',');
                    }
                    let value = table.raw_get(index + 1)?;
                    self.tables.push(Begun::Array { table, index: index + 1, len });
                    self.value(value)?;
                }
                Begun::Object { table, key } => {
                    let is_first = key.is_nil();
                    match self.next.call::<(Value, Value)>((&table, key))? {
                        (Value::Nil, _) => self.bytes.push(b'}'),
                        (key, value) => {
                            if !is_first {
                                self.bytes.push(b',');
                            }
                            self.key(&key)?;
                            self.tables.push(Begun::Object { table, key });
                            self.value(value)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A value, or the beginning of a table.
    fn value(&mut self, value: Value) -> Result<(), Stop> {
        let Value::Table(table) = value else { return self.scalar(&value) };
        self.count()?;
        let depth = self.tables.len() + 1;
        if depth > (self.settings.encode_max_depth as usize).min(NESTING_MAX) {
            return Err(Stop::NotJson(format!("Cannot serialise, excessive nesting ({depth})")));
        }
        let len = array_len(&table, self.settings)?;
        self.bytes.push(if len > 0 { b'[' } else { b'{' });
        self.tables.push(match len {
            0 => Begun::Object { table, key: Value::Nil },
            len => Begun::Array { table, index: 0, len },
        });
        Ok(())
    }

    fn scalar(&mut self, value: &Value) -> Result<(), Stop> {
        self.count()?;
        match value {
            Value::Nil => self.bytes.extend_from_slice(b"null"),
            Value::LightUserData(pointer) if pointer.0.is_null() => {
                self.bytes.extend_from_slice(b"null");
            }
            Value::Boolean(truth) => {
                self.bytes.extend_from_slice(if *truth { b"true" } else { b"false" });
            }
            Value::Integer(number) => self.number(*number as f64)?,
            Value::Number(number) => self.number(*number)?,
            Value::String(text) => write_string(&text.as_bytes(), &mut self.bytes),
            other => return Err(cannot_serialise(other, "type not supported")),
        }
        Ok(())
    }

    fn number(&mut self, number: f64) -> Result<(), Stop> {
        if !number.is_finite() {
            match self.settings.encode_invalid {
                Invalid::Refused => {
                    return Err(cannot_serialise(&Value::Number(number), "must not be NaN or Inf"));
                }
                Invalid::Written => {}
                Invalid::Null => {
                    self.bytes.extend_from_slice(b"null");
                    return Ok(());
                }
            }
        }
        number::write(number, self.settings.precision, &mut self.bytes);
        Ok(())
    }

    fn key(&mut self, key: &Value) -> Result<(), Stop> {
        match key {
            Value::String(text) => write_string(&text.as_bytes(), &mut self.bytes),
            Value::Integer(_) | Value::Number(_) => {
                self.bytes.push(b'"');
                self.scalar(key)?;
                self.bytes.push(b'"');
            }
            other => {
                return Err(cannot_serialise(other, "table key must be a number or string"));
            }
        }
        self.bytes.push(b':');
        Ok(())
    }
}

fn cannot_serialise(value: &Value, why: &str) -> Stop {
    Stop::NotJson(format!("Cannot serialise {}: {why}", type_name(value)))
}

/// The length of an array, 0 for what is an object.
fn array_len(table: &Table, settings: Settings) -> Result<usize, Stop> {
    let (mut count, mut len) = (0_usize, 0);
    for pair in table.pairs::<Value, Value>() {
        let (key, _) = pair?;
        match as_index(&key) {
            Some(index) => {
                count += 1;
                len = len.max(index);
            }
            None => return Ok(0),
        }
    }
    let (ratio, safe) = (settings.sparse_ratio as usize, settings.sparse_safe as usize);
    if ratio > 0 && len > count.saturating_mul(ratio) && len > safe {
        return match settings.sparse_convert {
            true => Ok(0),
            false => {
                let text = "Cannot serialise table: excessively sparse array";
                Err(Stop::NotJson(text.to_owned()))
            }
        };
    }
    Ok(len)
}

fn as_index(key: &Value) -> Option<usize> {
    match key {
        Value::Integer(index) => usize::try_from(*index).ok().filter(|index| *index > 0),
        Value::Number(number) if *number >= 1.0 && number.fract() == 0.0 => Some(*number as usize),
        _ => None,
    }
}

fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' | b'/' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            // Writing to a vector cannot fail.
            0..0x20 | 0x7F => drop(write!(out, "\\u{byte:04x}")),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}
