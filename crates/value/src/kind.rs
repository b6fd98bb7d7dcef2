//! The kinds of collections.

/// What kind of collection a value is. The numbers stand in entries, rows and the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A list.
    List = 2,
    /// A set.
    Set = 3,
    /// A sorted set.
    SortedSet = 4,
    /// A hash.
    Hash = 5,
    /// A stream.
    Stream = 6,
    /// A queue.
    Queue = 7,
}

impl Kind {
    /// The kind with this number.
    #[inline]
    pub fn from_number(number: u8) -> Option<Kind> {
        match number {
            2 => Some(Kind::List),
            3 => Some(Kind::Set),
            4 => Some(Kind::SortedSet),
            5 => Some(Kind::Hash),
            6 => Some(Kind::Stream),
            7 => Some(Kind::Queue),
            _ => None,
        }
    }

    /// What TYPE answers.
    pub fn name(self) -> &'static str {
        match self {
            Kind::List => "list",
            Kind::Set => "set",
            Kind::SortedSet => "zset",
            Kind::Hash => "hash",
            Kind::Stream => "stream",
            Kind::Queue => "queue",
        }
    }
}
