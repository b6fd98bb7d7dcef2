//! The consumer that reads from a group, and what becomes of what it reads.

/// The consumer that reads, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reader<'a> {
    /// Name of the group, which is there.
    pub group: &'a [u8],
    /// Name of the consumer, which is made if it is not there.
    pub consumer: &'a [u8],
    /// Now, as a unix time in milliseconds.
    pub now_ms: u64,
}

/// Whether delivered entries have to be acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acknowledgement {
    /// They are pending until then.
    Expected,
    /// They are not.
    Waived,
}

/// Whether an attempt to get something succeeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// The consumer is seen and active.
    Fruitful,
    /// The consumer is seen.
    Fruitless,
}
