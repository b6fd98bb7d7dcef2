//! CLIENT PAUSE: commands that wait until a moment, or until CLIENT UNPAUSE.
//!
//! Every command looks whether anything is [unusual]. A client that has to wait is parked by its
//! thread until the moment, and is listed here to be woken before.
//!
//! [unusual]: crate::unusual

use crate::clients::ClientHandle;
use crate::transaction::Writes;
use crate::unusual::{Reason, Unusual};
use basalt_engine::Waiter;
use basalt_env::{Clock, Instant};
use basalt_stdx::lock_rank::RankedMutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Longest pause: a hundred years, which the clock can add.
const TIME_MAX: Duration = Duration::from_secs(3_155_760_000);

/// Which commands a pause concerns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Paused {
    /// Those that may change data.
    Writes,
    /// All.
    All,
}

/// The pause of all clients, if there is one.
pub struct Pauses {
    clock: Arc<dyn Clock>,
    unusual: Arc<Unusual>,
    state: RankedMutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pause: Option<(Paused, Instant)>,
    /// Those that are held, by their number.
    waiting: BTreeMap<u64, Arc<ClientHandle>>,
    /// There is a pause, or one whose time has passed without anybody's having looked.
    reason: Option<Reason>,
}

impl State {
    /// The pause, unless its time has passed.
    fn current(&self, now: Instant) -> Option<(Paused, Instant)> {
        self.pause.filter(|(_, until)| *until > now)
    }
}

impl Pauses {
    /// There is none; one is unusual.
    pub fn new(clock: Arc<dyn Clock>, unusual: Arc<Unusual>) -> Pauses {
        Pauses { clock, unusual, state: RankedMutex::default() }
    }

    /// Begins a pause. Of two, the larger scope and the later end count. Returns how long it lasts.
    pub fn begin(&self, scope: Paused, time: Duration) -> Duration {
        let now = self.clock.now();
        let mut state = self.state.lock();
        let until = now + time.min(TIME_MAX);
        let (scope, until) = match state.current(now) {
            Some((other, end)) => (scope.max(other), until.max(end)),
            None => {
                state.waiting.clear();
                (scope, until)
            }
        };
        state.pause = Some((scope, until));
        state.reason.get_or_insert_with(|| self.unusual.raise());
        until - now
    }

    /// Ends the pause and wakes who waits for that.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.pause = None;
        state.reason = None;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.values().for_each(|client| client.wake());
    }

    /// Forgets a client that goes.
    pub fn forget(&self, client: &ClientHandle) {
        self.state.lock().waiting.remove(&client.id);
    }

    /// Which commands are held now, if any are.
    #[cold]
    pub fn scope(&self) -> Option<Paused> {
        let mut state = self.state.lock();
        let current = state.current(self.clock.now());
        if current.is_none() {
            state.reason = None;
        }
        current.map(|(scope, _)| scope)
    }

    /// Whether a command has to wait, and how long at most; its client is woken if the pause ends
    /// before.
    #[cold]
    pub fn hold(&self, client: &Arc<ClientHandle>, writes: Writes) -> Option<Duration> {
        let now = self.clock.now();
        let mut state = self.state.lock();
        let Some((scope, until)) = state.current(now) else {
            state.reason = None;
            return None;
        };
        if scope == Paused::Writes && writes == Writes::No {
            return None;
        }
        state.waiting.insert(client.id, Arc::clone(client));
        Some(until - now)
    }
}
