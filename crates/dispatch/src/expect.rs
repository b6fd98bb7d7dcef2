//! What stands behind a request that waits for keys on disk: its keys are read meanwhile.

use super::dispatcher::Dispatcher;
use super::keys::add_keys;
use super::long::is_large;
use super::prepare::Incoming;
use basalt_engine::Key;
use basalt_service::args::Args;
use basalt_service::session::Session;
use basalt_service::wait::Wait;

/// Words of a request whose keys are looked for, if it may have several.
const WORDS_MAX: usize = 256;

/// What is read for a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Values,
    Heads,
}

/// Has read what requests of one client will ask for of their keys. They stand behind one that
/// waits; those that the client's user may not run are left out. A request that waits for what rows
/// begin with has that read for all behind it that will ask for it.
#[cold]
#[inline(never)]
pub(super) fn behind<'a>(
    server: &Dispatcher,
    session: &Session,
    wait: &Wait,
    requests: impl Iterator<Item = Incoming<'a>> + Clone,
) {
    let keys = |wanted| {
        requests.clone().flat_map(move |request| {
            let keys = keys_of(server, session, request, wanted);
            keys.into_iter().map(move |key| (request.prepared.db, key))
        })
    };
    match wait {
        Wait::Keys(_) => server.engine.expect(keys(Wanted::Values)),
        Wait::Heads(_, read) => {
            server.engine.expect_heads(keys(Wanted::Heads), read);
            server.engine.expect(keys(Wanted::Values));
        }
        _ => {}
    }
}

fn keys_of<'a>(
    server: &Dispatcher,
    session: &Session,
    request: Incoming<'a>,
    wanted: Wanted,
) -> Vec<Key<'a>> {
    let mut keys = Vec::new();
    let Some(id) = request.prepared.command else { return keys };
    let call = server.commands.call(id);
    let has_one = call.position_of_one_key(request.words.len()) != 0;
    let only = request.prepared.key_in(request.buffer).filter(|_| has_one);
    if !call.accepts_words(request.words.len()) || only.is_none() && takes_long(request) {
        return keys;
    }
    let traits = server.commands.traits(id);
    let args = Args::new(request.buffer, request.words);
    if traits.asks_heads != (wanted == Wanted::Heads)
        || traits.puts_blindly.is_some_and(|puts| puts(&args))
    {
        return keys;
    }
    let command = server.commands.table.command(id);
    if session.rights.is_restricted() && session.rights.check(command, &args).is_err() {
        return keys;
    }
    match only {
        Some(key) => keys.push(key),
        None => add_keys(&server.engine, command, args, &mut keys),
    }
    keys
}

/// Whether it takes long to find a request's keys and to ask whether its user may have them, where
/// no key is known yet: that is done when it runs, and here once more for each wait before.
fn takes_long(request: Incoming<'_>) -> bool {
    let few = request.words.iter().take(WORDS_MAX);
    request.words.len() > WORDS_MAX || is_large(few.map(|word| word.len).sum())
}
