//! Serving a thread's other clients while one of them runs a script that takes long.
//!
//! ```text
//! turn ▸ batch ▸ run_script ▸ Lua ── every millisecond ──▶ attend ▸ a turn for the others
//!                                ◀───────────────────────────────┘
//! ```
//! Nothing of this happens in a script's first ten milliseconds. Then the script's connection stays
//! out of the thread's lists until the script has ended, the others are served by turns within the
//! script's, and a worker stands in which waits for no partition and runs no script. What it cannot
//! run is tried again later, and refused once the script counts as busy: so a thread is never more
//! than two turns deep.

use crate::reactor::Reactor;
use crate::turn::Turn;
use basalt_dispatch::Dispatcher;
use basalt_dispatch::Worker;
use basalt_observe::counters::ThreadCounters;
use basalt_service::scripts::Attendant;
use mio::Events;
use std::sync::Arc;
use std::time::Duration;

/// Events that a turn within a script's takes; more stay for the next one.
const EVENTS_A_POLL: usize = 256;

/// See the head of this file.
pub(crate) struct Beside<'a> {
    reactor: &'a mut Reactor,
    server: &'a Arc<Dispatcher>,
    counters: &'a Arc<ThreadCounters>,
    /// The script's connection.
    index: usize,
    /// Connections with requests in the batch.
    parsed: &'a mut dyn Iterator<Item = u32>,
    stand_in: Option<(Turn, Events)>,
}

impl<'a> Beside<'a> {
    pub(crate) fn new(
        reactor: &'a mut Reactor,
        server: &'a Arc<Dispatcher>,
        counters: &'a Arc<ThreadCounters>,
        index: usize,
        parsed: &'a mut dyn Iterator<Item = u32>,
    ) -> Beside<'a> {
        Beside { reactor, server, counters, index, parsed, stand_in: None }
    }

    /// The script has ended: returns the worker that stood in, if others were served.
    pub(crate) fn end(self) -> Option<Worker> {
        self.stand_in.map(|(turn, _)| turn.worker)
    }

    fn begin(&mut self) -> (Turn, Events) {
        self.reactor.leave(self.index, self.parsed);
        // Replies of the interrupted turn may wait for the log.
        self.server.engine.log().kick();
        let worker = Worker::standing_in(self.server, Arc::clone(self.counters));
        (Turn::new(Arc::clone(self.server), worker), Events::with_capacity(EVENTS_A_POLL))
    }
}

impl Attendant for Beside<'_> {
    fn attend(&mut self) {
        let (mut turn, mut events) = match self.stand_in.take() {
            Some(stand_in) => stand_in,
            None => self.begin(),
        };
        self.reactor.run_turn(&mut turn, &mut events, Duration::ZERO);
        self.stand_in = Some((turn, events));
    }
}
