//! Reading within something larger: a transaction or a script.

use super::worker::Worker;
use basalt_call::entry::{Run, Traits};
use basalt_engine::{CommandContext, Transaction};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;

/// Runs a reading command that is a part of something larger: of EXEC or of a script.
pub(super) fn read_within(
    worker: &mut Worker,
    (transaction, key_session): (&mut Transaction<'_>, CommandContext),
    (traits, run): (&Traits, Run),
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let view = transaction.view(key_session);
    let result = run.read(&view, args, reply);
    let (hits, misses) = view.hits_and_misses();
    drop(view);
    worker.count_lookups((hits, misses));
    if misses > 0 && !traits.inspects_keys {
        transaction.txn(key_session).notify_missing(args.keys());
    }
    result
}
