//! Serving a thread's other clients while a command of one of them takes long.
//!
//! ```text
//! network thread                                        relief thread
//! turn ▸ batch ▸ run_apart ▸ the loan begins ▸ command  sees it twice ▸ attends again and again
//!              a script attends by itself ──┐           │
//!                                           ▼           ▼
//!                                 a whole turn for the others
//! ```
//! Nothing of this happens in a script's first tenth of a millisecond, or in another command's
//! first millisecond. Then its connection stays out of the thread's lists until the command has
//! ended, the others are served by turns beside it, and a worker stands in which waits for no
//! partition and runs nothing that takes long. What it cannot run waits for the command's end
//! (`reactor/behind.rs`), and is refused once a script counts as busy.
//!
//! A command that takes less than that has others wait for it, in its turn. If the one before it
//! took long for that, what others of the turn are owed is sent before it begins.

use crate::give_way::GiveWay;
use crate::reactor::Reactor;
use crate::turn::Turn;
use basalt_dispatch::{Dispatcher, Worker};
use basalt_env::Clock;
use basalt_service::scripts::Attendant;
use basalt_stdx::loan::{Loan, Step};
use mio::Events;
use std::sync::Arc;
use std::time::Duration;

/// Events that a turn beside a command takes; more stay for the next one.
const EVENTS_A_POLL: usize = 256;

/// See the head of this file.
pub(crate) struct Beside<'a> {
    reactor: &'a mut Reactor,
    server: &'a Arc<Dispatcher>,
    /// The connection whose command runs.
    index: usize,
    /// Connections with requests in the batch.
    parsed: &'a mut (dyn Iterator<Item = u32> + Send),
    stand_in: Option<(Turn, Events)>,
}

impl<'a> Beside<'a> {
    pub(crate) fn new(
        reactor: &'a mut Reactor,
        server: &'a Arc<Dispatcher>,
        index: usize,
        parsed: &'a mut (dyn Iterator<Item = u32> + Send),
    ) -> Beside<'a> {
        Beside { reactor, server, index, parsed, stand_in: None }
    }

    /// The command has ended: returns the worker that stood in, if others were served.
    pub(crate) fn end(self) -> Option<Worker> {
        self.stand_in.map(|(turn, _)| turn.worker)
    }

    fn begin(&mut self) -> (Turn, Events) {
        self.reactor.leave(self.index, self.parsed);
        // Replies of the interrupted turn may wait for the log.
        self.server.engine.log().kick();
        let counters = Arc::clone(&self.reactor.stand_in_counters);
        let worker = Worker::standing_in(self.server, counters);
        (Turn::new(Arc::clone(self.server), worker), Events::with_capacity(EVENTS_A_POLL))
    }
}

impl Step for Beside<'_> {
    fn step(&mut self) {
        let (mut turn, mut events) = match self.stand_in.take() {
            Some(stand_in) => stand_in,
            None => self.begin(),
        };
        self.reactor.run_turn(&mut turn, &mut events, Duration::ZERO);
        self.stand_in = Some((turn, events));
    }
}

/// The other clients as a script attends to them.
pub(crate) struct OnLoan<'a> {
    loan: &'a Loan,
    clock: &'a dyn Clock,
    way: GiveWay,
}

impl<'a> OnLoan<'a> {
    pub(crate) fn new(loan: &'a Loan, clock: &'a dyn Clock) -> OnLoan<'a> {
        OnLoan { loan, clock, way: GiveWay::default() }
    }
}

impl Attendant for OnLoan<'_> {
    fn attend(&mut self) {
        self.loan.step();
        self.way.give_way(self.clock);
    }
}
