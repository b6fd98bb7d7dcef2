//! What has happened to a queue's messages since it was made.

use basalt_stdx::varint;

/// How many messages. They are part of the value: a restart does not reset them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Were put.
    pub put: u64,
    /// Were delivered, each delivery counted.
    pub delivered: u64,
    /// Were delivered once more, each such delivery counted.
    pub redelivered: u64,
    /// Were acknowledged, or delivered without a lease.
    pub acknowledged: u64,
    /// Became dead.
    pub buried: u64,
    /// Expired, or were taken back, before anybody got them.
    pub expired: u64,
    /// Gave way to younger ones in a full queue.
    pub dropped: u64,
    /// Were purged.
    pub purged: u64,
}

/// How a message has left its queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gone {
    Acknowledged,
    Expired,
    Dropped,
    Purged,
}

impl Totals {
    /// How many have gone in this way.
    #[inline]
    pub(super) fn gone(&mut self, how: Gone) -> &mut u64 {
        match how {
            Gone::Acknowledged => &mut self.acknowledged,
            Gone::Expired => &mut self.expired,
            Gone::Dropped => &mut self.dropped,
            Gone::Purged => &mut self.purged,
        }
    }

    pub(super) const ZERO: Totals = Totals {
        put: 0,
        delivered: 0,
        redelivered: 0,
        acknowledged: 0,
        buried: 0,
        expired: 0,
        dropped: 0,
        purged: 0,
    };

    /// Adds those of another queue.
    pub fn add(&mut self, other: &Totals) {
        self.put += other.put;
        self.delivered += other.delivered;
        self.redelivered += other.redelivered;
        self.acknowledged += other.acknowledged;
        self.buried += other.buried;
        self.expired += other.expired;
        self.dropped += other.dropped;
        self.purged += other.purged;
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let Totals { put, delivered, redelivered, acknowledged, .. } = *self;
        let Totals { buried, expired, dropped, purged, .. } = *self;
        let all = [put, delivered, redelivered, acknowledged, buried, expired, dropped, purged];
        all.into_iter().for_each(|number| varint::put(out, number));
    }

    pub(super) fn take(rest: &mut &[u8]) -> Option<Totals> {
        let mut next = || varint::take(rest);
        Some(Totals {
            put: next()?,
            delivered: next()?,
            redelivered: next()?,
            acknowledged: next()?,
            buried: next()?,
            expired: next()?,
            dropped: next()?,
            purged: next()?,
        })
    }
}
