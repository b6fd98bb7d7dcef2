//! The libraries of functions: what of each thread's Lua state can be called, and how that changes.
//!
//! ```text
//! FUNCTION LOAD ▸ run the text in this thread's state ▸ under the lock of their partition:
//!                 do names collide? ▸ append to the log ▸ publish a new registry
//! FCALL         ▸ find the function in the registry ▸ the state of this thread has run the text of
//!                 its library, or does so now
//! ```
//! A registry does not change; a change makes another one, under a version of its own. Threads that
//! run functions compare it with the one that they have last seen, and drop what has gone.

use crate::error::CommandError;
use crate::scripts::ScriptService;
use basalt_config::Settings;
use basalt_engine::{Engine, Gate, Held, LockWait, NamedLibrary};
use basalt_env::{Clock, Instant};
use basalt_script::{
    Interpreter, Level, Library, LibrarySource, Look, Overseer, Program, ScriptLimits,
};
use basalt_stdx::lock_rank::LeafRwLock;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long a library may take to register its functions when a client loads it.
pub const LOAD_TIME_MAX: Duration = Duration::from_millis(500);
/// Bytes of all libraries together. Each is run by every thread, which keeps what that makes.
pub const LIBRARIES_BYTES_MAX: usize = 64 << 20;

const TIMED_OUT: &str = "ERR FUNCTION LOAD timeout";
const SHUT_DOWN: &str = "ERR the server is shutting down";

/// Numbers of libraries and versions of registries. One for the process, as the Lua states are of
/// threads and not of a server.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

fn next_number() -> u64 {
    // Relaxed: it only has to be another one each time.
    NEXT_NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// The functions of a server.
#[derive(Debug, Default)]
pub struct Functions {
    current: LeafRwLock<Arc<Registry>>,
    /// That of `current`, for threads that have seen it already. Written under the lock with
    /// Release, read with Acquire: a thread that has read it finds that registry, or a later one.
    version: AtomicU64,
}

/// The libraries as of one moment.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    version: u64,
    libraries: BTreeMap<String, Arc<Library>>,
    /// By their names in small letters.
    functions: HashMap<String, (Arc<Library>, usize)>,
}

/// What to do with libraries that are there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collision {
    /// Nothing is loaded.
    Refused,
    /// They give way to those of the same name.
    Replaces,
    /// All of them go.
    Flushes,
}

impl Functions {
    /// The libraries now.
    pub fn now(&self) -> Arc<Registry> {
        Arc::clone(&self.current.read())
    }

    /// Another number as soon as any library has come or gone.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Has a Lua state forget the libraries that have gone.
    #[inline]
    pub fn tidy(&self, interpreter: &mut Interpreter) {
        if self.version() != interpreter.libraries_version() {
            self.now().tidy(interpreter);
        }
    }

    /// The function of this name, in letters of any case.
    pub fn find(&self, name: &[u8]) -> Option<Program> {
        let mut name = Cow::Borrowed(std::str::from_utf8(name).ok()?);
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            name = Cow::Owned(name.to_ascii_lowercase());
        }
        let current = self.current.read();
        let (library, index) = current.functions.get(&*name)?;
        Some(Program::Function(Arc::clone(library), *index))
    }

    fn publish(&self, registry: Registry) {
        let mut current = self.current.write();
        let version = next_number();
        *current = Arc::new(Registry { version, ..registry });
        self.version.store(version, Ordering::Release);
    }
}

impl Registry {
    /// In the order of their names.
    pub fn libraries(&self) -> impl Iterator<Item = &Arc<Library>> {
        self.libraries.values()
    }

    /// How many libraries there are.
    pub fn library_count(&self) -> usize {
        self.libraries.len()
    }

    /// How many functions there are.
    pub fn function_count(&self) -> usize {
        self.functions.len()
    }

    /// Bytes of the texts.
    pub fn text_bytes(&self) -> usize {
        self.libraries.values().map(|library| library.source.code.len()).sum()
    }

    /// Whether there is a library of this name.
    pub fn has(&self, name: &str) -> bool {
        self.libraries.contains_key(name)
    }

    /// Has a Lua state forget the libraries that have gone.
    pub fn tidy(&self, interpreter: &mut Interpreter) {
        let is_there = |id| self.libraries.values().any(|library| library.source.id == id);
        interpreter.keep_libraries(self.version, is_there);
    }

    fn remove(&mut self, name: &str) -> bool {
        let removed = self.libraries.remove(name);
        if let Some(removed) = &removed {
            self.functions.retain(|_, (library, _)| !Arc::ptr_eq(library, removed));
        }
        removed.is_some()
    }

    fn add(&mut self, library: Arc<Library>) -> Result<(), String> {
        for (index, function) in library.functions.iter().enumerate() {
            let (name, place) = (&function.name, (Arc::clone(&library), index));
            if self.functions.insert(name.to_ascii_lowercase(), place).is_some() {
                return Err(format!("Function {name} already exists"));
            }
        }
        self.libraries.insert(library.source.name.clone(), library);
        match self.text_bytes() > LIBRARIES_BYTES_MAX {
            true => Err("the libraries are too large together".to_owned()),
            false => Ok(()),
        }
    }

    /// What there is with these libraries, and which have changed.
    fn with(
        &self,
        libraries: &[Arc<Library>],
        collision: Collision,
    ) -> Result<(Vec<NamedLibrary>, Registry), String> {
        let mut changed = match collision {
            Collision::Flushes => Registry::default(),
            Collision::Refused | Collision::Replaces => self.clone(),
        };
        for library in libraries {
            let name = &library.source.name;
            if changed.has(name) && collision != Collision::Replaces {
                return Err(format!("Library {name} already exists"));
            }
            changed.remove(name);
        }
        libraries.iter().try_for_each(|library| changed.add(Arc::clone(library)))?;
        let gone = self.libraries.keys().filter(|name| !changed.has(name));
        let gone = gone.map(|name| (name.as_bytes().to_vec(), Arc::default()));
        let new = libraries.iter().map(|library| &library.source);
        let new = new.map(|source| (source.name.as_bytes().to_vec(), Arc::clone(&source.code)));
        Ok((gone.chain(new).collect(), changed))
    }

    fn without(&self, name: &str) -> Result<(Vec<NamedLibrary>, Registry), String> {
        let mut changed = self.clone();
        match changed.remove(name) {
            true => Ok((vec![(name.as_bytes().to_vec(), Arc::default())], changed)),
            false => Err("Library not found".to_owned()),
        }
    }
}

/// Watches over a library that is loaded.
struct LoadWatch {
    clock: Arc<dyn Clock>,
    started: Instant,
    time_max: Option<Duration>,
    scripts: ScriptService,
}

impl Overseer for LoadWatch {
    fn look(&self) -> Look {
        if self.scripts.is_shutting_down() {
            return Look::End(SHUT_DOWN);
        }
        match self.time_max {
            Some(time_max) if self.clock.since(self.started) > time_max => Look::End(TIMED_OUT),
            _ => Look::GoOn,
        }
    }

    fn log(&self, level: Level, text: &[u8]) {
        crate::scripts::log(level, text);
    }
}

/// How a change of libraries is made.
pub struct Changing<'a> {
    /// Where they are kept.
    pub engine: &'a Engine,
    /// How long its thread waits for their partition.
    pub wait: LockWait,
    /// What the reply waits for.
    pub gate: &'a mut Gate,
}

impl ScriptService {
    /// Reads and runs the text of a library for at most `time_max`; it is not there for others yet.
    /// `refuse` is told its name before.
    ///
    /// # Errors
    /// It is none, or refused.
    pub fn read_library(
        &self,
        code: Vec<u8>,
        settings: &Settings,
        time_max: Duration,
        refuse: impl FnOnce(&str) -> Result<(), CommandError>,
    ) -> Result<Arc<Library>, CommandError> {
        let source = LibrarySource::read(Arc::new(code), next_number());
        let source = source.map_err(CommandError::because)?;
        refuse(&source.name)?;
        self.load_library(source, settings, Some(time_max))
    }

    /// Libraries that have been read do not become known.
    pub fn forget_libraries(&self, libraries: &[Arc<Library>]) {
        for library in libraries {
            // A state that cannot be made has nothing to forget.
            let _ = self.with_interpreter(|state| state.forget(library.source.id));
        }
    }

    fn load_library(
        &self,
        source: LibrarySource,
        settings: &Settings,
        time_max: Option<Duration>,
    ) -> Result<Arc<Library>, CommandError> {
        let limits = ScriptLimits { memory_bytes_max: settings.server.script_memory_bytes_max };
        let clock = Arc::clone(&self.env.clock);
        let started = clock.now();
        let watch = Arc::new(LoadWatch { clock, started, time_max, scripts: self.clone() });
        let functions = self
            .with_interpreter(|interpreter| interpreter.load(&source, watch, limits))?
            .map_err(CommandError::because)?;
        Ok(Arc::new(Library { source, functions }))
    }

    /// Makes libraries known, and durable.
    ///
    /// # Errors
    /// Outside: their partition is held for long. Inside: they collide with others.
    pub fn add_libraries(
        &self,
        libraries: &[Arc<Library>],
        collision: Collision,
        changing: Changing<'_>,
    ) -> Result<Result<(), CommandError>, Held> {
        let added = self.change(changing, |now| now.with(libraries, collision));
        if !matches!(added, Ok(Ok(()))) {
            self.forget_libraries(libraries);
        }
        added
    }

    /// Removes a library.
    ///
    /// # Errors
    /// Outside: the partition of all is held for long. Inside: there is none of this name.
    pub fn delete_library(
        &self,
        name: &[u8],
        changing: Changing<'_>,
    ) -> Result<Result<(), CommandError>, Held> {
        let name = String::from_utf8_lossy(name);
        self.change(changing, |now| now.without(&name))
    }

    fn change(
        &self,
        changing: Changing<'_>,
        make: impl FnOnce(&Registry) -> Result<(Vec<NamedLibrary>, Registry), String>,
    ) -> Result<Result<(), CommandError>, Held> {
        let Changing { engine, wait, gate } = changing;
        let decide = || make(&self.functions.now());
        let changed =
            engine.change_libraries(wait, gate, decide, |next| self.functions.publish(next))?;
        Ok(changed.map_err(CommandError::because))
    }

    /// Takes over the libraries that have been found on disk. One that does not run any more is
    /// left there, and said in the log.
    pub fn restore_libraries(&self, engine: &Engine, settings: &Settings) {
        let mut registry = Registry::default();
        for (name, code) in engine.libraries() {
            let loaded = LibrarySource::read(code, next_number())
                .map_err(CommandError::because)
                .and_then(|source| self.load_library(source, settings, None))
                .and_then(|library| registry.add(library).map_err(CommandError::because));
            if let Err(error) = loaded {
                let (library, error) = (String::from_utf8_lossy(&name), error.text());
                tracing::error!(%library, %error, "a library of functions cannot be loaded; it stays on disk");
            }
        }
        if registry.library_count() > 0 {
            self.functions.publish(registry);
        }
    }
}
