//! The library `struct`: numbers and strings as the bytes of a C structure, as Redis has it.
//!
//! A format is a row of options. Those of integers, floats and strings stand for a value each; `<`,
//! `>` and `!` say in which order and how aligned the bytes of what follows are. All sizes are
//! those of a C compiler for x86-64.

use crate::arguments::{Arguments, truncated};
use crate::current::Current;
use mlua::{Lua, MultiValue, Table, Value};
use std::rc::Rc;

/// Bytes of the largest integer.
const INTEGER_BYTES_MAX: usize = 32;
/// The alignment that `!` stands for, the largest that the machine needs.
const MACHINE_ALIGNMENT: i64 = 8;
/// Values that one call gives, as many as Lua's stack has room for.
const VALUES_MAX: usize = 7900;
/// Options between two looks at whether the script may go on.
const OPTIONS_BETWEEN_LOOKS: usize = 4096;

/// The library.
pub(crate) fn library(lua: &Lua, current: &Rc<Current>) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    let state = Rc::clone(current);
    let pack = move |lua: &Lua, mut values: MultiValue| {
        let format = Arguments::new(lua, &values).string(1)?;
        // In Redis there is such a mark behind the arguments, and a value that is missing is this.
        values.push_back(Value::Nil);
        lua.create_string(pack(&format.as_bytes(), &Arguments::new(lua, &values), &state)?)
    };
    library.set("pack", lua.create_function(pack)?)?;
    let state = Rc::clone(current);
    let unpack =
        move |lua: &Lua, values: MultiValue| unpack(lua, &Arguments::new(lua, &values), &state);
    library.set("unpack", lua.create_function(unpack)?)?;
    let state = Rc::clone(current);
    let size = move |lua: &Lua, values: MultiValue| size(&Arguments::new(lua, &values), &state);
    library.set("size", lua.create_function(size)?)?;
    Ok(library)
}

fn pack(format: &[u8], args: &Arguments<'_>, current: &Current) -> mlua::Result<Vec<u8>> {
    let mut reader = Reader::new(format, args, current);
    let (mut bytes, mut position) = (Vec::new(), 1);
    while let Some(Step { option, size, padding }) = reader.next(bytes.len())? {
        let added = padding.saturating_add(size);
        if added > current.memory_bytes_max().saturating_sub(bytes.len()) && option != b'c' {
            return Err(Arguments::plain_error("not enough memory"));
        }
        bytes.resize(bytes.len() + padding, 0);
        let mut value = || {
            position += 1;
            position
        };
        match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let number = args.number(value())?;
                add_integer(to_bits(number), size, reader.order, &mut bytes);
            }
            b'x' => bytes.push(0),
            b'f' => {
                let number = args.number(value())? as f32;
                add_in_order(number.to_le_bytes(), reader.order, &mut bytes);
            }
            b'd' => {
                let number = args.number(value())?;
                add_in_order(number.to_le_bytes(), reader.order, &mut bytes);
            }
            b'c' | b's' => {
                let text = args.string(value())?;
                let text = text.as_bytes();
                let size = if size == 0 { text.len() } else { size };
                let Some(text) = text.get(..size) else {
                    return Err(args.wrong(value(), "string too short"));
                };
                if size >= current.memory_bytes_max().saturating_sub(bytes.len()) {
                    return Err(Arguments::plain_error("not enough memory"));
                }
                bytes.extend_from_slice(text);
                if option == b's' {
                    bytes.push(0);
                }
            }
            _ => reader.control(option)?,
        }
    }
    Ok(bytes)
}

fn unpack(lua: &Lua, args: &Arguments<'_>, current: &Current) -> mlua::Result<MultiValue> {
    let (format, data) = (args.string(1)?, args.string(2)?);
    let (format, data) = (format.as_bytes(), data.as_bytes());
    let first = args.integer_or(3, 1)? as u64 as usize;
    let mut at = match first {
        0 => return Err(args.wrong(3, "offset must be 1 or greater")),
        first => first - 1,
    };
    let mut reader = Reader::new(&format, args, current);
    let mut values = MultiValue::new();
    while let Some(Step { option, mut size, padding }) = reader.next(at)? {
        at = at.wrapping_add(padding);
        let piece = |at: usize, size: usize| {
            let piece = at.checked_add(size).and_then(|end| data.get(at..end));
            piece.ok_or_else(|| args.wrong(2, "data string too short"))
        };
        let bytes = piece(at, size)?;
        if values.len() == VALUES_MAX {
            return Err(args.error("stack overflow (too many results)"));
        }
        match option {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let number = integer(bytes, reader.order, option.is_ascii_lowercase());
                values.push_back(Value::Number(number));
            }
            b'x' => {}
            b'f' => {
                let number = f32::from_le_bytes(in_order(bytes, reader.order));
                values.push_back(Value::Number(f64::from(number)));
            }
            b'd' => {
                let number = f64::from_le_bytes(in_order(bytes, reader.order));
                values.push_back(Value::Number(number));
            }
            b'c' => {
                let mut bytes = bytes;
                if size == 0 {
                    let previous = values.pop_back().unwrap_or(Value::Nil);
                    let previous = lua.coerce_number(previous)?;
                    let previous =
                        previous.ok_or_else(|| args.error("format 'c0' needs a previous size"))?;
                    size = to_bits(previous) as usize;
                    bytes = piece(at, size)?;
                }
                values.push_back(Value::String(lua.create_string(bytes)?));
            }
            b's' => {
                let Some(len) = memchr::memchr(0, &data[at..]) else {
                    return Err(args.error("unfinished string in data"));
                };
                size = len + 1;
                values.push_back(Value::String(lua.create_string(&data[at..at + len])?));
            }
            _ => reader.control(option)?,
        }
        at += size;
    }
    values.push_back(Value::Number(at.wrapping_add(1) as i64 as f64));
    Ok(values)
}

fn size(args: &Arguments<'_>, current: &Current) -> mlua::Result<f64> {
    let format = args.string(1)?;
    let format = format.as_bytes();
    let mut reader = Reader::new(&format, args, current);
    let mut at = 0_usize;
    while let Some(Step { option, size, padding }) = reader.next(at)? {
        at = at.wrapping_add(padding);
        match option {
            b's' => return Err(args.wrong(1, "option 's' has no fixed size")),
            b'c' if size == 0 => return Err(args.wrong(1, "option 'c0' has no fixed size")),
            option if !option.is_ascii_alphanumeric() => reader.control(option)?,
            _ => {}
        }
        at = at.wrapping_add(size);
    }
    Ok(at as i64 as f64)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

/// An option, how many bytes it stands for, and how many zeros before it.
struct Step {
    option: u8,
    size: usize,
    padding: usize,
}

/// Reads a format.
struct Reader<'a> {
    format: &'a [u8],
    args: &'a Arguments<'a>,
    current: &'a Current,
    options: usize,
    order: Order,
    alignment: usize,
}

impl<'a> Reader<'a> {
    fn new(format: &'a [u8], args: &'a Arguments<'a>, current: &'a Current) -> Reader<'a> {
        // As in C, a format ends at its first zero byte.
        let end = memchr::memchr(0, format).unwrap_or(format.len());
        let (order, alignment) = (Order::Little, 1);
        Reader { format: &format[..end], args, current, options: 0, order, alignment }
    }

    /// The next option, for which the bytes from `at` on are free.
    fn next(&mut self, at: usize) -> mlua::Result<Option<Step>> {
        let Some((&option, rest)) = self.format.split_first() else { return Ok(None) };
        self.format = rest;
        self.options += 1;
        if self.options.is_multiple_of(OPTIONS_BETWEEN_LOOKS) {
            self.current.go_on()?;
        }
        let size = match option {
            b'B' | b'b' | b'x' => 1,
            b'H' | b'h' => 2,
            b'L' | b'l' | b'T' | b'd' => 8,
            b'f' => 4,
            b'c' => self.number(1)? as usize,
            b'i' | b'I' => {
                let size = self.number(4)?;
                if size > INTEGER_BYTES_MAX as i64 {
                    let text =
                        format!("integral size {size} is larger than limit of {INTEGER_BYTES_MAX}");
                    return Err(self.args.error(&text));
                }
                size as usize
            }
            _ => 0,
        };
        let padding = if option == b'c' { 0 } else { self.padding(at, size) };
        Ok(Some(Step { option, size, padding }))
    }

    fn padding(&self, at: usize, size: usize) -> usize {
        // Sizes that are no power of two come out as in C, where the formula is for those that are.
        match size.min(self.alignment) {
            0 => 0,
            size => (size - (at & (size - 1))) & (size - 1),
        }
    }

    /// The number that follows.
    fn number(&mut self, default: i64) -> mlua::Result<i64> {
        let len = self.format.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.format.split_at(len);
        if digits.is_empty() {
            return Ok(default);
        }
        self.format = rest;
        let mut number = 0_i32;
        for digit in digits {
            let next = number.checked_mul(10).and_then(|n| n.checked_add(i32::from(digit - b'0')));
            number = next.ok_or_else(|| self.args.error("integral size overflow"))?;
        }
        Ok(i64::from(number))
    }

    /// An option that stands for no value.
    fn control(&mut self, option: u8) -> mlua::Result<()> {
        match option {
            b' ' => {}
            b'>' => self.order = Order::Big,
            b'<' => self.order = Order::Little,
            b'!' => {
                let alignment = self.number(MACHINE_ALIGNMENT)?;
                if alignment <= 0 || alignment & (alignment - 1) != 0 {
                    let text = format!("alignment {alignment} is not a power of 2");
                    return Err(self.args.error(&text));
                }
                self.alignment = alignment as usize;
            }
            option => {
                let text = format!("invalid format option '{}'", char::from(option));
                return Err(self.args.wrong(1, &text));
            }
        }
        Ok(())
    }
}

/// As the conversion of a C compiler for x86-64 does it, also for what is too large.
fn to_bits(number: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    match number {
        number if number >= HALF => truncated(number - HALF) as u64 ^ 1 << 63,
        number => truncated(number) as u64,
    }
}

fn add_integer(bits: u64, size: usize, order: Order, bytes: &mut Vec<u8>) {
    let mut integer = [0; INTEGER_BYTES_MAX];
    integer[..8].copy_from_slice(&bits.to_le_bytes());
    let integer = &mut integer[..size];
    if order == Order::Big {
        integer.reverse();
    }
    bytes.extend_from_slice(integer);
}

fn integer(bytes: &[u8], order: Order, is_signed: bool) -> f64 {
    let fold = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    let bits = match order {
        Order::Big => bytes.iter().fold(0, fold),
        Order::Little => bytes.iter().rev().fold(0, fold),
    };
    if !is_signed {
        return bits as f64;
    }
    // A shift by more than 63 is one by its remainder, as on x86-64.
    let sign = u64::MAX.wrapping_shl((8 * bytes.len() as u32).wrapping_sub(1));
    (if bits & sign == 0 { bits } else { bits | sign }) as i64 as f64
}

fn add_in_order<const SIZE: usize>(mut little: [u8; SIZE], order: Order, bytes: &mut Vec<u8>) {
    if order == Order::Big {
        little.reverse();
    }
    bytes.extend_from_slice(&little);
}

/// The bytes of a value, lowest first.
fn in_order<const SIZE: usize>(bytes: &[u8], order: Order) -> [u8; SIZE] {
    let mut little = [0; SIZE];
    little.copy_from_slice(bytes);
    if order == Order::Big {
        little.reverse();
    }
    little
}
