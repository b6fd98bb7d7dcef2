//! HOT PATH
//! Which requests may take long.

use super::dispatcher::Dispatcher;
use super::prepare::Incoming;
use basalt_call::calls::Call;
use basalt_call::entry::WorksOn;
use basalt_engine::Key;
use basalt_service::args::Args;
use basalt_service::session::Session;

/// Requests of more words, or of more bytes, may take long whatever their command; so may those for
/// more elements of a collection, or for more of its bytes.
const WORDS_LONG: usize = 4096;
const BYTES_LONG: usize = 1 << 20;

/// Whether a request may take so long that its thread's other clients are to be served meanwhile: a
/// script, a transaction, a command on values that may be large, a request of many words or bytes,
/// one for many elements of a collection, of all keys, or for much that its connection holds.
#[inline]
pub(super) fn may_take_long(
    server: &Dispatcher,
    session: &Session,
    request: Incoming<'_>,
    bytes: usize,
) -> bool {
    let words = request.words.len();
    if words > WORDS_LONG || is_large(bytes) {
        return true;
    }
    let Some(id) = request.prepared.command else { return false };
    let call = server.commands.call(id);
    call.takes_long
        || call.works_on(words).is_some_and(|it| asks_for_much(server, request, it))
        || works_on_much_held(call, session, words)
}

/// Whether a call of this many words works on much that its connection holds.
#[inline]
pub(super) fn works_on_much_held(call: &Call, session: &Session, words: usize) -> bool {
    call.works_on_held.is_some_and(|held| held(session, words) > WORDS_LONG)
}

/// Whether a request of this many bytes may take long whatever it is.
#[inline(always)]
pub(super) fn is_large(bytes: usize) -> bool {
    bytes > BYTES_LONG
}

/// Whether some calls with this many words may take long, even if they are not
/// [large](is_large).
#[inline(always)]
pub(super) fn some_may_take_long(call: &Call, words: usize) -> bool {
    words > WORDS_LONG || call.takes_long || call.works_on(words).is_some()
}

/// Whether a request asks for many elements of its collection, or for many bytes. If the collection
/// is not in memory or its partition is not free, nothing is known of it, and the command waits for
/// it anyway. Of a request with several keys, or none, only its words are known.
#[inline(never)]
fn asks_for_much(
    server: &Dispatcher,
    Incoming { prepared, buffer, words }: Incoming<'_>,
    works_on: &WorksOn,
) -> bool {
    let args = Args::new(buffer, words);
    let Some(partition) = prepared.partition else {
        return (works_on.elements)(&args, usize::MAX) > WORDS_LONG;
    };
    let key = Key { bytes: prepared.key.of(buffer), hash: prepared.hash, partition };
    let much = server.engine.try_look_at(prepared.db, &key, |collection| {
        let (len, bytes) = (collection.len(), collection.heap_bytes());
        if len <= WORDS_LONG && bytes <= BYTES_LONG && !works_on.may_exceed {
            return false;
        }
        let count = (works_on.elements)(&args, len);
        count > WORDS_LONG || count.saturating_mul(bytes / len.max(1)) > BYTES_LONG
    });
    much == Some(true)
}
