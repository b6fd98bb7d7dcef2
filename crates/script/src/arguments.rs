//! The arguments of a library function, checked as Lua's auxiliary library checks them, with its
//! error texts.
//!
//! The functions that use it are called by scripts directly, so that the errors name the function
//! and the line of the script that has called it, even where that is `return f(…)`.

use crate::failure::raise_text;
use mlua::{Lua, LuaString, MultiValue, Value};

/// See the head of this file. Positions are counted from 1, as in the texts.
pub(crate) struct Arguments<'a> {
    lua: &'a Lua,
    values: &'a MultiValue,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(lua: &'a Lua, values: &'a MultiValue) -> Arguments<'a> {
        Arguments { lua, values }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn is_nil(&self, position: usize) -> bool {
        self.get(position).is_none_or(Value::is_nil)
    }

    pub(crate) fn get(&self, position: usize) -> Option<&'a Value> {
        self.values.get(position - 1)
    }

    /// A string, or a number as Lua writes it.
    pub(crate) fn string(&self, position: usize) -> mlua::Result<LuaString> {
        let text = match self.get(position) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ (Value::Integer(_) | Value::Number(_))) => {
                self.lua.coerce_string(value.clone())?
            }
            _ => None,
        };
        text.ok_or_else(|| self.wrong_type(position, "string"))
    }

    /// A number, or a string that is one.
    pub(crate) fn number(&self, position: usize) -> mlua::Result<f64> {
        let number = match self.get(position) {
            Some(Value::Integer(number)) => Some(*number as f64),
            Some(Value::Number(number)) => Some(*number),
            Some(value @ Value::String(_)) => self.lua.coerce_number(value.clone())?,
            _ => None,
        };
        number.ok_or_else(|| self.wrong_type(position, "number"))
    }

    /// A number without its fraction.
    pub(crate) fn integer(&self, position: usize) -> mlua::Result<i64> {
        self.number(position).map(truncated)
    }

    pub(crate) fn integer_or(&self, position: usize, default: i64) -> mlua::Result<i64> {
        if self.is_nil(position) { Ok(default) } else { self.integer(position) }
    }

    fn wrong_type(&self, position: usize, expected: &str) -> mlua::Error {
        let got = match self.get(position) {
            None => "no value",
            Some(value) => type_name(value),
        };
        self.wrong(position, &format!("{expected} expected, got {got}"))
    }

    /// `bad argument #1 to 'name' (what)`
    pub(crate) fn wrong(&self, position: usize, what: &str) -> mlua::Error {
        let name =
            self.lua.inspect_stack(0, |frame| frame.names().name.map(|name| name.to_string()));
        let name = name.flatten().unwrap_or_else(|| "?".to_owned());
        self.error(&format!("bad argument #{position} to '{name}' ({what})"))
    }

    /// An error of the function's.
    pub(crate) fn error(&self, text: &str) -> mlua::Error {
        let place = self.lua.inspect_stack(1, |frame| {
            let source = frame.source().short_src.map(|source| source.to_string());
            let line = frame.current_line()?;
            Some(format!("{}:{line}: ", source.unwrap_or_default()))
        });
        raise_text(place.flatten().unwrap_or_default() + text)
    }

    /// An error of the machine's, which names no place.
    pub(crate) fn plain_error(text: &str) -> mlua::Error {
        raise_text(text)
    }
}

/// The name of a value's type in Lua.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) | Value::Number(_) => "number",
        Value::LightUserData(_) | Value::UserData(_) | Value::Error(_) => "userdata",
        other => other.type_name(),
    }
}

/// As the conversion of a C compiler for x86-64 does it, which is what clients have seen so far.
pub(crate) fn truncated(number: f64) -> i64 {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number);
    if fits { number as i64 } else { i64::MIN }
}
