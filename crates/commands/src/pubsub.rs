//! Commands of pub/sub.

mod inspect;
mod publish;
mod subscribe;
mod unsubscribe;

use basalt_call::entry::Entry;
use basalt_pubsub::Kind;
use basalt_spec::{Flag, Flags};

/// The family.
pub const COMMANDS: &[Entry] = &[
    subscribe::SUBSCRIBE,
    subscribe::PSUBSCRIBE,
    subscribe::SSUBSCRIBE,
    unsubscribe::UNSUBSCRIBE,
    unsubscribe::PUNSUBSCRIBE,
    unsubscribe::SUNSUBSCRIBE,
    publish::PUBLISH,
    publish::SPUBLISH,
    inspect::PUBSUB,
    inspect::PUBSUB_CHANNELS,
    inspect::PUBSUB_HELP,
    inspect::PUBSUB_NUMPAT,
    inspect::PUBSUB_NUMSUB,
    inspect::PUBSUB_SHARDCHANNELS,
    inspect::PUBSUB_SHARDNUMSUB,
];

/// What subscribing and its end are.
const SUBSCRIBING: Flags = Flags::of(&[Flag::Pubsub, Flag::Noscript, Flag::Loading, Flag::Stale]);

/// The first word of a confirmation.
fn confirmation(kind: Kind, verb: Verb) -> &'static [u8] {
    match (kind, verb) {
        (Kind::Channel, Verb::Subscribe) => b"subscribe",
        (Kind::Pattern, Verb::Subscribe) => b"psubscribe",
        (Kind::ShardChannel, Verb::Subscribe) => b"ssubscribe",
        (Kind::Channel, Verb::Unsubscribe) => b"unsubscribe",
        (Kind::Pattern, Verb::Unsubscribe) => b"punsubscribe",
        (Kind::ShardChannel, Verb::Unsubscribe) => b"sunsubscribe",
        (Kind::Monitor, _) => b"monitor",
        (Kind::Direct, _) => unreachable!("nobody subscribes to messages for one client"),
    }
}

#[derive(Clone, Copy)]
enum Verb {
    Subscribe,
    Unsubscribe,
}

/// How many subscriptions a confirmation tells of: sharded ones are counted apart.
fn count_told(held: Option<&basalt_pubsub::Subscriptions>, kind: Kind) -> i64 {
    let count = |kind| held.map_or(0, |held| held.count(kind)) as i64;
    match kind {
        Kind::Channel | Kind::Pattern => count(Kind::Channel) + count(Kind::Pattern),
        Kind::ShardChannel | Kind::Monitor => count(kind),
        Kind::Direct => 0,
    }
}
