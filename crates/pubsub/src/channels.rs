//! HOT PATH
//! Names and who has subscribed to them, in shards behind locks of their own.
//!
//! Publishing reads one shard, subscribing writes one. As long as nobody has subscribed to
//! anything, which is what most servers know of pub/sub, publishing reads a counter that nobody
//! writes.

use crate::audience::{Address, Audience, Party, Serial, SinkId};
use basalt_stdx::lock_rank::LeafRwLock;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Independent locks. Two publishers on different channels rarely meet.
const SHARDS: usize = 256;
/// A shard's table with less room than this is never made smaller.
const KEPT_NAMES_MAX: usize = 64;

/// Channels of one kind.
#[derive(Debug)]
pub(crate) struct Channels {
    shards: Box<[Shard]>,
    /// Names with at least one subscriber.
    names: AtomicUsize,
    /// Nobody can choose names that all fall into one shard.
    secrets: RapidSecrets,
}

/// A lock and its table, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard(LeafRwLock<HashMap<Arc<[u8]>, Audience>>);

impl Channels {
    /// Without subscriptions; `seed` decides which names share a shard.
    pub(crate) fn new(seed: u64) -> Channels {
        Channels {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            names: AtomicUsize::new(0),
            secrets: RapidSecrets::seed(seed),
        }
    }

    /// How many names have subscribers.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Relaxed: a thread that was told of a subscription was told by a message that orders it.
        self.names.load(Ordering::Relaxed)
    }

    fn shard(&self, name: &[u8]) -> &LeafRwLock<HashMap<Arc<[u8]>, Audience>> {
        let hash = rapidhash_v3_inline::<true, false, false>(name, &self.secrets);
        &self.shards[hash as usize % SHARDS].0
    }

    /// Adds a subscription; returns its number and the name to be kept with it.
    pub(crate) fn subscribe(
        &self,
        name: &[u8],
        address: Address,
        serials: &AtomicU64,
    ) -> (Arc<[u8]>, Serial) {
        let mut table = self.shard(name).write();
        // Drawn under the lock, so that serials of one name ascend.
        let serial = Serial(serials.fetch_add(1, Ordering::Relaxed));
        if let Some((shared, _)) = table.get_key_value(name) {
            let shared = Arc::clone(shared);
            table.entry(Arc::clone(&shared)).or_default().add(address, serial);
            return (shared, serial);
        }
        let shared: Arc<[u8]> = name.into();
        let mut audience = Audience::default();
        audience.add(address, serial);
        table.insert(Arc::clone(&shared), audience);
        self.names.fetch_add(1, Ordering::Relaxed);
        (shared, serial)
    }

    /// Removes a subscription.
    pub(crate) fn unsubscribe(&self, name: &[u8], sink: SinkId, serial: Serial) {
        let mut table = self.shard(name).write();
        let Some(audience) = table.get_mut(name) else { return };
        audience.remove(sink, serial);
        if audience.is_empty() {
            table.remove(name);
            self.names.fetch_sub(1, Ordering::Relaxed);
            if table.capacity() > KEPT_NAMES_MAX && table.len() < table.capacity() / 4 {
                let room = table.len() * 2;
                table.shrink_to(room);
            }
        }
    }

    /// Collects the subscribers of a name; returns the name as it is kept.
    #[inline]
    pub(crate) fn find(&self, name: &[u8], found: &mut Vec<Party>) -> Option<Arc<[u8]>> {
        if self.len() == 0 {
            return None;
        }
        let table = self.shard(name).read();
        let (shared, audience) = table.get_key_value(name)?;
        found.extend_from_slice(audience.parties());
        Some(Arc::clone(shared))
    }

    /// How many have subscribed to a name.
    pub(crate) fn subscribers(&self, name: &[u8]) -> usize {
        self.shard(name).read().get(name).map_or(0, Audience::len)
    }

    /// All names for which `wanted` says so.
    pub(crate) fn names(&self, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<Arc<[u8]>> {
        let mut names = Vec::new();
        for shard in &self.shards {
            // Matching may take its time: the names are copied out first, which is a count each.
            let all: Vec<Arc<[u8]>> = shard.0.read().keys().cloned().collect();
            names.extend(all.into_iter().filter(|name| wanted(name)));
        }
        names
    }
}
