//! What a running script asks of its host, as functions that Lua calls.
//!
//! They are made once for a Lua state, since making a function costs more than most scripts. So
//! they find the host of the run by their thread, to which it is lent (`lent.rs`).

use crate::current::Current;
use crate::failure::{Counted, raise, raise_table};
use crate::from_reply::{error, to_lua};
use crate::host::Denied;
use crate::lent;
use crate::room::with_room;
use crate::words::Words;
use basalt_resp::Output;
use mlua::{Function, Lua, MultiValue, Value};
use std::cell::RefCell;
use std::rc::Rc;

const NO_WORDS: &str = "ERR Please specify at least one argument for this redis lib call";
const NOT_RUNNING: &str = "ERR no script is running";

/// What a running script reaches the server through.
pub(crate) struct WayOut {
    current: Rc<Current>,
    words: RefCell<Words>,
}

/// `redis.call`, `redis.pcall` and `redis.acl_check_cmd`.
pub(crate) struct Functions {
    pub(crate) call: Function,
    pub(crate) pcall: Function,
    pub(crate) may_call: Function,
}

impl WayOut {
    /// The functions of the state that `current` belongs to.
    pub(crate) fn functions(lua: &Lua, current: &Rc<Current>) -> mlua::Result<Functions> {
        let way_out = Rc::new(WayOut { current: Rc::clone(current), words: RefCell::default() });
        let own = Rc::clone(&way_out);
        let call =
            lua.create_function(move |lua, asked: MultiValue| match own.call(lua, &asked)? {
                (true, value) => Ok(value),
                (false, problem) => Err(raise_table(problem)),
            })?;
        let own = Rc::clone(&way_out);
        let pcall = move |lua: &Lua, asked: MultiValue| own.call(lua, &asked).map(|it| it.1);
        let pcall = lua.create_function(pcall)?;
        let may_call = move |lua: &Lua, asked: MultiValue| way_out.may_call(lua, &asked);
        Ok(Functions { call, pcall, may_call: lua.create_function(may_call)? })
    }

    /// Runs a command: returns whether that went well and what came of it.
    fn call(&self, lua: &Lua, asked: &MultiValue) -> mlua::Result<(bool, Value)> {
        let Ok(mut words) = self.words.try_borrow_mut() else { return Err(raise(NOT_RUNNING)) };
        if let Err(text) = self.take_words(&mut words, asked) {
            return refused(lua, text, Counted::NotYet);
        }
        let current = &*self.current;
        if !current.may_go_on() {
            return Err(raise(current.reason().unwrap_or_default()));
        }
        let (protocol, memory_bytes_max) = (current.protocol(), current.memory_bytes_max());
        let mut out = Output::new();
        out.set_copied_bytes_max(memory_bytes_max);
        let called = lent::with(|host| host.call(&words, protocol, &mut out));
        match called.ok_or_else(|| raise(NOT_RUNNING))? {
            // A value that stands in memory once may be in the reply many times.
            Ok(()) if out.is_over() || out.len() > memory_bytes_max => {
                let text = "ERR the reply to the call is larger than 'script-memory-max'";
                refused(lua, text, Counted::NotYet)
            }
            Ok(()) => {
                let bytes = out.len();
                let value =
                    with_room(lua, memory_bytes_max, bytes, || to_lua(lua, &mut out, protocol))?;
                let error = value.as_table().map(|table| table.raw_get("err"));
                Ok((!matches!(error, Some(Ok(Value::String(_)))), value))
            }
            Err(Denied::Because(text)) => refused(lua, &*text, Counted::Already),
            Err(Denied::GiveUp) => {
                current.stop();
                Err(raise("ERR the script begins again"))
            }
        }
    }

    fn may_call(&self, lua: &Lua, asked: &MultiValue) -> mlua::Result<bool> {
        let Ok(mut words) = self.words.try_borrow_mut() else { return Err(raise(NOT_RUNNING)) };
        let told = |text: &str| Err(raise_table(error(lua, text, Counted::NotYet)?));
        if let Err(text) = self.take_words(&mut words, asked) {
            return told(text);
        }
        let asked = lent::with(|host| host.may_call(&words));
        match asked.ok_or_else(|| raise(NOT_RUNNING))? {
            Some(may) => Ok(may),
            None => told("ERR Invalid command passed to redis.acl_check_cmd()"),
        }
    }

    fn take_words(&self, words: &mut Words, asked: &MultiValue) -> Result<(), &'static str> {
        words.clear();
        let bytes_max = self.current.memory_bytes_max();
        for word in asked {
            words.push(word, bytes_max)?;
        }
        if asked.is_empty() { Err(NO_WORDS) } else { Ok(()) }
    }
}

fn refused(lua: &Lua, text: impl AsRef<[u8]>, counted: Counted) -> mlua::Result<(bool, Value)> {
    Ok((false, error(lua, text, counted)?))
}
