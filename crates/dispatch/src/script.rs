//! EVAL and its like: a script's commands as one.
//!
//! ```text
//! read the call ▸ lock its partitions ▸ are its keys in memory? ▸ run, each command in its turn
//!               ▸ append one ChangeSet ▸ unlock ▸ write the answer ▸ send what was published
//!        ▲                                                           │ a key that is not held or
//!        └──── unlock, lock or fetch more, begin again ◀─────────────┘ not in memory, no change
//! ```
//! Which partitions those are, and what happens when a script uses keys that it was not called
//! with, is [decision 11](../../../../docs/decisions/0011-scripts.md). A script knows no other way
//! to a key than [`Caller`], which has everything checked before it changes anything.

mod caller;
mod invocation;

use self::caller::{Caller, GivenUp};
use self::invocation::Invocation;
use super::behind;
use super::dispatcher::Dispatcher;
use super::events;
use super::monitors;
pub(super) use super::publication::Publication;
use super::request::Request;
use super::worker::Worker;
use basalt_call::entry::ScriptCall;
use basalt_change::place::ShardSet;
use basalt_engine::{Claims, PartitionSet, Refusal, Transaction};
use basalt_env::Instant;
use basalt_pubsub::{Kind, WhenFull};
use basalt_resp::Reply;
use basalt_script::{
    Answer, Counted, Finished, KeyScope, RandomState, ScriptFlags, ScriptLimits, Trust,
};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::push::Push;
use basalt_service::scripts::{Attendant, EarlierRuns, RunKind, ScriptTimes};
use basalt_service::session::{Flow, Session, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::CommandId;
use std::time::Duration;

const GIVEN_UP: CommandError = CommandError::fixed("ERR the script was given up");

/// How a run on locked partitions ended.
enum Outcome {
    Answered(Answer),
    Failed(CommandError, Counted),
    /// And where the script's random numbers stood when it began.
    GivenUp(GivenUp, RandomState),
}

/// The runs of a script that begins again until it has all that it needs.
struct Runs {
    earlier: EarlierRuns,
    /// When the next run begins.
    begin: Instant,
    /// It is to hold every partition.
    hold_everything: bool,
}

/// Runs a script by itself.
#[cold]
pub(super) fn execute(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    (call, attendant): (ScriptCall, &mut dyn Attendant),
    reply: &mut Reply<'_>,
) -> SessionResult {
    let server = request.server;
    let earlier = session.script_runs.take();
    let invocation = read(server, worker, session, (request.args(&[]), call))?;
    let invocation = invocation.prepared_as(request.prepared);
    if server.pubsub.is_congested() {
        session.script_runs = earlier;
        return Ok(Flow::Wait(Wait::Subscribers));
    }
    // What is changed stays with the worker until it is committed.
    let mut changes = worker.take_changes();
    let mut runs = Runs::after(earlier, worker.start_of_call(server));
    let trust = invocation.program.trust();
    let result = loop {
        let claims = invocation.claims(server, worker, session.db, runs.hold_everything);
        let log_refusal = match asked_of_log(server, &invocation, &claims) {
            Ok(refusal) => refusal,
            Err(wait) => break Ok(Flow::Wait(wait)),
        };
        let how = (None, worker.lock_wait, &mut session.has_given_way);
        let mut transaction = match behind::lock(server, &claims, how, &mut changes) {
            Ok(transaction) => transaction,
            Err(unready) => break Ok(Flow::Wait(Wait::from(unready))),
        };
        if let Err(unready) = transaction.check_resident(&claims) {
            worker.counters.cold_reads.add(1);
            break Ok(Flow::Wait(Wait::from(unready)));
        }
        transaction.gate_reads(&claims, &mut session.gate);
        let mut publications = Vec::new();
        let outcome = {
            let called = (&claims, &invocation, log_refusal.as_ref());
            let mut caller =
                Caller::new(server, worker, session, &mut transaction, called, &mut *attendant);
            caller.begins(runs.begin, runs.earlier);
            run(&mut caller, &invocation, &claims, &mut publications)
        };
        worker.claimed_keys.put_back(claims.keys);
        match outcome {
            Outcome::GivenUp(why, began_with) => {
                drop(transaction);
                // Keys that it has not found; it looks for them again.
                changes.events().clear();
                runs.has_ended(server.env.clock.now(), began_with);
                if let Some(wait) = runs.begin_again(worker, why, trust) {
                    break Ok(Flow::Wait(wait));
                }
            }
            outcome => {
                // Even after an error: what has changed in memory must be in the log.
                transaction.commit(&mut session.gate);
                publish(server, worker, session, publications);
                break finish(outcome, worker, request.id, reply).map(|()| Flow::Done);
            }
        }
    };
    worker.put_changes_back(changes);
    invocation.end(worker);
    if matches!(result, Ok(Flow::Wait(_))) {
        session.script_runs = Some(runs.earlier);
    }
    events::publish(server, worker, session);
    result
}

impl Runs {
    fn after(earlier: Option<EarlierRuns>, begin: Instant) -> Runs {
        Runs { earlier: earlier.unwrap_or_default(), begin, hold_everything: false }
    }

    /// A run was given up, whose random numbers began with these.
    fn has_ended(&mut self, now: Instant, random: RandomState) {
        self.earlier.took += now - self.begin;
        self.earlier.random = Some(random);
        self.begin = now;
    }

    /// Has the script begin with more; returns what it waits for before, if it waits.
    fn begin_again(&mut self, worker: &Worker, why: GivenUp, trust: &Trust) -> Option<Wait> {
        match why {
            GivenUp::Everything => trust.needs_all_in_memory(),
            GivenUp::AnyKey => trust.went_beyond_its_keys(),
            GivenUp::BeforeChange => self.hold_everything = true,
            GivenUp::Overtaken => self.earlier.overtaken += 1,
            GivenUp::NotNoted => self.earlier.note_keys = true,
            GivenUp::Fetch(missing) => {
                worker.counters.cold_reads.add(1);
                return Some(Wait::Keys(missing));
            }
        }
        None
    }
}

/// Reads a call. What a function does is seen when no crash can take its library back.
fn read<'a>(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    (args, call): (Args<'a>, ScriptCall),
) -> Result<Invocation<'a>, CommandError> {
    let invocation = Invocation::read(server, worker, args, call)?;
    if invocation.kind() == RunKind::Function {
        server.engine.gate_reads_of_libraries(&mut session.gate);
    }
    Ok(invocation)
}

/// Whether the log takes changes, as [`refused_shards`]; waits for it if it soon will.
fn asked_of_log(
    server: &Dispatcher,
    invocation: &Invocation<'_>,
    claims: &Claims<'_>,
) -> Result<Option<(Refusal, ShardSet)>, Wait> {
    match server.engine.log().admit_all(claims.shards()) {
        Err(Refusal::Busy) if !invocation.is_read_only() => Err(Wait::LogRoom(claims.shards())),
        admitted => Ok(refused_shards(server, admitted, claims)),
    }
}

/// The shards that a script may touch and whose changes the log refuses for longer than a moment,
/// and why; `admitted` is what it says of all together.
fn refused_shards(
    server: &Dispatcher,
    admitted: Result<(), Refusal>,
    claims: &Claims<'_>,
) -> Option<(Refusal, ShardSet)> {
    let refusal = admitted.err().filter(|refusal| *refusal != Refusal::Busy)?;
    let log = server.engine.log();
    let is_refused = |shard: &_| log.admit(*shard).is_err_and(|why| why != Refusal::Busy);
    Some((refusal, claims.shards().iter().filter(is_refused).collect()))
}

/// Runs a script that is one command of a transaction, which holds every partition.
#[cold]
pub(super) fn execute_within(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    (id, args): (CommandId, Args<'_>),
    (call, attendant): (ScriptCall, &mut dyn Attendant),
    transaction: &mut Transaction<'_>,
    (publications, reply): (&mut Vec<Publication>, &mut Reply<'_>),
) -> Result<(), CommandError> {
    let invocation = read(server, worker, session, (args, call))?;
    let claims = invocation.claims(server, worker, session.db, true);
    // There was room before the first command.
    let admitted = server.engine.log().admit_all(claims.shards());
    let log_refusal = refused_shards(server, admitted, &claims);
    let outcome = {
        let called = (&claims, &invocation, log_refusal.as_ref());
        let mut caller = Caller::new(server, worker, session, transaction, called, attendant);
        caller.cannot_begin_again();
        // Commands before it have taken time.
        caller.begins(server.env.clock.now(), EarlierRuns::default());
        run(&mut caller, &invocation, &claims, publications)
    };
    worker.claimed_keys.put_back(claims.keys);
    invocation.end(worker);
    finish(outcome, worker, id, reply)
}

/// What the script that a call names declares; `None` if it declares nothing or is no script.
pub(super) fn declared(
    server: &Dispatcher,
    args: Args<'_>,
    call: ScriptCall,
) -> Option<ScriptFlags> {
    let program = invocation::named(server, args, call)?;
    Some(program.flags()).filter(|flags| flags.declared)
}

/// What EXEC has to bring into memory for the scripts that it runs.
pub(super) fn reads_everything(server: &Dispatcher, args: Args<'_>, call: ScriptCall) -> bool {
    let program = invocation::find(server, args, call);
    program.is_ok_and(|program| program.trust().scope() == KeyScope::AnyInMemory)
}

/// Sends what a script has published; its changes are in the log, and the messages wait for them.
pub(super) fn publish(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &Session,
    publications: Vec<Publication>,
) {
    for Publication { kind, channel, payload } in publications {
        if kind == Kind::Monitor {
            monitors::publish(server, worker, &payload);
            continue;
        }
        let gate = session.gate_of_messages();
        // The script has been told how many there were.
        let _ = server.pubsub.publish(
            &mut worker.outbox,
            kind,
            &channel,
            WhenFull::Exceed,
            &mut |matched| Push::new(kind, &channel, &payload, matched, gate.clone()),
        );
    }
}

/// Runs a script on locked partitions.
fn run(
    caller: &mut Caller<'_, '_>,
    invocation: &Invocation<'_>,
    claims: &Claims<'_>,
    publications: &mut Vec<Publication>,
) -> Outcome {
    let settings = &caller.worker.settings.server;
    let limits = ScriptLimits { memory_bytes_max: settings.script_memory_bytes_max };
    let time_max = settings.script_time_ms_max;
    let times = ScriptTimes {
        started: caller.began,
        ran_before: caller.earlier.took,
        busy_after: Duration::from_millis(settings.script_busy_after_ms),
        ended_after: (time_max != 0).then(|| Duration::from_millis(time_max)),
    };
    let kind = invocation.kind();
    let scripts = &caller.server.scripts;
    caller.runs_as(scripts.begin(kind, held(claims), times));
    let input = invocation.input(caller.earlier.random);
    let finished = scripts.with_interpreter(|interpreter| {
        if kind == RunKind::Function {
            scripts.functions.tidy(interpreter);
        }
        interpreter.run(&invocation.program, input, limits, caller)
    });
    let (given_up, mut published) = caller.end();
    match finished {
        Ok(Finished::GivenUp(random)) => match given_up {
            Some(given_up) => Outcome::GivenUp(given_up, random),
            None => Outcome::Failed(GIVEN_UP, Counted::NotYet),
        },
        Ok(Finished::Answered(answer)) => {
            publications.append(&mut published);
            Outcome::Answered(answer)
        }
        Ok(Finished::Failed(error, counted)) => {
            publications.append(&mut published);
            Outcome::Failed(CommandError::new(error), counted)
        }
        Err(error) => Outcome::Failed(error, Counted::NotYet),
    }
}

/// The partitions that a script holds.
fn held(claims: &Claims<'_>) -> PartitionSet {
    if claims.everything {
        return PartitionSet::ALL;
    }
    let mut held = PartitionSet::EMPTY;
    claims.keys.iter().for_each(|key| held.insert(key.partition));
    held
}

/// Writes the answer, and counts the errors that are part of it. As in Redis, errors of commands
/// that the script has called are counted already, but each is one more failure of the script.
fn finish(
    outcome: Outcome,
    worker: &Worker,
    id: CommandId,
    reply: &mut Reply<'_>,
) -> Result<(), CommandError> {
    let counters = &worker.counters;
    let failed = &counters.by_command[id.index()].failed;
    match outcome {
        Outcome::Answered(answer) => {
            let mut has_own_errors = false;
            answer.write(reply, &mut |text, counted| match counted {
                Counted::Already => failed.add(1),
                Counted::NotYet => {
                    has_own_errors = true;
                    counters.count_error(&String::from_utf8_lossy(text));
                }
            });
            failed.add(u64::from(has_own_errors));
            Ok(())
        }
        Outcome::Failed(error, Counted::Already) => {
            failed.add(1);
            reply.error(error.text());
            Ok(())
        }
        Outcome::Failed(error, Counted::NotYet) => Err(error),
        Outcome::GivenUp(..) => Err(GIVEN_UP),
    }
}
