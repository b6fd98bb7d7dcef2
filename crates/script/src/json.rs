//! The library `cjson`, as Redis has it.
//!
//! Its settings hold for the rest of the script that has made them, and those of `cjson.new` as
//! long as its library. (In Redis they hold until the server ends, whatever script comes next; here
//! every thread has a Lua state, and a script must not depend on which it runs in.)

mod decode;
mod encode;
mod number;
mod settings;

use crate::arguments::Arguments;
use crate::current::Current;
use decode::decode;
use encode::encode;
use mlua::{Function, Lua, MultiValue, Table, Value};
pub(crate) use settings::Settings;
use std::cell::Cell;
use std::rc::Rc;

/// Values nest no deeper than this, whatever the settings say.
const NESTING_MAX: usize = 1000;
/// Values that are read or written between two looks at whether the script may go on.
const VALUES_BETWEEN_LOOKS: u32 = 4096;

/// The library with these settings; `next` is Lua's function of this name.
pub(crate) fn library(
    lua: &Lua,
    current: &Rc<Current>,
    settings: &Rc<Cell<Settings>>,
    next: &Function,
) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    library.set("null", Value::NULL)?;
    library.set("_NAME", "cjson")?;
    library.set("_VERSION", "2.1.0")?;
    let (state, set, next_pair) = (Rc::clone(current), Rc::clone(settings), next.clone());
    let encoding = move |lua: &Lua, values: MultiValue| {
        let args = Arguments::new(lua, &values);
        expect_one(&args)?;
        let value = values.front().cloned().unwrap_or(Value::Nil);
        match encode(value, set.get(), &next_pair, &state)? {
            Ok(text) => lua.create_string(text),
            Err(text) => Err(args.error(&text)),
        }
    };
    library.set("encode", lua.create_function(encoding)?)?;
    let (state, set) = (Rc::clone(current), Rc::clone(settings));
    let decoding = move |lua: &Lua, values: MultiValue| {
        let args = Arguments::new(lua, &values);
        expect_one(&args)?;
        let text = args.string(1)?;
        let decoded = decode(lua, &text.as_bytes(), set.get(), &state)?;
        decoded.map_err(|text| args.error(&text))
    };
    library.set("decode", lua.create_function(decoding)?)?;
    settings::add(lua, &library, settings)?;
    let (state, next) = (Rc::clone(current), next.clone());
    let new = move |lua: &Lua, ()| self::library(lua, &state, &Rc::default(), &next);
    library.set("new", lua.create_function(new)?)?;
    Ok(library)
}

fn expect_one(args: &Arguments<'_>) -> mlua::Result<()> {
    if args.len() == 1 { Ok(()) } else { Err(args.wrong(1, "expected 1 argument")) }
}
