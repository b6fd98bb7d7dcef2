//! What a running script asks of its host, as functions that Lua calls.
//!
//! They are made once for a Lua state, since making a function costs more than most scripts. So
//! they find the host of the run by their thread, to which it is lent (`lent.rs`). `redis.call` and
//! `redis.pcall` are entered by `raw.rs`, which makes the value of a plain reply; of what else a
//! call comes to, [`WayOut::finish`] makes one.

use crate::current::Current;
use crate::failure::{Counted, raise, raise_table};
use crate::from_reply::{Plain, error, plain, to_lua};
use crate::host::Denied;
use crate::lent;
use crate::raw::asking;
use crate::room::with_room;
use crate::words::{Refused, Words};
use basalt_resp::{Output, Protocol};
use mlua::{Function, Lua, MultiValue, Value};
use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

const NO_WORDS: &str = "ERR Please specify at least one argument for this redis lib call";
const NOT_RUNNING: &str = "ERR no script is running";
const BEGINS_AGAIN: &str = "ERR the script begins again";
const REPLY_TOO_LARGE: &str = "ERR the reply to the call is larger than 'script-memory-max'";

/// What a running script reaches the server through.
pub(crate) struct WayOut {
    current: Rc<Current>,
    call: RefCell<Call>,
}

/// The call that is made, or was last.
#[derive(Default)]
struct Call {
    words: Words,
    out: Output,
    /// What it came to, if that is no reply.
    came_to: Option<NoReply>,
}

enum NoReply {
    /// The script is told this, and can go on.
    Refused(Cow<'static, str>, Counted),
    /// This is raised even by `redis.pcall`.
    Raised(&'static str),
    Panicked(Box<dyn Any + Send>),
}

/// What a call came to. Pointers are into the [`WayOut`], and good until the next call.
#[derive(Clone, Copy)]
pub(crate) enum Came {
    /// A string.
    Text(*const [u8]),
    /// `{ok = …}`
    Status(*const [u8]),
    Number(f64),
    False,
    Nil,
    /// What [`WayOut::finish`] tells.
    Other,
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
        let way_out = Rc::new(WayOut { current: Rc::clone(current), call: RefCell::default() });
        let own = Rc::clone(&way_out);
        let finish = lua.create_function(move |lua, ()| match own.finish(lua)? {
            (true, value) => Ok(value),
            (false, problem) => Err(raise_table(problem)),
        })?;
        let call = asking(lua, &way_out, finish)?;
        let own = Rc::clone(&way_out);
        let finish = lua.create_function(move |lua, ()| own.finish(lua).map(|it| it.1))?;
        let pcall = asking(lua, &way_out, finish)?;
        let may_call = move |lua: &Lua, asked: MultiValue| way_out.may_call(lua, &asked);
        Ok(Functions { call, pcall, may_call: lua.create_function(may_call)? })
    }

    /// Runs the command whose words `take` adds, as long as they are no larger than it is told.
    pub(crate) fn ask(&self, take: impl FnOnce(&mut Words, usize) -> Result<(), Refused>) -> Came {
        let asked = catch_unwind(AssertUnwindSafe(|| self.run(take)));
        let no_reply = match asked {
            Ok(Ok(came)) => return came,
            Ok(Err(no_reply)) => no_reply,
            Err(panic) => NoReply::Panicked(panic),
        };
        if let Ok(mut call) = self.call.try_borrow_mut() {
            call.came_to = Some(no_reply);
        }
        Came::Other
    }

    fn run(
        &self,
        take: impl FnOnce(&mut Words, usize) -> Result<(), Refused>,
    ) -> Result<Came, NoReply> {
        let Ok(mut call) = self.call.try_borrow_mut() else {
            return Err(NoReply::Raised(NOT_RUNNING));
        };
        let Call { words, out, came_to } = &mut *call;
        *came_to = None;
        out.clear();
        words.clear();
        let current = &*self.current;
        let bytes_max = current.memory_bytes_max();
        let refused = |text: &'static str| NoReply::Refused(text.into(), Counted::NotYet);
        take(words, bytes_max).map_err(refused)?;
        if words.words().is_empty() {
            return Err(refused(NO_WORDS));
        }
        if !current.may_call() {
            return Err(NoReply::Raised(current.reason().unwrap_or_default()));
        }
        let protocol = current.protocol();
        out.set_copied_bytes_max(bytes_max);
        let called = lent::with(|host| host.call(words, protocol, out));
        match called.ok_or(NoReply::Raised(NOT_RUNNING))? {
            // A value that stands in memory once may be in the reply many times.
            Ok(()) if out.is_over() || out.len() > bytes_max => Err(refused(REPLY_TOO_LARGE)),
            Ok(()) => Ok(came(out, protocol)),
            Err(Denied::Because(text)) => Err(NoReply::Refused(text, Counted::Already)),
            Err(Denied::GiveUp) => {
                current.stop();
                Err(NoReply::Raised(BEGINS_AGAIN))
            }
        }
    }

    /// Returns whether the last call went well and what came of it.
    fn finish(&self, lua: &Lua) -> mlua::Result<(bool, Value)> {
        let mut call = self.call.try_borrow_mut().map_err(|_| raise(NOT_RUNNING))?;
        match call.came_to.take() {
            Some(NoReply::Refused(text, counted)) => refused(lua, &*text, counted),
            Some(NoReply::Raised(text)) => Err(raise(text)),
            Some(NoReply::Panicked(panic)) => resume_unwind(panic),
            None => {
                let out = &mut call.out;
                let (protocol, bytes) = (self.current.protocol(), out.len());
                let bytes_max = self.current.memory_bytes_max();
                let value = with_room(lua, bytes_max, bytes, || to_lua(lua, out, protocol));
                out.clear();
                let value = value?;
                let error = value.as_table().map(|table| table.raw_get("err"));
                Ok((!matches!(error, Some(Ok(Value::String(_)))), value))
            }
        }
    }

    pub(crate) fn memory_bytes_max(&self) -> usize {
        self.current.memory_bytes_max()
    }

    fn may_call(&self, lua: &Lua, asked: &MultiValue) -> mlua::Result<bool> {
        let Ok(mut call) = self.call.try_borrow_mut() else { return Err(raise(NOT_RUNNING)) };
        let told = |text: &str| Err(raise_table(error(lua, text, Counted::NotYet)?));
        let words = &mut call.words;
        words.clear();
        let bytes_max = self.memory_bytes_max();
        if let Err(text) = asked.iter().try_for_each(|word| words.push(word, bytes_max)) {
            return told(text);
        }
        if asked.is_empty() {
            return told(NO_WORDS);
        }
        let asked = lent::with(|host| host.may_call(words));
        match asked.ok_or_else(|| raise(NOT_RUNNING))? {
            Some(may) => Ok(may),
            None => told("ERR Invalid command passed to redis.acl_check_cmd()"),
        }
    }
}

/// The value of a reply that is plain and stands in one piece.
fn came(out: &Output, protocol: Protocol) -> Came {
    let Some(bytes) = out.one_piece() else { return Came::Other };
    match (plain(bytes), protocol) {
        (Some(Plain::Text(text)), _) => Came::Text(text),
        (Some(Plain::Status(text)), _) => Came::Status(text),
        (Some(Plain::Integer(number)), _) => Came::Number(number as f64),
        (Some(Plain::Null), Protocol::Resp2) => Came::False,
        (Some(Plain::Null), Protocol::Resp3) => Came::Nil,
        (None, _) => Came::Other,
    }
}

fn refused(lua: &Lua, text: impl AsRef<[u8]>, counted: Counted) -> mlua::Result<(bool, Value)> {
    Ok((false, error(lua, text, counted)?))
}
