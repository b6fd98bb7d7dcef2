//! DEBUG POPULATE: many strings at once.
//!
//! One key is locked at a time, and the command runs apart from its batch: its thread's other
//! clients are served meanwhile. When the log has no room for more, it waits and begins again; it
//! passes over what is there already, as it does for keys of others.

use crate::number::count;
use basalt_call::context::Context;
use basalt_engine::{ChangeSet, CommandContext, Key, PutOptions, Refusal, ShardSet, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;

/// Keys that one call makes at most.
const KEYS_MAX: usize = 10_000_000;
/// Keys after which memory is looked at again.
const KEYS_A_PIECE: usize = 256;

const TOO_MANY: CommandError =
    CommandError::fixed("ERR DEBUG POPULATE makes at most 10000000 keys at once");
const TOO_LONG: CommandError =
    CommandError::fixed("ERR the size exceeds the maximum allowed size (proto-max-bulk-len)");

/// What is put under the keys.
struct Values {
    /// Bytes of each; 0 for what its text has.
    bytes: usize,
}

impl Values {
    fn write(&self, number: usize, value: &mut Vec<u8>) {
        value.clear();
        value.extend_from_slice(format!("value:{number}").as_bytes());
        if self.bytes != 0 {
            value.resize(self.bytes, 0);
        }
    }
}

/// Why no key is put.
enum Obstacle {
    Wait(Wait),
    Error(CommandError),
}

pub(super) fn populate(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let keys = count(args.word(2))?;
    let prefix = args.opt(3).unwrap_or(b"key");
    let values = Values { bytes: args.opt(4).map_or(Ok(0), count)? };
    if keys > KEYS_MAX {
        return Err(TOO_MANY);
    }
    if values.bytes > ctx.settings.network.bulk_bytes_max {
        return Err(TOO_LONG);
    }
    let mut changes = ChangeSet::default();
    let put = put_all(ctx, (prefix, keys), &values, &mut changes);
    let engine = &ctx.server.engine;
    engine.note_changes(changes.take_count());
    engine.log().kick();
    match put {
        Ok(()) => reply.ok(),
        Err(Obstacle::Wait(wait)) => return Ok(Flow::Wait(wait)),
        Err(Obstacle::Error(error)) => return Err(error),
    }
    Ok(Flow::Done)
}

fn put_all(
    ctx: &mut Context<'_>,
    (prefix, keys): (&[u8], usize),
    values: &Values,
    changes: &mut ChangeSet,
) -> Result<(), Obstacle> {
    let (mut name, mut value) = (prefix.to_vec(), Vec::new());
    name.push(b':');
    let prefix_bytes = name.len();
    for number in 0..keys {
        if number.is_multiple_of(KEYS_A_PIECE) && ctx.server.is_out_of_memory(ctx.settings) {
            return Err(Obstacle::Error(CommandError::OUT_OF_MEMORY));
        }
        name.truncate(prefix_bytes);
        name.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        put_new(ctx, &name, changes, || {
            values.write(number, &mut value);
            &value
        })?;
    }
    Ok(())
}

/// Puts a string under a key, if there is nothing yet.
fn put_new<'v>(
    ctx: &mut Context<'_>,
    name: &[u8],
    changes: &mut ChangeSet,
    value: impl FnOnce() -> &'v Vec<u8>,
) -> Result<(), Obstacle> {
    let engine = &*ctx.server.engine;
    let key: Key<'_> = engine.key(name);
    let shard = key.partition.shard();
    match engine.log().admit(shard) {
        Ok(()) => {}
        Err(Refusal::Busy) => return Err(Obstacle::Wait(Wait::LogRoom(ShardSet::of(shard)))),
        Err(refusal) => return Err(Obstacle::Error(CommandError::log_refused(&refusal))),
    }
    let Some(locked) = engine.lock_within(&[key], ctx.lock_wait) else {
        return Err(Obstacle::Wait(Wait::Held));
    };
    let session = CommandContext::background(ctx.session.db, ctx.now_ms);
    let mut txn = Txn::new(engine, locked, session, changes);
    if let Some(missing) = txn.missing(&[key]) {
        return Err(Obstacle::Wait(Wait::Keys(missing)));
    }
    if txn.get(&key).is_none() {
        txn.put(&key, value(), PutOptions::whole(0));
    }
    txn.commit(&mut ctx.session.gate);
    engine.wake_called(changes.take_called());
    ctx.server.note_logged(ctx.settings, changes.take_appended_bytes());
    Ok(())
}
