//! The clients that wait for one key.
//!
//! Some take what they wait for, so that one element serves one of them: they stand in a queue, and
//! only the first is called. Called once, it is not called again before it has looked; finding
//! nothing, it keeps its place, and going, it passes the call on if there is something left. So
//! whenever the key has something and the queue is not empty, the first is called, and a change of
//! the key costs the same however many wait. The others only look: each change calls all of them.

use crate::interest::Called;
use std::collections::VecDeque;
use std::sync::Arc;

/// A client whose command waits for keys.
pub trait Waiter: Send + Sync + std::fmt::Debug {
    /// Its number, which no other has.
    fn id(&self) -> u64;

    /// Has its command run again soon. Called without any lock.
    fn wake(&self);
}

/// How a waiting client is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// It takes what it finds, in its turn.
    InTurn,
    /// It looks at every change that adds something.
    EveryChange,
    /// It does so, and wants to know when the key is deleted.
    EveryChangeAndEnd,
}

#[derive(Debug)]
struct Waiting {
    waiter: Arc<dyn Waiter>,
    service: Service,
    /// It has been called and has not looked yet.
    called: bool,
}

/// The clients that wait for one key.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    /// Longest waiting first.
    in_turn: VecDeque<Waiting>,
    looking: Vec<Waiting>,
}

impl Waiters {
    pub(crate) fn is_empty(&self) -> bool {
        self.in_turn.is_empty() && self.looking.is_empty()
    }

    pub(crate) fn join(&mut self, waiter: &Arc<dyn Waiter>, service: Service) {
        let id = waiter.id();
        // One that was called is the first of the queue, or one of few.
        let mut known = self.in_turn.iter_mut().chain(&mut self.looking);
        if let Some(known) = known.find(|waiting| waiting.waiter.id() == id) {
            known.called = false;
            return;
        }
        let waiting = Waiting { waiter: Arc::clone(waiter), service, called: false };
        match service {
            Service::InTurn => self.in_turn.push_back(waiting),
            Service::EveryChange | Service::EveryChangeAndEnd => self.looking.push(waiting),
        }
    }

    /// Takes a client out; says whether it had been called to take something.
    pub(crate) fn leave(&mut self, client: u64) -> bool {
        let is_it = |waiting: &Waiting| waiting.waiter.id() == client;
        self.looking.retain(|waiting| !is_it(waiting));
        let at = self.in_turn.iter().position(is_it);
        at.and_then(|at| self.in_turn.remove(at)).is_some_and(|waiting| waiting.called)
    }

    pub(crate) fn is_in_turn(&self, client: u64) -> bool {
        self.in_turn.front().is_none_or(|first| first.waiter.id() == client)
    }

    /// The key has something.
    pub(crate) fn call(&mut self, called: &mut Called) {
        self.call_next(called);
        self.looking.iter_mut().for_each(|waiting| waiting.call(called));
    }

    /// The key has something left.
    pub(crate) fn call_next(&mut self, called: &mut Called) {
        if let Some(first) = self.in_turn.front_mut() {
            first.call(called);
        }
    }

    /// The key is gone.
    pub(crate) fn call_for_end(&mut self, called: &mut Called) {
        let minds = |waiting: &&mut Waiting| waiting.service == Service::EveryChangeAndEnd;
        self.looking.iter_mut().filter(minds).for_each(|waiting| waiting.call(called));
    }

    pub(crate) fn await_end(&self) -> bool {
        self.looking.iter().any(|waiting| waiting.service == Service::EveryChangeAndEnd)
    }
}

impl Waiting {
    fn call(&mut self, called: &mut Called) {
        if !self.called {
            self.called = true;
            called.push(Arc::clone(&self.waiter));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Client(u64);

    impl Waiter for Client {
        fn id(&self) -> u64 {
            self.0
        }

        fn wake(&self) {}
    }

    fn waiters(clients: &[(u64, Service)]) -> Waiters {
        let mut waiters = Waiters::default();
        for &(id, service) in clients {
            let client: Arc<dyn Waiter> = Arc::new(Client(id));
            waiters.join(&client, service);
        }
        waiters
    }

    fn called(call: impl FnOnce(&mut Called)) -> Vec<u64> {
        let mut called = Called::new();
        call(&mut called);
        called.iter().map(|client| client.id()).collect()
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
        assert!(all.is_in_turn(1) && !all.is_in_turn(2) && !all.is_in_turn(9));
        assert!(all.leave(1) && !all.leave(3));
        assert_eq!(called(|called| all.call_next(called)), [2]);
        assert!(all.leave(2) && all.is_empty() && all.is_in_turn(9));
    }

    #[test]
    fn those_who_look_are_all_called_and_hold_nobody_up() {
        use Service::{EveryChange, EveryChangeAndEnd, InTurn};
        let mut all =
            waiters(&[(1, EveryChange), (2, EveryChangeAndEnd), (3, InTurn), (4, InTurn)]);
        assert!(all.is_in_turn(3) && all.await_end());
        assert_eq!(called(|called| all.call_for_end(called)), [2]);
        assert_eq!(called(|called| all.call(called)), [3, 1]);
        assert!(!all.leave(1) && !all.leave(2) && !all.await_end());
    }
}
