//! The library `cmsgpack`: Lua's values as [MessagePack](https://msgpack.org), as Redis has it.
//!
//! What it writes is that of lua-cmsgpack 0.4.0 byte for byte: numbers without a fraction are
//! integers, doubles that a float can hold are floats, a table with the keys 1 to n is an array.
//! What it does not know, such as the types `bin` and `ext`, it refuses as that does.

mod pack;
mod unpack;

use crate::arguments::Arguments;
use crate::current::Current;
use mlua::{Lua, MultiValue, Table};
use std::rc::Rc;

/// Values that are read or written between two looks at whether the script may go on.
const VALUES_BETWEEN_LOOKS: u32 = 4096;

/// The library.
pub(crate) fn library(lua: &Lua, current: &Rc<Current>) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    library.set("_NAME", "cmsgpack")?;
    library.set("_VERSION", "lua-cmsgpack 0.4.0")?;
    library.set("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo")?;
    library.set("_DESCRIPTION", "MessagePack C implementation for Lua")?;
    let state = Rc::clone(current);
    let pack = move |lua: &Lua, values: MultiValue| {
        let args = Arguments::new(lua, &values);
        lua.create_string(pack::pack(&args, &values, &state)?)
    };
    library.set("pack", lua.create_function(pack)?)?;
    let state = Rc::clone(current);
    let unpack = move |lua: &Lua, values: MultiValue| {
        unpack::unpack(lua, &Arguments::new(lua, &values), unpack::Part::ALL, &state)
    };
    library.set("unpack", lua.create_function(unpack)?)?;
    let state = Rc::clone(current);
    let unpack_one = move |lua: &Lua, values: MultiValue| {
        let args = Arguments::new(lua, &values);
        let part = unpack::Part { limit: 1, offset: args.integer_or(2, 0)? };
        unpack::unpack(lua, &args, part, &state)
    };
    library.set("unpack_one", lua.create_function(unpack_one)?)?;
    let state = Rc::clone(current);
    let unpack_limit = move |lua: &Lua, values: MultiValue| {
        let args = Arguments::new(lua, &values);
        let part = unpack::Part { limit: args.integer(2)?, offset: args.integer_or(3, 0)? };
        unpack::unpack(lua, &args, part, &state)
    };
    library.set("unpack_limit", lua.create_function(unpack_limit)?)?;
    Ok(library)
}
