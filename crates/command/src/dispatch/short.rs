//! HOT PATH
//! The short way of commands that a look at one key, or overwriting its string, is enough for.
//!
//! Most of what is asked before a command runs holds for all requests of a client until one of them
//! changes it: whether it is admitted, queues, wants replies, whether somebody listens for events. A batch
//! asks once for each client ([`is_plain`]). The rest holds for all requests with the same command and as many
//! words: how it runs, whether it has its arity, how it is counted. That is asked once for as many of
//! them as follow one another ([`run_shortly`]).

use super::Worker;
use super::execute::fail;
use super::keys::key_session;
use super::prepare::Incoming;
use crate::args::Args;
use crate::entry::{PUT_WORDS, Run};
use crate::error::CommandResult;
use crate::server::Server;
use crate::session::{Replies, Session};
use crate::unusual;
use basalt_engine::{Key, Point};
use basalt_resp::{Output, Protocol, Reply};
use basalt_spec::CommandId;
use std::sync::atomic::Ordering;

/// Nothing about the client or the settings asks for a closer look at its commands. Commands on keys leave
/// it so.
#[inline]
pub(super) fn is_plain(worker: &Worker, session: &Session) -> bool {
    worker.is_plain()
        && session.replies == Replies::On
        && !session.is_queueing()
        && session.waiting.is_none()
        && session.is_admitted(&worker.settings)
        && !(session.is_subscribed() && session.protocol == Protocol::Resp2)
}

/// Runs requests of a client that [`is_plain`], from the first on, for as long as they repeat its command and what
/// is under their one key is enough for them and can be had at once; gives their count. With the next one
/// nothing has happened, and [`super::execute::execute`] goes on with it, as it would have done with these.
#[inline(always)]
pub(super) fn run_shortly<'a>(
    server: &Server,
    worker: &mut Worker,
    session: &Session,
    requests: impl Iterator<Item = Incoming<'a>> + Clone,
    out: &mut Output,
) -> usize {
    let Some(Incoming { prepared, words, .. }) = requests.clone().next() else { return 0 };
    let Some(id) = prepared.command else { return 0 };
    let (call, words) = (server.commands.call(id), words.len());
    if !call.accepts_words(words) || unusual::any() {
        return 0;
    }
    let mut short = Short { server, worker, session, id, words, out };
    let ran = match call.run {
        Run::Point(run) => short.look(requests, |point, args, reply| Some(run(point, args, reply))),
        Run::Attempt(attempt, _) => short.look(requests, attempt),
        Run::Put(_) if words == PUT_WORDS => short.overwrite(requests),
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
    server: &'a Server,
    worker: &'a mut Worker,
    session: &'a Session,
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
            let read = self.server.engine.read_point(&keys[0], seen, &key_session, |point| {
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

    /// Overwrites the string under the key of each request, for as long as it is one. The first change of
    /// a batch goes the long way, which asks the log whether it takes any.
    #[inline(never)]
    fn overwrite<'a>(&mut self, requests: impl Iterator<Item = Incoming<'a>>) -> usize {
        if !self.worker.log_admits || self.server.is_out_of_memory(&self.worker.settings) {
            return 0;
        }
        let engine = &self.server.engine;
        let key_session = key_session(self.worker, self.session);
        let mut ran = 0;
        for request in requests {
            let Some(key) = key_of(request, self.id, self.words) else { break };
            engine.log().prefetch(key.partition.shard());
            let value = request.words[2].of(request.buffer);
            if !engine.overwrite(
                &key,
                request.prepared.seen,
                value,
                &key_session,
                &mut self.worker.changes,
            ) {
                break;
            }
            Reply::new(self.out, self.session.protocol).ok();
            ran += 1;
        }
        ran
    }
}
