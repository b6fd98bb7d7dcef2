//! A thread's Lua state and how a script runs in it.
//!
//! ```text
//! Interpreter::run ▸ raw.rs: a protected call ▸ script ▸ redis.call, a way out ▸ Host::call
//!                                        │ error                       │ reply
//!                                        ▼                             ▼
//!                                     explain: where it happened    raw.rs, from_reply.rs
//! ```
//! The state and the compiled scripts stay for the next run. A hook that Lua calls every
//! [`INSTRUCTIONS_BETWEEN_LOOKS`] instructions asks the overseer whether to go on, and has the host
//! attend to its other clients while a script takes long.

use crate::answer::Answer;
use crate::current::{Current, Source};
use crate::failure::{self, Counted, error_text, told};
use crate::host::{Host, Overseer};
use crate::input::Input;
use crate::json;
use crate::lent;
use crate::library::{FunctionInfo, Library, LibrarySource, Program};
use crate::list_use::{self, ListUses};
use crate::native;
use crate::random::{Random, RandomState};
use crate::raw::{Ended, Entrance, Kept, Parts, Slot};
use crate::registering::Registered;
use crate::script::Script;
use crate::sha1::BySha1;
use mlua::chunk::ChunkMode;
use mlua::state::{GcIncParams, GcMode};
use mlua::{Function, HookTriggers, Lua, LuaOptions, StdLib, Table, Value, VmState};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// About four microseconds, if the instructions are light. One that concatenates strings of tens of
/// megabytes takes ten milliseconds by itself.
const INSTRUCTIONS_BETWEEN_LOOKS: u32 = 1000;
/// Compiled scripts that a thread keeps; with one more it forgets all and begins again.
const COMPILED_MAX: usize = 1000;
/// The collector begins again when this share of what it left is in use. Under Lua's own 200 a
/// state that runs small scripts fills its table of strings in between: it doubles, and is halved
/// again, each time: 550 of the 6,600 instructions that a script took which gets one key.
const COLLECTOR_PAUSE_PERCENT: i32 = 150;
/// What is in use after a run beyond which the rubbish is collected at once.
const RUBBISH_BYTES_MAX: usize = 4 << 20;

/// In a longer text nobody looks for what it does with its lists.
const LOOKED_AT_BYTES_MAX: usize = 1 << 20;

const NO_MEMORY: &str = "ERR not enough memory";

/// What a script may take.
#[derive(Clone, Copy, Debug)]
pub struct ScriptLimits {
    /// Bytes of the Lua state.
    pub memory_bytes_max: usize,
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

/// The libraries whose text this state has run.
#[derive(Default)]
struct LoadedLibraries {
    /// By the number of the library, its functions with their names.
    by_id: BTreeMap<u64, Vec<(String, Kept)>>,
    /// As of which version of all libraries those that have gone have been forgotten.
    version: u64,
}

/// A Lua state.
pub struct Interpreter {
    lua: Lua,
    entrance: Entrance,
    /// The prelude's.
    load_library: Function,
    explain: Function,
    compiled: BySha1<Kept>,
    libraries: LoadedLibraries,
    current: Rc<Current>,
    random: Rc<Random>,
    /// Those of `cjson`, which a script sets for itself.
    json_settings: Rc<Cell<json::Settings>>,
    memory_bytes_max: usize,
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
        // A panic ends the process, or goes on, in tests, from whatever looks at it. So nothing has
        // to keep scripts from catching it, and each call of a script is spared a wrapper.
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(true))?;
        let parameters = GcIncParams::default().pause(COLLECTOR_PAUSE_PERCENT);
        lua.gc_set_mode(GcMode::Incremental(parameters));
        let current = Rc::new(Current::default());
        let random = Rc::new(Random::default());
        random.seed(seed as i64);
        let json_settings = Rc::default();
        let native = native::functions(&lua, &current, &random, &json_settings)?;
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=redis");
        let made: (Table, Table, Table, Table, Function) =
            prelude.call((native, version, version_number(version)))?;
        let (proxy, globals, redis_of_scripts, redis_of_functions, load_library) = made;
        lua.set_globals(proxy)?;
        let watch = Rc::clone(&current);
        let triggers = HookTriggers::new().every_nth_instruction(INSTRUCTIONS_BETWEEN_LOOKS);
        lua.set_global_hook(triggers, move |_, _| watch.go_on().map(|()| VmState::Continue))?;
        let state = Rc::clone(&current);
        let explain = move |lua: &Lua, problem| explain(lua, problem, state.source());
        let explain = lua.create_function(explain)?;
        let handler = explain.clone();
        let parts = Parts { globals, redis_of_scripts, redis_of_functions, explain: handler };
        Ok(Interpreter {
            entrance: Entrance::new(&lua, &current, parts)?,
            lua,
            load_library,
            explain,
            compiled: BySha1::default(),
            libraries: LoadedLibraries::default(),
            current,
            random,
            json_settings,
            memory_bytes_max: 0,
        })
    }

    /// Whether a script is Lua: compiles it, and keeps that.
    ///
    /// # Errors
    /// It is not: says why, code first.
    pub fn compile(&mut self, script: &Script) -> Result<(), String> {
        self.function(script).map(drop)
    }

    fn function(&mut self, script: &Script) -> Result<Slot, String> {
        if let Some(function) = self.compiled.get(&script.sha) {
            return Ok(function.slot());
        }
        let function = self.compile_text(script.body(), Source::Script).map_err(|problem| {
            format!("ERR Error compiling script (new function): {}", in_one_line(&problem))
        })?;
        if self.compiled.len() >= COMPILED_MAX {
            self.compiled.clear();
            self.lua.expire_registry_values();
        }
        let uses = list_uses(&function, script.body(), list_use::of_script);
        let kept = self.entrance.keep(function, uses).map_err(|_| NO_MEMORY)?;
        let slot = kept.slot();
        self.compiled.insert(script.sha, kept);
        Ok(slot)
    }

    fn compile_text(&self, text: &[u8], source: Source) -> Result<Function, String> {
        let chunk = self.lua.load(text).set_name(source.chunk_name()).set_mode(ChunkMode::Text);
        chunk.into_function().map_err(|error| match error {
            mlua::Error::SyntaxError { message, .. } => message,
            error => error.to_string(),
        })
    }

    /// Runs the text of a library, and keeps the functions that it registers for
    /// [`Interpreter::run`].
    ///
    /// # Errors
    /// It is no library: says why.
    pub fn load(
        &mut self,
        library: &LibrarySource,
        overseer: Arc<dyn Overseer>,
        limits: ScriptLimits,
    ) -> Result<Vec<FunctionInfo>, String> {
        self.limit_memory(limits);
        self.begin(Source::Function);
        let current = Rc::clone(&self.current);
        let loaded = current.watched_by(overseer, || self.run_library(library));
        self.collect_rubbish();
        loaded
    }

    /// What has been loaded of a library is not needed any more.
    pub fn forget(&mut self, id: u64) {
        self.libraries.by_id.remove(&id);
    }

    /// As of which version of all libraries those that have gone have been forgotten.
    pub fn libraries_version(&self) -> u64 {
        self.libraries.version
    }

    /// Forgets the libraries that are no longer there, as of this version of all.
    pub fn keep_libraries(&mut self, version: u64, is_there: impl Fn(u64) -> bool) {
        if self.libraries.version != version {
            self.libraries.version = version;
            self.libraries.by_id.retain(|&id, _| is_there(id));
        }
    }

    fn run_library(&mut self, library: &LibrarySource) -> Result<Vec<FunctionInfo>, String> {
        let text = self
            .compile_text(library.body(), Source::Function)
            .map_err(|problem| format!("Error compiling function: {}", in_one_line(&problem)))?;
        *self.current.registering().borrow_mut() = Some(Registered::default());
        let result = self.load_library.call::<(bool, Value)>((text, &self.explain));
        let registered = self.current.registering().borrow_mut().take().unwrap_or_default();
        let problem = match result {
            Ok((true, _)) if !self.current.is_stopped() => None,
            Ok((_, problem)) => Some(problem),
            Err(error) => Some(Value::Error(Box::new(error))),
        };
        if let Some(problem) = problem {
            let (said, _) = self.said(&problem);
            let text = in_one_line(&String::from_utf8_lossy(&said));
            return Err(format!("Error registering functions: {text}"));
        }
        if registered.functions.is_empty() {
            return Err("No functions registered".to_owned());
        }
        let (mut callbacks, mut infos) = (Vec::new(), Vec::new());
        for (info, callback) in registered.functions {
            let uses = list_uses(&callback, library.body(), list_use::of_function);
            let kept = self.entrance.keep(callback, uses).map_err(|_| NO_MEMORY)?;
            callbacks.push((info.name.clone(), kept));
            infos.push(info);
        }
        self.libraries.by_id.insert(library.id, callbacks);
        Ok(infos)
    }

    /// The function of a library, which is loaded if this state has not run it yet.
    fn callback(&mut self, library: &Library, index: usize) -> Result<Slot, String> {
        let name = &library.functions[index].name;
        let callbacks = match self.libraries.by_id.get(&library.source.id) {
            Some(callbacks) => callbacks,
            None => {
                self.run_library(&library.source).map_err(|error| format!("ERR {error}"))?;
                self.libraries.by_id.get(&library.source.id).map_or(&[][..], |all| all)
            }
        };
        let is_it = |(other, _): &&(String, Kept)| other == name;
        // Nearly always it is registered in the same order again.
        let callback = callbacks.get(index).filter(is_it).or_else(|| callbacks.iter().find(is_it));
        callback
            .map(|(_, kept)| kept.slot())
            .ok_or_else(|| "ERR the library does not register this function again".to_owned())
    }

    fn begin(&self, source: Source) {
        self.current.begin(source);
        self.json_settings.set(json::Settings::default());
    }

    /// Runs a script or a function to its end.
    pub fn run(
        &mut self,
        program: &Program,
        input: Input<'_>,
        limits: ScriptLimits,
        host: &mut dyn Host,
    ) -> Finished {
        lent::lend(host, || self.run_lent(program, &input, limits))
    }

    fn run_lent(&mut self, program: &Program, input: &Input<'_>, limits: ScriptLimits) -> Finished {
        self.limit_memory(limits);
        let (function, source) = match program {
            Program::Script(script) => {
                self.begin(Source::Script);
                (self.function(script), Source::Script)
            }
            Program::Function(library, index) => {
                self.begin(Source::Function);
                (self.callback(library, *index), Source::Function)
            }
        };
        let function = match function {
            Ok(function) => function,
            Err(error) => return Finished::Failed(error, Counted::NotYet),
        };
        if let Some(state) = input.random {
            self.random.go_back_to(state);
        }
        let random = self.random.state();
        let ended = self.entrance.run(function, source, input);
        let protocol = self.current.protocol();
        let finished = match ended {
            _ if self.current.is_stopped() && self.current.reason().is_none() => {
                Finished::GivenUp(random)
            }
            Ended::Returned(value) => {
                let bytes_max = limits.memory_bytes_max;
                Finished::Answered(Answer { value, protocol, bytes_max })
            }
            Ended::Failed(problem) => self.failure(&problem, program),
        };
        self.collect_rubbish();
        finished
    }

    /// An error as the client gets it: `ERR what script: name, on @user_script:line.`
    fn failure(&self, problem: &Value, program: &Program) -> Finished {
        let name = match program {
            Program::Script(script) => script.sha.to_string(),
            Program::Function(library, index) => library.functions[*index].name.clone(),
        };
        let (said, counted) = self.said(problem);
        let text = in_one_line(&String::from_utf8_lossy(&said));
        let source = self.current.source().chunk_name();
        let text = match problem.as_table().map(|table| table.raw_get::<Option<usize>>("line")) {
            Some(Ok(Some(line))) => format!("{text} script: {name}, on {source}:{line}."),
            _ => format!("{text} script: {name}"),
        };
        Finished::Failed(text, counted)
    }

    /// What is said of a problem, code first.
    fn said(&self, problem: &Value) -> (Vec<u8>, Counted) {
        match (self.current.reason(), problem) {
            // Whatever a script made of being ended.
            (Some(reason), _) => (reason.as_bytes().to_vec(), Counted::NotYet),
            (None, Value::Table(table)) => (error_text(table), Counted::of(table)),
            // Without memory nothing is explained.
            (None, problem) => told(problem).unwrap_or_else(|| {
                let text = format!("ERR {}", problem.to_string().unwrap_or_default());
                (text.into_bytes(), Counted::NotYet)
            }),
        }
    }

    /// Bytes that the state takes now, what is not collected yet included.
    pub fn memory_bytes(&self) -> usize {
        self.lua.used_memory()
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

/// What a function of this text does with its lists.
fn list_uses(function: &Function, text: &[u8], of: fn(&[u8]) -> ListUses) -> ListUses {
    if text.len() > LOOKED_AT_BYTES_MAX { ListUses::UNKNOWN } else { of(&function.dump(true)) }
}

/// Handles an error where it happens, while the stack still tells in which line of the script.
fn explain(lua: &Lua, problem: Value, source: Source) -> mlua::Result<Table> {
    let line = line(lua, source);
    let (text, counted) = match &problem {
        Value::Table(table) => (error_text(table), Counted::of(table)),
        Value::Error(error) => failure::text(error),
        Value::String(text) => ([b"ERR ", &*text.as_bytes()].concat(), Counted::NotYet),
        other => {
            let place = line.filter(|_| !other.is_nil());
            let chunk = &source.chunk_name()[1..];
            let place = place.map(|line| format!("{chunk}:{line}: ")).unwrap_or_default();
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

/// The line of the script that runs now.
fn line(lua: &Lua, source: Source) -> Option<usize> {
    const LEVELS_MAX: usize = 64;
    for level in 0..LEVELS_MAX {
        let found = lua.inspect_stack(level, |frame| {
            let is_script = frame.source().source.as_deref() == Some(source.chunk_name());
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

/// `7.2.4` as `0x070204`.
fn version_number(version: &str) -> u32 {
    version.split('.').take(3).fold(0, |number, part| number << 8 | part.parse().unwrap_or(0))
}
