//! A server in this process, without a network: an engine over memory, and one connection.

pub mod clock;
pub mod host;
pub mod inbox;
pub mod log;
pub mod redis;
pub mod seed;

use self::clock::TestClock;
use self::host::TestHost;
use basalt_change::op::StringForm;
use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_commands::table;
use basalt_config::{Config, SetOrigin};
use basalt_dispatch::{
    self as dispatch, Batch, BatchClients, Budget, Dispatcher, Halt, Origin, Running, ShortWays,
    Worker,
};
use basalt_engine::{Background, Engine, Options, RecoveryError, View, WarmUp};
use basalt_env::{Clock, Env, ManualClock, SeededEntropy, SystemClock};
use basalt_observe::counters::ThreadCounters;
use basalt_pubsub::Address;
use basalt_resp::{Output, Parsed, Parser, RequestLimits, Value, decode, encode_request};
use basalt_service::clients::{NewClient, Unblocking, Wake};
use basalt_service::scripts::{Attendant, Nobody};
use basalt_service::server::Server;
use basalt_service::session::Session;
use basalt_service::wait::{Afterwards, Wait};
use inbox::Inbox;
use log::{MemoryLog, Record};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest that a command may wait for the engine's threads.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// When a test server's clock begins: 2024-01-01.
pub const START_MS: u64 = 1_704_067_200_000;

/// A server and one connection to it.
pub struct TestServer {
    pub server: Arc<Dispatcher>,
    pub worker: Worker,
    pub session: Session,
    batch: Batch,
    pub clock: Arc<ManualClock>,
    pub log: Arc<MemoryLog>,
    disk: Arc<MemoryDisk>,
    /// What it runs in.
    pub host: TestHost,
    inbox: Arc<Inbox>,
    background: Option<Background>,
    closed: bool,
    bounds: LogBounds,
    /// Bytes of replies after which a batch ends.
    pub owed_bytes_max: usize,
    /// Bytes of replies that a batch has made, the most so far.
    pub batch_reply_bytes_max: usize,
    /// Words that a batch has had, the most so far.
    #[allow(dead_code, reason = "not every user of this file has batches of many words")]
    pub batch_words_max: usize,
    /// How often requests have waited until those of others would have had their turn.
    #[allow(dead_code, reason = "not every user of this file has batches that take long")]
    pub waited_for_others: usize,
    /// Requests that ran apart, so that other clients could be served meanwhile.
    pub ran_apart: usize,
    /// How often replies of other clients were to be sent before.
    pub sent_before: usize,
}

/// How much of the log a request may take, and from where on it waits for a checkpoint to have
/// written a string.
#[derive(Clone, Copy)]
pub struct LogBounds {
    pub record_bytes_max: usize,
    pub change_set_bytes_max: usize,
    pub lent_bytes_min: usize,
    pub single_string_bytes_min: usize,
}

impl Default for LogBounds {
    fn default() -> LogBounds {
        let options = Options::default();
        LogBounds {
            record_bytes_max: options.record_bytes_max,
            change_set_bytes_max: options.change_set_bytes_max,
            lent_bytes_min: options.lent_bytes_min,
            single_string_bytes_min: options.single_string_bytes_min,
        }
    }
}

/// A string as the engine has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    pub value: Vec<u8>,
    pub expire_ms: u64,
    pub form: StringForm,
}

/// The one client of a test server, as a batch sees it.
struct TestClient<'a> {
    session: &'a mut Session,
    input: &'a [u8],
    consumed: usize,
    out: &'a mut Output,
    owed_bytes_max: usize,
    halt: Option<Halt>,
    ran_apart: &'a mut usize,
    sent_before: &'a mut usize,
}

impl BatchClients for TestClient<'_> {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        Some(self.input)
    }

    fn running(&mut self, _: u32) -> Option<Running<'_>> {
        let TestClient { session, input: bytes, consumed, out, owed_bytes_max, .. } = self;
        Some(Running { session, bytes, consumed, out, owed_bytes_max: *owed_bytes_max, form: None })
    }

    fn halt(&mut self, _: u32, halt: Halt) {
        self.halt = Some(halt);
    }

    fn send_owed(&mut self, _: &Worker, _: u32) {
        *self.sent_before += 1;
    }

    fn run_apart(
        &mut self,
        client: u32,
        _: &mut (dyn Iterator<Item = u32> + Send),
        run: &mut dyn FnMut(Running<'_>, &mut dyn Attendant),
    ) -> Option<Worker> {
        *self.ran_apart += 1;
        run(self.running(client)?, &mut Nobody);
        None
    }
}

#[derive(Debug)]
struct NoWake;

impl Wake for NoWake {
    fn sweep(&self) {}

    fn run_again(&self) {}

    fn serve(&self, _: basalt_service::hand_over::Served) {
        panic!("nobody waits on another thread");
    }
}

/// Takes all bytes of an output.
pub fn bytes_of(out: &mut Output) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(out.len());
    while !out.is_empty() {
        let mut slices = [std::io::IoSlice::new(&[]); 64];
        let count = out.io_slices(&mut slices);
        let before = bytes.len();
        slices[..count].iter().for_each(|slice| bytes.extend_from_slice(slice));
        out.advance(bytes.len() - before);
    }
    bytes
}

impl TestServer {
    /// An empty server.
    pub fn new() -> TestServer {
        TestServer::with_bounds(LogBounds::default())
    }

    /// An empty server with another bound on what it logs at once.
    pub fn with_bounds(bounds: LogBounds) -> TestServer {
        let clock = Arc::new(ManualClock::at_unix_ms(START_MS));
        let disk = Arc::new(MemoryDisk::new());
        let tier = memory_tier(&disk);
        TestServer::open(clock, disk, Arc::new(tier), &[], bounds)
    }

    /// An empty server with another cold tier, made of the usual one.
    #[allow(dead_code, reason = "not every user of this file looks into checkpoints")]
    pub fn on_tier(
        bounds: LogBounds,
        tier: impl FnOnce(Arc<dyn ColdTier>) -> Arc<dyn ColdTier>,
    ) -> TestServer {
        let clock = Arc::new(ManualClock::at_unix_ms(START_MS));
        let disk = Arc::new(MemoryDisk::new());
        let tier = tier(Arc::new(memory_tier(&disk)));
        TestServer::open(clock, disk, tier, &[], bounds)
    }

    /// The server after a crash: the cold tier as checkpoints left it, and the log replayed.
    pub fn reopen(&self) -> TestServer {
        // First: a checkpoint that is taken between the two leaves more records than are needed.
        let records = self.log.records();
        let disk = Arc::new(self.disk.copied());
        let tier = Arc::new(memory_tier(&disk));
        TestServer::open(Arc::clone(&self.clock), disk, tier, &records, self.bounds)
    }

    fn open(
        clock: Arc<ManualClock>,
        disk: Arc<MemoryDisk>,
        tier: Arc<dyn ColdTier>,
        records: &[Record],
        bounds: LogBounds,
    ) -> TestServer {
        let mut log = None;
        // Others in each life: collections and strings are found in either form, and change it.
        let collection_row_bytes_max = [64 << 10, 200, 1_500][records.len() % 3];
        let string_piece_bytes = [1 << 20, 500, 3_000][records.len() % 3];
        let engine = Engine::open(
            Options {
                databases: 16,
                collection_row_bytes_max,
                string_piece_bytes,
                record_bytes_max: bounds.record_bytes_max,
                change_set_bytes_max: bounds.change_set_bytes_max,
                lent_bytes_min: bounds.lent_bytes_min,
                single_string_bytes_min: bounds.single_string_bytes_min,
                ..Options::default()
            },
            tier,
            env(&clock),
            |floor, replay| -> Result<Arc<dyn basalt_engine::CommitLog>, RecoveryError> {
                let opened = Arc::new(MemoryLog::new(floor));
                for record in records {
                    replay.record(record.shard, record.position, &record.bytes)?;
                }
                opened.restore(records);
                log = Some(Arc::clone(&opened));
                Ok(opened)
            },
        );
        let engine = Arc::new(engine.expect("the log is as the engine wrote it"));
        let background = Background::start(&engine, WarmUp::No).expect("threads");
        let host = TestHost::default();
        let server = Arc::new(server(engine, &host));
        let worker = Worker::new(&server, Arc::clone(&server.counters[0]));
        let (session, inbox) = connect(&server);
        let log = log.expect("the engine opens its log");
        TestServer {
            server,
            worker,
            session,
            batch: Batch::default(),
            clock,
            log,
            disk,
            host,
            inbox,
            background: Some(background),
            closed: false,
            owed_bytes_max: usize::MAX,
            batch_reply_bytes_max: 0,
            batch_words_max: 0,
            waited_for_others: 0,
            ran_apart: 0,
            sent_before: 0,
            bounds,
        }
    }

    /// The cold tier, as another process would see it.
    pub fn tier(&self) -> MemoryTier {
        memory_tier(&self.disk)
    }

    /// Has all keys be on disk only.
    pub fn leave_memory(&self) {
        self.server.engine.checkpoint().expect("the tier is in memory");
        self.server.engine.unload();
    }

    /// One more connection to the same server, to be used by another thread.
    pub fn another_connection(&self) -> TestServer {
        let (session, inbox) = connect(&self.server);
        TestServer {
            server: Arc::clone(&self.server),
            worker: Worker::new(&self.server, Arc::clone(&self.server.counters[0])),
            session,
            batch: Batch::default(),
            clock: Arc::clone(&self.clock),
            log: Arc::clone(&self.log),
            disk: Arc::clone(&self.disk),
            host: self.host.clone(),
            inbox,
            background: None,
            closed: false,
            owed_bytes_max: usize::MAX,
            batch_reply_bytes_max: 0,
            batch_words_max: 0,
            waited_for_others: 0,
            ran_apart: 0,
            sent_before: 0,
            bounds: self.bounds,
        }
    }

    /// Makes a setting as CONFIG SET would.
    pub fn configure(&mut self, name: &str, value: &str) {
        let pair = [name.as_bytes(), value.as_bytes()];
        self.server.config.prepare_set(&pair, SetOrigin::Server).expect("an option").commit();
    }

    /// Runs one request, given as words between white space, and decodes its reply.
    pub fn line(&mut self, line: &str) -> Value {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.run(&words)
    }

    /// Runs one request and decodes its reply.
    pub fn run(&mut self, words: &[impl AsRef<[u8]>]) -> Value {
        let bytes = self.run_for_bytes(words);
        let (value, len) = decode(&bytes).expect("a reply").expect("a whole reply");
        assert_eq!(len, bytes.len(), "one reply to one request");
        value
    }

    /// Runs one request; returns the bytes of its reply.
    pub fn run_for_bytes(&mut self, words: &[impl AsRef<[u8]>]) -> Vec<u8> {
        let mut request = Vec::new();
        encode_request(words, &mut request);
        self.run_bytes(request, 1)
    }

    /// Runs what a client has sent, at most this number of requests in a batch; returns the bytes
    /// of the replies.
    pub fn run_bytes(&mut self, input: Vec<u8>, batch_max: usize) -> Vec<u8> {
        let mut out = Output::new();
        self.worker.begin_turn(&self.server);
        self.serve(input, batch_max, &mut out);
        self.worker.hand_over_messages(&self.server);
        self.worker.end_turn(&self.server);
        bytes_of(&mut out)
    }

    /// Runs one request once, in a batch of its own; returns what it waits for, if it does.
    #[allow(dead_code, reason = "not every user of this file has commands wait")]
    pub fn run_once(&mut self, line: &str) -> Option<Wait> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut input = Vec::new();
        encode_request(&words, &mut input);
        self.run_input_once(input)
    }

    /// As [`TestServer::run_once`], but again as long as a thread in the background holds a
    /// partition, of which there may be one that has no CPU.
    #[allow(dead_code, reason = "not every user of this file has commands wait")]
    pub fn run_when_free(&mut self, line: &str) -> Option<Wait> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut input = Vec::new();
        encode_request(&words, &mut input);
        self.run_batch_when_free(&input, 1)
    }

    /// As [`TestServer::run_batch_once`], but again as long as a thread in the background holds a
    /// partition that the first request needs.
    #[allow(dead_code, reason = "not every user of this file has commands wait")]
    pub fn run_batch_when_free(&mut self, input: &[u8], batch_max: usize) -> Option<Wait> {
        loop {
            match self.run_batch_once(input.to_vec(), batch_max) {
                Some(Wait::Held) => std::thread::yield_now(),
                other => return other,
            }
        }
    }

    /// Runs the one request of this input once, as [`TestServer::run_once`] does.
    #[allow(dead_code, reason = "not every user of this file has commands wait")]
    pub fn run_input_once(&mut self, input: Vec<u8>) -> Option<Wait> {
        self.run_batch_once(input, 1)
    }

    /// Runs what a client has sent, at most this number of requests, once, in a batch of its own;
    /// returns what the first one waits for that waits.
    #[allow(dead_code, reason = "not every user of this file has commands wait")]
    pub fn run_batch_once(&mut self, mut input: Vec<u8>, batch_max: usize) -> Option<Wait> {
        let mut out = Output::new();
        self.worker.begin_turn(&self.server);
        self.parse(&mut input, 0, batch_max);
        let TestServer { server, worker, session, batch, ran_apart, sent_before, .. } = self;
        let (consumed, out) = (0, &mut out);
        let mut client = TestClient {
            session,
            input: &input,
            consumed,
            out,
            halt: None,
            owed_bytes_max: usize::MAX,
            ran_apart,
            sent_before,
        };
        batch.run(server, worker, &mut client, &mut Budget::default());
        let halt = client.halt;
        self.worker.end_turn(&self.server);
        if let Some(Halt::Waits { wait, .. }) = halt { Some(wait) } else { None }
    }

    /// Writes the messages to `out` that have come since the last call.
    pub fn receive_messages(&mut self, out: &mut Output) {
        let deliveries = std::mem::take(&mut *self.inbox.0.lock());
        for delivery in &deliveries {
            for subscription in delivery.subscribers.iter() {
                self.session.receive(delivery, subscription.serial, out);
            }
        }
    }

    /// The messages that have come since the last call.
    pub fn messages(&mut self) -> Vec<Value> {
        let mut out = Output::new();
        self.receive_messages(&mut out);
        let bytes = bytes_of(&mut out);
        let (mut messages, mut at) = (Vec::new(), 0);
        while let Some((message, len)) = decode(&bytes[at..]).expect("a message") {
            messages.push(message);
            at += len;
        }
        messages
    }

    /// Opens or closes the short ways to its requests.
    #[allow(dead_code, reason = "not every user of this file compares them")]
    pub fn set_short_ways(&mut self, short_ways: ShortWays) {
        self.batch.set_short_ways(short_ways);
    }

    /// Runs what a client has sent, in batches, and again what waits for something.
    pub fn serve(&mut self, mut input: Vec<u8>, batch_max: usize, out: &mut Output) {
        let mut consumed = 0;
        out.set_copied_bytes_max(self.worker.copied_bytes_max());
        while consumed < input.len() {
            self.parse(&mut input, consumed, batch_max);
            self.batch_words_max = self.batch_words_max.max(self.batch.words().len());
            let TestServer { server, worker, session, batch, ran_apart, sent_before, .. } = self;
            let (owed, input) = (out.len(), &input);
            // It has read what came before.
            let owed_bytes_max = self.owed_bytes_max.saturating_add(owed);
            let mut client = TestClient {
                session,
                input,
                consumed,
                out,
                owed_bytes_max,
                halt: None,
                ran_apart,
                sent_before,
            };
            batch.run(server, worker, &mut client, &mut Budget::default());
            consumed = client.consumed;
            let halt = client.halt;
            self.batch_reply_bytes_max = self.batch_reply_bytes_max.max(out.len() - owed);
            match halt {
                None => {}
                Some(Halt::Later) => self.waited_for_others += 1,
                Some(Halt::Closed) => {
                    self.closed = true;
                    return;
                }
                Some(Halt::Waits { wait, end }) => {
                    let afterwards = wait.afterwards();
                    let result = self.wait(wait);
                    assert!(self.session.take_command_back(), "nobody else runs it");
                    if afterwards == Afterwards::Reply || result.is_err() {
                        consumed = end;
                        let ended = (afterwards, result);
                        dispatch::finish_wait(&self.worker, &mut self.session, ended, out);
                    }
                }
            }
        }
    }

    /// Fills the batch with requests from `start` on, as a network thread does.
    fn parse(&mut self, input: &mut [u8], mut start: usize, batch_max: usize) {
        let (mut parser, limits) = (Parser::default(), RequestLimits::default());
        let (server, db) = (&*self.server, self.session.db);
        self.batch.turn_to_client();
        while start < input.len() && !self.batch.is_full(batch_max) {
            let room = batch_max - self.batch.len();
            let from = Origin { client: 0, db, bytes: input };
            let end = self.batch.push_alike(server, &parser, &limits, from, (start, room));
            if end > start {
                start = end;
                continue;
            }
            let parsed = parser.parse(input, start, &limits, self.batch.words());
            let Ok(Parsed::Request { consumed }) = parsed else { panic!("{parsed:?}") };
            let end = start + consumed;
            self.batch.push(server, Origin { client: 0, db, bytes: input }, start, end);
            start = end;
        }
    }

    fn wait(&self, wait: Wait) -> Result<(), basalt_service::error::CommandError> {
        match wait {
            // Nobody comes with what it waits for: it ends as CLIENT UNBLOCK would end it.
            Wait::Ready(_) => {
                self.session.client.unblock(Unblocking::AsTimedOut);
            }
            Wait::Pause(_) => self.server.pauses.end(),
            _ => {}
        }
        let result = Arc::new(Mutex::new(None));
        let place = Arc::clone(&result);
        let done = Box::new(move |outcome| *place.lock() = Some(outcome));
        if let Some(done) = wait.start(&self.server.engine, done) {
            // Time passes at once here.
            done(Ok(()));
        }
        let start = Instant::now();
        loop {
            if let Some(outcome) = result.lock().take() {
                return outcome;
            }
            assert!(start.elapsed() < WAIT_MAX, "a command waits for ever");
            std::thread::yield_now();
        }
    }

    /// A command has ended the connection.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The string under a key of database 0, without leaving a trace.
    pub fn stored(&self, key: impl AsRef<[u8]>) -> Option<Stored> {
        let engine = &*self.server.engine;
        let key = engine.key(key.as_ref());
        let locked = engine.lock(&[key]);
        let session = basalt_engine::CommandContext::background(0, self.clock.unix_ms());
        View::new(engine, locked, session).peek(&key).map(|object| Stored {
            value: object.string().expect("it is a string").bytes().to_vec(),
            expire_ms: object.expire_ms(),
            form: object.form(),
        })
    }
}

impl TestServer {
    /// Nothing leaves memory any more, or happens in the background at all.
    pub fn stop_background(&mut self) {
        self.background.take().expect("it has some").stop();
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(background) = self.background.take() {
            background.stop();
        }
    }
}

fn memory_tier(disk: &Arc<MemoryDisk>) -> MemoryTier {
    MemoryTier::open(disk, Path::new("cold"), Residency::Uncached)
}

fn env(by_hand: &Arc<ManualClock>) -> Env {
    let clock = TestClock { by_hand: Arc::clone(by_hand), system: SystemClock::new() };
    Env { clock: Arc::new(clock), entropy: Arc::new(SeededEntropy::new(1)) }
}

fn server(engine: Arc<Engine>, host: &TestHost) -> Dispatcher {
    let commands = table::commands();
    let counters = vec![Arc::new(ThreadCounters::new(commands.table.all().len()))];
    let host = Box::new(host.clone());
    let mut server = Dispatcher::new(engine, Arc::new(Config::default()), commands, counters, host);
    server.server.started_ms = START_MS;
    server.server.run_id = "0123456789abcdef0123456789abcdef01234567".to_owned();
    server
}

fn connect(server: &Server) -> (Session, Arc<Inbox>) {
    let client = server.clients.add(NewClient {
        front: None,
        address: "127.0.0.1:50000".to_owned(),
        local_address: "127.0.0.1:6379".to_owned(),
        fd: 8,
        now_ms: START_MS,
        wake: Box::new(NoWake),
    });
    let inbox = Arc::new(Inbox::default());
    let mut session = Session::new(client, server.access.rights_of_new_client(true));
    session.receive_at(Address { sink: server.pubsub.add_sink(inbox.clone()), place: 0 });
    (session, inbox)
}

/// These requests as a client sends them, each given as words between white space.
pub fn requests(lines: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        encode_request(&words, &mut bytes);
    }
    bytes
}
