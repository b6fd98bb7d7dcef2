//! The sessions that clients can resume.
//!
//! Each one is kept for a time, in the order in which they came: the oldest goes when there are too
//! many. They are kept here rather than given to clients as sealed tickets, so that all of them end
//! with the certificates that they were made by: other options have a cache of their own.

use basalt_env::{Clock, Instant};
use basalt_stdx::lock_rank::RankedMutex;
use rustls::server::StoresServerSessions;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What `tls-session-cache-size` 0 allows.
const SESSIONS_MAX: usize = 1_000_000;
/// A session with a client's certificates; a longer one is not kept.
const SESSION_BYTES_MAX: usize = 16 << 10;

/// See the head of this file.
pub(crate) struct Sessions {
    count_max: usize,
    time_max: Duration,
    clock: Arc<dyn Clock>,
    kept: RankedMutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_key: BTreeMap<Vec<u8>, (Instant, Vec<u8>)>,
    /// Keys as they came, with when they did; some may have been taken or put again.
    order: VecDeque<(Instant, Vec<u8>)>,
}

impl fmt::Debug for Sessions {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("count_max", &self.count_max).finish_non_exhaustive()
    }
}

impl Sessions {
    /// Of this many sessions, 0 for [`SESSIONS_MAX`], for this time each.
    pub(crate) fn new(count_max: usize, time_max: Duration, clock: Arc<dyn Clock>) -> Sessions {
        let count_max = if count_max == 0 { SESSIONS_MAX } else { count_max.min(SESSIONS_MAX) };
        Sessions { count_max, time_max, clock, kept: RankedMutex::default() }
    }

    fn is_over(&self, since: Instant) -> bool {
        self.clock.since(since) >= self.time_max
    }

    /// Removes what is too old, and the oldest until there is room for another one.
    fn make_room(&self, kept: &mut Kept) {
        while let Some((since, _)) = kept.order.front()
            && (self.is_over(*since) || kept.order.len() >= self.count_max)
            && let Some((since, key)) = kept.order.pop_front()
        {
            if kept.by_key.get(&key).is_some_and(|(own, _)| *own == since) {
                kept.by_key.remove(&key);
            }
        }
    }
}

impl StoresServerSessions for Sessions {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        if value.len() > SESSION_BYTES_MAX {
            return false;
        }
        let mut kept = self.kept.lock();
        self.make_room(&mut kept);
        let now = self.clock.now();
        kept.order.push_back((now, key.clone()));
        kept.by_key.insert(key, (now, value));
        true
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let kept = self.kept.lock();
        let (since, value) = kept.by_key.get(key)?;
        (!self.is_over(*since)).then(|| value.clone())
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        let (since, value) = self.kept.lock().by_key.remove(key)?;
        (!self.is_over(since)).then_some(value)
    }

    fn can_cache(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{SESSION_BYTES_MAX, Sessions};
    use basalt_env::ManualClock;
    use rustls::server::StoresServerSessions;
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn sessions_are_kept_for_a_time_and_only_so_many() {
        let clock = Arc::new(ManualClock::at_unix_ms(1));
        let sessions = Sessions::new(3, Duration::from_secs(10), Arc::clone(&clock) as _);
        let key = |number: u8| vec![number; 32];
        for number in 0..5 {
            clock.advance_ms(1000);
            assert!(sessions.put(key(number), vec![number]));
        }
        let there: Vec<bool> = (0..5).map(|number| sessions.get(&key(number)).is_some()).collect();
        assert_eq!(there, [false, false, true, true, true]);
        assert_eq!(sessions.take(&key(4)), Some(vec![4]));
        assert_eq!(sessions.take(&key(4)), None);
        clock.advance_ms(8000);
        assert_eq!((sessions.get(&key(2)), sessions.get(&key(3))), (None, Some(vec![3])));
        assert!(!sessions.put(key(9), vec![0; SESSION_BYTES_MAX + 1]));
    }

    #[test]
    fn what_is_put_again_lives_from_then_on() {
        let clock = Arc::new(ManualClock::at_unix_ms(1));
        let sessions = Sessions::new(0, Duration::from_secs(10), Arc::clone(&clock) as _);
        sessions.put(vec![1], vec![1]);
        clock.advance_ms(9000);
        sessions.put(vec![1], vec![2]);
        clock.advance_ms(9000);
        sessions.put(vec![2], vec![3]);
        assert_eq!(sessions.get(&[1]), Some(vec![2]));
        clock.advance_ms(1000);
        assert_eq!(sessions.take(&[1]), None);
    }
}
