//! What the library of scripts does in Rust, as far as it concerns no running script's server.

use crate::bit;
use crate::current::Current;
use crate::failure::{caught_text, raise, told};
use crate::from_reply::error;
use crate::host::Level;
use crate::json;
use crate::msgpack;
use crate::random::Random;
use crate::registering::register;
use crate::sha1::Sha1;
use crate::strings;
use crate::structs;
use crate::way_out::WayOut;
use basalt_resp::Protocol;
use mlua::{Lua, LuaString, MultiValue, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

/// Longest line of `redis.log`; words beyond it are left out.
const LOGGED_BYTES_MAX: usize = 64 << 10;

/// The functions, by the names that the prelude knows.
pub(crate) fn functions(
    lua: &Lua,
    current: &Rc<Current>,
    random: &Rc<Random>,
    json_settings: &Rc<Cell<json::Settings>>,
) -> mlua::Result<Table> {
    let native = lua.create_table()?;
    native.set("sha1hex", lua.create_function(|_, args| sha1hex(&args))?)?;
    native.set("set_repl", lua.create_function(|_, args| set_repl(&args))?)?;
    let seeded = Rc::clone(random);
    let seed = move |_: &Lua, seed: f64| {
        seeded.seed(seed as i64);
        Ok(())
    };
    native.set("seed", lua.create_function(seed)?)?;
    let random = Rc::clone(random);
    native.set("fraction", lua.create_function(move |_, ()| Ok(random.fraction()))?)?;
    native.set("seen", lua.create_function(seen)?)?;
    let state = Rc::clone(current);
    native.set("stopped", lua.create_function(move |_, ()| Ok(state.is_stopped()))?)?;
    let state = Rc::clone(current);
    native.set(
        "list_made",
        lua.create_function(move |_, ()| {
            state.lists().made.set(true);
            Ok(())
        })?,
    )?;
    let state = Rc::clone(current);
    native.set("log", lua.create_function(move |_, args| log(&state, &args))?)?;
    let state = Rc::clone(current);
    native.set("setresp", lua.create_function(move |_, args| set_protocol(&state, &args))?)?;
    let way_out = WayOut::functions(lua, current)?;
    native.set("call", way_out.call)?;
    native.set("pcall", way_out.pcall)?;
    native.set("acl_check_cmd", way_out.may_call)?;
    let state = Rc::clone(current);
    let register = move |_: &Lua, args: MultiValue| register(&state, &args);
    native.set("register_function", lua.create_function(register)?)?;
    native.set("bit", bit::library(lua)?)?;
    let next = lua.globals().get("next")?;
    native.set("cjson", json::library(lua, current, json_settings, &next)?)?;
    native.set("cmsgpack", msgpack::library(lua, current)?)?;
    native.set("struct", structs::library(lua, current)?)?;
    let state = Rc::clone(current);
    native.set("pause", lua.create_function(move |_, ()| state.go_on())?)?;
    strings::add(lua, &native, current)?;
    Ok(native)
}

/// What a script sees of a problem: what the server raises is no value that it knows, but a text,
/// or a table with the text in `err`.
fn seen(lua: &Lua, problem: Value) -> mlua::Result<Value> {
    if let Some(text) = caught_text(&problem) {
        return Ok(Value::String(lua.create_string(text)?));
    }
    match told(&problem) {
        Some((text, counted)) => error(lua, text, counted),
        None => Ok(problem),
    }
}

fn sha1hex(args: &MultiValue) -> mlua::Result<String> {
    if args.len() != 1 {
        return Err(raise("ERR wrong number of arguments"));
    }
    let text = args.front().and_then(text).unwrap_or_default();
    Ok(Sha1::of(&text).to_string())
}

fn set_repl(args: &MultiValue) -> mlua::Result<()> {
    if args.len() != 1 {
        return Err(raise("ERR redis.set_repl() requires two arguments."));
    }
    match args.front().and_then(number).unwrap_or(0) {
        0..4 => Ok(()),
        _ => Err(raise(
            "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
        )),
    }
}

fn set_protocol(current: &Current, args: &MultiValue) -> mlua::Result<()> {
    if args.len() != 1 {
        return Err(raise("ERR redis.setresp() requires one argument."));
    }
    match args.front().and_then(number) {
        Some(2) => current.speak(Protocol::Resp2),
        Some(3) => current.speak(Protocol::Resp3),
        _ => return Err(raise("ERR RESP version must be 2 or 3.")),
    }
    Ok(())
}

fn log(current: &Current, args: &MultiValue) -> mlua::Result<()> {
    if args.len() < 2 {
        return Err(raise("ERR redis.log() requires two arguments or more."));
    }
    let Some(level) = args.front().and_then(number) else {
        return Err(raise("ERR First argument must be a number (log level)."));
    };
    let Some(level) = Level::from_number(level) else {
        return Err(raise("ERR Invalid debug level."));
    };
    let mut line = Vec::new();
    for word in args.iter().skip(1).filter_map(text) {
        if line.len() + word.len() > LOGGED_BYTES_MAX {
            break;
        }
        line.extend_from_slice(if line.is_empty() { b"" } else { b" " });
        line.extend_from_slice(&word);
    }
    current.log(level, &line);
    Ok(())
}

/// A string or a number, as Lua writes it.
fn text(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(LuaString::as_bytes(text).to_vec()),
        Value::Integer(_) | Value::Number(_) => value.to_string().ok().map(String::into_bytes),
        _ => None,
    }
}

/// A number, or a string that is one; fractions are cut off.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        Value::Number(number) => Some(*number as i64),
        Value::String(text) => text.to_str().ok()?.trim().parse::<f64>().ok().map(|n| n as i64),
        _ => None,
    }
}
