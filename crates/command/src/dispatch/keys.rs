//! HOT PATH
//! Running a command on its keys: find them, lock their partitions, wait for what is not in memory.

use super::{Prepared, Worker};
use crate::args::Args;
use crate::error::CommandError;
use crate::server::Server;
use crate::session::{Flow, Session};
use crate::wait::Wait;
use basalt_engine::{Engine, Key, Missing, Refusal, Session as KeySession, Txn, View};
use basalt_keyspace::keyspace::Locked;
use basalt_spec::{Command, Flag, KeyFlag};

/// Runs a command that reads its keys.
#[inline]
pub(super) fn read(
    server: &Server,
    worker: &mut Worker,
    session: &mut Session,
    command: &Command,
    args: &Args<'_>,
    prepared: Prepared,
    run: impl FnOnce(&View<'_>, &Args<'_>) -> Result<(), CommandError>,
) -> Result<Flow, CommandError> {
    let engine = &*server.engine;
    with_keys(engine, command, args, prepared, |args| {
        let locked = match lock(engine, worker, session, args.keys()) {
            Ok(locked) => locked,
            Err(missing) => return Ok(Flow::Wait(Wait::Keys(missing))),
        };
        let view = View::new(engine, locked, key_session(worker, session));
        let result = run(&view, args);
        let (hits, misses) = view.hits_and_misses();
        worker.counters.keyspace_hits.add(u64::from(hits));
        worker.counters.keyspace_misses.add(u64::from(misses));
        result.map(|()| Flow::Done)
    })
}

/// Runs a command that changes its keys. One that is flagged as reading only, PFCOUNT, may improve
/// what is stored by the way; it asks the log itself, and answers without if the log takes nothing.
#[inline]
pub(super) fn write(
    server: &Server,
    worker: &mut Worker,
    session: &mut Session,
    command: &Command,
    args: &Args<'_>,
    prepared: Prepared,
    run: impl FnOnce(&mut Txn<'_>, &Args<'_>) -> Result<(), CommandError>,
) -> Result<Flow, CommandError> {
    let engine = &*server.engine;
    match engine.log().admit() {
        Ok(()) => {}
        Err(_) if command.flags.has(Flag::Readonly) => {}
        Err(Refusal::Busy) => return Ok(Flow::Wait(Wait::LogRoom)),
        Err(refusal) => return Err(CommandError::log_refused(&refusal)),
    }
    let key_session = key_session(worker, session);
    with_keys(engine, command, args, prepared, |args| {
        let locked = match lock(engine, worker, session, args.keys()) {
            Ok(locked) => locked,
            Err(missing) => return Ok(Flow::Wait(Wait::Keys(missing))),
        };
        let mut txn = Txn::new(engine, locked, key_session, &mut worker.changes);
        let result = run(&mut txn, args);
        // Even after an error: what has changed in memory must be in the log.
        if let Some(ticket) = txn.commit() {
            session.gate.add(ticket);
        }
        if let Some(missing) = worker.changes.take_missing() {
            worker.counters.cold_reads.add(1);
            return Ok(Flow::Wait(Wait::Keys(missing)));
        }
        result.map(|()| Flow::Done)
    })
}

/// Locks the partitions of all keys, and has the reply wait for what it will see of them; or says
/// which keys are not in memory.
#[inline]
fn lock<'e>(
    engine: &'e Engine,
    worker: &Worker,
    session: &mut Session,
    keys: &[Key<'_>],
) -> Result<Locked<'e>, Missing> {
    let mut locked = engine.lock(keys);
    if let Some(missing) = engine.missing(&mut locked, session.db, keys) {
        worker.counters.cold_reads.add(1);
        return Err(missing);
    }
    if engine.log().gates_replies() {
        engine.gate_reads(&locked, keys, &mut session.gate);
    }
    Ok(locked)
}

#[inline]
fn key_session(worker: &Worker, session: &Session) -> KeySession {
    KeySession {
        db: session.db,
        now_ms: worker.now_ms,
        touch: session.touch,
        value_bytes_max: worker.settings.network.bulk_bytes_max,
    }
}

/// Finds the command's keys and calls `run` with them.
#[inline]
fn with_keys<R>(
    engine: &Engine,
    command: &Command,
    args: &Args<'_>,
    prepared: Prepared,
    run: impl FnOnce(&Args<'_>) -> Result<R, CommandError>,
) -> Result<R, CommandError> {
    let range = command.key_range;
    if range.first == range.last
        && !command.flags.has(Flag::Movablekeys)
        && let Some((hash, partition)) = prepared.first_key
    {
        let key = [Key { bytes: args.word(range.first as usize), hash, partition }];
        return run(&args.with_keys(&key));
    }
    let mut keys = Vec::new();
    if command.flags.has(Flag::Movablekeys) {
        let visited = command.visit_keys(args, |position, flags| {
            if !flags.has(KeyFlag::NotKey) {
                keys.push(engine.key(args.word(position)));
            }
        });
        if visited.is_err() {
            // Where the keys are is unclear: the command, which reads the same words, says why.
            keys.clear();
        }
    } else {
        let words = args.len();
        keys.extend(range.positions(words).map(|position| engine.key(args.word(position))));
    }
    run(&args.with_keys(&keys))
}
