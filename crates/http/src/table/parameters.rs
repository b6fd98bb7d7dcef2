//! The parameters of queries.

use crate::operation::{Kind, Parameter};

const fn parameter(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, kind, about }
}

/// A number of things that are returned at once.
const AT_ONCE: Kind = Kind::Number { min: 1, max: 10_000 };
/// From this number on.
const fn from(min: i64) -> Kind {
    Kind::Number { min, max: i64::MAX }
}
const INDEX: Kind = from(i64::MIN);

pub(crate) static DB: Parameter = parameter("db", from(0), "The database; 0 by default.");
pub(crate) static BASE64: Parameter =
    parameter("b64", Kind::Flag, "Keys, fields and members are base64 for URLs, without padding.");
pub(crate) static KEY: Parameter =
    parameter("key", Kind::Name, "The key, where a path cannot have it.");

pub(super) static TTL: Parameter = parameter("ttl", from(1), "Seconds until it expires.");
pub(super) static TTL_MS: Parameter =
    parameter("ttl_ms", from(1), "Milliseconds until it expires.");
pub(super) static EXPIRE_AT: Parameter =
    parameter("expire_at", from(1), "When it expires, in unix milliseconds.");
pub(super) static KEEP_TTL: Parameter =
    parameter("keep_ttl", Kind::Flag, "It expires when what was there would have.");
/// Those that say when what is written expires.
pub(crate) static EXPIRIES: [&Parameter; 4] = [&TTL, &TTL_MS, &EXPIRE_AT, &KEEP_TTL];
pub(super) static VERSIONED: Parameter =
    parameter("versioned", Kind::Flag, "The key has a version from now on.");
pub(super) static OFFSET: Parameter = parameter("offset", from(0), "The first byte to change.");
pub(super) static BY: Parameter = parameter("by", Kind::Bytes, "How much is added; 1 by default.");

pub(super) static CURSOR: Parameter =
    parameter("cursor", Kind::Bytes, "Where the response before has stopped; 0 to begin.");
pub(super) static MATCH: Parameter =
    parameter("match", Kind::Bytes, "A pattern that names must match.");
pub(super) static TYPE: Parameter =
    parameter("type", Kind::Bytes, "Keys of this type only, as TYPE calls it.");
pub(super) static COUNT: Parameter =
    parameter("count", AT_ONCE, "About how many are returned; 1000 by default.");
pub(super) static TAKEN: Parameter = parameter("count", AT_ONCE, "How many; 1 by default.");
pub(super) static REPLACE: Parameter =
    parameter("replace", Kind::Flag, "Overwrites what is under the other key.");
pub(super) static TO: Parameter = parameter("to", Kind::Name, "The other key.");

pub(super) static ORDER: Parameter =
    parameter("by", Kind::Choice(&[("rank", "")]), "What from and to are; places by default.");
pub(super) static FROM: Parameter =
    parameter("from", Kind::Bytes, "The first one, as ZRANGE takes it; all by default.");
pub(super) static THROUGH: Parameter =
    parameter("to", Kind::Bytes, "The last one, as ZRANGE takes it; all by default.");
pub(super) static FROM_RANK: Parameter =
    parameter("from", INDEX, "The first place; 0 by default, negative ones count from the end.");
pub(super) static TO_RANK: Parameter =
    parameter("to", INDEX, "The last place; 999 behind the first by default.");
pub(super) static REVERSE: Parameter =
    parameter("reverse", Kind::Flag, "Backwards, from the highest to the lowest.");
pub(super) static SKIPPED: Parameter =
    parameter("offset", from(0), "How many are passed over; 0 by default.");
pub(super) static LIMIT: Parameter =
    parameter("limit", AT_ONCE, "How many are returned at most; 1000 by default.");
pub(super) static NX: Parameter = parameter("nx", Kind::Flag, "Members that are new only.");
pub(super) static XX: Parameter = parameter("xx", Kind::Flag, "Members that are there only.");
pub(super) static GT: Parameter = parameter("gt", Kind::Flag, "Greater scores only.");
pub(super) static LT: Parameter = parameter("lt", Kind::Flag, "Smaller scores only.");
pub(super) static EXTREME: Parameter = parameter(
    "side",
    Kind::Choice(&[("min", "ZPOPMIN"), ("max", "ZPOPMAX")]),
    "Those with the lowest or the highest scores.",
);

pub(super) static START: Parameter =
    parameter("start", INDEX, "The first place; 0 by default, negative ones count from the end.");
pub(super) static STOP: Parameter =
    parameter("stop", INDEX, "The last place; 999 behind the first by default.");
pub(super) static PUSH_SIDE: Parameter = parameter(
    "side",
    Kind::Choice(&[("right", "RPUSH"), ("left", "LPUSH")]),
    "The end that it is put to.",
);
pub(super) static POP_SIDE: Parameter = parameter(
    "side",
    Kind::Choice(&[("left", "LEFT"), ("right", "RIGHT")]),
    "The end that it is taken from.",
);
pub(super) static WAIT: Parameter = parameter(
    "wait",
    Kind::Seconds,
    "Seconds to wait until there is something; http-wait-max at most.",
);

pub(super) static MAX: Parameter =
    parameter("max", from(0), "About how many entries the stream keeps.");
pub(super) static AGE: Parameter =
    parameter("ttl", from(1), "About how many seconds the stream keeps entries.");
pub(crate) static AFTER: Parameter =
    parameter("after", Kind::Bytes, "The last ID that is known; $ for what comes now.");
pub(crate) static FROM_NOW: Parameter = parameter(
    "after",
    Kind::Bytes,
    "The last ID that is known, unless Last-Event-ID says it; $, which is what comes now, by \
     default.",
);
pub(super) static FROM_ID: Parameter = parameter(
    "from",
    Kind::Bytes,
    "The ID behind which the group begins; $, which is what comes now, by default.",
);
pub(super) static CONSUMER: Parameter =
    parameter("consumer", Kind::Name, "The name of the consumer.");
pub(super) static OF_CONSUMER: Parameter =
    parameter("consumer", Kind::Name, "Entries of this consumer only.");
pub(super) static AGAIN_AFTER: Parameter = parameter(
    "after",
    Kind::Bytes,
    "What the consumer has got and not acknowledged, behind this ID, in place of new entries.",
);
pub(super) static READ_NOACK: Parameter =
    parameter("noack", Kind::Flag, "What is delivered needs no acknowledgement.");
pub(super) static IDLE_MS: Parameter = parameter(
    "idle_ms",
    from(0),
    "Entries that were delivered at least this number of milliseconds ago; 0 by default.",
);
pub(super) static FROM_PENDING: Parameter =
    parameter("from", Kind::Bytes, "The first ID; all by default.");
pub(super) static TO_PENDING: Parameter =
    parameter("to", Kind::Bytes, "The last ID; all by default.");
pub(super) static CLAIM_CURSOR: Parameter =
    parameter("cursor", Kind::Bytes, "Where the response before has stopped; 0-0 to begin.");
pub(super) static CLAIMED: Parameter =
    parameter("count", AT_ONCE, "How many are taken over at most; 100 by default.");
pub(crate) static PATTERN: Parameter =
    parameter("pattern", Kind::Flag, "The name is a pattern: all channels that fit it.");
pub(super) static ATOMIC: Parameter =
    parameter("atomic", Kind::Flag, "All of them as one, between MULTI and EXEC.");
pub(super) static SECTION: Parameter =
    parameter("section", Kind::Bytes, "One section, as INFO calls it.");

const STATES: &[(&str, &str)] =
    &[("ready", "ready"), ("delayed", "delayed"), ("leased", "leased"), ("dead", "dead")];
const OF_LANE: Kind = Kind::Number { min: 0, max: 9 };

pub(super) static MESSAGES: Parameter = parameter(
    "count",
    Kind::Number { min: 1, max: 1000 },
    "How many messages at most, as the command has it by default.",
);
pub(crate) static LEASE_MS: Parameter =
    parameter("lease_ms", from(1), "Milliseconds for which they are held; the queue's by default.");
pub(super) static NEW_LEASE_MS: Parameter =
    parameter("lease_ms", from(1), "Milliseconds from now on for which it is held.");
pub(crate) static WORKER: Parameter = parameter("worker", Kind::Bytes, "The name of the consumer.");
pub(crate) static CREDIT: Parameter = parameter(
    "credit",
    from(0),
    "How many messages the client may hold at once; 1 by default, http-credit-max at most.",
);
pub(crate) static NOACK: Parameter =
    parameter("noack", Kind::Flag, "What is delivered is gone at once.");
pub(super) static STATE: Parameter =
    parameter("state", Kind::Choice(STATES), "The state of the messages; ready by default.");
pub(super) static PURGED_STATE: Parameter =
    parameter("state", Kind::Bytes, "ready, delayed, leased or dead; all but leased by default.");
pub(super) static FROM_MESSAGE: Parameter =
    parameter("from", Kind::Bytes, "The id of the first one; from the beginning by default.");
pub(super) static PRIORITY: Parameter =
    parameter("priority", OF_LANE, "0 to 9, which comes first; 0 by default.");
pub(super) static OF_PRIORITY: Parameter =
    parameter("priority", OF_LANE, "Messages of this priority only.");
pub(super) static DELAY_MS: Parameter =
    parameter("delay_ms", from(0), "Milliseconds for which it is held back.");
pub(super) static DEDUP: Parameter =
    parameter("dedup", Kind::Bytes, "A name: of several messages with it only the first is put.");
pub(super) static WINDOW_MS: Parameter = parameter(
    "window_ms",
    from(1),
    "Milliseconds for which the name is remembered; the queue's by default.",
);
pub(super) static DEAD: Parameter = parameter("dead", Kind::Flag, "To the dead ones.");
