//! `cmsgpack.pack`

use super::VALUES_BETWEEN_LOOKS;
use crate::arguments::{Arguments, truncated};
use crate::current::Current;
use mlua::{MultiValue, Table, Value};

/// Tables nested deeper than this are `nil`, as in Redis.
const NESTING_MAX: usize = 16;

/// All values, one behind the other.
pub(super) fn pack(
    args: &Arguments<'_>,
    values: &MultiValue,
    current: &Current,
) -> mlua::Result<Vec<u8>> {
    if values.is_empty() {
        return Err(args.wrong(0, "MessagePack pack needs input."));
    }
    let mut packer = Packer { bytes: Vec::new(), values: 0, current };
    for value in values {
        packer.value(value, 0)?;
    }
    Ok(packer.bytes)
}

struct Packer<'a> {
    bytes: Vec<u8>,
    values: u32,
    current: &'a Current,
}

impl Packer<'_> {
    fn value(&mut self, value: &Value, level: usize) -> mlua::Result<()> {
        self.values = self.values.wrapping_add(1);
        // A table that stands in many places is written in each.
        if self.bytes.len() > self.current.memory_bytes_max() {
            return Err(Arguments::plain_error("not enough memory"));
        }
        if self.values.is_multiple_of(VALUES_BETWEEN_LOOKS) {
            self.current.go_on()?;
        }
        match value {
            Value::String(text) => self.string(&text.as_bytes()),
            Value::Boolean(truth) => self.bytes.push(if *truth { 0xC3 } else { 0xC2 }),
            Value::Integer(number) => self.integer(*number),
            Value::Number(number) => self.number(*number),
            Value::Table(table) if level < NESTING_MAX => return self.table(table, level),
            _ => self.bytes.push(0xC0),
        }
        Ok(())
    }

    fn number(&mut self, number: f64) {
        let whole = truncated(number);
        if number.is_finite() && whole as f64 == number && number != 9_223_372_036_854_775_808.0 {
            self.integer(whole);
        } else if f64::from(number as f32) == number {
            self.bytes.push(0xCA);
            self.bytes.extend_from_slice(&(number as f32).to_be_bytes());
        } else {
            self.bytes.push(0xCB);
            self.bytes.extend_from_slice(&number.to_be_bytes());
        }
    }

    fn integer(&mut self, number: i64) {
        let bytes = number.to_be_bytes();
        let (first, len) = match number {
            -32..=127 => return self.bytes.push(bytes[7]),
            128..=0xFF => (0xCC, 1),
            0x100..=0xFFFF => (0xCD, 2),
            0x1_0000..=0xFFFF_FFFF => (0xCE, 4),
            0x1_0000_0000.. => (0xCF, 8),
            -0x80.. => (0xD0, 1),
            -0x8000.. => (0xD1, 2),
            -0x8000_0000.. => (0xD2, 4),
            _ => (0xD3, 8),
        };
        self.bytes.push(first);
        self.bytes.extend_from_slice(&bytes[8 - len..]);
    }

    fn string(&mut self, text: &[u8]) {
        match text.len() {
            len @ 0..32 => self.bytes.push(0xA0 | len as u8),
            len @ 32..0x100 => self.bytes.extend_from_slice(&[0xD9, len as u8]),
            len => self.head(len, 0xDA),
        }
        self.bytes.extend_from_slice(text);
    }

    fn table(&mut self, table: &Table, level: usize) -> mlua::Result<()> {
        let pairs = count(table)?;
        if pairs.is_array {
            match pairs.count {
                len @ 0..16 => self.bytes.push(0x90 | len as u8),
                len => self.head(len, 0xDC),
            }
            for index in 1..=pairs.count {
                let value: Value = table.raw_get(index)?;
                self.value(&value, level + 1)?;
            }
            return Ok(());
        }
        match pairs.count {
            len @ 0..16 => self.bytes.push(0x80 | len as u8),
            len => self.head(len, 0xDE),
        }
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            self.value(&key, level + 1)?;
            self.value(&value, level + 1)?;
        }
        Ok(())
    }

    /// A length of two bytes behind `first`, or one of four behind the next one.
    fn head(&mut self, len: usize, first: u8) {
        match u16::try_from(len) {
            Ok(len) => {
                self.bytes.push(first);
                self.bytes.extend_from_slice(&len.to_be_bytes());
            }
            Err(_) => {
                self.bytes.push(first + 1);
                self.bytes.extend_from_slice(&(len as u32).to_be_bytes());
            }
        }
    }
}

struct Pairs {
    count: usize,
    /// The keys are 1 to `count`.
    is_array: bool,
}

fn count(table: &Table) -> mlua::Result<Pairs> {
    let (mut count, mut max, mut are_indices) = (0, 0.0_f64, true);
    for pair in table.pairs::<Value, Value>() {
        let (key, _) = pair?;
        count += 1;
        match key {
            Value::Integer(index) if index > 0 => max = max.max(index as f64),
            Value::Number(index) if index > 0.0 && index.fract() == 0.0 => max = max.max(index),
            _ => are_indices = false,
        }
    }
    Ok(Pairs { count, is_array: are_indices && max == count as f64 })
}
