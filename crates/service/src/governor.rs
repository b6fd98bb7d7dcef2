//! The governor of memory: how much of the budget is left for the keyspace.
//!
//! `maxmemory` is about the resident memory of the process, and only the keyspace can be made
//! smaller. So ten times a second, twice where very much is left, and when `maxmemory` was set, a
//! thread looks at both, takes everything that is not the keyspace for given, and tells the engine
//! what is left: the *target*, above which clean entries leave memory and commands that need memory
//! are refused.
//!
//! What is not the keyspace cannot be read anywhere, it is a difference: resident memory less the
//! keyspace. The difference is too large for up to a second after the keyspace has become smaller,
//! because the allocator gives memory back late; a target made of it would have the evictor drop
//! more, which makes the difference larger still. Two figures are never too large for that reason,
//! and the larger of them is taken:
//! - resident memory less the largest keyspace of the last 1.5 s, which sees at once that something
//!   else grows;
//! - the smallest difference of the last 1.5 s, which still holds when the keyspace has been
//!   emptied and its memory is back already.
//!
//! The arithmetic has no clock and no process: tests call it with what they like.

use crate::server::Server;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the governor looks …
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// … and where very much is left.
const LOOK_SELDOM: Duration = Duration::from_millis(500);
/// How often it asks what the machine lends the process: a second, less what a look may be early.
const ASK_EVERY_NS: u64 = 950_000_000;
/// For how long memory that is free may still be resident: the allocator's second, and the time
/// that its thread takes.
const GIVEN_BACK_WITHIN_NS: u64 = 1_500_000_000;
/// Looks that are kept, whatever the clock says.
const LOOKS_MAX: usize = 64;
/// Having the allocator give memory back takes a millisecond for some megabytes.
const PURGE_EVERY_NS: u64 = 500_000_000;

/// Thousandths of the budget that resident memory is to stay within. The rest is for what comes
/// between two looks.
const GOAL_PER_MILLE: u64 = 970;
/// However much else there is, the keyspace has this part of the budget …
const KEYSPACE_SHARE_MIN: u64 = 4;
/// … and this many bytes, if the budget itself has them.
const KEYSPACE_BYTES_MIN: u64 = 1 << 20;

/// With this many bytes left for each network thread, and no less than is in use, writers do not
/// come near the target before the next look: a thread takes some hundred megabytes a second from
/// its sockets. So threads need not count then what they write.
const FAR_BYTES_A_THREAD: u64 = 128 << 20;
/// With this many times as many left, and half of the budget, which is no less than is in use, they
/// do not before one that is seldom either, nor do clients' buffers.
const SELDOM_TIMES: u64 = 10;

/// What the governor sees in one look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// When, on a clock that only goes forward.
    pub now_ns: u64,
    /// Memory of the process that is in RAM.
    pub resident_bytes: u64,
    /// What the keyspace takes.
    pub keyspace_bytes: u64,
    /// What the process may take.
    pub budget_bytes: u64,
    /// Threads that run commands, at least one.
    pub threads: u64,
}

/// What follows from a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ruling {
    /// What the keyspace may take.
    pub target_bytes: u64,
    /// The keyspace will be below that at the next look, whatever is written.
    pub is_far: bool,
    /// The allocator shall give back what is free.
    pub purges: bool,
    /// When to look again.
    pub pause: Duration,
}

/// What it has seen lately. See the head of this file.
#[derive(Debug, Default)]
pub struct Governor {
    /// Of the last 1.5 s, the oldest first.
    looks: VecDeque<Look>,
    purged_ns: Option<u64>,
    asked_ns: Option<u64>,
    /// What the machine has lent the process when it was asked.
    machine_bytes: Option<u64>,
}

impl Governor {
    /// Decides by what is seen now and was seen lately.
    pub fn decide(&mut self, look: Look) -> Ruling {
        let is_old = |old: &Look| old.now_ns + GIVEN_BACK_WITHIN_NS < look.now_ns;
        while self.looks.front().is_some_and(is_old) || self.looks.len() >= LOOKS_MAX {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
        let goal = per_mille(look.budget_bytes, GOAL_PER_MILLE);
        let share = (look.budget_bytes / KEYSPACE_SHARE_MIN).max(KEYSPACE_BYTES_MIN);
        let least = share.min(look.budget_bytes);
        let target_bytes = goal.saturating_sub(self.other_bytes(look.resident_bytes)).max(least);
        let left = target_bytes.saturating_sub(look.keyspace_bytes);
        let far_bytes = FAR_BYTES_A_THREAD.saturating_mul(look.threads);
        let is_far = left >= far_bytes && left >= look.keyspace_bytes;
        let is_very_far =
            left >= far_bytes.saturating_mul(SELDOM_TIMES) && left >= look.budget_bytes / 2;
        Ruling {
            target_bytes,
            is_far,
            purges: look.resident_bytes > goal && self.may_purge(look.now_ns),
            pause: if is_very_far { LOOK_SELDOM } else { LOOK_EVERY },
        }
    }

    /// Whether this look begins with a question about what the machine lends the process.
    fn asks_the_machine(&mut self, now_ns: u64) -> bool {
        let asks = self.asked_ns.is_none_or(|asked_ns| now_ns >= asked_ns + ASK_EVERY_NS);
        if asks {
            self.asked_ns = Some(now_ns);
        }
        asks
    }

    /// There is no budget: what was seen with one says nothing when there is one again.
    fn rest(&mut self) {
        self.looks.clear();
    }

    /// What the process holds besides the keyspace.
    fn other_bytes(&self, resident_bytes: u64) -> u64 {
        let keyspaces = self.looks.iter().map(|look| look.keyspace_bytes);
        let beside_largest = resident_bytes.saturating_sub(keyspaces.max().unwrap_or(0));
        let differences =
            self.looks.iter().map(|look| look.resident_bytes.saturating_sub(look.keyspace_bytes));
        beside_largest.max(differences.min().unwrap_or(0))
    }

    fn may_purge(&mut self, now_ns: u64) -> bool {
        let may = self.purged_ns.is_none_or(|purged_ns| now_ns >= purged_ns + PURGE_EVERY_NS);
        if may {
            self.purged_ns = Some(now_ns);
        }
        may
    }
}

fn per_mille(bytes: u64, thousandths: u64) -> u64 {
    (u128::from(bytes) * u128::from(thousandths) / 1000) as u64
}

impl Server {
    /// Asks what `maxmemory auto` stands for now.
    fn follow_machine(&self, governor: &mut Governor) {
        let bytes = self.host.machine_memory();
        if bytes == std::mem::replace(&mut governor.machine_bytes, bytes) {
            return;
        }
        if let Some(bytes) = bytes
            && self.config.set_machine_memory(bytes)
        {
            tracing::info!(bytes, "the machine lends the process another amount of memory");
        }
    }

    /// Looks as often as there is need, and when [`Server::govern_soon`] asks for it, until told to
    /// stop and unparked. Called by one thread that is no network thread.
    pub fn keep_governing(&self, governor: &mut Governor, stop: &AtomicBool) {
        let sleeper = &self.memory_governed.sleeper;
        sleeper.adopt(&std::thread::current());
        let mut pause = LOOK_EVERY;
        loop {
            sleeper.sleep(pause);
            if stop.load(Ordering::Acquire) {
                return;
            }
            pause = self.govern(governor);
        }
    }

    /// Options have changed. `maxmemory` holds soon: between two looks a client writes tens of
    /// megabytes.
    pub fn govern_soon(&self) {
        if !self.memory_governed.knows(self.config.settings().memory.memory_bytes_max) {
            self.memory_governed.sleeper.wake();
        }
    }

    /// Looks once, and tells the engine what the keyspace may take; returns when to look again.
    pub fn govern(&self, governor: &mut Governor) -> Duration {
        let now_ns = self.env.clock.monotonic_ns();
        if governor.asks_the_machine(now_ns) {
            self.follow_machine(governor);
        }
        let budget_bytes = self.config.settings().memory.memory_bytes_max;
        if !self.memory_governed.knows(budget_bytes) {
            self.engine.set_memory_budget(budget_bytes);
        }
        if budget_bytes == 0 {
            governor.rest();
            self.engine.set_memory_target(None);
            self.memory_governed.note(0, false);
            return LOOK_EVERY;
        }
        let keyspace_bytes = self.engine.memory_at_once();
        self.note_memory(keyspace_bytes);
        let ruling = governor.decide(Look {
            now_ns,
            resident_bytes: self.host.memory().rss,
            keyspace_bytes,
            budget_bytes,
            threads: self.counters.len() as u64,
        });
        self.engine.set_memory_target(Some(ruling.target_bytes));
        self.memory_governed.note(budget_bytes, ruling.is_far);
        if ruling.purges {
            self.host.give_memory_back();
        }
        ruling.pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const BUDGET: u64 = 1000 * MIB;

    /// A governor that is called each 100 ms.
    #[derive(Default)]
    struct Simulated {
        governor: Governor,
        now_ns: u64,
    }

    impl Simulated {
        fn look(&mut self, resident: u64, keyspace: u64) -> Ruling {
            self.look_with(resident, keyspace, BUDGET)
        }

        fn look_with(&mut self, resident: u64, keyspace: u64, budget_bytes: u64) -> Ruling {
            self.now_ns += LOOK_EVERY.as_nanos() as u64;
            self.governor.decide(Look {
                now_ns: self.now_ns,
                resident_bytes: resident * MIB,
                keyspace_bytes: keyspace * MIB,
                budget_bytes,
                threads: 4,
            })
        }
    }

    #[test]
    fn what_is_not_the_keyspace_is_taken_off() {
        let mut it = Simulated::default();
        assert_eq!(it.look(300, 200).target_bytes, 870 * MIB);
        // Something else grows: at once.
        assert_eq!(it.look(450, 200).target_bytes, 720 * MIB);
        // The keyspace grows: nothing changes.
        assert_eq!(it.look(650, 400).target_bytes, 720 * MIB);
        // Something else becomes smaller.
        assert_eq!(it.look(500, 400).target_bytes, 870 * MIB);
    }

    #[test]
    fn memory_that_the_allocator_still_has_is_not_taken_off() {
        let mut it = Simulated::default();
        assert_eq!(it.look(970, 870).target_bytes, 870 * MIB);
        // A fifth is evicted and stays resident for a second.
        for _ in 0..10 {
            assert_eq!(it.look(970, 700).target_bytes, 870 * MIB);
        }
        for _ in 0..20 {
            assert_eq!(it.look(800, 700).target_bytes, 870 * MIB);
        }
    }

    #[test]
    fn memory_that_never_comes_back_is_taken_off_after_a_while() {
        let mut it = Simulated::default();
        it.look(970, 870);
        let targets: Vec<u64> = (0..30).map(|_| it.look(970, 700).target_bytes / MIB).collect();
        assert_eq!(targets[..14], [870; 14]);
        assert_eq!(targets[20..], [700; 10]);
    }

    #[test]
    fn an_emptied_keyspace_does_not_hide_the_rest() {
        let mut it = Simulated::default();
        it.look(900, 700);
        // Everything is flushed, and its memory is back at once.
        for _ in 0..20 {
            assert_eq!(it.look(200, 0).target_bytes, 770 * MIB);
        }
    }

    #[test]
    fn the_keyspace_keeps_a_quarter() {
        let mut it = Simulated::default();
        assert_eq!(it.look(5000, 10).target_bytes, 250 * MIB);
        assert_eq!(it.look_with(100, 0, 2 * MIB).target_bytes, MIB);
        assert_eq!(it.look_with(100, 0, 1).target_bytes, 1);
        // No overflow.
        let target = it.look_with(100, 0, u64::MAX).target_bytes;
        assert!(target > u64::MAX / 100 * 96, "{target}");
    }

    #[test]
    fn the_allocator_is_asked_only_above_the_goal_and_not_too_often() {
        let mut it = Simulated::default();
        let mut count = |resident| (0..20).filter(|_| it.look(resident, 500).purges).count();
        assert_eq!(count(970), 0);
        assert_eq!(count(971), 4, "in two seconds");
        assert_eq!(count(900), 0);
    }

    #[test]
    fn it_looks_seldom_only_with_very_much_left() {
        const LARGE: u64 = 16_000 * MIB;
        let mut it = Simulated::default();
        assert_eq!(it.look_with(200, 100, LARGE).pause, LOOK_SELDOM);
        assert_eq!(it.look_with(9_000, 8_900, LARGE).pause, LOOK_EVERY, "half is used");
        let mut it = Simulated::default();
        assert_eq!(it.look_with(200, 100, 5_000 * MIB).pause, LOOK_EVERY, "it is soon filled");
    }

    #[test]
    fn the_machine_is_asked_once_a_second() {
        let mut governor = Governor::default();
        let asked = (0..40).filter(|tenth| governor.asks_the_machine(tenth * 100_000_000)).count();
        assert_eq!(asked, 4);
    }

    #[test]
    fn it_is_far_only_with_much_left() {
        let mut it = Simulated::default();
        assert!(it.look(100, 10).is_far);
        assert!(!it.look(600, 500).is_far, "less is left than is used");
        let mut it = Simulated::default();
        assert!(!it.look_with(20, 10, 500 * MIB).is_far, "four threads may fill it in a look");
    }
}
