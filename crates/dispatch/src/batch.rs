//! HOT PATH
//! The one door for requests: what comes from a socket, a test or a fuzzer goes in parsed and comes
//! out answered.
//!
//! ```text
//! Batch::push ─ find the command, hash the key          until the batch is full
//! Batch::run  ─ prefetch the buckets ▸ prefetch the entries ▸ prefetch in collections
//!               ▸ run each, those that are alike the short way
//! ```
//! A batch mixes requests of several clients, so that fifty clients with one request each gain from
//! the prefetching as much as one client with fifty. It knows clients by a number, and asks their
//! owner ([`BatchClients`]) for what it needs of one: it holds nothing of theirs between two calls.

use super::admission::Admission;
use super::alike::Row;
use super::behind::is_behind;
use super::budget::Budget;
use super::collection_prefetch::CollectionPrefetch;
use super::dispatcher::Dispatcher;
use super::execute::{execute, execute_attended};
use super::expect;
use super::form::{Begun, ReplyForm};
use super::halt::Halt;
use super::long::may_take_long;
use super::monitors;
use super::prepare::{Incoming, Last, Preparing};
use super::row::run_row;
use super::tracking;
use super::worker::Worker;
use basalt_call::entry::Run;
use basalt_engine::{Engine, Gating, OutdatedCopies};
use basalt_env::Instant;
use basalt_resp::{Arg, Output, Parser, RequestLimits};
use basalt_service::clients::ClientHandle;
use basalt_service::hand_over::{Asked, Served};
use basalt_service::prepared::Prepared;
use basalt_service::scripts::{Attendant, Nobody};
use basalt_service::session::{Flow, ParkedCommand, Session};
use basalt_service::wait::Wait;
use basalt_spec::Flag;
use std::mem::replace;
use std::sync::Arc;
use std::time::Duration;

/// Words after which a batch takes no more requests. What takes long for each of its words, as
/// SUBSCRIBE does, is to end before the thread looks at its other clients.
const WORDS_MAX: usize = 4096;
/// Requests of this many words at most are not counted by their words: a batch of them has fewer.
const FEW_WORDS: usize = 32;
/// How long the requests of one client run, if each is short but not very short, before those of
/// others.
const CLIENT_TIME_MAX: Duration = Duration::from_millis(1);
/// How long scripts run one behind the other as one request that may take long.
const ROW_OF_SCRIPTS_TIME_MAX: Duration = Duration::from_millis(1);

/// Requests that run together.
#[derive(Default)]
pub struct Batch {
    requests: Vec<Request>,
    /// The words of all requests.
    words: Vec<Arg>,
    last: Last,
    collection_prefetch: CollectionPrefetch,
    /// Some request may have elements of a collection prefetched.
    has_collections: bool,
    short_ways: ShortWays,
}

/// A request with its words.
struct Request {
    client: u32,
    /// Its words, a range of the batch's.
    first_word: u32,
    words: u32,
    /// Where it ends in its client's bytes.
    end: usize,
    prepared: Prepared,
}

/// Whether requests take the short ways that are open to them. They always do, but in tests that
/// compare these with the long way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ShortWays {
    /// They do.
    #[default]
    Open,
    /// Each request takes the long way.
    Closed,
}

/// The client that requests come from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Its number, by which [`BatchClients`] knows it.
    pub client: u32,
    /// The database that it has selected.
    pub db: u8,
    /// What the words of its requests are ranges of.
    pub bytes: &'a [u8],
}

/// What running a client's requests takes.
pub struct Running<'a> {
    /// The client as commands see it.
    pub session: &'a mut Session,
    /// What the words of its requests are ranges of.
    pub bytes: &'a [u8],
    /// Where its requests end that have run.
    pub consumed: &'a mut usize,
    /// Where replies go.
    pub out: &'a mut Output,
    /// Bytes of replies after which the client's further requests wait until it has read some.
    pub owed_bytes_max: usize,
    /// The form of its replies, if that is not Redis' protocol.
    pub form: Option<&'a mut dyn ReplyForm>,
}

/// The clients whose requests a batch holds.
pub trait BatchClients {
    /// What the words of a client's requests are ranges of; `None` if it has gone.
    fn bytes(&self, client: u32) -> Option<&[u8]>;

    /// What running a client's requests takes; `None` if it has gone or runs none any more.
    fn running(&mut self, client: u32) -> Option<Running<'_>>;

    /// Requests of a client that have not run will not run in this batch.
    fn halt(&mut self, client: u32, halt: Halt);

    /// What runs next for this client is likely to take so long that replies of others had better
    /// be sent before.
    fn send_owed(&mut self, worker: &Worker, client: u32) {
        let _ = (worker, client);
    }

    /// Runs a request of a client that may take long. If it does, the other clients may be served
    /// meanwhile; then those in `batch`, whose requests will not run in it, are to be parsed again,
    /// and the worker is returned that stood in.
    fn run_apart(
        &mut self,
        client: u32,
        batch: &mut (dyn Iterator<Item = u32> + Send),
        run: &mut dyn FnMut(Running<'_>, &mut dyn Attendant),
    ) -> Option<Worker> {
        let _ = batch;
        if let Some(running) = self.running(client) {
            run(running, &mut Nobody);
        }
        None
    }
}

/// Why a client's requests have not all run.
enum Stop {
    Halt(Halt),
    /// This many have run, and the next one may take long.
    Long(usize),
}

impl Request {
    /// The request, whose words are among these.
    #[inline(always)]
    fn incoming<'a>(&'a self, bytes: &'a [u8], words: &'a [Arg]) -> Incoming<'a> {
        let words = &words[self.first_word as usize..][..self.words as usize];
        Incoming { prepared: &self.prepared, buffer: bytes, words }
    }

    /// Where its words end among the batch's.
    #[inline(always)]
    fn end_of_words(&self) -> usize {
        (self.first_word + self.words) as usize
    }
}

impl Batch {
    /// How many requests it holds.
    #[inline]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether it holds no request.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Whether it takes no more requests before these have run: it holds `requests_max`, or they
    /// have very many words.
    #[inline]
    pub fn is_full(&self, requests_max: usize) -> bool {
        self.requests.len() >= requests_max || self.words.len() >= WORDS_MAX
    }

    /// Opens or closes the short ways.
    pub fn set_short_ways(&mut self, short_ways: ShortWays) {
        self.short_ways = short_ways;
    }

    /// Requests that are pushed next come from another client, or stand elsewhere than the ones
    /// before.
    #[inline]
    pub fn turn_to_client(&mut self) {
        self.last.forget_key();
    }

    /// Where a parser appends the words of the request that is to be pushed next. It appends
    /// nothing unless the request is whole.
    #[inline]
    pub fn words(&mut self) -> &mut Vec<Arg> {
        &mut self.words
    }

    /// Adds the request at `start`, whose words have been appended to [`Batch::words`].
    #[inline(always)]
    pub fn push(&mut self, server: &Dispatcher, from: Origin<'_>, start: usize, end: usize) {
        let first_word = self.requests.last().map_or(0, Request::end_of_words);
        let words = &self.words[first_word..];
        let command = self.last.command(server, from.bytes, start, words);
        let mut prepared = Prepared::of(command, from.db, Arg::default());
        let preparing = Preparing::new(server, command);
        self.has_collections |= preparing.prefetches_collection();
        preparing.prepare(&mut self.last, &mut prepared, from.bytes, words);
        self.requests.push(Request {
            client: from.client,
            first_word: first_word as u32,
            words: words.len() as u32,
            end,
            prepared,
        });
    }

    /// Adds at most `room` requests from `start` on that begin as the last one did; returns where
    /// they end, which is `start` if there are none.
    // Not inlined: what it works with has all registers for itself.
    #[inline(never)]
    pub fn push_alike(
        &mut self,
        server: &Dispatcher,
        parser: &Parser,
        limits: &RequestLimits,
        from: Origin<'_>,
        (mut start, room): (usize, usize),
    ) -> usize {
        let Some(repeats) = parser.repeats(self.last.front(), limits) else { return start };
        let room = self.room_by_words(repeats.args(), room);
        let command = self.last.command_again();
        let before = self.requests.len();
        while self.requests.len() - before < room {
            let first_word = self.words.len();
            let Some(taken) = repeats.take(from.bytes, start, &mut self.words) else { break };
            start = taken.end;
            self.requests.push(Request {
                client: from.client,
                first_word: first_word as u32,
                words: (self.words.len() - first_word) as u32,
                end: start,
                prepared: Prepared::of(command, from.db, taken.first),
            });
        }
        // A loop of its own, in which hashing one key does not wait for where the next one is
        // found.
        let preparing = Preparing::new(server, command);
        self.has_collections |= preparing.prefetches_collection();
        let prepared = self.requests[before..].iter_mut().map(|request| {
            let first = request.first_word as usize;
            (&mut request.prepared, first..first + request.words as usize)
        });
        preparing.prepare_all(&mut self.last, prepared, from.bytes, &self.words);
        start
    }

    /// How many requests of `words` words there is room for, of `room`.
    #[inline]
    fn room_by_words(&self, words: usize, room: usize) -> usize {
        match words {
            0..=FEW_WORDS => room,
            _ => room.min(WORDS_MAX.saturating_sub(self.words.len()).div_ceil(words)),
        }
    }

    /// Runs all requests, as far as the turn's budget goes, and is empty then; returns when that
    /// was done.
    #[inline]
    pub fn run(
        &mut self,
        server: &Dispatcher,
        worker: &mut Worker,
        clients: &mut impl BatchClients,
        budget: &mut Budget,
    ) -> Instant {
        let count = self.requests.len();
        if count > 1 {
            self.prefetch(&server.engine, worker.gating, clients);
        }
        worker.begin_batch(server);
        let start = server.env.clock.now();
        worker.note_start(start);
        budget.begin(start);
        let mut number = 0;
        while number < count {
            number = self.run_for_one(server, worker, clients, number, budget);
        }
        let done = server.env.clock.now();
        budget.look(done);
        worker.end_batch(server, done - start, count);
        self.requests.clear();
        self.words.clear();
        self.has_collections = false;
        done
    }

    /// Runs the requests of one client, from this one on; returns the number of the next client's
    /// first.
    fn run_for_one(
        &self,
        server: &Dispatcher,
        worker: &mut Worker,
        clients: &mut impl BatchClients,
        first: usize,
        budget: &mut Budget,
    ) -> usize {
        let client = self.requests[first].client;
        let is_others = |request: &Request| request.client != client;
        let count = self.requests[first..].iter().position(is_others);
        let next = count.map_or(self.requests.len(), |count| first + count);
        if budget.is_spent() {
            budget.put_off();
            clients.halt(client, Halt::Later);
            return next;
        }
        let Some(mut running) = clients.running(client) else { return next };
        let owed = running.out.len();
        let requests = &self.requests[first..next];
        worker.note_requests(next - first, running.form.is_some());
        let stop = match running.form.take() {
            None => {
                let stop = self.run_requests(server, worker, &mut running, requests);
                let replied = running.out.len().saturating_sub(owed);
                budget.spend(client, replied, || server.env.clock.now());
                stop
            }
            Some(form) => self.run_in_form(server, worker, &mut running, (form, budget), requests),
        };
        match stop {
            None => next,
            Some(Stop::Halt(halt)) => {
                clients.halt(client, halt);
                next
            }
            Some(Stop::Long(_)) if !budget.admits_long(client, worker.start_of_call(server)) => {
                clients.halt(client, Halt::Later);
                next
            }
            Some(Stop::Long(ran)) => {
                self.run_apart(server, worker, clients, (first + ran, next), budget)
            }
        }
    }

    /// Runs a request that may take long, and scripts of its client that follow, for as long as
    /// they are quick: what it takes to have others served meanwhile is done once for all of them.
    /// Returns the number of the next request that is to run. If others were served meanwhile, none
    /// is. If one has halted its client, that is `next`, the first of another client.
    #[inline(never)]
    fn run_apart(
        &self,
        server: &Dispatcher,
        worker: &mut Worker,
        clients: &mut impl BatchClients,
        (first, next): (usize, usize),
        budget: &mut Budget,
    ) -> usize {
        let client = self.requests[first].client;
        if worker.expects_long() {
            worker.hand_over_messages(server);
            clients.send_owed(worker, client);
        }
        let (mut halt, mut after) = (None, first);
        let mut run = |running: Running<'_>, attendant: &mut dyn Attendant| {
            let Running { session, bytes, consumed, out, owed_bytes_max, form } = running;
            let owed = out.len();
            let is_in_form = form.is_some();
            let begun = form.map(|form| Begun::new(form, session, (out, worker.now_ms)));
            let mut admission = Admission::of(server, worker, session);
            let start = worker.start_of_call(server);
            let mut now = start;
            while halt.is_none() {
                let request = &self.requests[after];
                after += 1;
                let incoming = request.incoming(bytes, &self.words);
                let attending: &mut dyn Attendant = &mut *attendant;
                let attended = (&mut admission, attending);
                let flow = execute_apart(server, worker, session, incoming, attended, out);
                if matches!(flow, Flow::Done | Flow::Close) {
                    *consumed = request.end;
                }
                halt = halted(flow, request.end);
                now = worker.start_of_call(server);
                let goes_on = !is_in_form
                    && after < next
                    && out.len() <= owed_bytes_max
                    && now.saturating_duration_since(start) < ROW_OF_SCRIPTS_TIME_MAX
                    && is_script(server, &self.requests[after])
                    && budget.admits_long(client, now);
                if !goes_on {
                    break;
                }
            }
            worker.note_apart(now.saturating_duration_since(start));
            if let Some(halt) = &halt {
                worker.note_halt(session, halt);
            }
            let replied = out.len();
            if let Some(begun) = begun {
                halt = begun.end(halt.take(), out);
            }
            let replied = replied.max(out.len()).saturating_sub(owed);
            budget.spend(client, replied, || server.env.clock.now());
        };
        let mut batch = self.requests.iter().map(|request| request.client);
        let stand_in = clients.run_apart(client, &mut batch, &mut run);
        let others_were_served = stand_in.is_some();
        if let Some(stand_in) = stand_in {
            worker.take_over(stand_in, server);
        }
        if let Some(halt) = halt {
            clients.halt(client, halt);
            after = next;
        }
        if others_were_served { self.requests.len() } else { after.max(first + 1) }
    }

    /// Runs requests of one client; returns why it has stopped before the last.
    #[inline(always)]
    fn run_requests(
        &self,
        server: &Dispatcher,
        worker: &mut Worker,
        Running { session, bytes, consumed, out, owed_bytes_max, .. }: &mut Running<'_>,
        mut requests: &[Request],
    ) -> Option<Stop> {
        let (words, count) = (self.words.as_slice(), requests.len());
        let until = worker.clock_was_read() + CLIENT_TIME_MAX;
        let mut admission = Admission::of(server, worker, session);
        while !requests.is_empty() {
            let row = if admission.opens_short_ways() && self.short_ways == ShortWays::Open {
                let (begin, bytes) = (**consumed, *bytes);
                let first = move |count: usize| {
                    let mut begin = begin;
                    requests[..count].iter().map(move |request| {
                        let request_bytes =
                            request.end.saturating_sub(replace(&mut begin, request.end));
                        (request.incoming(bytes, words), request_bytes)
                    })
                };
                let incoming = (requests.len(), first);
                let outgoing = (&mut **out, *owed_bytes_max);
                let row = run_row(server, worker, session, &mut admission, incoming, outgoing);
                if server.unusual.any() {
                    let requests = requests.iter().map(|request| request.incoming(bytes, words));
                    let begun = (row.ran, row.next.as_ref());
                    monitors::tell_row(server, worker, session, begun, requests);
                }
                row
            } else {
                Row::NONE
            };
            if let Some(last) = requests[..row.ran].last() {
                **consumed = last.end;
                requests = &requests[row.ran..];
            }
            let request = match (requests.first(), &row.next) {
                (Some(request), Some(_)) => request,
                _ if row.ran > 0 => {
                    if out.is_over() {
                        // The replies before are not whole either.
                        out.clear();
                        worker.counters.output_limit_disconnections.add(1);
                        return Some(Stop::Halt(Halt::Closed));
                    }
                    if out.len() > *owed_bytes_max && !requests.is_empty() {
                        return Some(Stop::Halt(Halt::Later));
                    }
                    continue;
                }
                (Some(request), None) => request,
                (None, _) => break,
            };
            let flow = match row.next {
                Some(flow) => flow,
                None => {
                    let incoming = request.incoming(bytes, words);
                    let request_bytes = request.end.saturating_sub(**consumed);
                    if may_take_long(server, session, incoming, request_bytes) {
                        if out.len() > *owed_bytes_max {
                            return Some(Stop::Halt(Halt::Later));
                        }
                        return Some(Stop::Long(count - requests.len()));
                    }
                    execute(server, worker, session, incoming, &mut admission, out)
                }
            };
            if worker.changes.has_called() {
                serve_called(server, worker);
            }
            match flow {
                Flow::Done => **consumed = request.end,
                Flow::Close => {
                    **consumed = request.end;
                    return Some(Stop::Halt(Halt::Closed));
                }
                Flow::RunApart => {
                    return Some(Stop::Long(count - requests.len()));
                }
                Flow::Wait(wait) => {
                    if let Wait::Keys(_) | Wait::Heads(..) = &wait {
                        let behind = requests[1..].iter();
                        let behind = behind.map(|request| request.incoming(bytes, words));
                        expect::behind(server, session, &wait, behind);
                    }
                    let halt = Halt::Waits { wait, end: request.end };
                    worker.note_halt(session, &halt);
                    return Some(Stop::Halt(halt));
                }
            }
            requests = &requests[1..];
            let was_enough = out.len() > *owed_bytes_max || worker.clock_was_read() > until;
            if was_enough && !requests.is_empty() {
                return Some(Stop::Halt(Halt::Later));
            }
        }
        None
    }

    /// Runs requests of one client whose replies have a form of their own; returns why it has
    /// stopped before the last.
    #[inline(never)]
    fn run_in_form(
        &self,
        server: &Dispatcher,
        worker: &mut Worker,
        running: &mut Running<'_>,
        (form, budget): (&mut dyn ReplyForm, &mut Budget),
        requests: &[Request],
    ) -> Option<Stop> {
        for (ran, request) in requests.iter().enumerate() {
            let owed = running.out.len();
            if ran > 0 && (owed > running.owed_bytes_max || budget.is_spent()) {
                return Some(Stop::Halt(Halt::Later));
            }
            let begun = Begun::new(form, running.session, (running.out, worker.now_ms));
            let stop = self.run_requests(server, worker, running, std::slice::from_ref(request));
            let (halt, is_long) = match stop {
                None => (None, false),
                Some(Stop::Halt(halt)) => (Some(halt), false),
                // It begins again, apart.
                Some(Stop::Long(_)) => (Some(Halt::Later), true),
            };
            let replied = running.out.len();
            let halt = begun.end(halt, running.out);
            let replied = replied.max(running.out.len()).saturating_sub(owed);
            budget.spend(request.client, replied, || server.env.clock.now());
            if is_long {
                return Some(Stop::Long(ran));
            }
            if let Some(halt) = halt {
                return Some(Stop::Halt(halt));
            }
        }
        None
    }

    /// Brings what the batch will touch into the cache. The loops are short on purpose: a prefetch
    /// waits for its page to be found, and only what stands close behind it can go on meanwhile.
    /// From the loop that parses, the buckets cost 60 cycles each, from a loop of their own a few.
    /// Nor may they be too short: the processor drops prefetches while it looks for too many pages,
    /// and the locks that the second loop takes slow it down enough
    /// (`docs/decisions/0012-time-of-a-request.md`).
    fn prefetch(&mut self, engine: &Engine, gating: Gating, clients: &impl BatchClients) {
        for request in &self.requests {
            request.prepared.prefetch_bucket(engine);
        }
        if gating == Gating::On {
            for request in &self.requests {
                request.prepared.prefetch_unacknowledged(engine);
            }
        }
        for request in &mut self.requests {
            request.prepared.prefetch_entry(engine);
        }
        let (requests, words) = (&self.requests, &self.words);
        let concerns = |request: &Request| request.prepared.prefetches_collection();
        if self.has_collections && requests.iter().any(concerns) {
            self.collection_prefetch.fetch(engine, requests.len(), |number| {
                let request = &requests[number];
                if !concerns(request) {
                    return None;
                }
                Some(request.incoming(clients.bytes(request.client)?, words))
            });
        }
    }
}

/// Runs a request that may take long, and serves the clients that it has called.
fn execute_apart(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    request: Incoming<'_>,
    attended: (&mut Admission, &mut dyn Attendant),
    out: &mut Output,
) -> Flow {
    if is_behind(server, session, request) {
        return Flow::Wait(Wait::Held);
    }
    // What was published before must not come after what is published meanwhile.
    worker.hand_over_messages(server);
    worker.set_apart(true);
    let flow = execute_attended(server, worker, session, request, attended, out);
    worker.set_apart(false);
    if worker.changes.has_called() {
        serve_called(server, worker);
    }
    flow
}

/// What a request that ends here, and may take long, halts its client for.
fn halted(flow: Flow, end: usize) -> Option<Halt> {
    match flow {
        Flow::Done => None,
        Flow::Close => Some(Halt::Closed),
        Flow::Wait(wait) => Some(Halt::Waits { wait, end }),
        Flow::RunApart => Some(Halt::Later),
    }
}

/// Whether a request is a call of a script or a function.
fn is_script(server: &Dispatcher, request: &Request) -> bool {
    let is_script = |id| matches!(server.commands.call(id).run, Run::Script(_));
    request.prepared.command.is_some_and(is_script)
}

/// Tells of copies that are out of date by the latest command, and serves all clients that it has
/// called, and those that are called by that: before the next command of the client that has
/// something for them. No partition is held. What cannot be
/// done at once, because keys have to be read from disk or the log is full, is left to a waiting
/// client's own thread, which is told to run the command again.
#[cold]
#[inline(never)]
fn serve_called(server: &Dispatcher, worker: &mut Worker) {
    loop {
        let called = worker.changes.take_called();
        if called.is_empty() {
            return;
        }
        let mut copies = OutdatedCopies::default();
        let waiters = copies.sort(called);
        if !copies.is_empty() {
            tracking::tell(server, worker, &copies);
        }
        for waiter in waiters {
            // A client that is not registered has left its queues.
            if let Some(client) = server.clients.registered(waiter.id()) {
                serve(server, worker, &client);
            }
        }
    }
}

fn serve(server: &Dispatcher, worker: &mut Worker, client: &Arc<ClientHandle>) {
    let Some(command) = client.claim_parked() else {
        // The thread that has it looks after this change, or is about to go.
        return client.run_again();
    };
    if client.is_killed() || client.unblocking().is_some() {
        // It goes, and is not to take anything along: the next one is called.
        let places = &command.waiting.places;
        server.engine.leave_queues(client.id, places, worker.lock_wait, &mut worker.changes);
        client.park(command);
    } else if let Some(served) = run_parked(server, worker, client, *command) {
        client.end_parked();
        return client.serve(served);
    }
    match client.take_asked() {
        Asked::Nothing => {}
        Asked::Run => client.run_again(),
        Asked::Leave => {
            if let Some(command) = client.abandon_parked() {
                let places = &command.waiting.places;
                server.engine.leave_queues(
                    client.id,
                    places,
                    worker.lock_wait,
                    &mut worker.changes,
                );
            }
        }
    }
}

/// Runs a command for its client; `None` if it waits still.
fn run_parked(
    server: &Dispatcher,
    worker: &mut Worker,
    client: &Arc<ClientHandle>,
    command: ParkedCommand,
) -> Option<Served> {
    if command.tracks_reads && is_reading(server, &command) {
        // What is told of a change after it must not overtake the reply, which it does not if the
        // client's own thread writes that.
        client.park(Box::new(command));
        client.run_again();
        return None;
    }
    let (mut session, request) = command.unpack(client);
    let incoming =
        Incoming { prepared: &request.prepared, buffer: &request.bytes, words: &request.words };
    let mut reply = Output::new();
    let mut admission = Admission::of(server, worker, &mut session);
    match execute(server, worker, &mut session, incoming, &mut admission, &mut reply) {
        Flow::Done | Flow::Close => return Some(Served { reply, gate: session.gate.take() }),
        // It is parked again.
        Flow::Wait(Wait::Ready(_)) => {}
        Flow::Wait(_) | Flow::RunApart => {
            if let Some(waiting) = session.waiting.take() {
                let words = (&request.bytes[..], &request.words[..]);
                let command = ParkedCommand::new(&session, request.prepared, words, waiting);
                client.park(Box::new(command));
            }
            client.run_again();
        }
    }
    None
}

fn is_reading(server: &Dispatcher, command: &ParkedCommand) -> bool {
    let id = command.prepared().command;
    id.is_some_and(|id| server.commands.table.command(id).flags.has(Flag::Readonly))
}
