//! HOT PATH
//! Running a command on its keys: find them, lock their partitions, wait for what is not in memory.

use super::heads::{self, Means};
use super::reach;
use super::request::Request;
use super::worker::Worker;
use basalt_call::entry::{Run, WriteFn};
use basalt_engine::{
    CommandContext, Copying, Engine, Gate, Gating, Issuer, Key, Missing, Places, Refusal, Settled,
    Txn, View, Waiter,
};
use basalt_observe::counters::ThreadCounters;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::clients::ClientHandle;
use basalt_service::error::CommandError;
use basalt_service::prepared::Prepared;
use basalt_service::session::{KeyWait, ParkedCommand, Session};
use basalt_service::wait::Wait;
use basalt_spec::{Command, Flag, KeyFlag};
use std::sync::Arc;

/// What keeps a command from being done with. In a box, because nearly always there is nothing, and
/// what is large is copied on its way up, whether it is there or not.
pub(super) type Obstacle = Option<Box<Stop>>;

/// See [`Obstacle`].
pub(super) enum Stop {
    /// It answers an error.
    Error(CommandError),
    /// It has to wait and will run again.
    Wait(Wait),
    /// It runs again at once, under the locks of these keys, too.
    Reach(Vec<Vec<u8>>),
    /// It runs again at once, with a copy of a long string.
    Copy(Copying),
    /// It runs again at once, apart from its batch.
    RunApart,
}

/// Runs a command that reads its keys.
#[inline(always)]
pub(super) fn read(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    run: Run,
    reply: &mut Reply<'_>,
) -> Obstacle {
    if let Some(key) = only_key(request) {
        return read_keys(request, worker, session, &[key], run, reply);
    }
    read_several(request, worker, session, run, reply)
}

#[inline(never)]
fn read_several(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    run: Run,
    reply: &mut Reply<'_>,
) -> Obstacle {
    let obstacle = read_keys(request, worker, session, &several_keys(request), run, reply);
    reach::go_on(request, worker, session, obstacle, reply)
}

/// Inlined twice: for one key most of it folds away. The view is made where it stays and nothing is
/// moved into it: copies of what has just been written in other pieces stall the processor, and
/// three of them took a seventh of a GET.
#[inline(always)]
fn read_keys(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    keys: &[Key<'_>],
    run: Run,
    reply: &mut Reply<'_>,
) -> Obstacle {
    let engine = &*request.server.engine;
    let key_session = key_session(worker, session);
    let Some(locked) = engine.lock_within(keys, key_session.lock_wait) else {
        return held(request, keys);
    };
    let mut view = View::new(engine, locked, key_session);
    if let Some(missing) = view.missing(keys) {
        if request.traits().asks_heads {
            return heads::ask(request, worker, session, (view, missing), (run, keys), reply);
        }
        return wait_for(&worker.counters, missing);
    }
    if worker.gating == Gating::On {
        view.gate_reads(keys, &mut session.gate);
    }
    if let Some(waiting) = &session.waiting {
        view.recall(&waiting.behind);
    }
    let obstacle = match run.read(&view, &request.args(keys), reply) {
        Ok(()) => None,
        Err(error) => failed(error),
    };
    worker.count_lookups(view.hits_and_misses());
    if view.has_to_settle() {
        let settle = |client: &_, places: &_, _: &mut Gate| view.settle(client, places);
        return settled(request, &worker.counters, session, obstacle, settle);
    }
    obstacle
}

/// Runs a command that changes its keys. One that is flagged as reading only, PFCOUNT, may improve
/// what is stored by the way; it asks the log itself, and answers without if the log takes nothing.
#[inline(always)]
pub(super) fn write(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    run: WriteFn,
    reply: &mut Reply<'_>,
) -> Obstacle {
    if let Some(key) = only_key(request) {
        let key = (key_session(worker, session), key);
        return write_one(request, worker, session, key, run, reply);
    }
    write_several(request, worker, session, run, reply)
}

/// Runs a command that changes its only key.
#[inline(always)]
pub(super) fn write_one(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    (key_session, key): (CommandContext, Key<'_>),
    run: WriteFn,
    reply: &mut Reply<'_>,
) -> Obstacle {
    let (shard, keys) = (key.partition.shard(), [key]);
    if let Err(refusal) = worker.admit_changes(request.server, shard)
        && let Some(obstacle) = refused(request, refusal, &keys)
    {
        return Some(obstacle);
    }
    request.server.engine.log().prefetch(shard);
    write_keys(request, worker, session, (key_session, &keys), run, reply)
}

/// While the disk is full, what runs when memory is full runs, too: deleting and expiry, which
/// alone make room.
fn may_make_room(request: &Request<'_>, keys: &[Key<'_>]) -> bool {
    let log = request.server.engine.log();
    let is_admitted = |key: &Key<'_>| log.admit_removal(key.partition.shard()).is_ok();
    !request.command().flags.has(Flag::Denyoom) && keys.iter().all(is_admitted)
}

#[inline(never)]
fn write_several(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    run: WriteFn,
    reply: &mut Reply<'_>,
) -> Obstacle {
    let keys = several_keys(request);
    let admit = |key: &Key<'_>| worker.admit_changes(request.server, key.partition.shard()).err();
    let refusals = keys.iter().filter_map(admit);
    if let Some(refusal) = refusals.max_by_key(|refusal| *refusal != Refusal::Busy)
        && let Some(obstacle) = refused(request, refusal, &keys)
    {
        return Some(obstacle);
    }
    let all = (key_session(worker, session), &keys[..]);
    let obstacle = write_keys(request, worker, session, all, run, reply);
    reach::go_on(request, worker, session, obstacle, reply)
}

/// As [`read_keys`]. The transaction ends with the function, for `drop` would move it.
#[inline(always)]
fn write_keys(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    (key_session, keys): (CommandContext, &[Key<'_>]),
    run: WriteFn,
    reply: &mut Reply<'_>,
) -> Obstacle {
    let engine = &*request.server.engine;
    let Some(locked) = engine.lock_within(keys, key_session.lock_wait) else {
        return held(request, keys);
    };
    let gating = worker.gating;
    let mut txn = Txn::with_gating(engine, locked, key_session, &mut worker.changes, gating);
    if txn.lacks_some(keys)
        && let Some(missing) = missing_for(request, &mut txn, keys)
    {
        let means = Means { counters: &worker.counters, left: &mut worker.left_heads, gating };
        return heads::remove(request, means, session, (&mut txn, missing), (run, keys), reply);
    }
    if gating == Gating::On {
        txn.gate_reads(keys, &mut session.gate);
    }
    let obstacle = match run(&mut txn, &request.args(keys), reply) {
        Ok(()) => None,
        Err(error) => failed(error),
    };
    if txn.has_to_settle() {
        let settle = |client: &_, places: &_, gate: &mut _| txn.settle(client, places, gate);
        settled(request, &worker.counters, session, obstacle, settle)
    } else {
        // Even after an error: what has changed in memory must be in the log.
        txn.append(&mut session.gate);
        obstacle
    }
}

/// Which of its keys a command that changes them has to wait for, where some may be on disk only.
#[cold]
#[inline(never)]
fn missing_for(request: &Request<'_>, txn: &mut Txn<'_>, keys: &[Key<'_>]) -> Option<Missing> {
    let puts_blindly = request.traits().puts_blindly;
    if puts_blindly.is_some_and(|puts| puts(&request.args(&[]))) && txn.may_put_unread(keys) {
        return None;
    }
    txn.missing(keys)
}

/// Ends the run of a command that has to wait or has waited, with what came of it.
#[cold]
#[inline(never)]
pub(super) fn settled(
    request: &Request<'_>,
    counters: &ThreadCounters,
    session: &mut Session,
    outcome: Obstacle,
    settle: impl FnOnce(&Arc<dyn Waiter>, &Places, &mut Gate) -> Settled,
) -> Obstacle {
    let client: Arc<dyn Waiter> = Arc::<ClientHandle>::clone(&session.client);
    let waiting = session.waiting.take();
    let nowhere = Places::new();
    let places = waiting.as_ref().map_or(&nowhere, |waiting| &waiting.places);
    match settle(&client, places, &mut session.gate) {
        Settled::Fetches(missing) => {
            session.waiting = waiting;
            wait_for(counters, missing)
        }
        Settled::Reaches(names) => {
            session.waiting = waiting;
            Some(Box::new(Stop::Reach(names)))
        }
        Settled::Copies(copying) => {
            session.waiting = waiting;
            Some(Box::new(Stop::Copy(copying)))
        }
        Settled::WaitsForCheckpoint => {
            session.waiting = waiting;
            Some(Box::new(Stop::Wait(Wait::Held)))
        }
        Settled::RunsApart => {
            session.waiting = waiting;
            Some(Box::new(Stop::RunApart))
        }
        Settled::Waits(wanted) => {
            let now = request.server.env.clock.now();
            let waiting = waiting.unwrap_or_else(|| {
                session.client.begin_waiting();
                let time = wanted.time.into_iter().chain(session.key_wait_max).min();
                let deadline = time.and_then(|time| now.checked_add(time));
                let behind = wanted.behind;
                let places = wanted.places;
                Box::new(KeyWait { places, deadline, behind, on_disk: Gate::default() })
            });
            let left = waiting.deadline.map(|deadline| deadline.saturating_duration_since(now));
            // Still under the locks: the next command that changes one of the keys finds it.
            let words = (request.buffer, request.words);
            let command = ParkedCommand::new(session, *request.prepared, words, waiting);
            session.client.park(Box::new(command));
            session.is_parked = true;
            Some(Box::new(Stop::Wait(Wait::Ready(left))))
        }
        Settled::Over => {
            session.client.end_waiting();
            outcome
        }
    }
}

/// Somebody holds one of the partitions for long.
#[cold]
#[inline(never)]
fn held(request: &Request<'_>, keys: &[Key<'_>]) -> Obstacle {
    request.server.contested.note(&request.server.engine, keys);
    Some(Box::new(Stop::Wait(Wait::Held)))
}

#[cold]
#[inline(never)]
pub(super) fn failed(error: CommandError) -> Obstacle {
    Some(Box::new(Stop::Error(error)))
}

#[cold]
#[inline(never)]
pub(super) fn wait_for(counters: &ThreadCounters, missing: Missing) -> Obstacle {
    counters.cold_reads.add(1);
    Some(Box::new(Stop::Wait(Wait::Keys(missing))))
}

/// The log refuses the changes of a command: what keeps it from running, if anything does.
#[cold]
#[inline(never)]
fn refused(request: &Request<'_>, refusal: Refusal, keys: &[Key<'_>]) -> Obstacle {
    if request.command().flags.has(Flag::Readonly)
        || refusal == Refusal::DiskFull && may_make_room(request, keys)
    {
        return None;
    }
    Some(Box::new(match refusal {
        Refusal::Busy => {
            let shards = keys.iter().map(|key| key.partition.shard()).collect();
            Stop::Wait(Wait::LogRoom(shards))
        }
        refusal => Stop::Error(CommandError::log_refused(&refusal)),
    }))
}

#[inline(always)]
pub(super) fn key_session(worker: &Worker, session: &Session) -> CommandContext {
    CommandContext {
        db: session.db,
        now_ms: worker.now_ms,
        touch: session.touch,
        value_bytes_max: worker.settings.network.bulk_bytes_max,
        client: session.client.id,
        attempt: session.attempt(&*worker.clock),
        lock_wait: worker.lock_wait,
        issuer: Issuer::Client,
    }
}

/// The key of a call that has one.
#[inline(always)]
fn only_key<'a>(request: &Request<'a>) -> Option<Key<'a>> {
    let position = match request.call.position_of_one_key(request.words.len()) {
        0 => key_behind_word(request)?,
        position => position,
    };
    let bytes = request.words[position].of(request.buffer);
    let Prepared { hash, partition, .. } = *request.prepared;
    Some(Key { bytes, hash, partition: partition? })
}

/// Which word is the key of a call that has one, behind a word of its own.
#[inline(never)]
fn key_behind_word(request: &Request<'_>) -> Option<usize> {
    let position = request.call.position_behind_word(request.words, request.buffer);
    (position > 0).then_some(position)
}

/// The keys of a command that may have several.
pub(super) fn several_keys<'a>(request: &Request<'a>) -> Vec<Key<'a>> {
    let mut keys = Vec::new();
    add_keys(&request.server.engine, request.command(), request.args(&[]), &mut keys);
    keys
}

/// The keys of a command that may have several.
pub(super) fn add_keys<'a>(
    engine: &Engine,
    command: &Command,
    args: Args<'a>,
    keys: &mut Vec<Key<'a>>,
) {
    let before = keys.len();
    if command.flags.has(Flag::Movablekeys) {
        let visited = command.visit_keys(&args, |position, flags| {
            if !flags.has(KeyFlag::NotKey) {
                keys.push(engine.key(args.word(position)));
            }
        });
        if visited.is_err() {
            // Where the keys are is unclear: the command, which reads the same words, says why.
            keys.truncate(before);
        }
    } else {
        let positions = command.key_range.positions(args.len());
        keys.extend(positions.map(|position| engine.key(args.word(position))));
    }
}
