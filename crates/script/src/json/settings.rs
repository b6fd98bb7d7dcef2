//! What scripts can set of `cjson`.

use crate::arguments::Arguments;
use mlua::{IntoLuaMulti, Lua, MultiValue, Table, Value};
use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// See the functions of these names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    pub(super) encode_max_depth: i32,
    pub(super) decode_max_depth: i32,
    /// A table that is too sparse for an array is written as an object; otherwise it is refused.
    pub(super) sparse_convert: bool,
    /// An array may be this number of times as long as it has elements; 0: as long as it likes …
    pub(super) sparse_ratio: i32,
    /// … and up to this length as sparse as it likes.
    pub(super) sparse_safe: i32,
    pub(super) encode_invalid: Invalid,
    /// NaN, infinity, hexadecimal numbers and zeros in front are read.
    pub(super) decode_invalid: bool,
    /// Digits that count.
    pub(super) precision: i32,
    keep_buffer: bool,
}

/// What becomes of numbers that JSON does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Invalid {
    Refused,
    Written,
    Null,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            encode_max_depth: 1000,
            decode_max_depth: 1000,
            sparse_convert: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_invalid: Invalid::Refused,
            decode_invalid: true,
            precision: 14,
            keep_buffer: true,
        }
    }
}

/// A function that changes settings: how many arguments it takes at most, and what it does.
type Setter = fn(&Arguments<'_>, &Lua, &mut Settings) -> mlua::Result<MultiValue>;

const SETTERS: [(&str, usize, Setter); 7] = [
    ("encode_sparse_array", 3, |args, lua, settings| {
        set_switch(args, &mut settings.sparse_convert)?;
        set_integer(args, 2, 0..=i32::MAX, &mut settings.sparse_ratio)?;
        set_integer(args, 3, 0..=i32::MAX, &mut settings.sparse_safe)?;
        (settings.sparse_convert, settings.sparse_ratio, settings.sparse_safe).into_lua_multi(lua)
    }),
    ("encode_max_depth", 1, |args, lua, settings| {
        set_integer(args, 1, 1..=i32::MAX, &mut settings.encode_max_depth)?;
        settings.encode_max_depth.into_lua_multi(lua)
    }),
    ("decode_max_depth", 1, |args, lua, settings| {
        set_integer(args, 1, 1..=i32::MAX, &mut settings.decode_max_depth)?;
        settings.decode_max_depth.into_lua_multi(lua)
    }),
    ("encode_number_precision", 1, |args, lua, settings| {
        set_integer(args, 1, 1..=14, &mut settings.precision)?;
        settings.precision.into_lua_multi(lua)
    }),
    // It is about memory, of which nothing is kept here.
    ("encode_keep_buffer", 1, |args, lua, settings| {
        set_switch(args, &mut settings.keep_buffer)?;
        settings.keep_buffer.into_lua_multi(lua)
    }),
    ("encode_invalid_numbers", 1, |args, lua, settings| {
        let options = ["off", "on", "null"];
        settings.encode_invalid = match option(args, &options)? {
            None => settings.encode_invalid,
            Some(0) => Invalid::Refused,
            Some(1) => Invalid::Written,
            Some(_) => Invalid::Null,
        };
        match settings.encode_invalid {
            Invalid::Null => "null".into_lua_multi(lua),
            other => (other == Invalid::Written).into_lua_multi(lua),
        }
    }),
    ("decode_invalid_numbers", 1, |args, lua, settings| {
        set_switch(args, &mut settings.decode_invalid)?;
        settings.decode_invalid.into_lua_multi(lua)
    }),
];

/// Puts the functions that change them into the library.
pub(super) fn add(lua: &Lua, library: &Table, settings: &Rc<Cell<Settings>>) -> mlua::Result<()> {
    for (name, arguments_max, set) in SETTERS {
        let settings = Rc::clone(settings);
        let function = move |lua: &Lua, values: MultiValue| {
            let args = Arguments::new(lua, &values);
            if args.len() > arguments_max {
                return Err(args.wrong(arguments_max + 1, "found too many arguments"));
            }
            // What comes before an argument that is refused is set.
            let mut changed = settings.get();
            let answer = set(&args, lua, &mut changed);
            settings.set(changed);
            answer
        };
        library.set(name, lua.create_function(function)?)?;
    }
    Ok(())
}

fn set_integer(
    args: &Arguments<'_>,
    position: usize,
    range: RangeInclusive<i32>,
    setting: &mut i32,
) -> mlua::Result<()> {
    if args.is_nil(position) {
        return Ok(());
    }
    // The low 32 bits, as in C.
    let value = args.integer(position)? as i32;
    if !range.contains(&value) {
        let what = format!("expected integer between {} and {}", range.start(), range.end());
        // Whichever argument it is.
        return Err(args.wrong(1, &what));
    }
    *setting = value;
    Ok(())
}

fn set_switch(args: &Arguments<'_>, setting: &mut bool) -> mlua::Result<()> {
    *setting = option(args, &["off", "on"])?.map_or(*setting, |chosen| chosen == 1);
    Ok(())
}

/// Which option the first argument names; `true` and `false` are the first two.
fn option(args: &Arguments<'_>, options: &[&str]) -> mlua::Result<Option<usize>> {
    match args.get(1) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Boolean(truth)) => Ok(Some(usize::from(*truth))),
        Some(_) => {
            let name = args.string(1)?;
            let chosen = options.iter().position(|option| option.as_bytes() == &*name.as_bytes());
            chosen.map(Some).ok_or_else(|| {
                args.wrong(1, &format!("invalid option '{}'", name.to_string_lossy()))
            })
        }
    }
}
