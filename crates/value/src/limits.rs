//! Up to where collections stay packed: options under Redis' names.

/// All of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormLimits {
    /// `list-max-listpack-size`: elements of a node if positive; -1 to -5: 4, 8, 16, 32, 64 KiB.
    pub list_node: i32,
    /// `set-max-intset-entries`.
    pub intset_entries_max: u32,
    /// `set-max-listpack-entries`, `set-max-listpack-value`.
    pub set: PackedLimits,
    /// `zset-max-listpack-entries`, `zset-max-listpack-value`.
    pub sorted_set: PackedLimits,
    /// `hash-max-listpack-entries`, `hash-max-listpack-value`.
    pub hash: PackedLimits,
    /// `hll-sparse-max-bytes`.
    pub hll_sparse_bytes_max: u32,
    /// `stream-node-max-bytes`, 0 for no limit.
    pub stream_node_bytes_max: u32,
    /// `stream-node-max-entries`, 0 for no limit.
    pub stream_node_entries_max: u32,
}

/// What a packed collection may hold at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedLimits {
    /// Elements, or fields.
    pub entries_max: u32,
    /// Bytes of the longest element, field or value.
    pub value_bytes_max: u32,
}

impl Default for FormLimits {
    /// The defaults of Redis 7.2.
    fn default() -> FormLimits {
        let packed = PackedLimits { entries_max: 128, value_bytes_max: 64 };
        FormLimits {
            list_node: -2,
            intset_entries_max: 512,
            set: packed,
            sorted_set: packed,
            hash: PackedLimits { entries_max: 512, ..packed },
            hll_sparse_bytes_max: 3000,
            stream_node_bytes_max: 4096,
            stream_node_entries_max: 100,
        }
    }
}
