//! HOT PATH
//! Requests of a client that follow one another and are alike: they have the same command and as
//! many words.
//!
//! Most of what is asked before a command runs holds for all requests of a client until one of them
//! changes it: a batch asks once for each client ([`Admission`]). The rest holds for all requests
//! of a row: how they run, whether they have their command's arity, how they are counted. That is
//! asked once for the row. What is under their one key may be enough for them (`short.rs`);
//! if not, they change it as any command does (`plain.rs`), some of them under one lock
//! (`together.rs`).

use super::admission::Admission;
use super::alike::{Alike, Row};
use super::dispatcher::Dispatcher;
use super::plain;
use super::prepare::Incoming;
use super::short::Short;
use super::together;
use super::worker::Worker;
use basalt_call::entry::{OVERWRITE_WORDS, Run, Shortcut};
use basalt_resp::Output;
use basalt_service::args::Args;
use basalt_service::session::Session;
use std::sync::atomic::Ordering;

/// Requests of which one was not to be had the short way, and which all change their key the plain
/// way for that: where one key is new, the next often is, too.
const NEW_KEYS_MAX: usize = 4;

/// Runs requests of a client of which only [`Admission::opens_short_ways`] is known, from the first
/// on, for as long as they repeat its command; each comes with its bytes. With a request that has
/// neither run nor begun to run nothing has happened, and [`super::execute::execute`] goes on with
/// it, as it would have done with these. A row of changes ends behind the request with which the
/// client is owed more than `owed_bytes_max`. `first` has as many of the requests as it is asked
/// for: an iterator that counts would count for each of them.
#[inline(always)]
pub(super) fn run_row<'a, Requests: Iterator<Item = (Incoming<'a>, usize)> + Clone>(
    server: &'a Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    admission: &mut Admission,
    (count, first): (usize, impl Fn(usize) -> Requests),
    (out, owed_bytes_max): (&mut Output, usize),
) -> Row {
    let Some((Incoming { prepared, words, .. }, _)) = first(count).next() else {
        return Row::NONE;
    };
    let Some(id) = prepared.command else { return Row::NONE };
    let (call, words) = (server.commands.call(id), words.len());
    let accepts = call.accepts_words(words);
    if !accepts || server.unusual.any() && !leaves_short_ways_open(server, session) {
        return Row::NONE;
    }
    let alike = Alike { server, id, call, words };
    // One call of what follows: with two, the compiler lays the short ways out less well, which a
    // SET of everybody else would pay for with a sixth more instructions.
    let permitted = match admission.has(Admission::RESTRICTED) {
        true => count_permitted(&alike, session, first(count).map(|(incoming, _)| incoming)),
        false => count,
    };
    if permitted == 0 {
        return Row::NONE;
    }
    run_alike(alike, worker, session, admission, first(permitted), (out, owed_bytes_max))
}

/// Whether a client's commands may go a short way though something is unusual: somebody is told of
/// them, and nothing else is. One that runs again may have been told of.
#[cold]
fn leaves_short_ways_open(server: &Dispatcher, session: &Session) -> bool {
    !server.unusual.may_hold() && !session.has_told_monitors
}

/// How many requests of a row are permitted, before one that is not.
#[inline(never)]
fn count_permitted<'a>(
    alike: &Alike<'_>,
    session: &Session,
    requests: impl Iterator<Item = Incoming<'a>>,
) -> usize {
    let traits = alike.server.commands.traits(alike.id);
    if traits.reads_any_key.is_some() {
        return 0;
    }
    let command = alike.server.commands.table.command(alike.id);
    let calls = session.rights.user().alike_calls(command, alike.words);
    // What has no key here, or a long one, is not for the short ways, and asking may take long.
    let is_permitted = |request: &Incoming<'_>| {
        alike.key_of(*request).is_some()
            && calls.check(&Args::new(request.buffer, request.words)).is_ok()
    };
    requests.take_while(is_permitted).count()
}

#[inline(always)]
fn run_alike<'a>(
    alike: Alike<'a>,
    worker: &mut Worker,
    session: &mut Session,
    admission: &mut Admission,
    requests: impl Iterator<Item = (Incoming<'a>, usize)> + Clone,
    (out, owed_bytes_max): (&mut Output, usize),
) -> Row {
    let Alike { id, call, words, .. } = alike;
    let has_memory = !call.takes_memory || !admission.has(Admission::NO_MEMORY);
    let incoming = requests.clone().map(|(incoming, _)| incoming);
    let ran = match (call.run, call.shortcut) {
        (Run::Point(run), _) => Short { alike, worker, session, out }
            .look(incoming, |point, args, reply| Some(run(point, args, reply))),
        (_, Some(Shortcut::Attempt(attempt))) => {
            Short { alike, worker, session, out }.look(incoming, attempt)
        }
        (_, Some(Shortcut::Overwrite)) if words == OVERWRITE_WORDS && has_memory => {
            Short { alike, worker, session, out }.overwrite(incoming)
        }
        _ => 0,
    };
    if ran > 0 {
        worker.count_calls(id, ran as u64);
    }
    let row = match call.run {
        Run::Write(run) if ran == 0 && has_memory => {
            let count = if call.shortcut.is_some() { NEW_KEYS_MAX } else { usize::MAX };
            // Where the first two do not name the same key, the others rarely do.
            let is_together = together::is_for(call, words)
                && requests.clone().nth(1).is_some_and(|(second, _)| second.prepared.repeats);
            let requests = (requests.take(count), owed_bytes_max);
            match is_together {
                false => plain::run(alike, run, worker, session, admission, requests, out),
                true => together::run(alike, run, worker, session, admission, requests, out),
            }
        }
        _ => Row { ran, next: None },
    };
    if row.ran > 0 || row.next.is_some() {
        session.client.last_command.store(id.index() as u16 + 1, Ordering::Relaxed);
    }
    row
}
