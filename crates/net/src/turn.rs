//! HOT PATH
//! One turn's work: requests of all ready connections, in batches.
//!
//! ```text
//! read all sockets ▸ parse requests until the batch is full ▸ run it ▸ the next batch ▸ … ▸ send
//! ```
//! What a batch does with its requests is `basalt_command::dispatch::Batch`.

use crate::buffers::BufferPool;
use crate::connection::{Connection, OWED_BYTES_PAUSE, ReadOutcome, State};
use crate::mailbox::{ConnectionId, Mailbox, Message};
use crate::timers::Timers;
use basalt_command::dispatch::{Batch, BatchClients, Halt, Origin, Running, Worker};
use basalt_command::error::CommandError;
use basalt_command::server::Server;
use basalt_command::session::Session;
use basalt_command::wait::Wait;
use basalt_config::ClientClass;
use basalt_resp::{Limits, Parsed, ProtocolError, Reply};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A turn of one connection ends after this time, whatever it still has.
const TURN_MAX: Duration = Duration::from_micros(100);

/// How long a publisher waits for subscribers that are behind before it tries again.
const SUBSCRIBERS_PAUSE: Duration = Duration::from_millis(1);

/// What a thread needs to run requests.
pub(crate) struct Turn {
    pub(crate) server: Arc<Server>,
    pub(crate) worker: Worker,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) pool: BufferPool,
    pub(crate) timers: Timers,
    /// Connections whose command found no room in the log.
    pub(crate) waiting_for_room: Vec<ConnectionId>,
    /// Connections that were served in this turn.
    pub(crate) touched: Vec<usize>,
    batch: Batch,
}

/// The connections of a thread.
pub(crate) type Connections = Vec<Option<Connection>>;

/// The connections as a batch sees them.
struct Clients<'a> {
    connections: &'a mut Connections,
    /// Bytes owed to a client after which its requests wait for it to read.
    owed_bytes_max: usize,
    /// Commands that wait: whose, where they end, for what.
    parked: Vec<(usize, usize, Wait)>,
}

impl BatchClients for Clients<'_> {
    #[inline(always)]
    fn bytes(&self, client: u32) -> Option<&[u8]> {
        Some(self.connections[client as usize].as_ref()?.input.bytes())
    }

    #[inline(always)]
    fn running(&mut self, client: u32) -> Option<Running<'_>> {
        let connection = self.connections[client as usize].as_mut()?;
        if connection.state != State::Open {
            return None;
        }
        let owed_bytes_max = self.owed_bytes_max.saturating_sub(connection.owed_earlier_bytes());
        let Connection { input, session, output, .. } = connection;
        let (bytes, consumed) = input.for_running();
        Some(Running { session, bytes, consumed, out: output, owed_bytes_max })
    }

    #[cold]
    fn halt(&mut self, client: u32, halt: Halt) {
        let index = client as usize;
        match halt {
            Halt::Closed => {
                if let Some(connection) = &mut self.connections[index] {
                    connection.state = State::Closing;
                }
            }
            Halt::Later => {
                if let Some(connection) = &mut self.connections[index] {
                    connection.rewind();
                }
            }
            Halt::Waits { wait, end } => self.parked.push((index, end, wait)),
        }
    }
}

/// A connection as the origin of requests.
#[inline(always)]
fn origin<'a>(index: usize, session: &Session, bytes: &'a [u8]) -> Origin<'a> {
    Origin { client: index as u32, db: session.db, bytes }
}

impl Turn {
    pub(crate) fn new(server: Arc<Server>, worker: Worker, mailbox: Arc<Mailbox>) -> Turn {
        Turn {
            server,
            worker,
            mailbox,
            pool: BufferPool::default(),
            timers: Timers::default(),
            waiting_for_room: Vec::new(),
            touched: Vec::new(),
            batch: Batch::default(),
        }
    }

    /// Serves the connections in `ready`; leaves those in it that have more to do.
    pub(crate) fn serve(&mut self, connections: &mut Connections, ready: &mut Vec<usize>) {
        let batch_max = self.worker.settings.network.batch_commands_max;
        // All read first: the kernel's instructions and ours drive each other out of the cache.
        for &index in &*ready {
            self.read(connections, index);
        }
        for &index in &*ready {
            // Read only when a batch is full: most connections have one request.
            let mut start = None;
            let mut left = self.worker.settings.network.turn_commands_max;
            // Connections with one request each share a batch; one with many fills several.
            while left > 0 && self.parse(connections, index, &mut left, batch_max) {
                let start = *start.get_or_insert_with(Instant::now);
                if self.run(connections) - start > TURN_MAX {
                    break;
                }
            }
        }
        if !self.batch.is_empty() {
            self.run(connections);
        }
        self.worker.hand_over_messages(&self.server);
        for &index in &*ready {
            self.finish(connections, index);
        }
        self.touched.extend_from_slice(ready);
        ready.retain(|&index| {
            let Some(connection) = &mut connections[index] else { return false };
            connection.scheduled = connection.has_more();
            connection.scheduled
        });
    }

    fn read(&mut self, connections: &mut Connections, index: usize) {
        let Some(connection) = &mut connections[index] else { return };
        if connection.is_idle() || !connection.readable {
            return;
        }
        if !connection.input.is_parsed() && connection.wanted == 0 {
            return; // What has been read goes first.
        }
        match connection.read(&mut self.pool) {
            ReadOutcome::Bytes(bytes) => {
                self.worker.counters.bytes_in.add(bytes as u64);
                connection.wanted = 0;
            }
            ReadOutcome::Nothing => {}
            // It may have shut down only its sending side: what it is owed is still sent.
            ReadOutcome::Closed if connection.owes() => connection.state = State::Closing,
            ReadOutcome::Closed => connection.state = State::Dead,
        }
    }

    /// Adds requests of a connection to the batch; true if the batch is full and there may be more.
    fn parse(
        &mut self,
        connections: &mut Connections,
        index: usize,
        left: &mut usize,
        batch_max: usize,
    ) -> bool {
        let Some(connection) = &mut connections[index] else { return false };
        if connection.is_idle() {
            return false;
        }
        let limits = self.limits(connection);
        self.batch.turn_to_client();
        while !connection.input.is_parsed() {
            // The limits of a client that has not said who it is depend on what it says next.
            let full = self.batch.len() >= batch_max
                || *left == 0
                || !limits.authenticated && !self.batch.is_empty();
            if full {
                return true;
            }
            let room = (batch_max - self.batch.len()).min(*left);
            let taken = self.parse_alike(connection, index, &limits, room);
            if taken > 0 {
                *left -= taken;
                continue;
            }
            let start = connection.input.parsed;
            let consumed = match connection.parse(start, &limits, self.batch.words()) {
                Ok(Parsed::Request { consumed }) => consumed,
                Ok(Parsed::Empty { consumed }) => {
                    connection.input.parsed += consumed;
                    return self.pass_over_nothing(connections, index) && *left > 0;
                }
                Ok(Parsed::Incomplete { wanted }) => {
                    connection.wanted = wanted.max(1);
                    return self.check_query_limit(connections, index);
                }
                Err(error) => {
                    self.refuse_bytes(connections, index, error);
                    return false;
                }
            };
            connection.input.parsed += consumed;
            *left -= 1;
            let from = origin(index, &connection.session, connection.input.bytes());
            self.batch.push(&self.server, from, start, connection.input.parsed);
        }
        false
    }

    /// Adds at most `room` requests that begin as the last one did; returns their count.
    #[inline(always)]
    fn parse_alike(
        &mut self,
        connection: &mut Connection,
        index: usize,
        limits: &Limits,
        room: usize,
    ) -> usize {
        let Connection { input, session, parser, .. } = connection;
        let (before, place) = (self.batch.len(), (input.parsed, room));
        let from = origin(index, session, input.bytes());
        input.parsed = self.batch.push_alike(&self.server, parser, limits, from, place);
        self.batch.len() - before
    }

    /// How large the connection's requests may be.
    pub(crate) fn limits(&self, connection: &Connection) -> Limits {
        let network = &self.worker.settings.network;
        Limits {
            args_max: network.multibulk_args_max,
            bulk_bytes_max: network.bulk_bytes_max,
            line_bytes_max: network.inline_bytes_max,
            authenticated: connection.session.authenticated,
        }
    }

    /// An empty request counts as consumed when what came before it has run; false if the connection
    /// has gone meanwhile.
    #[cold]
    fn pass_over_nothing(&mut self, connections: &mut Connections, index: usize) -> bool {
        self.run(connections);
        let Some(connection) = &mut connections[index] else { return false };
        if connection.state == State::Open {
            connection.input.consumed = connection.input.parsed;
        }
        true
    }

    /// Answers bytes that are no request, after what came before them, and hangs up.
    #[cold]
    fn refuse_bytes(&mut self, connections: &mut Connections, index: usize, error: ProtocolError) {
        self.run(connections);
        let Some(connection) = &mut connections[index] else { return };
        if connection.state == State::Open {
            let mut reply = Reply::new(&mut connection.output, connection.session.protocol);
            reply.protocol_error(error);
            connection.state = State::Closing;
        }
    }

    #[cold]
    fn check_query_limit(&mut self, connections: &mut Connections, index: usize) -> bool {
        let Some(connection) = &mut connections[index] else { return false };
        let limit = self.worker.settings.clients.query_buffer_bytes_max;
        if connection.input.pending() > limit {
            self.worker.counters.query_limit_disconnections.add(1);
            tracing::debug!(client = connection.session.client.id, "query buffer over its limit");
            connection.state = State::Dead;
        }
        false
    }

    /// Runs the batch; returns when that was done.
    fn run(&mut self, connections: &mut Connections) -> Instant {
        // A client that is owed more than its limit is disconnected when its turn ends.
        let limits = &self.worker.settings.clients.output_limits;
        let hard_bytes = limits.of(ClientClass::Normal).hard_bytes;
        let owed_bytes_max = match usize::try_from(hard_bytes) {
            Ok(limit @ 1..OWED_BYTES_PAUSE) => limit,
            _ => OWED_BYTES_PAUSE,
        };
        let mut clients = Clients { connections, owed_bytes_max, parked: Vec::new() };
        let done = self.batch.run(&self.server, &mut self.worker, &mut clients);
        for (index, end, wait) in clients.parked {
            self.park(connections, index, end, wait);
        }
        done
    }

    /// A command has to wait: the rest of its connection's requests wait with it.
    #[cold]
    fn park(&mut self, connections: &mut Connections, index: usize, end: usize, wait: Wait) {
        let Some(connection) = &mut connections[index] else { return };
        let afterwards = wait.afterwards();
        if afterwards == basalt_command::wait::Afterwards::Reply {
            connection.input.consumed = end;
        }
        connection.state = State::Parked(afterwards);
        connection.rewind();
        let id = ConnectionId { index, generation: connection.generation };
        match wait {
            Wait::Sleep(time) => {
                self.timers.add(time, id);
            }
            Wait::Subscribers => {
                self.timers.add(SUBSCRIBERS_PAUSE, id);
            }
            Wait::Ready(time) => self.begin_waiting(connections, id, time),
            Wait::Pause(time) => self.begin_waiting(connections, id, Some(time)),
            Wait::LogRoom => self.waiting_for_room.push(id),
            wait => {
                let mailbox = Arc::clone(&self.mailbox);
                let done = move |result: Result<(), CommandError>| {
                    mailbox.send(Message::WaitOver { connection: id, result });
                };
                wait.start(&self.server.engine, Box::new(done));
            }
        }
    }

    /// A command waits that others will have run again, at the latest when the time has passed.
    #[cold]
    fn begin_waiting(
        &mut self,
        connections: &mut Connections,
        id: ConnectionId,
        time: Option<Duration>,
    ) {
        let Some(connection) = &mut connections[id.index] else { return };
        let timer = time.and_then(|time| self.timers.add(time, id));
        connection.input.compact(&mut self.pool);
        connection.begin_waiting(timer);
    }

    /// Sends what a connection is owed and tidies it up.
    pub(crate) fn finish(&mut self, connections: &mut Connections, index: usize) {
        let Some(connection) = &mut connections[index] else { return };
        // What is queued counts, whether the socket would take it or not.
        if connection.owes() && self.is_over_output_limit(connection) {
            connection.abandon_output();
        }
        let sent = connection.flush(self.server.engine.log());
        self.worker.counters.bytes_out.add(sent as u64);
        connection.forget_inline();
        connection.input.release(&mut self.pool);
        if connection.owes() && self.is_over_output_limit(connection) {
            connection.abandon_output();
        }
        connection.publish(self.worker.now_ms);
    }

    /// Whether a client is owed more than `client-output-buffer-limit` allows it; counts those that are.
    fn is_over_output_limit(&self, connection: &mut Connection) -> bool {
        let is_subscribed = connection.session.is_subscribed();
        let class = if is_subscribed { ClientClass::PubSub } else { ClientClass::Normal };
        let limit = self.worker.settings.clients.output_limits.of(class);
        let is_over = connection.is_over(limit);
        if is_over {
            self.worker.counters.output_limit_disconnections.add(1);
        }
        is_over
    }
}
