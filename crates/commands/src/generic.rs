//! Commands on keys of any type, and on databases as a whole.

pub mod database;

mod copy;
mod delete;
mod describe;
mod dump;
mod exists;
mod expire;
mod flush;
mod keys;
mod migrate;
mod object;
mod rename;
mod scan;
mod sort;
mod ttl;

pub(crate) use describe::length;
pub(crate) use object::{RAW, encoding};

use basalt_call::entry::Entry;
use basalt_engine::Object;

pub(crate) use scan::parse_cursor;

/// The family.
pub const COMMANDS: &[Entry] = &[
    delete::DEL,
    delete::UNLINK,
    exists::EXISTS,
    exists::TOUCH,
    exists::TYPE,
    expire::EXPIRE,
    expire::PEXPIRE,
    expire::EXPIREAT,
    expire::PEXPIREAT,
    expire::PERSIST,
    ttl::TTL,
    ttl::PTTL,
    ttl::EXPIRETIME,
    ttl::PEXPIRETIME,
    rename::RENAME,
    rename::RENAMENX,
    copy::COPY,
    copy::COPYEX,
    copy::MOVE,
    keys::KEYS,
    keys::RANDOMKEY,
    keys::DBSIZE,
    scan::SCAN,
    dump::DUMP,
    dump::RESTORE,
    dump::RESTORE_ASKING,
    migrate::MIGRATE,
    sort::SORT,
    sort::SORT_RO,
    object::OBJECT,
    describe::OBJECT_DESCRIBE,
    object::OBJECT_ENCODING,
    object::OBJECT_FREQ,
    object::OBJECT_IDLETIME,
    object::OBJECT_REFCOUNT,
    object::OBJECT_HELP,
    flush::FLUSHDB,
    flush::FLUSHALL,
    flush::SWAPDB,
];

/// How TYPE calls an object.
pub(crate) fn type_name(object: Object<'_>) -> &'static str {
    object.collection().map_or("string", |value| value.kind().name())
}
