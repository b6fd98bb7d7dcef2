//! `redis.register_function`, while a library is loaded.

use crate::current::Current;
use crate::failure::raise;
use crate::library::{FunctionInfo, checked_name};
use crate::script::ScriptFlags;
use crate::trust::Trust;
use mlua::{Function, MultiValue, Table, Value};

/// What a library has registered so far.
#[derive(Default)]
pub(crate) struct Registered {
    pub(crate) functions: Vec<(FunctionInfo, Function)>,
}

const NOT_LOADING: &str = "redis.register_function can only be called on FUNCTION LOAD command";
const WRONG_COUNT: &str = "wrong number of arguments to redis.register_function";
const NO_TABLE: &str = "calling redis.register_function with a single argument is only applicable to Lua table \
                        (representing named arguments).";

/// What is known of a function that is being registered.
#[derive(Default)]
struct Named {
    name: Option<Vec<u8>>,
    description: Option<Vec<u8>>,
    callback: Option<Function>,
    flags: ScriptFlags,
}

/// The function itself.
pub(crate) fn register(current: &Current, args: &MultiValue) -> mlua::Result<()> {
    let told = |text: &str| raise(format!("ERR {text}"));
    let mut registering = current.registering().borrow_mut();
    let Some(registered) = &mut *registering else { return Err(told(NOT_LOADING)) };
    let named = match (args.len(), args.front()) {
        (1, Some(Value::Table(table))) => read_named(table),
        (1, _) => Err(NO_TABLE),
        (2, Some(name)) => read_positional(name, args.get(1)),
        _ => Err(WRONG_COUNT),
    };
    add(registered, named.map_err(told)?).map_err(told)
}

fn add(registered: &mut Registered, named: Named) -> Result<(), &'static str> {
    let Named { name, description, callback, flags } = named;
    let name = name.ok_or("redis.register_function must get a function name argument")?;
    let callback = callback.ok_or("redis.register_function must get a callback argument")?;
    let name = checked_name(&name)?;
    if registered.functions.iter().any(|(other, _)| other.name.eq_ignore_ascii_case(&name)) {
        return Err("Function already exists in the library");
    }
    let flags = ScriptFlags { declared: true, ..flags };
    let info = FunctionInfo { name, description, flags, trust: Trust::default() };
    registered.functions.push((info, callback));
    Ok(())
}

fn read_positional(name: &Value, callback: Option<&Value>) -> Result<Named, &'static str> {
    let name = text(name).ok_or("first argument to redis.register_function must be a string")?;
    let Some(Value::Function(callback)) = callback else {
        return Err("second argument to redis.register_function must be a function");
    };
    Ok(Named { name: Some(name), callback: Some(callback.clone()), ..Named::default() })
}

fn read_named(table: &Table) -> Result<Named, &'static str> {
    let mut named = Named::default();
    for pair in table.pairs::<Value, Value>() {
        // It fails where there is no memory left.
        let (key, value) = pair.map_err(|_| "not enough memory")?;
        let key = text(&key)
            .ok_or("named argument key given to redis.register_function is not a string")?;
        match key.to_ascii_lowercase().as_slice() {
            b"function_name" => {
                named.name = Some(text(&value).ok_or(
                    "function_name argument given to redis.register_function must be a string",
                )?);
            }
            b"description" => {
                named.description = Some(text(&value).ok_or(
                    "description argument given to redis.register_function must be a string",
                )?);
            }
            b"callback" => match value {
                Value::Function(callback) => named.callback = Some(callback),
                _ => {
                    return Err(
                        "callback argument given to redis.register_function must be a function",
                    );
                }
            },
            b"flags" => match value {
                Value::Table(flags) => named.flags = read_flags(&flags)?,
                _ => {
                    return Err("flags argument to redis.register_function must be a table \
                                representing function flags");
                }
            },
            _ => return Err("unknown argument given to redis.register_function"),
        }
    }
    Ok(named)
}

/// The elements from 1 on, up to the first that is `nil`.
fn read_flags(table: &Table) -> Result<ScriptFlags, &'static str> {
    const UNKNOWN: &str = "unknown flag given";
    let mut flags = ScriptFlags::default();
    for index in 1.. {
        let value: Value = table.raw_get(index).map_err(|_| UNKNOWN)?;
        if value.is_nil() {
            break;
        }
        let name = text(&value).ok_or(UNKNOWN)?.to_ascii_lowercase();
        flags.set(&String::from_utf8_lossy(&name)).map_err(|()| UNKNOWN)?;
    }
    Ok(flags)
}

/// A string or a number, as Lua writes it.
fn text(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.as_bytes().to_vec()),
        Value::Integer(_) | Value::Number(_) => value.to_string().ok().map(String::into_bytes),
        _ => None,
    }
}
