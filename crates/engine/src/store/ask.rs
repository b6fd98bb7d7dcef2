//! What keeps a command from running.

use crate::residency::queue::Missing;
use crate::store::copying::Copying;
use crate::waiting::request::WaitRequest;

/// What a command has to wait for before it runs again.
#[derive(Debug)]
pub enum Ask {
    /// Keys that have to be fetched.
    Fetch(Missing),
    /// Something under a key.
    Ready(WaitRequest),
    /// A copy of a long string.
    Copy(Copying),
    /// That a checkpoint has written a string.
    Written,
    /// Nothing, but to run again where it may take long.
    Apart,
    /// Nothing, but to run again under the locks of these keys, too.
    Reach(Vec<Vec<u8>>),
}

impl Ask {
    /// The keys that it asks for.
    pub(super) fn names(self) -> Option<Vec<Vec<u8>>> {
        match self {
            Ask::Reach(names) => Some(names),
            Ask::Fetch(_) | Ask::Ready(_) | Ask::Copy(_) | Ask::Written | Ask::Apart => None,
        }
    }
}
