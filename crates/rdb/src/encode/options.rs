//! What the caller decides about encodings.

/// Whether long strings are compressed, as Redis' option `rdbcompression` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Strings of more than 20 bytes, if that saves some.
    Lzf,
    /// Never.
    None,
}

/// Up to where which encoding is used. The defaults are those of Redis 7.0's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Whether long strings are compressed.
    pub compression: Compression,
    /// Most elements of a node of a list.
    pub list_node_entries_max: usize,
    /// Bytes of a node of a list after which the next is begun; a longer element has a node for
    /// itself.
    pub list_node_bytes_max: usize,
    /// Elements of a list from this length on are nodes without a listpack. Redis 7.0: 1 GiB, the
    /// most that a listpack may have; a larger number counts as that.
    pub list_plain_bytes_min: usize,
    /// Most members of a set of numbers that becomes an intset.
    pub set_intset_entries_max: usize,
    /// Most members of a sorted set that becomes a listpack.
    pub zset_listpack_entries_max: usize,
    /// Longest member of a sorted set that becomes a listpack, in bytes.
    pub zset_listpack_value_bytes_max: usize,
    /// Most fields of a hash that becomes a listpack.
    pub hash_listpack_entries_max: usize,
    /// Longest name and value of a hash that becomes a listpack, in bytes.
    pub hash_listpack_value_bytes_max: usize,
    /// Most entries of a node of a stream; 0 for any number.
    pub stream_node_entries_max: usize,
    /// Bytes of a node of a stream after which the next is begun; 0 for 1 GiB.
    pub stream_node_bytes_max: usize,
}

impl Default for EncodeOptions {
    fn default() -> EncodeOptions {
        EncodeOptions {
            compression: Compression::Lzf,
            list_node_entries_max: usize::MAX,
            list_node_bytes_max: 8192,
            list_plain_bytes_min: 1 << 30,
            set_intset_entries_max: 512,
            zset_listpack_entries_max: 128,
            zset_listpack_value_bytes_max: 64,
            hash_listpack_entries_max: 512,
            hash_listpack_value_bytes_max: 64,
            stream_node_entries_max: 100,
            stream_node_bytes_max: 4096,
        }
    }
}
