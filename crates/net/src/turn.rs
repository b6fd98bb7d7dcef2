//! HOT PATH
//! One turn's work: requests of all ready connections, in batches.
//!
//! ```text
//! read all sockets ▸ parse requests until the batch is full ▸ run it ▸ the next batch ▸ … ▸ send
//! ```
//! What a batch does with its requests is `basalt_dispatch::Batch`.

use crate::beside::{Beside, OnLoan};
use crate::connection::{Connection, OWED_BYTES_PAUSE, ReadOutcome, Room, State};
use crate::front::{Front, Next};
use crate::input::Input;
use crate::reactor::Reactor;
use crate::wire::Wire;
use basalt_config::ClientClass;
use basalt_dispatch::{Batch, BatchClients, Budget, Dispatcher, Halt, Origin, Running, Worker};
use basalt_env::Instant;
use basalt_resp::RequestLimits;
use basalt_service::scripts::{Attendant, Nobody};
use basalt_service::session::Session;
use std::sync::Arc;
use std::time::Duration;

/// A turn of one connection ends after this time, whatever it still has.
const TURN_MAX: Duration = Duration::from_micros(100);

/// For how long those are served in one turn that come behind the others.
const LATER_MAX: Duration = Duration::from_micros(100);

/// Reads of what a client says while a standing command waits.
const HEARD_READS_MAX: usize = 8;

/// What a thread needs to run requests.
pub(crate) struct Turn {
    pub(crate) server: Arc<Dispatcher>,
    pub(crate) worker: Worker,
    batch: Batch,
    budget: Budget,
}

/// Why parsing a client's requests has stopped.
enum ParseStop {
    /// Nothing is left.
    Parsed,
    /// The batch is full.
    Full,
    /// What was passed last is the front's to answer.
    Passed,
    /// The next request is not wholly there.
    Incomplete,
    /// The next bytes are no request.
    Refused,
}

/// The connections of a thread.
pub(crate) type Connections = Vec<Option<Connection>>;

/// The connections as a batch sees them.
struct Clients<'a> {
    reactor: &'a mut Reactor,
    server: &'a Arc<Dispatcher>,
    /// Bytes owed to a client after which its requests wait for it to read.
    owed_bytes_max: usize,
    /// Bytes that may be copied into what a client is owed.
    copied_bytes_max: usize,
}

impl BatchClients for Clients<'_> {
    #[inline(always)]
    fn bytes(&self, client: u32) -> Option<&[u8]> {
        Some(self.reactor.connections[client as usize].as_ref()?.input.bytes())
    }

    #[inline(always)]
    fn running(&mut self, client: u32) -> Option<Running<'_>> {
        let connection = self.reactor.connections[client as usize].as_mut()?;
        running(connection, self.owed_bytes_max, self.copied_bytes_max)
    }

    #[cold]
    fn halt(&mut self, client: u32, halt: Halt) {
        let index = client as usize;
        match halt {
            Halt::Closed => {
                if let Some(connection) = &mut self.reactor.connections[index] {
                    connection.state = State::Closing;
                }
            }
            Halt::Later => {
                if let Some(connection) = &mut self.reactor.connections[index] {
                    connection.rewind();
                }
            }
            Halt::Waits { wait, end } => self.reactor.park(self.server, index, end, wait),
        }
    }

    #[cold]
    fn send_owed(&mut self, worker: &Worker, client: u32) {
        for at in 0..self.reactor.serving.len() {
            let index = self.reactor.serving[at];
            if index != client as usize
                && let Some(connection) = &mut self.reactor.connections[index]
                && connection.owes()
            {
                send(self.server, worker, connection);
            }
        }
    }

    /// The connection is out of reach while its request runs, so that the others can be served: by
    /// the request itself if it is a script, and by the relief thread.
    fn run_apart(
        &mut self,
        client: u32,
        batch: &mut (dyn Iterator<Item = u32> + Send),
        run: &mut dyn FnMut(Running<'_>, &mut dyn Attendant),
    ) -> Option<Worker> {
        if self.reactor.is_lent() {
            // Served beside such a request itself: what takes long will be told to wait.
            run(self.running(client)?, &mut Nobody);
            return None;
        }
        let index = client as usize;
        let mut connection = self.reactor.connections[index].take()?;
        let loan = Arc::clone(&self.reactor.loan);
        let mut beside = Beside::new(self.reactor, self.server, index, batch);
        if let Some(running) = running(&mut connection, self.owed_bytes_max, self.copied_bytes_max)
        {
            let mut others = OnLoan::new(&loan, &*self.server.env.clock);
            loan.during(&mut beside, || run(running, &mut others));
        }
        let stand_in = beside.end();
        if stand_in.is_some() {
            connection.rewind();
        }
        self.reactor.connections[index] = Some(connection);
        if stand_in.is_some() {
            self.reactor.come_back(index);
        }
        stand_in
    }
}

/// What running requests of a connection takes, if it is open.
#[inline(always)]
fn running(
    connection: &mut Connection,
    owed_bytes_max: usize,
    copied_bytes_max: usize,
) -> Option<Running<'_>> {
    if connection.state != State::Open {
        return None;
    }
    let owed_bytes_max = owed_bytes_max.min(connection.owed_bytes_max());
    let owed_bytes_max = owed_bytes_max.saturating_sub(connection.owed_earlier_bytes());
    let Connection { input, session, output, wire, .. } = connection;
    output.set_copied_bytes_max(copied_bytes_max);
    let (bytes, consumed) = input.for_running();
    Some(Running { session, bytes, consumed, out: output, owed_bytes_max, form: wire.form() })
}

impl Turn {
    pub(crate) fn new(server: Arc<Dispatcher>, worker: Worker) -> Turn {
        Turn { server, worker, batch: Batch::default(), budget: Budget::default() }
    }

    /// Serves the connections that are ready; leaves those ready that have more to do.
    pub(crate) fn serve(&mut self, reactor: &mut Reactor) {
        reactor.begin_serving();
        // All read first: the kernel's instructions and ours drive each other out of the cache.
        for at in 0..reactor.serving.len() {
            self.read(reactor, reactor.serving[at]);
        }
        let first_put_off = self.serve_read(reactor);
        reactor.end_serving(first_put_off);
    }

    /// Serves some of those that come behind the others, which have been sent what they are owed.
    /// Each one is done with before the next, because none of what it takes is small: to read a
    /// part of a large request, to refuse one, to close a connection.
    #[inline(never)]
    pub(crate) fn serve_later(&mut self, reactor: &mut Reactor) {
        let start = self.server.env.clock.now();
        while reactor.serve_next_later(self) {
            for at in 0..reactor.serving.len() {
                self.read(reactor, reactor.serving[at]);
            }
            self.serve_read(reactor);
            reactor.end_serving_later(self);
            if self.server.env.clock.since(start) > LATER_MAX {
                break;
            }
        }
    }

    /// Has the requests run of those that were read; returns the place of the first one that is put
    /// off.
    #[inline(always)]
    fn serve_read(&mut self, reactor: &mut Reactor) -> usize {
        let batch_max = self.worker.settings.network.batch_commands_max;
        self.budget = Budget::default();
        let mut at = 0;
        // A command that takes long empties this list: then its connection alone is left to be
        // finished.
        while let Some(&index) = reactor.serving.get(at)
            && !self.budget.is_spent()
        {
            at += 1;
            // Read only when a batch is full: most connections have one request.
            let mut start = None;
            let mut left = self.worker.settings.network.turn_commands_max;
            // Connections with one request each share a batch; one with many fills several.
            while left > 0 && self.parse(reactor, index, &mut left, batch_max) {
                let start = *start.get_or_insert_with(|| self.server.env.clock.now());
                if self.run(reactor) - start > TURN_MAX {
                    break;
                }
            }
        }
        if !self.batch.is_empty() {
            self.run(reactor);
        }
        self.worker.hand_over_messages(&self.server);
        for at in 0..reactor.serving.len() {
            self.finish(reactor, reactor.serving[at]);
        }
        match self.budget.put_off_behind() {
            Some(client) => reactor.behind(client as usize),
            None => at,
        }
    }

    /// Reads from a connection what its socket has, as far as it may be read.
    fn read(&mut self, reactor: &mut Reactor, index: usize) {
        let Some(connection) = &mut reactor.connections[index] else { return };
        if connection.is_idle() || !connection.readable {
            if connection.listens() {
                self.hear(reactor, index);
            } else if connection.has_more_to_drop() {
                let bytes = connection.drop_unread(&mut reactor.pool);
                self.worker.counters.bytes_in.add(bytes as u64);
            }
            return;
        }
        if connection.input.is_parsable() {
            return; // What has been read goes first.
        }
        match connection.read(&mut reactor.pool) {
            ReadOutcome::Bytes(bytes) => self.worker.counters.bytes_in.add(bytes as u64),
            ReadOutcome::Nothing => {}
            // It may have shut down only its sending side: what it is owed is still sent.
            ReadOutcome::Closed if connection.owes() => {
                (connection.state, connection.readable) = (State::Closing, false);
            }
            ReadOutcome::Closed => connection.state = State::Dead,
        }
    }

    /// Reads what a client says while a standing command of its front waits. If that is a request,
    /// or more than is read here, the command is given up.
    #[cold]
    fn hear(&mut self, reactor: &mut Reactor, index: usize) {
        for _ in 0..HEARD_READS_MAX {
            let Some(connection) = &mut reactor.connections[index] else { return };
            if !connection.readable {
                connection.input.compact(&mut reactor.pool);
                return;
            }
            match connection.read(&mut reactor.pool) {
                ReadOutcome::Bytes(count) => self.worker.counters.bytes_in.add(count as u64),
                ReadOutcome::Nothing => {}
                ReadOutcome::Closed => {
                    connection.peer_closed = true;
                    return connection.end_if_abandoned();
                }
            }
            let Connection { wire, input, output, .. } = connection;
            if wire.other().is_some_and(|front| front.hear(input, output)) {
                break;
            }
        }
        reactor.interrupt(self, index);
    }

    /// Adds requests of a connection to the batch; true if the batch is full and there may be more.
    fn parse(
        &mut self,
        reactor: &mut Reactor,
        index: usize,
        left: &mut usize,
        batch_max: usize,
    ) -> bool {
        let Some(connection) = &mut reactor.connections[index] else { return false };
        if connection.is_idle() || connection.is_killed() {
            return false;
        }
        let limits = self.limits(connection);
        self.batch.turn_to_client();
        let may_be_told = connection.may_be_told();
        let Connection { wire, input, session, .. } = connection;
        let place = (index, &limits, &mut *left, batch_max);
        let stop = match wire {
            Wire::Resp(resp) => self.parse_from(resp, input, session, place, false),
            Wire::Other(front) => self.parse_from(&mut **front, input, session, place, may_be_told),
        };
        match stop {
            ParseStop::Parsed => false,
            ParseStop::Full => true,
            ParseStop::Passed => self.answer_passed(reactor, index) && *left > 0,
            ParseStop::Incomplete => self.check_query_limit(reactor, index),
            ParseStop::Refused => {
                self.refuse_bytes(reactor, index);
                false
            }
        }
    }

    /// Adds requests of a client to the batch, as its front finds them.
    #[inline(always)]
    fn parse_from<F: Front + ?Sized>(
        &mut self,
        front: &mut F,
        input: &mut Input,
        session: &Session,
        (index, limits, left, batch_max): (usize, &RequestLimits, &mut usize, usize),
        may_be_told: bool,
    ) -> ParseStop {
        while !input.is_parsed() || may_be_told && front.stands() {
            // The limits of a client that has not said who it is depend on what it says next.
            let full = self.batch.is_full(batch_max)
                || *left == 0
                || !limits.authenticated && !self.batch.is_empty();
            if full {
                return ParseStop::Full;
            }
            let room = (batch_max - self.batch.len()).min(*left);
            let start = input.parsed();
            if let Some(parser) = front.parser() {
                // Those that begin as the last one did.
                let from = Origin { client: index as u32, db: session.db, bytes: input.bytes() };
                let before = self.batch.len();
                let place = (start, room);
                let end = self.batch.push_alike(&self.server, parser, limits, from, place);
                input.pass_to(end);
                let taken = self.batch.len() - before;
                if taken > 0 {
                    *left -= taken;
                    continue;
                }
            }
            match front.next(input, limits, self.batch.words()) {
                Next::Request { bytes } => {
                    let end = start + bytes;
                    input.pass_to(end);
                    *left -= 1;
                    let db = front.database(session.db);
                    let from = Origin { client: index as u32, db, bytes: input.bytes() };
                    self.batch.push(&self.server, from, start, end);
                }
                Next::Passed { bytes } => {
                    input.pass_to(start + bytes);
                    return ParseStop::Passed;
                }
                Next::Incomplete { wanted } => {
                    input.want(wanted);
                    return ParseStop::Incomplete;
                }
                // It is parsed in the next turn.
                Next::Later => return ParseStop::Parsed,
                Next::Refused => return ParseStop::Refused,
            }
        }
        ParseStop::Parsed
    }

    /// How large the connection's requests may be.
    pub(crate) fn limits(&self, connection: &Connection) -> RequestLimits {
        let network = &self.worker.settings.network;
        RequestLimits {
            args_max: network.multibulk_args_max,
            bulk_bytes_max: network.bulk_bytes_max,
            line_bytes_max: network.inline_bytes_max,
            authenticated: connection.session.rights.is_admitted(),
        }
    }

    /// Has the front answer what no command runs for, after what came before it; false if the
    /// connection has gone meanwhile.
    #[cold]
    fn answer_passed(&mut self, reactor: &mut Reactor, index: usize) -> bool {
        self.run(reactor);
        let Some(connection) = &mut reactor.connections[index] else { return false };
        if connection.state == State::Open {
            connection.wire.front().answer(&mut connection.output);
            connection.input.consume_to(connection.input.parsed());
        }
        true
    }

    /// Has the front answer bytes that are no request, after what came before them, and hangs up.
    #[cold]
    fn refuse_bytes(&mut self, reactor: &mut Reactor, index: usize) {
        self.run(reactor);
        let Some(connection) = &mut reactor.connections[index] else { return };
        if connection.state == State::Open {
            connection.wire.front().refuse(&mut connection.output);
            connection.state = State::Closing;
        }
    }

    /// A client's next request is not wholly there: ends the connection if it holds too much.
    #[cold]
    fn check_query_limit(&mut self, reactor: &mut Reactor, index: usize) -> bool {
        let Some(connection) = &mut reactor.connections[index] else { return false };
        let now = self.server.env.clock.now();
        let has_waited = connection.is_crowded();
        let mut room = connection.take_room(now);
        if room != Room::Taken && reactor.pool.drop_large() {
            room = connection.take_room(now);
        }
        match room {
            Room::Taken => {}
            Room::NotYet => {
                if !has_waited {
                    reactor.await_room(index);
                }
                return false;
            }
            Room::None => {
                self.turn_away(reactor, index);
                return false;
            }
        }
        let limit = self.worker.settings.clients.query_buffer_bytes_max;
        if connection.input.pending() > limit {
            self.worker.counters.query_limit_disconnections.add(1);
            tracing::debug!(client = connection.session.client.id, "query buffer over its limit");
            connection.state = State::Dead;
        }
        false
    }

    /// Has the front tell its client that there is no room for its request, after what came before
    /// it, and hangs up.
    #[cold]
    pub(crate) fn turn_away(&mut self, reactor: &mut Reactor, index: usize) {
        self.run(reactor);
        let Some(connection) = &mut reactor.connections[index] else { return };
        if connection.state == State::Open {
            self.worker.counters.query_limit_disconnections.add(1);
            connection.wire.front().turn_away(&mut connection.output);
            connection.state = State::Closing;
        }
    }

    /// Runs the batch; returns when that was done.
    fn run(&mut self, reactor: &mut Reactor) -> Instant {
        // A client that is owed more than its limit is disconnected when its turn ends.
        let limits = &self.worker.settings.clients.output_limits;
        let hard_bytes = limits.of(ClientClass::Normal).hard_bytes;
        let owed_bytes_max = match usize::try_from(hard_bytes) {
            Ok(limit @ 1..OWED_BYTES_PAUSE) => limit,
            _ => OWED_BYTES_PAUSE,
        };
        let copied_bytes_max = self.worker.copied_bytes_max();
        let mut clients =
            Clients { reactor, server: &self.server, owed_bytes_max, copied_bytes_max };
        self.batch.run(&self.server, &mut self.worker, &mut clients, &mut self.budget)
    }

    /// Sends what a connection is owed and tidies it up.
    pub(crate) fn finish(&mut self, reactor: &mut Reactor, index: usize) {
        let Some(connection) = &mut reactor.connections[index] else { return };
        send(&self.server, &self.worker, connection);
        let may_be_told = connection.may_be_told();
        if let Some(front) = connection.wire.other() {
            front.count(&self.worker.counters);
            connection.readable |= may_be_told && front.stands();
        }
        connection.input.forget_originals();
        connection.input.release(&mut reactor.pool);
        connection.settle(&mut reactor.pool);
        if connection.owes() && is_over_output_limit(&self.server, &self.worker, connection) {
            connection.abandon_output();
        }
        connection.publish(self.worker.now_ms);
    }
}

/// Sends what a connection is owed, as far as it may be and the socket takes it.
fn send(server: &Dispatcher, worker: &Worker, connection: &mut Connection) {
    // What is queued counts, whether the socket would take it or not.
    if connection.owes() && is_over_output_limit(server, worker, connection) {
        connection.abandon_output();
    }
    let sent = connection.flush(server.engine.log());
    let counters = &worker.counters;
    let bytes_out = match connection.wire.other() {
        None => &counters.bytes_out,
        Some(_) => &counters.bytes_out_of_fronts,
    };
    bytes_out.add(sent as u64);
}

/// Whether a client is owed more than `client-output-buffer-limit` allows it; counts those that
/// are.
fn is_over_output_limit(server: &Dispatcher, worker: &Worker, connection: &mut Connection) -> bool {
    let is_subscribed = connection.session.is_subscribed();
    let class = if is_subscribed { ClientClass::PubSub } else { ClientClass::Normal };
    let limit = worker.settings.clients.output_limits.of(class);
    let is_over = connection.is_over(limit, &*server.env.clock);
    if is_over {
        worker.counters.output_limit_disconnections.add(1);
    }
    is_over
}
