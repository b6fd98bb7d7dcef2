//! What a running script asks of its host, as functions that Lua calls.

use crate::current::Current;
use crate::failure::{Counted, raise, raise_table};
use crate::from_reply::{error, to_lua};
use crate::host::{Denied, Host};
use crate::words::Words;
use basalt_resp::Output;
use mlua::{Lua, MultiValue, Value};

const NO_WORDS: &str = "ERR Please specify at least one argument for this redis lib call";

// What the prelude asks for; anything else is whether a call is allowed.
const CALL: i64 = 1;
const ATTEND: i64 = 3;

/// What a running script reaches the server through.
pub(crate) struct WayOut<'a> {
    pub(crate) lua: &'a Lua,
    pub(crate) host: &'a mut dyn Host,
    pub(crate) words: Words,
    pub(crate) current: &'a Current,
}

impl WayOut<'_> {
    /// What the prelude asks for: returns whether it went well and what came of it.
    pub(crate) fn ask(&mut self, asked: &MultiValue) -> mlua::Result<(bool, Value)> {
        let mut words = asked.iter();
        let what = words.next().and_then(Value::as_i64);
        if what == Some(ATTEND) {
            self.host.attend();
            return Ok((true, Value::Nil));
        }
        if let Err(text) = self.take_words(words) {
            return self.refuse(text, Counted::NotYet);
        }
        match what {
            Some(CALL) => self.call(),
            _ => self.may_call(),
        }
    }

    /// `redis.call`
    pub(crate) fn call_or_raise(&mut self, asked: &MultiValue) -> mlua::Result<Value> {
        self.take_words(asked.iter()).map_err(raise)?;
        let (is_well, value) = self.call()?;
        if is_well { Ok(value) } else { Err(raise_table(value)) }
    }

    fn call(&mut self) -> mlua::Result<(bool, Value)> {
        if self.words.words().is_empty() {
            return self.refuse(NO_WORDS, Counted::NotYet);
        }
        let host = &mut *self.host;
        let attend = || {
            host.attend();
            Ok(())
        };
        if !self.current.may_go_on(attend)? {
            return Err(raise(self.current.reason().unwrap_or_default()));
        }
        let protocol = self.current.protocol();
        let mut out = Output::new();
        out.set_copied_bytes_max(self.current.memory_bytes_max());
        match self.host.call(&self.words, protocol, &mut out) {
            // A value that stands in memory once may be in the reply many times.
            Ok(()) if out.is_over() || out.len() > self.current.memory_bytes_max() => {
                let text = "ERR the reply to the call is larger than 'script-memory-max'";
                self.refuse(text, Counted::NotYet)
            }
            Ok(()) => {
                let value = to_lua(self.lua, &mut out, protocol)?;
                let error = value.as_table().map(|table| table.raw_get("err"));
                Ok((!matches!(error, Some(Ok(Value::String(_)))), value))
            }
            Err(Denied::Because(text)) => self.refuse(&*text, Counted::Already),
            Err(Denied::GiveUp) => {
                self.current.stop();
                Err(raise("ERR the script begins again"))
            }
        }
    }

    fn may_call(&mut self) -> mlua::Result<(bool, Value)> {
        if self.words.words().is_empty() {
            return self.refuse(NO_WORDS, Counted::NotYet);
        }
        match self.host.may_call(&self.words) {
            Some(may) => Ok((true, Value::Boolean(may))),
            None => {
                let text = "ERR Invalid command passed to redis.acl_check_cmd()";
                self.refuse(text, Counted::NotYet)
            }
        }
    }

    fn take_words<'v>(
        &mut self,
        asked: impl Iterator<Item = &'v Value>,
    ) -> Result<(), &'static str> {
        self.words.clear();
        let bytes_max = self.current.memory_bytes_max();
        for word in asked {
            self.words.push(word, bytes_max)?;
        }
        Ok(())
    }

    fn refuse(&self, text: impl AsRef<[u8]>, counted: Counted) -> mlua::Result<(bool, Value)> {
        Ok((false, error(self.lua, text, counted)?))
    }
}
