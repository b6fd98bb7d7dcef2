//! `cjson.encode`
//!
//! A table whose keys are all whole numbers from 1 on is an array, with `null` where there is
//! nothing; one with mostly nothing is refused. Any other table is an object, and so is an empty
//! one.

use super::{NESTING_MAX, VALUES_BETWEEN_LOOKS};
use crate::current::Current;
use mlua::{Table, Value};
use std::io::Write;

/// Arrays up to this length may be as sparse as they like …
const SPARSE_LEN_MAX: usize = 10;
/// … longer ones may be this number of times as long as they have elements.
const SPARSE_RATIO: usize = 2;

/// Writes a value as JSON.
///
/// # Errors
/// Outside: the script is to end. Inside: JSON cannot say it, or it would be larger than the
/// script's memory: a table that stands in many places is written in each.
pub(crate) fn encode(value: &Value, current: &Current) -> mlua::Result<Result<Vec<u8>, String>> {
    let mut out = Text { bytes: Vec::new(), values: 0, current };
    match write_value(value, 0, &mut out) {
        Ok(()) => Ok(Ok(out.bytes)),
        Err(Stop::NotJson(text)) => Ok(Err(text)),
        Err(Stop::Ended(error)) => Err(error),
    }
}

/// What has been written.
struct Text<'a> {
    bytes: Vec<u8>,
    values: u32,
    current: &'a Current,
}

enum Stop {
    NotJson(String),
    Ended(mlua::Error),
}

impl From<String> for Stop {
    fn from(text: String) -> Stop {
        Stop::NotJson(text)
    }
}

impl Text<'_> {
    /// One more value.
    fn count(&mut self) -> Result<(), Stop> {
        if self.bytes.len() > self.current.memory_bytes_max() {
            return Err(Stop::NotJson("not enough memory".to_owned()));
        }
        self.values += 1;
        if self.values.is_multiple_of(VALUES_BETWEEN_LOOKS) {
            self.current.go_on().map_err(Stop::Ended)?;
        }
        Ok(())
    }
}

fn write_value(value: &Value, depth: usize, out: &mut Text<'_>) -> Result<(), Stop> {
    out.count()?;
    match value {
        Value::Nil => out.bytes.extend_from_slice(b"null"),
        Value::LightUserData(pointer) if pointer.0.is_null() => {
            out.bytes.extend_from_slice(b"null")
        }
        Value::Boolean(truth) => {
            out.bytes.extend_from_slice(if *truth { b"true" } else { b"false" })
        }
        Value::Integer(number) => write_number(*number as f64, &mut out.bytes)?,
        Value::Number(number) => write_number(*number, &mut out.bytes)?,
        Value::String(text) => write_string(&text.as_bytes(), &mut out.bytes),
        Value::Table(table) => return write_table(table, depth + 1, out),
        other => {
            return Err(Stop::NotJson(format!(
                "Cannot serialise {}: type not supported",
                other.type_name()
            )));
        }
    }
    Ok(())
}

fn write_table(table: &Table, depth: usize, out: &mut Text<'_>) -> Result<(), Stop> {
    if depth > NESTING_MAX {
        return Err(Stop::NotJson(format!("Cannot serialise, excessive depth ({depth})")));
    }
    match array_len(table)? {
        0 => write_object(table, depth, out),
        len => write_array(table, len, depth, out),
    }
}

/// The length of an array, 0 for what is an object.
fn array_len(table: &Table) -> Result<usize, Stop> {
    let (mut count, mut len) = (0, 0);
    for pair in table.pairs::<Value, Value>() {
        let (key, _) = pair.map_err(|error| error.to_string())?;
        match as_index(&key) {
            Some(index) => {
                count += 1;
                len = len.max(index);
            }
            None => return Ok(0),
        }
    }
    if len > SPARSE_LEN_MAX && len > count * SPARSE_RATIO {
        return Err(Stop::NotJson("Cannot serialise table: excessively sparse array".to_owned()));
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

fn write_array(table: &Table, len: usize, depth: usize, out: &mut Text<'_>) -> Result<(), Stop> {
    out.bytes.push(b'[');
    for index in 1..=len {
        if index > 1 {
            out.bytes.push(b',');
        }
        let value: Value = table.raw_get(index).map_err(|error| error.to_string())?;
        write_value(&value, depth, out)?;
    }
    out.bytes.push(b']');
    Ok(())
}

fn write_object(table: &Table, depth: usize, out: &mut Text<'_>) -> Result<(), Stop> {
    out.bytes.push(b'{');
    let mut is_first = true;
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair.map_err(|error| error.to_string())?;
        if !std::mem::take(&mut is_first) {
            out.bytes.push(b',');
        }
        match &key {
            Value::String(text) => write_string(&text.as_bytes(), &mut out.bytes),
            Value::Integer(_) | Value::Number(_) => {
                out.bytes.push(b'"');
                write_value(&key, depth, out)?;
                out.bytes.push(b'"');
            }
            other => {
                let kind = other.type_name();
                return Err(Stop::NotJson(format!(
                    "Cannot serialise {kind}: table key must be a number or string"
                )));
            }
        }
        out.bytes.push(b':');
        write_value(&value, depth, out)?;
    }
    out.bytes.push(b'}');
    Ok(())
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

/// Up to 14 digits that count, as C's `%.14g`.
fn write_number(number: f64, out: &mut Vec<u8>) -> Result<(), String> {
    const DIGITS: i32 = 14;
    if !number.is_finite() {
        return Err("Cannot serialise number: must not be NaN or Inf".to_owned());
    }
    let scientific = format!("{number:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let text = if (-4..DIGITS).contains(&exponent) {
        without_zeros(&format!("{number:.*}", (DIGITS - 1 - exponent) as usize)).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
    };
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_14_digits() {
        for (number, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.33333333333333"),
            (1e13, "10000000000000"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "1.2345678901234e+14"),
            (0.00001, "1e-05"),
            (0.0001, "0.0001"),
            (1e100, "1e+100"),
        ] {
            let mut out = Vec::new();
            write_number(number, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
