//! Commands that wait until a key has something for them: BLPOP and its like.
//!
//! ```text
//! run, nothing there ▸ wait() ▸ join the queues of all keys ▸ unlock ▸ … ▸ called ▸ run again
//!                               └──────── one holding of the locks ────┘
//! ```
//! A command that finds nothing says so with [`Txn::wait`] or [`View::wait`] and returns without a
//! reply. Its client joins the queues of all its keys under the locks of the very run that found
//! nothing, so a change that it did not see comes later and finds it there: no call is lost. A
//! client that is called runs the whole command again, under its locks, and takes the first ready
//! key in the order of its arguments. Afterwards it is taken out of all queues or keeps its places
//! ([`Txn::settle`]).
//!
//! To be fair, a command takes from a key only if nobody has waited longer there
//! ([`Txn::is_in_turn`]); a client that is turned away joins the queue. Commands that do not wait
//! take what they find: they cannot queue. See `docs/concurrency.md`.

mod call;
pub(crate) mod left;
mod leftovers;
mod release;
pub(crate) mod request;
pub(crate) mod watch;
pub(crate) mod watching;

use crate::engine::Engine;
use crate::log::Gate;
use crate::store::ask::Ask;
use crate::store::changes::ChangeSet;
use crate::store::context::Attempt;
use crate::store::context::RunMode;
use crate::store::held::Held;
use crate::store::key::Key;
use crate::store::queues::{next_time, rest_of};
use crate::store::txn::Txn;
use crate::store::view::View;
use crate::waiting::request::{Behind, Places, Settled, WaitAnswer, WaitPlace, WaitRequest};
use crate::waiting::watch::seen;
use basalt_change::place::PartitionId;
use basalt_keyspace::interest::{Called, KeyId, Rest, WatchedState};
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::waiters::{Service, Waiter};
use basalt_stdx::short_lock::LockWait;
use basalt_value::queue::MessageId;
use basalt_value::stream::EntryId;
use std::sync::Arc;
use std::time::Duration;

impl Txn<'_> {
    /// Has the command run again when one of these keys of the selected database has something, if
    /// it may wait. What it has changed stays, so it changes something in its first run only.
    pub fn wait(
        &mut self,
        keys: &[Key<'_>],
        service: Service,
        time: Option<Duration>,
    ) -> WaitAnswer {
        if !self.may_wait() {
            return WaitAnswer::MustAnswer;
        }
        let is_unchanged = self.changes.is_empty();
        assert!(is_unchanged || !self.has_waited(), "a wait in vain would change something");
        let places = places(self.session.db, keys);
        let request = WaitRequest::new(places, service, time);
        self.changes.ask = Some(Ask::Ready(request));
        WaitAnswer::Waits
    }

    /// Whether the command may wait at all: not as one of several, and not when its time is over.
    pub fn may_wait(&self) -> bool {
        self.run_mode == RunMode::Alone && self.session.attempt != Attempt::Last
    }

    /// Whether nobody has waited longer at this key for [`Service::InTurn`]. A command that takes
    /// something from a key that others wait for asks this before, and passes the key over if it is
    /// not its turn. In a transaction everything is in turn.
    #[inline]
    pub fn is_in_turn(&self, key: &Key<'_>) -> bool {
        self.is_first(key, Service::InTurn)
    }

    /// Whether nobody has waited longer at this key for this service.
    #[inline]
    pub fn is_first(&self, key: &Key<'_>, service: Service) -> bool {
        let Some(interest) = &self.locked.partition(key.partition).interest else { return true };
        let place = KeyId { hash: key.hash, db: self.session.db };
        self.run_mode != RunMode::Alone || interest.is_in_turn(place, self.session.client, service)
    }

    /// Whether the command has waited: it passes over keys that have got a value of a wrong type.
    pub fn has_waited(&self) -> bool {
        self.session.attempt != Attempt::First
    }

    /// The key has something for those who wait for it. Every command that adds elements to an
    /// object calls it; whatever puts a whole object under a key has it called by itself.
    #[inline]
    pub fn signal(&mut self, key: &Key<'_>) {
        if self.locked.partition(key.partition).interest.is_some() {
            self.call_waiters(key);
        }
    }

    #[cold]
    fn call_waiters(&mut self, key: &Key<'_>) {
        let place = KeyId { hash: key.hash, db: self.session.db };
        if let Some(interest) = &mut self.locked.partition_mut(key.partition).interest {
            interest.signal(place, &mut self.changes.called);
        }
    }

    /// Ends the run of a command for which [`Txn::has_to_settle`] holds: has its client join the
    /// queues or leave those in `places`, and appends its changes. The locks are held until `self`
    /// goes.
    #[cold]
    pub fn settle(
        &mut self,
        client: &Arc<dyn Waiter>,
        places: &Places,
        gate: &mut Gate,
    ) -> Settled {
        match self.changes.ask.take() {
            Some(Ask::Fetch(missing)) => Settled::Fetches(missing),
            Some(Ask::Reach(names)) => Settled::Reaches(names),
            Some(Ask::Copy(copying)) => Settled::Copies(copying),
            Some(Ask::Written) => Settled::WaitsForCheckpoint,
            Some(Ask::Apart) => Settled::RunsApart,
            Some(Ask::Ready(request)) => {
                join(self.engine, &mut self.locked, client, &request);
                self.append(gate);
                Settled::Waits(request)
            }
            None => {
                let now_ms = self.session.now_ms;
                leave(&mut self.locked, client.id(), places, now_ms, &mut self.changes.called);
                self.append(gate);
                Settled::Over
            }
        }
    }
}

impl View<'_> {
    /// As [`Txn::wait`], for one that looks at every change.
    pub fn wait(&self, keys: &[Key<'_>], service: Service, time: Option<Duration>) -> WaitAnswer {
        if self.run_mode != RunMode::Alone || self.session.attempt == Attempt::Last {
            return WaitAnswer::MustAnswer;
        }
        debug_assert!(!service.takes(), "who takes something in turn writes");
        let places = places(self.session.db, keys);
        self.ask.set(Some(Ask::Ready(WaitRequest::new(places, service, time))));
        self.asks.set(true);
        WaitAnswer::Waits
    }

    /// Has a command wait that reads the streams at its keys behind these identities: its next
    /// run gets them from [`View::behind`].
    pub fn wait_behind(
        &self,
        keys: &[Key<'_>],
        behind: &[EntryId],
        time: Option<Duration>,
    ) -> WaitAnswer {
        let answer = self.wait(keys, Service::EveryChange, time);
        match self.ask.take() {
            Some(Ask::Ready(request)) => {
                let behind = Some(behind.into());
                self.ask.set(Some(Ask::Ready(WaitRequest { behind, ..request })));
            }
            other => self.ask.set(other),
        }
        answer
    }

    /// Tells the command, which has waited, what it waits behind.
    #[cold]
    pub fn recall(&self, behind: &Behind) {
        self.behind.set(behind.clone());
    }

    /// The identities that the command gave [`View::wait_behind`], if it has waited.
    pub fn behind(&self) -> Behind {
        self.behind.take()
    }

    /// As [`Txn::has_waited`].
    pub fn has_waited(&self) -> bool {
        self.session.attempt != Attempt::First
    }

    /// As [`Txn::has_to_settle`].
    #[inline]
    pub fn has_to_settle(&self) -> bool {
        self.asks.get() || self.session.attempt != Attempt::First
    }

    /// Settles a wait as [`Txn::settle`] does. A client that only looks calls nobody when it
    /// leaves.
    #[cold]
    pub fn settle(&mut self, client: &Arc<dyn Waiter>, places: &Places) -> Settled {
        match self.ask.take() {
            Some(Ask::Fetch(missing)) => Settled::Fetches(missing),
            Some(Ask::Reach(names)) => Settled::Reaches(names),
            Some(Ask::Copy(copying)) => Settled::Copies(copying),
            Some(Ask::Written) => Settled::WaitsForCheckpoint,
            Some(Ask::Apart) => Settled::RunsApart,
            Some(Ask::Ready(request)) => {
                join(self.engine, &mut self.locked, client, &request);
                Settled::Waits(request)
            }
            None => {
                let mut called = Called::new();
                leave(&mut self.locked, client.id(), places, self.session.now_ms, &mut called);
                debug_assert!(called.is_empty(), "nobody reads in turn");
                Settled::Over
            }
        }
    }
}

impl Engine {
    /// A client that waits goes: it leaves all queues, and the next in each is called. Leaving a
    /// queue twice changes nothing.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits: the client may still be in some
    /// queues.
    pub fn stop_waiting(&self, client: u64, places: &Places, wait: LockWait) -> Result<(), Held> {
        let mut called = Called::new();
        let left = self.leave_all(client, places, wait, &mut called);
        self.wake_called(called);
        left
    }

    /// As [`Engine::stop_waiting`]; the clients that are called are due to be served
    /// ([`ChangeSet::take_called`]). What cannot be left at once is left soon, by the housekeeping.
    pub fn leave_queues(
        &self,
        client: u64,
        places: &Places,
        wait: LockWait,
        changes: &mut ChangeSet,
    ) {
        if self.leave_all(client, places, wait, &mut changes.called).is_err() {
            self.stop_waiting_soon(client, places.clone(), wait);
        }
    }

    fn leave_all(
        &self,
        client: u64,
        places: &Places,
        wait: LockWait,
        called: &mut Called,
    ) -> Result<(), Held> {
        let now_ms = self.env.clock.unix_ms();
        places.iter().try_for_each(|place| {
            let mut locked = self.keyspace.lock_within(place.partition, wait).ok_or(Held)?;
            if let Some(message) = leave_place(&mut locked, client, place, now_ms, called) {
                self.take_call_back(locked, place, message, called);
            }
            Ok(())
        })
    }

    /// How many keys clients wait for, and how many of which they await the end. Partitions are
    /// asked one after the other.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn keys_waited_for(&self, wait: LockWait) -> Result<(usize, usize), Held> {
        PartitionId::all().try_fold((0, 0), |(waited_for, awaiting_end), id| {
            let count = self.look(None, id, wait, |partition| {
                partition.interest.as_ref().map_or((0, 0), |interest| interest.waited_for())
            })?;
            Ok((waited_for + count.0, awaiting_end + count.1))
        })
    }
}

fn places(db: u8, keys: &[Key<'_>]) -> Places {
    let place = |key: &Key<'_>| WaitPlace {
        partition: key.partition,
        place: KeyId { hash: key.hash, db },
        key: key.bytes.into(),
    };
    keys.iter().map(place).collect()
}

fn join(engine: &Engine, locked: &mut Locked<'_>, client: &Arc<dyn Waiter>, request: &WaitRequest) {
    for WaitPlace { partition, place, key } in &request.places {
        let interest = &mut locked.partition_mut(*partition).interest;
        let interest = interest.get_or_insert_default();
        match request.service {
            Service::Release => {
                interest.wait_for_release(*place, &request.held, client);
                continue;
            }
            service => interest.wait(*place, client, service),
        }
        if let Service::Answer(_) = request.service {
            continue;
        }
        let database = locked.partition(*partition).database(place.db);
        let next_ms = next_time(database, place.hash, key);
        if next_ms != u64::MAX {
            engine.timers.note(*partition, *place, key, next_ms);
        }
    }
}

/// Calls the next client where there is still something.
fn leave(
    locked: &mut Locked<'_>,
    client: u64,
    places: &[WaitPlace],
    now_ms: u64,
    called: &mut Called,
) {
    for place in places {
        // A command that has ended has seen to its message itself.
        let _ = leave_place(locked, client, place, now_ms, called);
    }
}

/// Returns the message that the client waited there to be answered.
fn leave_place(
    locked: &mut Locked<'_>,
    client: u64,
    WaitPlace { partition, place, key }: &WaitPlace,
    now_ms: u64,
    called: &mut Called,
) -> Option<MessageId> {
    let partition = locked.partition_mut(*partition);
    partition.interest.as_ref()?;
    let database = partition.database(place.db);
    let rest = match seen(database, place.hash, key, now_ms) {
        WatchedState::Live => rest_of(database, place.hash, key, now_ms),
        WatchedState::Expired | WatchedState::Absent => Rest::Nothing,
    };
    let interest = partition.interest.as_mut()?;
    let message = interest.leave(*place, client, rest, called);
    if interest.is_empty() {
        partition.interest = None;
    }
    message
}
