//! Versions of keys: which change gives one, and how it comes into the log.
//!
//! A key has a version from the first write under a condition on ([`Txn::make_versioned`]) until it
//! is gone. Until then whatever changes it gives it a new one: each way of changing a key looks at
//! the flag in the header of the entry, which it has at hand, and comes here if it is set. What has
//! expired is gone: a key that is put in its place has none.
//!
//! A collection whose elements have versions has one itself, greater than theirs
//! ([`Txn::edit_versioned`]): so it is seen by the same flag that its changes give versions.
//!
//! The version is an operation of its own behind the change, so the changes of keys that have none
//! are logged as ever.

use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::store::view::live;
use basalt_change::op::Op;
use basalt_change::version::Version;
use basalt_keyspace::table::Found;
use basalt_value::VersionClock;

/// The clock of a partition that has given versions up to this one.
#[cold]
#[inline(never)]
pub(crate) fn clock_behind(last: Version, now_ms: u64) -> VersionClock {
    VersionClock::new(now_ms, last.next(now_ms).number())
}

impl Txn<'_> {
    /// The version of a key, none if it is not there.
    pub fn version(&self, key: &Key<'_>) -> Version {
        self.get(key).map_or(Version::NONE, |object| object.version())
    }

    /// Sees to it that a key that has just been put has a version; returns it.
    pub fn make_versioned(&mut self, key: &Key<'_>) -> Version {
        match self.version(key) {
            Version::NONE => self.renew_version(key),
            version => version,
        }
    }

    /// A key that has just been put has this version, whatever it was given by that.
    pub fn force_version(&mut self, key: &Key<'_>, version: Version) {
        self.note_version(key, version);
        self.set_version(key, version);
        self.log_version(key, version);
    }

    /// What is put in the place of an entry has this version.
    // Inlined always: the look at the flag is all that most need.
    #[inline(always)]
    pub(crate) fn version_of_put(&mut self, key: &Key<'_>, found: Option<Found>) -> Version {
        match found {
            Some(found) if self.is_versioned(key, found) => self.version_in_place_of(key, found),
            _ => Version::NONE,
        }
    }

    #[cold]
    #[inline(never)]
    fn version_in_place_of(&mut self, key: &Key<'_>, found: Found) -> Version {
        let now_ms = self.session.now_ms;
        match live(self.database(key).table().entry(found), now_ms) {
            Some(_) => self.next_version(key),
            None => Version::NONE,
        }
    }

    /// The key of an entry has a version, so what changes it has to renew that.
    #[inline(always)]
    pub(crate) fn is_versioned(&mut self, key: &Key<'_>, found: Found) -> bool {
        self.database(key).table().entry(found).is_versioned()
    }

    /// A key has the version that follows, after a change that has left it where it is; returns it.
    #[cold]
    #[inline(never)]
    pub(crate) fn renew_version(&mut self, key: &Key<'_>) -> Version {
        let version = self.next_version(key);
        self.set_version(key, version);
        self.log_version(key, version);
        version
    }

    /// The clock by which elements of a collection under this key get versions.
    #[cold]
    #[inline(never)]
    pub(crate) fn version_clock(&mut self, key: &Key<'_>) -> VersionClock {
        let last = self.locked.partition(key.partition).last_version();
        clock_behind(last, self.session.now_ms)
    }

    /// Elements of a collection under this key were given versions, if there was a clock.
    #[inline(always)]
    pub(crate) fn note_given(&mut self, key: &Key<'_>, clock: Option<VersionClock>) {
        if let Some(last) = clock.and_then(|clock| clock.last()) {
            self.note_version(key, Version::new(last));
        }
    }

    /// A version for a key that is put with elements up to this one: elements never have greater
    /// ones than their key had when they got them, so that replay need not look at them.
    pub(crate) fn version_behind(&mut self, key: &Key<'_>, newest: Version) -> Version {
        self.note_version(key, newest);
        self.next_version(key)
    }

    #[cold]
    #[inline(never)]
    fn note_version(&mut self, key: &Key<'_>, version: Version) {
        self.locked.partition_mut(key.partition).note_version(version);
    }

    /// Logs the version that was put together with a value.
    #[inline(always)]
    pub(crate) fn log_version_of_put(&mut self, key: &Key<'_>, version: Version) {
        if !version.is_none() {
            self.log_version(key, version);
        }
    }

    fn next_version(&mut self, key: &Key<'_>) -> Version {
        let now_ms = self.session.now_ms;
        self.locked.partition_mut(key.partition).next_version(now_ms)
    }

    fn set_version(&mut self, key: &Key<'_>, version: Version) {
        self.database(key).set_version(key.hash, key.bytes, version);
    }

    /// Part of the change before it: no change by itself.
    #[cold]
    #[inline(never)]
    fn log_version(&mut self, key: &Key<'_>, version: Version) {
        self.changes.go_on(key.partition);
        self.encode(Op::Version { db: self.session.db, key: key.bytes, version });
    }
}
