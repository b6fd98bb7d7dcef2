//! HOT PATH
//! The short way of commands that a look at one key, or overwriting its string, is enough for.
//!
//! Most of what is asked before a command runs holds for all requests of a client until one of them
//! changes it: a batch asks once for each client ([`Admission`]). The rest holds for all requests
//! with the same command and as many words: how it runs, whether it has its arity, how it is
//! counted. That is asked once for as many of them as follow one another ([`run_shortly`]).
//!
//! Whether replies wait for the log does not matter: a look at a key that has an unacknowledged
//! change, and a change, take their ticket along.

use super::admission::Admission;
use super::dispatcher::Dispatcher;
use super::keys::key_session;
use super::outcome::fail;
use super::prepare::Incoming;
use super::worker::Worker;
use basalt_call::entry::{OVERWRITE_WORDS, Run, Shortcut};
use basalt_engine::{Gating, Key, Point};
use basalt_resp::{Output, Reply};
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_service::session::Session;
use basalt_spec::CommandId;
use std::sync::atomic::Ordering;

/// Calls with more words go the long way, which notices those that take long: a look at one key
/// with few words cannot.
const WORDS_MAX: usize = 64;

/// Runs requests of a client to which the short ways are open, from the first on, for as long as
/// they repeat its command and what is under their one key is enough for them and can be had at
/// once; returns their count. With the next one nothing has happened, and
/// [`super::execute::execute`] goes on with it, as it would have done with these.
#[inline(always)]
pub(super) fn run_shortly<'a>(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    admission: Admission,
    requests: impl Iterator<Item = Incoming<'a>> + Clone,
    out: &mut Output,
) -> usize {
    let Some(Incoming { prepared, words, .. }) = requests.clone().next() else { return 0 };
    let Some(id) = prepared.command else { return 0 };
    let (call, words) = (server.commands.call(id), words.len());
    if !call.accepts_words(words) || words > WORDS_MAX || server.unusual.any() {
        return 0;
    }
    let mut short = Short { server, worker, session, id, words, out };
    let ran = match (call.run, call.shortcut) {
        (Run::Point(run), _) => {
            short.look(requests, |point, args, reply| Some(run(point, args, reply)))
        }
        (_, Some(Shortcut::Attempt(attempt))) => short.look(requests, attempt),
        (_, Some(Shortcut::Overwrite))
            if words == OVERWRITE_WORDS && !admission.has(Admission::OUT_OF_MEMORY) =>
        {
            short.overwrite(requests)
        }
        _ => return 0,
    };
    if ran > 0 {
        session.client.last_command.store(id.index() as u16 + 1, Ordering::Relaxed);
        worker.count_calls(id, ran as u64);
    }
    ran
}

/// The key of a request; `None` if it is of another command, has another count of words or no key.
#[inline(always)]
fn key_of<'a>(
    Incoming { prepared, buffer, words }: Incoming<'a>,
    id: CommandId,
    count: usize,
) -> Option<Key<'a>> {
    if prepared.command != Some(id) || words.len() != count {
        return None;
    }
    Some(Key {
        bytes: prepared.key.of(buffer),
        hash: prepared.hash,
        partition: prepared.partition?,
    })
}

/// Requests with the same command and as many words.
struct Short<'a> {
    server: &'a Dispatcher,
    worker: &'a mut Worker,
    session: &'a mut Session,
    id: CommandId,
    words: usize,
    out: &'a mut Output,
}

impl Short<'_> {
    /// Looks at the key of each request, for as long as that is enough.
    #[inline(never)]
    fn look<'a>(
        &mut self,
        requests: impl Iterator<Item = Incoming<'a>>,
        run: impl Fn(&Point<'_>, &Args<'_>, &mut Reply<'_>) -> Option<CommandResult>,
    ) -> usize {
        let key_session = key_session(self.worker, self.session);
        let mut reply = Reply::new(self.out, self.session.protocol);
        let (mut ran, mut hits) = (0, 0);
        for request in requests {
            let Some(key) = key_of(request, self.id, self.words) else { break };
            let keys = [key];
            let args = Args::new(request.buffer, request.words).with_keys(&keys);
            let seen = request.prepared.seen;
            let gate = &mut self.session.gate;
            let read = self.server.engine.read_point(&keys[0], seen, &key_session, gate, |point| {
                let result = run(point, &args, &mut reply)?;
                Some((result, point.object().is_some()))
            });
            let Some(Some((result, is_hit))) = read else { break };
            if let Err(error) = result {
                fail(self.worker, self.id, &error, &mut reply);
            }
            hits += u32::from(is_hit);
            ran += 1;
        }
        self.worker.count_lookups((hits, ran - hits));
        ran as usize
    }

    /// Overwrites the string under the key of each request, for as long as it is one.
    #[inline(never)]
    fn overwrite<'a>(&mut self, requests: impl Iterator<Item = Incoming<'a>>) -> usize {
        let engine = &self.server.engine;
        let key_session = key_session(self.worker, self.session);
        let mut ran = 0;
        for request in requests {
            let Some(key) = key_of(request, self.id, self.words) else { break };
            let shard = key.partition.shard();
            if self.worker.admit_changes(self.server, shard).is_err() {
                break;
            }
            engine.log().prefetch(shard);
            let value = request.words[2].of(request.buffer);
            let seen = request.prepared.seen;
            let (gating, changes) = (self.worker.gating, &mut self.worker.changes);
            let Some(ticket) = engine.overwrite(&key, seen, value, &key_session, gating, changes)
            else {
                break;
            };
            if gating == Gating::On {
                self.session.gate.add(ticket);
            }
            Reply::new(self.out, self.session.protocol).ok();
            ran += 1;
        }
        ran
    }
}
