//! The scripts of a server: those that are known, and those that take long, as functions may, too.
//!
//! A script runs to its end on its thread, with its partitions locked. Nothing is shared with other
//! threads as long as it is quick. Once it has taken longer than `busy-reply-threshold`, its own
//! thread enters it here: then commands that would have to wait for its locks are answered `BUSY`
//! by threads that are not waiting for them already, and SCRIPT KILL finds it. After
//! `script-time-max` it is ended.

use crate::error::CommandError;
use crate::functions::Functions;
use crate::lua_memory::LuaMemory;
use crate::unusual::{Reason, Unusual};
use basalt_change::place::PartitionId;
use basalt_engine::PartitionSet;
use basalt_env::{Clock, Env, Instant};
use basalt_script::{Level, Look, Overseer, RandomState, Scripts};
use basalt_stdx::lock_rank::RankedMutex;
use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long a script runs before its thread attends to others, and how often it does so then: a
/// turn in which nobody has asked for anything takes about a microsecond.
const ATTEND_AFTER: Duration = Duration::from_micros(100);
const ATTEND_EVERY: Duration = Duration::from_micros(50);

const KILLED: &str = "ERR Script killed by user with SCRIPT KILL...";
const SHUT_DOWN: &str = "ERR Script ended because the server is shutting down";
const OUT_OF_TIME: &str = "ERR Script ended because it ran for longer than 'script-time-max'";

/// See the head of this file. Clones are the same service.
#[derive(Clone)]
pub struct ScriptService {
    /// The scripts that are known.
    pub known: Arc<Scripts>,
    /// The libraries of functions.
    pub functions: Arc<Functions>,
    pub(crate) env: Env,
    pub(crate) lua_memory: Arc<LuaMemory>,
    busy: Arc<Busy>,
}

/// Scripts that have taken long and still run.
#[derive(Debug)]
struct Busy {
    unusual: Arc<Unusual>,
    running: RankedMutex<Vec<Arc<BusyScript>>>,
    /// Scripts that have run for [`ATTEND_AFTER`], also those that are busy: when they began, and
    /// how long they had run before.
    lasting: RankedMutex<Vec<(Instant, Duration)>>,
    /// The server ends.
    shutting_down: AtomicBool,
}

/// Serves the other clients of a network thread while a script takes long there.
pub trait Attendant {
    /// Called some twenty times a millisecond.
    fn attend(&mut self);
}

/// There are no other clients.
pub struct Nobody;

impl Attendant for Nobody {
    fn attend(&mut self) {}
}

/// What has become known of one.
#[derive(Debug)]
struct BusyScript {
    kind: RunKind,
    /// The partitions that it holds.
    partitions: PartitionSet,
    /// It has changed something: it cannot be killed.
    has_effects: AtomicBool,
    killed: AtomicBool,
    /// What was called; of functions, once they are busy.
    call: OnceLock<BusyCall>,
}

/// What runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunKind {
    /// A script.
    Script,
    /// A function.
    Function,
}

/// A function that takes long.
#[derive(Clone, Debug)]
pub struct BusyCall {
    /// Its name.
    pub name: String,
    /// The words of the call.
    pub words: Vec<Vec<u8>>,
    started: Instant,
    /// For how long it has been running.
    pub time: Duration,
}

/// A script that runs, as its own thread sees it.
pub struct Running<'s> {
    kind: RunKind,
    /// The partitions that it holds.
    partitions: PartitionSet,
    busy: &'s Busy,
    clock: &'s dyn Clock,
    times: ScriptTimes,
    /// When its thread has last attended to others, from the start.
    attended: Cell<Duration>,
    /// It has changed something.
    has_effects: Cell<bool>,
    /// It counts as one that lasts.
    lasts: Cell<bool>,
    /// What others know of it, once it is busy.
    entered: OnceCell<Entered>,
}

struct Entered {
    run: Arc<BusyScript>,
    /// It is a reason to look at commands more closely.
    _reason: Reason,
}

/// What a script has come to that has to begin again, having changed nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct EarlierRuns {
    /// Where its random numbers stood when it began first.
    pub random: Option<RandomState>,
    /// How long it has run.
    pub took: Duration,
    /// How often others have changed its keys meanwhile.
    pub overtaken: u32,
    /// It is to have the keys noted that it was not called with.
    pub note_keys: bool,
}

/// How long a script may take.
#[derive(Clone, Copy, Debug)]
pub struct ScriptTimes {
    /// When it has begun.
    pub started: Instant,
    /// How long it had run before, and was given up.
    pub ran_before: Duration,
    /// After this time it is known to others, and its clients may be told that the server is busy.
    pub busy_after: Duration,
    /// After this time it is ended; `None` for ever.
    pub ended_after: Option<Duration>,
}

impl ScriptService {
    /// It knows no script; that one takes long is unusual.
    pub fn new(env: Env, unusual: Arc<Unusual>) -> ScriptService {
        let busy = Busy {
            unusual,
            running: RankedMutex::default(),
            lasting: RankedMutex::default(),
            shutting_down: AtomicBool::new(false),
        };
        ScriptService {
            known: Arc::default(),
            functions: Arc::default(),
            env,
            lua_memory: Arc::default(),
            busy: Arc::new(busy),
        }
    }

    /// A script or a function begins that holds these partitions.
    pub fn begin(
        &self,
        kind: RunKind,
        partitions: PartitionSet,
        times: ScriptTimes,
    ) -> Running<'_> {
        Running {
            kind,
            partitions,
            busy: &self.busy,
            clock: &*self.env.clock,
            times,
            attended: Cell::new(Duration::ZERO),
            has_effects: Cell::new(false),
            lasts: Cell::new(false),
            entered: OnceCell::new(),
        }
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.busy.shutting_down.load(Ordering::Relaxed)
    }

    /// The server ends: scripts that have changed nothing end, too, and others may end by
    /// themselves as long as there is time.
    pub fn shut_down(&self) {
        self.busy.shutting_down.store(true, Ordering::Relaxed);
    }

    /// A script takes long.
    pub fn any_is_busy(&self) -> bool {
        !self.busy.running.lock().is_empty()
    }

    /// A script runs that may become busy, and has run for this long.
    pub fn any_has_run_for(&self, time: Duration) -> bool {
        let lasting = self.busy.lasting.lock();
        let times = lasting.iter().map(|&(begun, before)| self.env.clock.since(begun) + before);
        times.max().is_some_and(|longest| longest >= time)
    }

    /// A busy script holds one of these partitions.
    pub fn holds_one_of(&self, partitions: &[PartitionId]) -> bool {
        let running = self.busy.running.lock();
        running.iter().any(|run| partitions.iter().any(|&id| run.partitions.contains(id)))
    }

    /// What others are told while scripts or functions take long.
    pub fn busy_error(&self) -> CommandError {
        let running = self.busy.running.lock();
        match running.iter().all(|run| run.kind == RunKind::Function) && !running.is_empty() {
            true => CommandError::BUSY_FUNCTION,
            false => CommandError::BUSY,
        }
    }

    /// Has the busy scripts end that have changed nothing (SCRIPT KILL), or the functions (FUNCTION
    /// KILL).
    ///
    /// # Errors
    /// There is none of the kind.
    pub fn kill(&self, kind: RunKind) -> Result<(), CommandError> {
        let running = self.busy.running.lock();
        let Some(other) = running.first() else {
            return Err(CommandError::NOT_BUSY);
        };
        let of_kind: Vec<_> = running.iter().filter(|run| run.kind == kind).collect();
        if of_kind.is_empty() {
            return Err(other.kind.busy_error());
        }
        let mut killed = false;
        for run in of_kind.iter().filter(|run| !run.has_effects.load(Ordering::Relaxed)) {
            run.killed.store(true, Ordering::Relaxed);
            killed = true;
        }
        if killed { Ok(()) } else { Err(CommandError::UNKILLABLE) }
    }

    /// The function that takes long, if one does.
    ///
    /// # Errors
    /// A script does.
    pub fn busy_function(&self) -> Result<Option<BusyCall>, CommandError> {
        let running = self.busy.running.lock();
        let functions = running.iter().filter(|run| run.kind == RunKind::Function);
        let call = functions.filter_map(|run| run.call.get()).next();
        match (call, running.first()) {
            (Some(call), _) => {
                Ok(Some(BusyCall { time: self.env.clock.since(call.started), ..call.clone() }))
            }
            (None, Some(run)) if run.kind == RunKind::Script => Err(CommandError::BUSY),
            (None, _) => Ok(None),
        }
    }
}

impl RunKind {
    fn busy_error(self) -> CommandError {
        match self {
            RunKind::Script => CommandError::BUSY,
            RunKind::Function => CommandError::BUSY_FUNCTION,
        }
    }
}

impl Running<'_> {
    /// Whether others know of it by now, but not what it is.
    pub fn is_to_be_described(&self) -> bool {
        self.entered.get().is_some_and(|entered| entered.run.call.get().is_none())
    }

    /// Says what it is: the name of the function, and the words of the call.
    pub fn describe(&self, name: String, words: Vec<Vec<u8>>) {
        let Some(entered) = self.entered.get() else { return };
        let (started, time) = (self.times.started, Duration::ZERO);
        // Once is enough.
        let _ = entered.run.call.set(BusyCall { name, words, started, time });
    }

    /// Whether others know that it takes long.
    pub fn is_busy(&self) -> bool {
        self.entered.get().is_some()
    }

    /// It has changed something, or told somebody something.
    pub fn has_effects(&self) {
        self.has_effects.set(true);
        if let Some(entered) = self.entered.get() {
            // Relaxed: a kill that misses it ends the script with a part of its work done, as an
            // error does.
            entered.run.has_effects.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it is time to attend to others, which is noted as done.
    fn attends(&self, time: Duration) -> bool {
        let is_time = time >= self.attended.get() + ATTEND_EVERY;
        if is_time {
            self.attended.set(time);
            if !self.lasts.replace(true) {
                self.busy.lasting.lock().push((self.times.started, self.times.ran_before));
            }
        }
        is_time
    }

    #[cold]
    fn enter(&self) {
        self.entered.get_or_init(|| {
            let run = Arc::new(BusyScript {
                kind: self.kind,
                partitions: self.partitions,
                has_effects: AtomicBool::new(self.has_effects.get()),
                killed: AtomicBool::new(false),
                call: OnceLock::new(),
            });
            self.busy.running.lock().push(Arc::clone(&run));
            Entered { run, _reason: self.busy.unusual.raise() }
        });
    }
}

impl Overseer for Running<'_> {
    fn look(&self) -> Look {
        let time = self.clock.since(self.times.started) + self.times.ran_before;
        if time >= self.times.busy_after {
            self.enter();
        }
        if self.entered.get().is_some_and(|it| it.run.killed.load(Ordering::Relaxed)) {
            return Look::End(KILLED);
        }
        if self.busy.shutting_down.load(Ordering::Relaxed) && !self.has_effects.get() {
            return Look::End(SHUT_DOWN);
        }
        match self.times.ended_after {
            Some(limit) if time >= limit => Look::End(OUT_OF_TIME),
            _ if time >= ATTEND_AFTER && self.attends(time) => Look::Attend,
            _ => Look::GoOn,
        }
    }

    fn log(&self, level: Level, text: &[u8]) {
        log(level, text);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.lasts.get() {
            let mut lasting = self.busy.lasting.lock();
            let own = (self.times.started, self.times.ran_before);
            if let Some(at) = lasting.iter().position(|&other| other == own) {
                lasting.swap_remove(at);
            }
        }
        if let Some(entered) = self.entered.get() {
            self.busy.running.lock().retain(|run| !Arc::ptr_eq(run, &entered.run));
        }
    }
}

/// `redis.log`
pub(crate) fn log(level: Level, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    match level {
        Level::Debug => tracing::trace!("{text}"),
        Level::Verbose => tracing::debug!("{text}"),
        Level::Notice => tracing::info!("{text}"),
        Level::Warning => tracing::warn!("{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_env::ManualClock;

    fn begin(service: &ScriptService, partition: u16) -> Running<'_> {
        let mut partitions = PartitionSet::EMPTY;
        partitions.insert(PartitionId::new(partition).unwrap());
        let started = service.env.clock.now();
        let ran_before = Duration::ZERO;
        let times =
            ScriptTimes { started, ran_before, busy_after: Duration::ZERO, ended_after: None };
        service.begin(RunKind::Script, partitions, times)
    }

    #[test]
    fn only_what_takes_long_is_known_and_only_what_has_changed_nothing_is_killed() {
        let env = Env::manual(&Arc::new(ManualClock::default()), 1);
        let service = ScriptService::new(env, Arc::default());
        let (one, other) = (begin(&service, 1), begin(&service, 2));
        assert_eq!(service.kill(RunKind::Script), Err(CommandError::NOT_BUSY));
        assert!(!service.any_is_busy());
        assert_eq!((one.look(), other.look()), (Look::GoOn, Look::GoOn));
        assert!(service.any_is_busy());
        let second = [PartitionId::new(2).unwrap()];
        assert!(service.holds_one_of(&second));
        one.has_effects();
        assert_eq!(service.kill(RunKind::Script), Ok(()));
        assert_eq!((one.look(), other.look()), (Look::GoOn, Look::End(KILLED)));
        drop(other);
        assert!(!service.holds_one_of(&second));
        assert_eq!(service.kill(RunKind::Script), Err(CommandError::UNKILLABLE));
        drop(one);
        assert_eq!(service.kill(RunKind::Script), Err(CommandError::NOT_BUSY));
        assert!(!service.any_is_busy());
    }

    #[test]
    fn a_script_that_has_had_its_time_is_ended() {
        let service = ScriptService::new(Env::system(), Arc::default());
        let (started, ended_after) = (service.env.clock.now(), Some(Duration::ZERO));
        let (ran_before, busy_after) = (Duration::ZERO, Duration::MAX);
        let times = ScriptTimes { started, ran_before, busy_after, ended_after };
        let running = service.begin(RunKind::Script, PartitionSet::ALL, times);
        assert_eq!(running.look(), Look::End(OUT_OF_TIME));
    }
    #[test]
    fn a_script_attends_to_others_soon_and_often() {
        let clock = Arc::new(ManualClock::default());
        let service = ScriptService::new(Env::manual(&clock, 1), Arc::default());
        let started = service.env.clock.now();
        let (ran_before, busy_after) = (Duration::ZERO, Duration::MAX);
        let times = ScriptTimes { started, ran_before, busy_after, ended_after: None };
        let running = service.begin(RunKind::Script, PartitionSet::ALL, times);
        assert_eq!(running.look(), Look::GoOn, "most scripts have soon ended");
        assert!(!service.any_has_run_for(Duration::ZERO));
        for _ in 0..3 {
            clock.advance_ms(1);
            assert_eq!(running.look(), Look::Attend);
            assert_eq!(running.look(), Look::GoOn, "it has just done so");
        }
        assert!(service.any_has_run_for(Duration::from_millis(3)));
        assert!(!service.any_has_run_for(Duration::from_millis(4)));
        drop(running);
        assert!(!service.any_has_run_for(Duration::ZERO));
    }
}
