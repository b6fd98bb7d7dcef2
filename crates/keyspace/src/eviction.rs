//! How much is to leave memory, and how much has.

/// After how much one call ends.
#[derive(Clone, Copy, Debug)]
pub struct EvictLimits {
    /// Now, in unix milliseconds: what is due stays.
    pub now_ms: u64,
    /// Bytes of memory.
    pub bytes: usize,
    /// Entries.
    pub entries: usize,
    /// Looks at newcomers, or at some buckets.
    pub looks: usize,
    /// What is known of keys that have left may take more memory.
    pub may_filter: bool,
}

/// What a call has made leave memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Evicted {
    /// Bytes, of values that stand apart, too.
    pub bytes: usize,
    /// Keys.
    pub keys: usize,
    /// Of these, newcomers that nobody had used.
    pub newcomers: usize,
}

impl Evicted {
    /// Both together.
    pub fn and(self, other: Evicted) -> Evicted {
        Evicted {
            bytes: self.bytes + other.bytes,
            keys: self.keys + other.keys,
            newcomers: self.newcomers + other.newcomers,
        }
    }
}
