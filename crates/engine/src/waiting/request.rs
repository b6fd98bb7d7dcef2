//! What a command waits for, and what becomes of it.

use crate::residency::queue::Missing;
use crate::store::copying::Copying;
use basalt_change::place::PartitionId;
use basalt_keyspace::interest::KeyId;
use basalt_keyspace::waiters::Service;
use basalt_value::queue::MessageId;
use basalt_value::stream::EntryId;
use std::sync::Arc;
use std::time::Duration;

/// Where a client waits.
pub type Places = Vec<WaitPlace>;

/// A key that a client waits for.
#[derive(Clone, Debug)]
pub struct WaitPlace {
    pub(crate) partition: PartitionId,
    pub(crate) place: KeyId,
    pub(crate) key: Box<[u8]>,
}

/// What a command that found nothing waits for.
#[derive(Debug)]
pub struct WaitRequest {
    /// Its keys.
    pub places: Places,
    /// How it is served.
    pub service: Service,
    /// How long it waits, from its first run on; `None` for ever.
    pub time: Option<Duration>,
    /// Where it reads streams from.
    pub behind: Behind,
    /// What it holds, of which something is to be released: [`Service::Release`].
    pub held: Box<[MessageId]>,
}

impl WaitRequest {
    pub(super) fn new(places: Places, service: Service, time: Option<Duration>) -> WaitRequest {
        WaitRequest { places, service, time, behind: None, held: Box::default() }
    }
}

/// The identities behind which a command reads the streams at its keys, found out in its first run:
/// by the next one, "what comes from now on" would mean something else.
pub type Behind = Option<Arc<[EntryId]>>;

/// Whether a command waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum WaitAnswer {
    /// It does: it returns without a reply and runs again.
    Waits,
    /// It must not, or no longer: it answers that there was nothing.
    MustAnswer,
}

/// What becomes of a command that had to wait or has waited.
#[derive(Debug)]
pub enum Settled {
    /// It waits for keys to be fetched.
    Fetches(Missing),
    /// It waits, in the queues of its keys.
    Waits(WaitRequest),
    /// It waits for nothing, but runs again under the locks of these keys, too.
    Reaches(Vec<Vec<u8>>),
    /// It waits for nothing, but runs again with a copy of a long string.
    Copies(Copying),
    /// It waits for a checkpoint to have written a long string.
    WaitsForCheckpoint,
    /// It waits for nothing, but runs again where it may take long.
    RunsApart,
    /// It is over, and its client has left all queues.
    Over,
}
