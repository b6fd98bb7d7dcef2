//! A script that takes long and has only read lets others have its keys in between.
//!
//! ```text
//! somebody waits for a key ▸ watch what was read ▸ unlock ▸ 2 ms for others ▸ lock
//!                                  begin again ◂ something has changed ◂───────┴─▸ go on
//! ```
//! As far as anybody can tell it has run at once, at its end: what it has read is what is there
//! still. A script that begins again holds its keys for twice as long before it lets go of them, so
//! it comes to its end however often they are changed. If it has used keys that it was not called
//! with, it begins again in order to have them noted.
//!
//! A script that has changed something keeps what it has until it ends, and so does one that has
//! looked at all keys, as KEYS does, or at more than can be watched soon.

use super::elsewhere::{Elsewhere, KEYS_MAX};
use super::{Caller, GivenUp};
use basalt_engine::{Key, LockWait};
use basalt_script::{Look, Overseer};
use std::mem::take;
use std::thread::park_timeout;
use std::time::Duration;

/// How long a script holds its keys before it lets go of them first.
const HELD_AT_LEAST: Duration = Duration::from_millis(5);
/// How often that is doubled at most: several minutes.
const DOUBLINGS_MAX: u32 = 16;
/// How long the keys are free: what waits for them tries every two milliseconds.
const FREE_FOR: Duration = Duration::from_millis(2);
/// How often the thread attends to others meanwhile: they wait until then, and for the 60 µs by
/// which the system wakes it late. It sleeps, since what waits for the keys may want the core …
const ATTEND_EVERY: Duration = Duration::from_micros(20);
/// … and how often it looks for the keys, and attends, if somebody keeps them for longer.
const LOOK_EVERY: Duration = Duration::from_micros(200);

impl Caller<'_, '_> {
    /// Lets commands that wait for the script's keys have them, if it has held them for long.
    pub(super) fn let_others_first(&mut self) {
        let contested = &self.server.contested;
        let may_let_go = self.can_begin_again()
            && self.claims.keys.len() <= KEYS_MAX
            && !matches!(self.elsewhere, Elsewhere::Everything);
        // Mostly nothing is noted, and it may have thousands of keys.
        if !may_let_go
            || !self.has_held_for_long()
            || contested.is_empty()
            || !contested.take(self.claims)
        {
            return;
        }
        match take(&mut self.elsewhere) {
            Elsewhere::Nothing => self.let_go(&[]),
            Elsewhere::Something | Elsewhere::Everything => self.given_up = Some(GivenUp::NotNoted),
            Elsewhere::Keys(noted) => {
                let engine = &self.server.engine;
                let keys: Vec<_> = noted.iter().map(|(db, key)| (db, engine.key(key))).collect();
                self.let_go(&keys);
                self.elsewhere = Elsewhere::Keys(noted);
            }
        }
    }

    fn has_held_for_long(&self) -> bool {
        let doublings = self.earlier.overtaken.min(DOUBLINGS_MAX);
        let held_at_least = HELD_AT_LEAST * 2_u32.pow(doublings);
        self.server.env.clock.since(self.held_since) >= held_at_least
    }

    /// Lets go of everything for a while; `others` are keys that it was not called with and has
    /// looked at.
    fn let_go(&mut self, others: &[(u8, Key<'_>)]) {
        let db = self.db;
        let declared = self.claims.keys.iter().map(|key| (db, *key));
        let keys = || declared.clone().chain(others.iter().copied());
        let watching = self.transaction.let_go(keys(), self.worker.now_ms);
        if !self.wait_for_others() {
            // It ends, and touches nothing any more.
            self.server.engine.unwatch_soon(watching, LockWait::Spinning);
            return;
        }
        (self.held_since, self.holds_for_long) = (self.server.env.clock.now(), false);
        self.transaction.unwatch(&watching);
        let missing = keys().find_map(|(db, key)| self.transaction.missing(db, &[key]));
        if let Some(missing) = missing {
            self.given_up = Some(GivenUp::Fetch(missing));
        } else if watching.is_changed(self.worker.now_ms) {
            self.given_up = Some(GivenUp::Overtaken);
        }
    }

    /// Waits until others have had the keys, and has them again; false if the script has to end
    /// before.
    fn wait_for_others(&mut self) -> bool {
        let free_since = self.server.env.clock.now();
        let mut pause = ATTEND_EVERY;
        loop {
            park_timeout(pause);
            self.attendant.attend();
            if self.server.env.clock.since(free_since) < FREE_FOR {
                continue;
            }
            if self.transaction.take_again(self.claims, LockWait::Spinning) {
                return true;
            }
            pause = LOOK_EVERY;
            self.server.contested.note_claims(&self.server.engine, self.claims);
            if matches!(self.look(), Look::End(_)) {
                return false;
            }
        }
    }
}
