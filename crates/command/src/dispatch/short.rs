//! HOT PATH
//! The short way of a command that a look at one key, or overwriting its string, is enough for.
//!
//! Most of what is asked before a command runs holds for all requests of a client until one of them
//! changes it: whether it is admitted, queues, wants replies, whether somebody listens for events. A batch
//! asks once for each client ([`is_plain`]); what remains is the command's own.

use super::execute::fail;
use super::keys::key_session;
use super::{Incoming, Worker};
use crate::args::Args;
use crate::commands::{PUT_WORDS, Run};
use crate::server::Server;
use crate::session::{Replies, Session};
use crate::unusual;
use basalt_engine::Key;
use basalt_resp::{Output, Protocol, Reply};
use basalt_spec::CommandId;
use std::sync::atomic::Ordering;

/// Nothing about the client or the settings asks for a closer look at its commands. Commands on keys leave
/// it so.
#[inline]
pub fn is_plain(worker: &Worker, session: &Session) -> bool {
    worker.is_plain()
        && session.replies == Replies::On
        && !session.is_queueing()
        && session.waiting.is_none()
        && session.is_admitted(&worker.settings)
        && !(session.is_subscribed() && session.protocol == Protocol::Resp2)
}

/// Runs a request of a client that [`is_plain`], if what is under its one key is enough for it and can be
/// had at once; says whether it did. Else nothing has happened, and [`super::execute()`] goes on with it, as it
/// would have done with this one.
#[inline(always)]
pub(super) fn run_shortly(
    server: &Server,
    worker: &mut Worker,
    session: &Session,
    Incoming { prepared, buffer, words }: Incoming<'_>,
    out: &mut Output,
) -> bool {
    let (Some(id), Some(partition)) = (prepared.command, prepared.partition) else { return false };
    let call = server.commands.call(id);
    if !call.accepts_words(words.len()) || unusual::any() {
        return false;
    }
    match call.run {
        Run::Point(_) | Run::Attempt(..) => {}
        Run::Put(_) if words.len() == PUT_WORDS => {
            let key = Key { bytes: words[1].of(buffer), hash: prepared.hash, partition };
            return overwrite(server, worker, session, id, &key, words[2].of(buffer), out);
        }
        _ => return false,
    }
    session.client.last_command.store(id.index() as u16 + 1, Ordering::Relaxed);
    let keys = [Key { bytes: words[1].of(buffer), hash: prepared.hash, partition }];
    let key_session = key_session(worker, session);
    let mut reply = Reply::new(out, session.protocol);
    let args = Args::new(buffer, words).with_keys(&keys);
    let read = server.engine.read_point(&keys[0], &key_session, |point| {
        let result = match call.run {
            Run::Point(run) => Some(run(point, &args, &mut reply)),
            Run::Attempt(attempt, _) => attempt(point, &args, &mut reply),
            _ => None,
        };
        (result, point.object().is_some())
    });
    let Some((Some(result), is_hit)) = read else { return false };
    if let Err(error) = result {
        fail(worker, id, &error, &mut reply);
    }
    worker.count_lookup(is_hit);
    worker.count_call(id);
    true
}

/// Overwrites the string under the key. The first change of a batch goes the long way, which asks the log
/// whether it takes any.
#[inline(always)]
fn overwrite(
    server: &Server,
    worker: &mut Worker,
    session: &Session,
    id: CommandId,
    key: &Key<'_>,
    value: &[u8],
    out: &mut Output,
) -> bool {
    if !worker.log_admits || server.is_out_of_memory(&worker.settings) {
        return false;
    }
    server.engine.log().prefetch(key.partition.shard());
    let key_session = key_session(worker, session);
    if !server.engine.overwrite(key, value, &key_session, &mut worker.changes) {
        return false;
    }
    session.client.last_command.store(id.index() as u16 + 1, Ordering::Relaxed);
    Reply::new(out, session.protocol).ok();
    worker.count_call(id);
    true
}
