//! The type bytes of RDB, which say both type and encoding. Names as in Redis' `rdb.h`, without the
//! prefix.

pub(crate) const STRING: u8 = 0;
pub(crate) const LIST: u8 = 1;
pub(crate) const SET: u8 = 2;
pub(crate) const ZSET: u8 = 3;
pub(crate) const HASH: u8 = 4;
pub(crate) const ZSET_2: u8 = 5;
pub(crate) const MODULE_PRE_GA: u8 = 6;
pub(crate) const MODULE_2: u8 = 7;
pub(crate) const HASH_ZIPMAP: u8 = 9;
pub(crate) const LIST_ZIPLIST: u8 = 10;
pub(crate) const SET_INTSET: u8 = 11;
pub(crate) const ZSET_ZIPLIST: u8 = 12;
pub(crate) const HASH_ZIPLIST: u8 = 13;
pub(crate) const LIST_QUICKLIST: u8 = 14;
pub(crate) const STREAM_LISTPACKS: u8 = 15;
pub(crate) const HASH_LISTPACK: u8 = 16;
pub(crate) const ZSET_LISTPACK: u8 = 17;
pub(crate) const LIST_QUICKLIST_2: u8 = 18;
pub(crate) const STREAM_LISTPACKS_2: u8 = 19;
pub(crate) const SET_LISTPACK: u8 = 20;
pub(crate) const STREAM_LISTPACKS_3: u8 = 21;
pub(crate) const HASH_METADATA_PRE_GA: u8 = 22;
pub(crate) const HASH_LISTPACK_EX_PRE_GA: u8 = 23;
pub(crate) const HASH_METADATA: u8 = 24;
pub(crate) const HASH_LISTPACK_EX: u8 = 25;

/// A node of a quicklist that is one element by itself.
pub(crate) const NODE_PLAIN: u64 = 1;
/// A node of a quicklist that is a listpack.
pub(crate) const NODE_PACKED: u64 = 2;

/// Flag of a stream's entry: it has been deleted.
pub(crate) const ENTRY_DELETED: i64 = 1;
/// Flag of a stream's entry: its field names are those of the node's master entry.
pub(crate) const ENTRY_SAME_FIELDS: i64 = 2;
