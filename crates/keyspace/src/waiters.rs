//! The clients that wait for one key.
//!
//! Some take what they wait for, so that one element serves one of them: they stand in a queue, and
//! only the first is called. Called once, it is not called again before it has looked; finding
//! nothing, it keeps its place, and going, it passes the call on if there is something left. So
//! whenever the key has something and the queue is not empty, the first is called, and a change of
//! the key costs the same however many wait. The others only look: each change calls all of them.

use basalt_value::queue::MessageId;
use std::collections::VecDeque;
use std::sync::Arc;

/// A client whose command waits for keys.
pub trait Waiter: Send + Sync + std::fmt::Debug {
    /// Its number, which no other has.
    fn id(&self) -> u64;

    /// Has its command run again soon. Called without any lock.
    fn wake(&self);
}

/// What is to be done when the locks are gone, in the order in which it came up.
pub type Called = Vec<Call>;

/// Something to be done when the locks are gone.
#[derive(Clone, Debug)]
pub enum Call {
    /// This client is to be served, or woken.
    Waiter(Arc<dyn Waiter>),
    /// Copies of a key that clients keep are out of date.
    Outdated(Outdated),
    /// All copies of all keys are.
    AllOutdated,
}

/// A key of which clients may keep copies that are out of date.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outdated {
    /// The key.
    pub key: Box<[u8]>,
    /// The clients that have read it.
    pub readers: Vec<u64>,
    /// Why the copies are out of date.
    pub cause: Cause,
}

/// Why copies of a key are out of date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// This client has changed the key; 0 is none.
    Change(u64),
    /// The key has not changed, but it is tracked no longer.
    Forgotten,
}

/// A key of a database.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct KeyId {
    /// The key's hash.
    pub hash: u64,
    /// Number of the database.
    pub db: u8,
}

/// How a waiting client is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// It takes what it finds, in its turn.
    InTurn,
    /// It does so in the queue of this number, and wants to know when the key is deleted.
    InLine(u64),
    /// It looks at every change that adds something.
    EveryChange,
    /// It does so, and wants to know when the key is deleted.
    EveryChangeAndEnd,
    /// It waits for the answer to its message, and stands in no queue (`calls.rs`).
    Answer(MessageId),
    /// It waits until a message that it holds is released, and stands in no queue (`holds.rs`).
    Release,
}

impl Service {
    /// It waits in a queue, and takes what it finds.
    pub fn takes(self) -> bool {
        matches!(self, Service::InTurn | Service::InLine(_))
    }

    fn minds_the_end(self) -> bool {
        matches!(self, Service::InLine(_) | Service::EveryChangeAndEnd)
    }
}

/// A client that waits, and is called once before it looks.
#[derive(Debug)]
pub(crate) struct Callable {
    waiter: Arc<dyn Waiter>,
    /// It has been called and has not looked yet.
    is_called: bool,
}

impl Callable {
    pub(crate) fn new(waiter: &Arc<dyn Waiter>) -> Callable {
        Callable { waiter: Arc::clone(waiter), is_called: false }
    }

    /// Has it look, unless it is about to.
    pub(crate) fn call(&mut self, called: &mut Called) {
        if !self.is_called {
            self.is_called = true;
            called.push(Call::Waiter(Arc::clone(&self.waiter)));
        }
    }

    /// It has looked, and waits again.
    pub(crate) fn note_look(&mut self) {
        self.is_called = false;
    }
}

#[derive(Debug)]
struct QueuedWaiter {
    client: Callable,
    service: Service,
}

/// The clients that wait for one key.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    queues: Vec<Queue>,
    looking: Vec<QueuedWaiter>,
}

/// Those who take what one of them leaves: of one service, longest waiting first. Never empty.
#[derive(Debug)]
struct Queue {
    service: Service,
    waiting: VecDeque<QueuedWaiter>,
}

impl Waiters {
    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.looking.is_empty()
    }

    pub(crate) fn count(&self) -> usize {
        self.looking.len() + self.queues.iter().map(|queue| queue.waiting.len()).sum::<usize>()
    }

    pub(crate) fn join(&mut self, waiter: &Arc<dyn Waiter>, service: Service) {
        let id = waiter.id();
        // One that was called is the first of its queue, or one of few.
        let queued = self.queues.iter_mut().flat_map(|queue| &mut queue.waiting);
        let mut known = queued.chain(&mut self.looking);
        if let Some(known) = known.find(|waiting| waiting.id() == id) {
            known.client.note_look();
            return;
        }
        let waiting = QueuedWaiter { client: Callable::new(waiter), service };
        if !service.takes() {
            self.looking.push(waiting);
        } else if let Some(queue) = self.queue(service) {
            queue.waiting.push_back(waiting);
        } else {
            self.queues.push(Queue { service, waiting: VecDeque::from([waiting]) });
        }
    }

    fn queue(&mut self, service: Service) -> Option<&mut Queue> {
        self.queues.iter_mut().find(|queue| queue.service == service)
    }

    /// Takes a client out; returns the queue that it stood in if it had been called to take
    /// something.
    pub(crate) fn leave(&mut self, client: u64) -> Option<Service> {
        let is_it = |waiting: &QueuedWaiter| waiting.id() == client;
        self.looking.retain(|waiting| !is_it(waiting));
        let mut left = None;
        self.queues.retain_mut(|queue| {
            let at = queue.waiting.iter().position(is_it);
            let waiting = at.and_then(|at| queue.waiting.remove(at));
            left =
                left.or(waiting.filter(|waiting| waiting.client.is_called).map(|_| queue.service));
            !queue.waiting.is_empty()
        });
        left
    }

    /// Whether nobody in the queue of this service has waited longer.
    pub(crate) fn is_in_turn(&self, client: u64, service: Service) -> bool {
        let queue = self.queues.iter().find(|queue| queue.service == service);
        let first = queue.and_then(|queue| queue.waiting.front());
        first.is_none_or(|first| first.id() == client)
    }

    /// The key has something.
    pub(crate) fn call(&mut self, called: &mut Called) {
        self.queues.iter_mut().for_each(|queue| queue.call_first(called));
        self.looking.iter_mut().for_each(|waiting| waiting.client.call(called));
    }

    /// The key has something left for those in the queue of this service.
    pub(crate) fn call_next(&mut self, service: Service, called: &mut Called) {
        if let Some(queue) = self.queue(service) {
            queue.call_first(called);
        }
    }

    /// The key is gone.
    pub(crate) fn call_for_end(&mut self, called: &mut Called) {
        let queued = self.queues.iter_mut().flat_map(|queue| &mut queue.waiting);
        let all = queued.chain(&mut self.looking);
        let minding = all.filter(|waiting| waiting.service.minds_the_end());
        minding.for_each(|waiting| waiting.client.call(called));
    }

    pub(crate) fn await_end(&self) -> bool {
        self.queues.iter().any(|queue| queue.service.minds_the_end())
            || self.looking.iter().any(|waiting| waiting.service.minds_the_end())
    }
}

impl Queue {
    fn call_first(&mut self, called: &mut Called) {
        if let Some(first) = self.waiting.front_mut() {
            first.client.call(called);
        }
    }
}

impl QueuedWaiter {
    fn id(&self) -> u64 {
        self.client.waiter.id()
    }
}

/// Clients for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::{Call, Called, Waiter};

    /// A client of this number.
    #[derive(Debug)]
    pub(crate) struct Client(pub(crate) u64);

    impl Waiter for Client {
        fn id(&self) -> u64 {
            self.0
        }

        fn wake(&self) {}
    }

    /// The numbers of those that this calls.
    pub(crate) fn called(call: impl FnOnce(&mut Called)) -> Vec<u64> {
        let mut called = Called::new();
        call(&mut called);
        let id = |call: &Call| match call {
            Call::Waiter(client) => Some(client.id()),
            Call::Outdated(_) | Call::AllOutdated => None,
        };
        called.iter().filter_map(id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Client, called};
    use super::*;

    fn waiters(clients: &[(u64, Service)]) -> Waiters {
        let mut waiters = Waiters::default();
        for &(id, service) in clients {
            let client: Arc<dyn Waiter> = Arc::new(Client(id));
            waiters.join(&client, service);
        }
        waiters
    }

    #[test]
    fn one_element_calls_the_longest_waiting_once() {
        let mut all = waiters(&[(1, Service::InTurn), (2, Service::InTurn), (3, Service::InTurn)]);
        assert_eq!(called(|called| all.call(called)), [1]);
        assert_eq!(called(|called| all.call(called)), [0; 0]);
        // It finds nothing and keeps its place.
        let first: Arc<dyn Waiter> = Arc::new(Client(1));
        all.join(&first, Service::InTurn);
        assert_eq!(called(|called| all.call(called)), [1]);
        let is_in_turn = |all: &Waiters, id| all.is_in_turn(id, Service::InTurn);
        assert!(is_in_turn(&all, 1) && !is_in_turn(&all, 2) && !is_in_turn(&all, 9));
        assert_eq!((all.leave(1), all.leave(3)), (Some(Service::InTurn), None));
        assert_eq!(called(|called| all.call_next(Service::InTurn, called)), [2]);
        assert_eq!(all.leave(2), Some(Service::InTurn));
        assert!(all.is_empty() && is_in_turn(&all, 9));
    }

    #[test]
    fn those_who_look_are_all_called_and_hold_nobody_up() {
        use Service::{EveryChange, EveryChangeAndEnd, InTurn};
        let mut all =
            waiters(&[(1, EveryChange), (2, EveryChangeAndEnd), (3, InTurn), (4, InTurn)]);
        assert!(all.is_in_turn(3, InTurn) && all.await_end());
        assert_eq!(called(|called| all.call_for_end(called)), [2]);
        assert_eq!(called(|called| all.call(called)), [3, 1]);
        assert_eq!((all.leave(1), all.leave(2), all.await_end()), (None, None, false));
    }

    #[test]
    fn each_line_has_its_turns_and_all_are_told_of_the_end() {
        use Service::InLine;
        let mut all = waiters(&[(1, InLine(7)), (2, InLine(8)), (3, InLine(7)), (4, InLine(8))]);
        assert_eq!(called(|called| all.call(called)), [1, 2]);
        assert!(all.is_in_turn(1, InLine(7)) && !all.is_in_turn(3, InLine(7)));
        assert!(all.is_in_turn(3, InLine(9)) && all.await_end());
        assert_eq!(all.leave(1), Some(InLine(7)));
        assert_eq!(called(|called| all.call_next(InLine(7), called)), [3]);
        assert_eq!(called(|called| all.call_for_end(called)), [4]);
    }
}
