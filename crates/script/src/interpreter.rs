//! A thread's Lua state and how a script runs in it.
//!
//! ```text
//! Interpreter::run ▸ prelude's run ▸ xpcall(script) ▸ redis.call ▸ way out ▸ Host::call
//!                                        │ error                       │ reply
//!                                        ▼                             ▼
//!                                     explain: where it happened    from_reply.rs
//! ```
//! The state and the compiled scripts stay for the next run. A hook that Lua calls every
//! [`INSTRUCTIONS_BETWEEN_LOOKS`] instructions asks the overseer whether to go on, and has the host
//! attend to its other clients while a script takes long. The host is lent to a run and the hook
//! belongs to the state, so the hook reaches it as a script does, through a function of the
//! prelude.

use crate::answer::Answer;
use crate::current::Current;
use crate::failure::{self, Counted, raise, raise_counted, told};
use crate::from_reply::{error, to_lua};
use crate::host::{Denied, Host, Overseer};
use crate::native;
use crate::random::{Random, RandomState};
use crate::script::Script;
use crate::sha1::Sha1;
use crate::words::Words;
use basalt_resp::Output;
use mlua::chunk::ChunkMode;
use mlua::{Function, HookTriggers, Lua, LuaOptions, MultiValue, StdLib, Table, Value, VmState};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// About four microseconds, if the instructions are light. One that concatenates strings of tens of
/// megabytes takes ten milliseconds by itself.
const INSTRUCTIONS_BETWEEN_LOOKS: u32 = 1000;
/// Compiled scripts that a thread keeps; with one more it forgets all and begins again.
const COMPILED_MAX: usize = 1000;
/// What is in use after a run beyond which the rubbish is collected at once.
const RUBBISH_BYTES_MAX: usize = 4 << 20;
/// The text whose lines errors name.
const SOURCE: &str = "@user_script";

// What the prelude asks for; anything else is whether a call is allowed.
const CALL: i64 = 1;
const ATTEND: i64 = 3;

/// What a script may take.
#[derive(Clone, Copy, Debug)]
pub struct ScriptLimits {
    /// Bytes of the Lua state.
    pub memory_bytes_max: usize,
}

/// What a script is called with.
pub struct Input<'a> {
    /// `KEYS`
    pub keys: Vec<&'a [u8]>,
    /// `ARGV`
    pub args: Vec<&'a [u8]>,
    /// Watches over it.
    pub overseer: Arc<dyn Overseer>,
    /// It begins again: where its random numbers stood when it began first.
    pub random: Option<RandomState>,
}

/// How a run ended.
pub enum Finished {
    /// With an answer.
    Answered(Answer),
    /// With an error: code first.
    Failed(String, Counted),
    /// It was given up by its host; says where its random numbers stood when it began.
    GivenUp(RandomState),
}

/// A Lua state.
pub struct Interpreter {
    lua: Lua,
    /// The prelude's.
    run: Function,
    explain: Function,
    compiled: HashMap<Sha1, Function>,
    current: Rc<Current>,
    random: Rc<Random>,
    memory_bytes_max: usize,
    words: Words,
}

impl Interpreter {
    /// A new state, as of this version of the server. Its random numbers follow from `seed`.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(version: &str, seed: u64) -> Result<Interpreter, String> {
        Interpreter::build(version, seed)
            .map_err(|error| format!("ERR no script can be run: {error}"))
    }

    fn build(version: &str, seed: u64) -> mlua::Result<Interpreter> {
        let libraries = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::OS;
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
        let current = Rc::new(Current::default());
        let random = Rc::new(Random::default());
        random.seed(seed as i64);
        let native = native::functions(&lua, &current, &random)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=redis");
        let (globals, run, attend): (Table, Function, Function) =
            prelude.call((native, version, version_number(version)))?;
        lua.set_globals(globals)?;
        let watch = Rc::clone(&current);
        let triggers = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_BETWEEN_LOOKS);
        current.attend_through(attend);
        lua.set_global_hook(triggers, move |_, _| watch.go_on().map(|()| VmState::Continue))?;
        let explain = lua.create_function(explain)?;
        let (compiled, words) = (HashMap::new(), Words::default());
        let memory_bytes_max = 0;
        Ok(Interpreter { lua, run, explain, compiled, current, random, memory_bytes_max, words })
    }

    /// Whether a script is Lua: compiles it, and keeps that.
    ///
    /// # Errors
    /// It is not: says why, code first.
    pub fn compile(&mut self, script: &Script) -> Result<(), String> {
        self.function(script).map(drop)
    }

    fn function(&mut self, script: &Script) -> Result<Function, String> {
        if let Some(function) = self.compiled.get(&script.sha) {
            return Ok(function.clone());
        }
        let chunk = self.lua.load(script.body()).set_name(SOURCE).set_mode(ChunkMode::Text);
        let function = chunk.into_function().map_err(|error| {
            let text = match error {
                mlua::Error::SyntaxError { message, .. } => message,
                error => error.to_string(),
            };
            format!("ERR Error compiling script (new function): {}", in_one_line(&text))
        })?;
        if self.compiled.len() >= COMPILED_MAX {
            self.compiled.clear();
        }
        self.compiled.insert(script.sha, function.clone());
        Ok(function)
    }

    /// Runs a script to its end.
    pub fn run(
        &mut self,
        script: &Script,
        input: Input<'_>,
        limits: ScriptLimits,
        host: &mut dyn Host,
    ) -> Finished {
        self.limit_memory(limits);
        let function = match self.function(script) {
            Ok(function) => function,
            Err(error) => return Finished::Failed(error, Counted::NotYet),
        };
        self.current.begin(input.overseer);
        if let Some(state) = input.random {
            self.random.go_back_to(state);
        }
        let random = self.random.state();
        let way_out = RefCell::new(WayOut {
            lua: &self.lua,
            host,
            words: std::mem::take(&mut self.words),
            current: &self.current,
        });
        let result = self.lua.scope(|scope| {
            let keys = strings(&self.lua, &input.keys)?;
            let args = strings(&self.lua, &input.args)?;
            // No command runs a script, so nobody else has it borrowed.
            let call =
                scope.create_function(|_, asked| way_out.borrow_mut().call_or_raise(&asked))?;
            let ask = scope.create_function(|_, asked| way_out.borrow_mut().ask(&asked))?;
            self.run.call::<(bool, Value)>((function, &self.explain, call, ask, keys, args))
        });
        self.words = way_out.into_inner().words;
        self.current.end();
        let protocol = self.current.protocol();
        let finished = match result {
            _ if self.current.is_stopped() && self.current.reason().is_none() => {
                Finished::GivenUp(random)
            }
            Ok((true, value)) => {
                let bytes_max = limits.memory_bytes_max;
                Finished::Answered(Answer { value, protocol, bytes_max })
            }
            Ok((false, problem)) => self.failure(&problem, &script.sha),
            Err(error) => self.failure(&Value::Error(Box::new(error)), &script.sha),
        };
        self.collect_rubbish();
        finished
    }

    /// An error as the client gets it: `ERR what script: digest, on @user_script:line.`
    fn failure(&self, problem: &Value, sha: &Sha1) -> Finished {
        let (said, counted) = match (self.current.reason(), problem) {
            // Whatever a script made of being ended.
            (Some(reason), _) => (reason.as_bytes().to_vec(), Counted::NotYet),
            (None, Value::Table(table)) => (error_text(table), Counted::of(table)),
            // Without memory nothing is explained.
            (None, problem) => told(problem).unwrap_or_else(|| {
                let text = format!("ERR {}", problem.to_string().unwrap_or_default());
                (text.into_bytes(), Counted::NotYet)
            }),
        };
        let text = in_one_line(&String::from_utf8_lossy(&said));
        let text = match problem.as_table().map(|table| table.raw_get::<Option<usize>>("line")) {
            Some(Ok(Some(line))) => format!("{text} script: {sha}, on {SOURCE}:{line}."),
            _ => format!("{text} script: {sha}"),
        };
        Finished::Failed(text, counted)
    }

    fn limit_memory(&mut self, limits: ScriptLimits) {
        // 0 would be no limit to Lua.
        let bytes = limits.memory_bytes_max.max(1);
        if bytes != self.memory_bytes_max && self.lua.set_memory_limit(bytes).is_ok() {
            self.memory_bytes_max = bytes;
            self.current.limit_memory(bytes);
        }
    }

    /// Lua lets its memory double before it collects, and would fail at the limit instead of
    /// collecting.
    fn collect_rubbish(&mut self) {
        if self.lua.used_memory() > RUBBISH_BYTES_MAX {
            // It fails only in finalizers; a script cannot make any.
            let _ = self.lua.gc_collect();
        }
    }
}

/// What a running script reaches the server through.
struct WayOut<'a> {
    lua: &'a Lua,
    host: &'a mut dyn Host,
    words: Words,
    current: &'a Current,
}

impl WayOut<'_> {
    /// What the prelude asks for: returns whether it went well and what came of it.
    fn ask(&mut self, asked: &MultiValue) -> mlua::Result<(bool, Value)> {
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
    fn call_or_raise(&mut self, asked: &MultiValue) -> mlua::Result<Value> {
        self.take_words(asked.iter()).map_err(raise)?;
        let (is_well, value) = self.call()?;
        match value.as_table() {
            Some(table) if !is_well => Err(raise_counted(error_text(table), Counted::of(table))),
            _ => Ok(value),
        }
    }

    fn call(&mut self) -> mlua::Result<(bool, Value)> {
        if self.words.words().is_empty() {
            let text = "ERR Please specify at least one argument for this redis lib call";
            return self.refuse(text, Counted::NotYet);
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
            let text =
                "ERR Please specify at least one argument for this redis.acl_check_cmd() call";
            return self.refuse(text, Counted::NotYet);
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

/// Handles an error where it happens, while the stack still tells in which line of the script.
fn explain(lua: &Lua, problem: Value) -> mlua::Result<Table> {
    let line = line(lua);
    let (text, counted) = match &problem {
        Value::Table(table) => (error_text(table), Counted::of(table)),
        Value::Error(error) => failure::text(error),
        Value::String(text) => ([b"ERR ", &*text.as_bytes()].concat(), Counted::NotYet),
        other => {
            let place = line.filter(|_| !other.is_nil());
            let place = place.map(|line| format!("user_script:{line}: ")).unwrap_or_default();
            let text = format!("ERR {place}{}", other.to_string().unwrap_or_default());
            (text.into_bytes(), Counted::NotYet)
        }
    };
    let explained = lua.create_table()?;
    explained.raw_set("err", lua.create_string(text)?)?;
    counted.note(&explained)?;
    explained.raw_set("line", line)?;
    Ok(explained)
}

/// What a table says that a script has raised or returned as an error.
fn error_text(table: &Table) -> Vec<u8> {
    match table.raw_get("err") {
        Ok(Value::String(text)) => text.as_bytes().to_vec(),
        _ => b"ERR unknown error".to_vec(),
    }
}

/// The line of the script that runs now.
fn line(lua: &Lua) -> Option<usize> {
    const LEVELS_MAX: usize = 64;
    for level in 0..LEVELS_MAX {
        let found = lua.inspect_stack(level, |frame| {
            let is_script = frame.source().source.as_deref() == Some(SOURCE);
            if is_script { frame.current_line() } else { None }
        })?;
        if found.is_some() {
            return found;
        }
    }
    None
}

fn in_one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

fn strings(lua: &Lua, words: &[&[u8]]) -> mlua::Result<Table> {
    let table = lua.create_table_with_capacity(words.len(), 0)?;
    for (index, word) in words.iter().enumerate() {
        table.raw_set(index + 1, lua.create_string(word)?)?;
    }
    Ok(table)
}

/// `7.2.4` as `0x070204`.
fn version_number(version: &str) -> u32 {
    version.split('.').take(3).fold(0, |number, part| number << 8 | part.parse().unwrap_or(0))
}
