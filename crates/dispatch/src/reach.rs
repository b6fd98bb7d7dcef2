//! Commands that find out while they run which keys they need: see `basalt_engine`'s `reach.rs`.
//!
//! ```text
//! run under the locks of the named keys ▸ it asks for others ▸ unlock
//!   ▸ lock those named and those asked for ▸ fetch what is missing ▸ run ▸ it asks for more …
//! ```
//! Each run is whole and under one holding of the locks, so what it answers was true at one moment.
//! A command that is overtaken again and again by changes of what it makes names of gets everything
//! in the end.

use super::keys::{Obstacle, Stop, key_session, several_keys};
use super::request::Request;
use super::worker::Worker;
use basalt_call::entry::Run;
use basalt_engine::{ChangeSet, Claims, Transaction};
use basalt_resp::Reply;
use basalt_service::session::Session;
use basalt_service::wait::Wait;

/// Runs with more keys than were named, before one that holds every partition. A command needs as
/// many as it has stages at which it makes names; SORT has two.
const ROUNDS_MAX: usize = 4;

/// Runs the command on until it has all keys that it needs, if it has asked for some.
#[inline]
pub(super) fn go_on(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    obstacle: Obstacle,
    reply: &mut Reply<'_>,
) -> Obstacle {
    match *obstacle? {
        Stop::Reach(names) => {
            // What is changed stays with the worker until it is committed.
            let mut changes = worker.take_changes();
            let mut reach = KeyRequest { request, worker, session, changes: &mut changes };
            let obstacle = reach.run(names, reply);
            worker.put_changes_back(changes);
            obstacle
        }
        stop => Some(Box::new(stop)),
    }
}

/// A command that has asked for keys.
struct KeyRequest<'a, 'r> {
    request: &'a Request<'r>,
    worker: &'a mut Worker,
    session: &'a mut Session,
    changes: &'a mut ChangeSet,
}

impl KeyRequest<'_, '_> {
    #[cold]
    fn run(&mut self, mut names: Vec<Vec<u8>>, reply: &mut Reply<'_>) -> Obstacle {
        let engine = &*self.request.server.engine;
        let databases = self.session.db..self.session.db + 1;
        for _ in 0..ROUNDS_MAX {
            let mut keys = several_keys(self.request);
            keys.extend(names.iter().map(|name| engine.key(name)));
            let claims = Claims { keys, databases: databases.clone(), ..Claims::default() };
            match *self.run_once(&claims, reply)? {
                Stop::Reach(others) => names = others,
                stop => return Some(Box::new(stop)),
            }
        }
        let keys = several_keys(self.request);
        let claims = Claims { keys, databases, everything: true, reads_everything: true };
        self.run_once(&claims, reply)
    }

    fn run_once(&mut self, claims: &Claims<'_>, reply: &mut Reply<'_>) -> Obstacle {
        let engine = &*self.request.server.engine;
        let wait = self.worker.lock_wait;
        let mut transaction = match Transaction::lock(engine, claims, None, wait, self.changes) {
            Ok(transaction) => transaction,
            Err(unready) => return Some(Box::new(Stop::Wait(Wait::from(unready)))),
        };
        if let Err(unready) = transaction.check_resident(claims) {
            self.worker.counters.cold_reads.add(1);
            return Some(Box::new(Stop::Wait(Wait::from(unready))));
        }
        transaction.gate_reads(claims, &mut self.session.gate);
        let key_session = key_session(self.worker, self.session);
        let args = self.request.args(&claims.keys);
        transaction.txn(key_session).prefetch(&claims.keys);
        let (result, names) = match self.request.call.run {
            run @ (Run::Read(_) | Run::Point(_)) => {
                let view = transaction.view(key_session);
                let result = run.read(&view, &args, reply);
                let names = view.take_reach();
                if names.is_none() {
                    self.worker.count_lookups(view.hits_and_misses());
                }
                (result, names)
            }
            Run::Write(run) => {
                let mut txn = transaction.txn(key_session);
                (run(&mut txn, &args, reply), txn.take_reach())
            }
            Run::Session(_) | Run::Exec | Run::Script(_) => (Ok(()), None),
        };
        if let Some(names) = names {
            return Some(Box::new(Stop::Reach(names)));
        }
        // Even after an error: what has changed in memory must be in the log.
        transaction.commit(&mut self.session.gate);
        result.err().map(|error| Box::new(Stop::Error(error)))
    }
}
