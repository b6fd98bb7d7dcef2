//! HOT PATH
//! One turn's work: requests of all ready connections, in batches.
//!
//! ```text
//! read a socket ▸ parse a request, find its command, hash its key     until the batch is full
//!                 ▸ fetch the buckets ▸ fetch the entries ▸ fetch in collections ▸ run each   the next batch
//! ```
//! A batch mixes requests of several connections, so that fifty clients with one request each gain
//! from the fetching ahead as much as one client with fifty.

use crate::buffers::BufferPool;
use crate::connection::{Connection, ReadOutcome, State};
use crate::mailbox::{ConnectionId, Mailbox, Message};
use crate::timers::Timers;
use basalt_command::dispatch::{self, Incoming, Last, LookAhead, Prepared, Preparing, Worker};
use basalt_command::error::CommandError;
use basalt_command::server::Server;
use basalt_command::session::Flow;
use basalt_command::wait::Wait;
use basalt_config::ClientClass;
use basalt_resp::{Arg, Limits, Parsed, ProtocolError, Reply};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A turn of one connection ends after this time, whatever it still has.
const TURN_MAX: Duration = Duration::from_micros(100);

/// How long a publisher waits for subscribers that are behind before it tries again.
const SUBSCRIBERS_PAUSE: Duration = Duration::from_millis(1);

/// A parsed request.
struct Request {
    connection: u32,
    /// Its words, a range of `words`.
    first_word: u32,
    words: u32,
    /// Where it ends in the connection's buffer.
    end: usize,
    prepared: Prepared,
}

impl Request {
    /// The request, whose words are among these.
    #[inline(always)]
    fn incoming<'a>(&'a self, buffer: &'a [u8], words: &'a [Arg]) -> Incoming<'a> {
        let words = &words[self.first_word as usize..][..self.words as usize];
        Incoming { prepared: &self.prepared, buffer, words }
    }
}

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
    last: Last,
    look_ahead: LookAhead,
    requests: Vec<Request>,
    words: Vec<Arg>,
    /// A request of the batch may look ahead.
    has_collections: bool,
}

/// The connections of a thread.
pub(crate) type Connections = Vec<Option<Connection>>;

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
            last: Last::default(),
            look_ahead: LookAhead::default(),
            requests: Vec::new(),
            words: Vec::new(),
            has_collections: false,
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
        if !self.requests.is_empty() {
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
        self.last.forget_key();
        while !connection.input.is_parsed() {
            // The limits of a client that has not said who it is depend on what it says next.
            let full = self.requests.len() >= batch_max
                || *left == 0
                || !limits.authenticated && !self.requests.is_empty();
            if full {
                return true;
            }
            let room = (batch_max - self.requests.len()).min(*left);
            let taken = self.parse_alike(connection, index, &limits, room);
            if taken > 0 {
                *left -= taken;
                continue;
            }
            let start = connection.input.parsed;
            let first_word = self.words.len();
            let (consumed, command) = match connection.parse(start, &limits, &mut self.words) {
                Ok(Parsed::Request { consumed }) => {
                    let (bytes, words) = (connection.input.bytes(), &self.words[first_word..]);
                    (consumed, self.last.command(&self.server, bytes, start, words))
                }
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
            let words = &self.words[first_word..];
            let (bytes, db) = (connection.input.bytes(), connection.session.db);
            let mut prepared = Prepared::of(command, db, Arg::default());
            let preparing = Preparing::new(&self.server, command);
            self.has_collections |= preparing.looks_ahead();
            preparing.prepare(&mut self.last, &mut prepared, bytes, words);
            self.requests.push(Request {
                connection: index as u32,
                first_word: first_word as u32,
                words: words.len() as u32,
                end: connection.input.parsed,
                prepared,
            });
        }
        false
    }

    /// Adds at most `room` requests that begin as the last one did; gives their count.
    // Not inlined: what it works with has all registers for itself.
    #[inline(never)]
    fn parse_alike(
        &mut self,
        connection: &mut Connection,
        index: usize,
        limits: &Limits,
        room: usize,
    ) -> usize {
        let Some(repeats) = connection.parser.repeats(self.last.front(), limits) else { return 0 };
        let command = self.last.command_again();
        let (input, db) = (&mut connection.input, connection.session.db);
        let (bytes, mut start) = (input.bytes(), input.parsed);
        let before = self.requests.len();
        while self.requests.len() - before < room {
            let first_word = self.words.len();
            let Some(taken) = repeats.take(bytes, start, &mut self.words) else { break };
            start = taken.end;
            self.requests.push(Request {
                connection: index as u32,
                first_word: first_word as u32,
                words: (self.words.len() - first_word) as u32,
                end: start,
                prepared: Prepared::of(command, db, taken.first),
            });
        }
        // A loop of its own, in which hashing one key does not wait for where the next one is found.
        let preparing = Preparing::new(&self.server, command);
        self.has_collections |= preparing.looks_ahead();
        let requests = &mut self.requests[before..];
        let prepared = requests.iter_mut().map(|request| {
            let first = request.first_word as usize;
            (&mut request.prepared, first..first + request.words as usize)
        });
        preparing.prepare_all(&mut self.last, prepared, bytes, &self.words);
        let count = requests.len();
        input.parsed = start;
        count
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

    /// Runs the batch; says when that was done.
    fn run(&mut self, connections: &mut Connections) -> Instant {
        let count = self.requests.len();
        if count > 1 {
            self.fetch_ahead(connections);
        }
        self.worker.begin_batch(&self.server);
        let start = Instant::now();
        let mut number = 0;
        while number < count {
            number = self.run_for_one(connections, number);
        }
        let done = Instant::now();
        self.worker.end_batch(&self.server, done - start, count);
        self.requests.clear();
        self.words.clear();
        self.has_collections = false;
        done
    }

    /// Runs the requests of one connection, from this one on; gives the next connection's first.
    fn run_for_one(&mut self, connections: &mut Connections, first: usize) -> usize {
        let index = self.requests[first].connection;
        let is_others = |request: &Request| request.connection != index;
        let count = self.requests[first..].iter().position(is_others);
        let next = count.map_or(self.requests.len(), |count| first + count);
        let index = index as usize;
        let Some(connection) = &mut connections[index] else { return next };
        let mut is_plain = dispatch::is_plain(&self.worker, &connection.session);
        let mut requests = &self.requests[first..next];
        while let Some(request) = requests.first() {
            if connection.state != State::Open {
                break;
            }
            let Connection { input, session, output, .. } = connection;
            let (server, worker) = (&self.server, &mut self.worker);
            let (buffer, words) = (input.bytes(), self.words.as_slice());
            if is_plain {
                let incoming = requests.iter().map(|request| request.incoming(buffer, words));
                let ran = dispatch::run_shortly(server, worker, session, incoming, output);
                if let Some(last) = requests[..ran].last() {
                    input.consumed = last.end;
                    requests = &requests[ran..];
                    continue;
                }
            }
            let incoming = request.incoming(buffer, words);
            let flow = dispatch::execute(server, worker, session, incoming, &mut is_plain, output);
            match flow {
                Flow::Done => input.consumed = request.end,
                Flow::Close => {
                    input.consumed = request.end;
                    connection.state = State::Closing;
                }
                Flow::Wait(wait) => {
                    let end = request.end;
                    self.park(connections, index, end, wait);
                    break;
                }
            }
            requests = &requests[1..];
        }
        next
    }

    /// Brings what the batch will touch into the cache. The loops are short on purpose: a fetch waits
    /// for its page to be found, and only what stands close behind it can go on meanwhile. From the
    /// loop that parses, the buckets cost 60 cycles each, from a loop of their own a few. Nor may they be
    /// too short: the processor drops fetches while it looks for too many pages, and the locks that the
    /// second loop takes slow it down enough (`docs/decisions/0012-time-of-a-request.md`).
    fn fetch_ahead(&mut self, connections: &Connections) {
        let engine = &*self.server.engine;
        for request in &self.requests {
            request.prepared.prefetch_bucket(engine);
        }
        for request in &mut self.requests {
            request.prepared.prefetch_entry(engine);
        }
        let requests = &self.requests;
        if self.has_collections && requests.iter().any(|request| request.prepared.looks_ahead()) {
            self.look_ahead.fetch(engine, requests.len(), |number| {
                let request = &requests[number];
                if !request.prepared.looks_ahead() {
                    return None;
                }
                let connection = connections[request.connection as usize].as_ref()?;
                Some(request.incoming(connection.input.bytes(), &self.words))
            });
        }
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
                wait.start(&self.server, Box::new(done));
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
        let sent = connection.flush(self.server.engine.log());
        self.worker.counters.bytes_out.add(sent as u64);
        connection.forget_inline();
        connection.input.release(&mut self.pool);
        connection.publish(self.worker.now_ms);
        if connection.owes() {
            let class = if connection.session.is_subscribed() {
                ClientClass::PubSub
            } else {
                ClientClass::Normal
            };
            let limit = self.worker.settings.clients.output_limits.of(class);
            if connection.is_over(limit) {
                self.worker.counters.output_limit_disconnections.add(1);
                connection.state = State::Dead;
            }
        }
    }
}
