//! Commands on queues.

mod acknowledge;
mod call;
mod config;
mod deliver;
mod held;
mod options;
mod peek;
mod purge;
mod put;
mod stat;

use basalt_call::entry::Entry;
use basalt_engine::{Absent, EventClass, Key, Txn, View};
use basalt_resp::Reply;
use basalt_service::error::{CommandError, CommandResult};
use basalt_value::queue::{Message, MessageId, Token};
use basalt_value::{Edits, Queue};

/// The family.
pub const COMMANDS: &[Entry] = &[
    put::Q_PUT,
    put::Q_MPUT,
    deliver::Q_GET,
    acknowledge::Q_ACK,
    acknowledge::Q_NACK,
    acknowledge::Q_EXTEND,
    held::Q_HELD,
    call::Q_CALL,
    call::Q_REPLY,
    peek::Q_PEEK,
    peek::Q_LEN,
    purge::Q_PURGE,
    purge::Q_REVIVE,
    config::Q_CONFIG,
    config::Q_CONFIG_GET,
    config::Q_CONFIG_HELP,
    config::Q_CONFIG_INIT,
    config::Q_CONFIG_SET,
    stat::Q_STAT,
    stat::Q_WORKERS,
];

/// Changes a queue, and calls the first of the clients that wait for it if it has something for
/// them then. Key events are of the class of modules' types: Redis has no letter for queues.
/// The reply of a durable queue waits for the disk.
fn edit<R>(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    absent: Absent,
    event: &'static str,
    change: impl FnOnce(&mut Queue, u64, &mut Edits<'_>) -> R,
) -> Result<Option<R>, CommandError> {
    let now_ms = txn.now_ms();
    let edited = txn.edit::<Queue, _>(key, absent, |queue, edits| {
        let result = change(queue, now_ms, edits);
        (result, edits.count() > 0, queue.settings().durable)
    })?;
    Ok(edited.map(|(result, has_changed, is_durable)| {
        if has_changed {
            if is_durable {
                txn.wait_for_disk();
            }
            txn.notify(EventClass::Module, event, key);
            txn.signal_waiters_of_queue(key);
        }
        result
    }))
}

/// The queue at a key.
fn queue_at<'a>(view: &'a View<'_>, key: &Key<'_>) -> Result<Option<&'a Queue>, CommandError> {
    Ok(view.collection::<Queue>(key)?)
}

fn reply_id(id: MessageId, reply: &mut Reply<'_>) {
    reply.bulk(id.text().as_bytes());
}

/// Replies with a message that is looked at, as a map.
fn reply_message(message: &Message<'_>, reply: &mut Reply<'_>) {
    reply.map(8);
    reply.bulk(b"id");
    reply_id(message.id, reply);
    reply.bulk(b"state");
    reply.bulk(message.state.name().as_bytes());
    reply.bulk(b"body");
    reply.bulk(message.body);
    reply.bulk(b"priority");
    reply.integer(message.id.lane().number().into());
    reply.bulk(b"put");
    reply_number(message.put_ms, reply);
    reply.bulk(b"deliveries");
    reply_number(message.deliveries, reply);
    reply.bulk(b"until");
    reply_number(message.until_ms, reply);
    reply.bulk(b"worker");
    reply.bulk(message.worker);
}

/// Replies with a number, the greatest that there is if it is greater.
fn reply_number(number: u64, reply: &mut Reply<'_>) {
    reply.integer(i64::try_from(number).unwrap_or(i64::MAX));
}

fn token(word: &[u8]) -> Result<Token, CommandError> {
    Token::parse(word).ok_or(CommandError::fixed("ERR invalid token"))
}

fn message_id(word: &[u8]) -> Result<MessageId, CommandError> {
    MessageId::parse(word).ok_or(CommandError::fixed("ERR invalid message id"))
}

/// Replies with how many there were.
fn reply_count(count: usize, reply: &mut Reply<'_>) -> CommandResult {
    reply.integer(count as i64);
    Ok(())
}
