//! HOT PATH
//! A network thread: one poll, its connections, its mailbox.

mod behind;
mod care;
mod later;
mod lent;
mod serve_later;

use self::behind::{Behind, HELD_PAUSE, pause};
use self::later::Later;
use crate::buffers::BufferPool;
use crate::connection::{Connection, State};
use crate::gather;
use crate::give_way::GiveWay;
use crate::mailbox::{ConnectionHandle, ConnectionId, Mailbox, Message, NewConnection};
use crate::share::{Held, Share};
use crate::timers::Timers;
use crate::turn::{Connections, Turn};
use basalt_dispatch as dispatch;
use basalt_engine::{Fate, Gate, Refusal, ShardSet};
use basalt_env::{Clock, Instant};
use basalt_observe::counters::ThreadCounters;
use basalt_pubsub::{Address, SinkId, Subscription};
use basalt_resp::Output;
use basalt_service::clients::{NewClient, Unblocking};
use basalt_service::error::CommandError;
use basalt_service::hand_over::Served;
use basalt_service::push::{Delivery, Receipt};
use basalt_service::server::Server;
use basalt_service::session::Session;
use basalt_service::wait::{Afterwards, Wait};
use basalt_stdx::loan::Loan;
use basalt_stdx::watch_flag::Watch;
use mio::{Events, Poll, Token};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The token under which the mailbox's waker is registered.
pub(crate) const MAILBOX: Token = Token(usize::MAX);
const EVENTS_A_POLL: usize = 1024;
/// How often idle connections are looked at.
const CARE_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked whether there is room for the requests that wait for it.
const ROOM_EVERY: Duration = Duration::from_millis(2);
/// How long a stopping thread waits for clients to take what they are owed.
const DRAIN_MAX: Duration = Duration::from_secs(5);

/// How long a publisher waits for subscribers that are behind before it tries again.
const SUBSCRIBERS_PAUSE: Duration = Duration::from_millis(1);

/// What a network thread has.
pub(crate) struct Reactor {
    poll: Poll,
    pub(crate) mailbox: Arc<Mailbox>,
    /// Where messages of pub/sub for its connections are sent.
    sink: SinkId,
    pub(crate) pool: BufferPool,
    /// What connections of fronts hold, those of all threads.
    held: Arc<Held>,
    pub(crate) timers: Timers,
    /// Connections whose command found no room in the log.
    waiting_for_room: Vec<(ConnectionId, ShardSet)>,
    /// Connections whose command waits until something is on disk.
    waiting_for_disk: BTreeMap<ConnectionId, Gate>,
    pub(crate) connections: Connections,
    vacant: Vec<usize>,
    generation: u64,
    /// Connections with something to do.
    pub(crate) ready: Vec<usize>,
    /// Those that are served behind them.
    later: Later,
    /// Lets other programs have its core while there are such, with which it hardly ever sleeps.
    way: GiveWay,
    /// Those whose request waits for room that others take, …
    crowded: VecDeque<ConnectionId>,
    /// … and when it was last looked whether there is some.
    last_room: Instant,
    /// Those that are served now.
    pub(crate) serving: Vec<usize>,
    /// Those that were served in this turn.
    touched: Vec<usize>,
    /// How many of those that are ready were put off, or had their share in the last turn, which
    /// did not suffice for all.
    put_off: usize,
    /// Commands of this turn that have come to a partition which is held for long, or for which
    /// there was no memory.
    held_count: u32,
    /// The connection whose command takes long while others are served; it is in no list.
    absent: Option<Absent>,
    /// Those whose request cannot run beside it.
    behind: Behind,
    /// Connections with replies that wait for the log.
    gated: Vec<usize>,
    /// Where this is lent while a command takes long, and the counters of the worker that stands in
    /// then.
    pub(crate) loan: Arc<Loan>,
    pub(crate) stand_in_counters: Arc<ThreadCounters>,
    clock: Arc<dyn Clock>,
    last_care: Instant,
    /// The next connection to look at, while not all have been since `last_care`.
    care_from: Option<usize>,
    stopping: Option<Instant>,
}

/// A connection that is away, and its messages of pub/sub meanwhile.
struct Absent {
    index: usize,
    late: Vec<Delivery>,
}

impl Reactor {
    pub(crate) fn new(
        poll: Poll,
        mailbox: Arc<Mailbox>,
        server: &Server,
        stand_in_counters: &Arc<ThreadCounters>,
    ) -> Reactor {
        let sink = server.pubsub.add_sink(mailbox.clone());
        Reactor {
            poll,
            mailbox,
            sink,
            pool: BufferPool::default(),
            held: Arc::default(),
            timers: Timers::new(Arc::clone(&server.env.clock)),
            waiting_for_room: Vec::new(),
            waiting_for_disk: BTreeMap::new(),
            connections: Vec::new(),
            vacant: Vec::new(),
            generation: 0,
            ready: Vec::new(),
            later: Later::default(),
            way: GiveWay::default(),
            crowded: VecDeque::new(),
            last_room: server.env.clock.now(),
            serving: Vec::new(),
            touched: Vec::new(),
            put_off: 0,
            held_count: 0,
            absent: None,
            behind: Behind::default(),
            gated: Vec::new(),
            loan: Arc::default(),
            stand_in_counters: Arc::clone(stand_in_counters),
            last_care: server.env.clock.now(),
            clock: Arc::clone(&server.env.clock),
            care_from: None,
            stopping: None,
        }
    }

    /// Has what its connections hold count together with what those of other threads do.
    pub(crate) fn count_in(&mut self, held: &Arc<Held>) {
        self.held = Arc::clone(held);
        self.pool.count_in(held);
    }

    /// Serves connections until it is told to stop.
    pub(crate) fn run(&mut self, turn: &mut Turn) {
        let mut events = Events::with_capacity(EVENTS_A_POLL);
        while !self.has_stopped() {
            if !self.has_ready() && gather::pays(self.gated.len(), events.iter().count()) {
                gather::rest();
            }
            let timeout = self.timeout(turn);
            self.run_turn(turn, &mut events, timeout);
            if self.has_later() {
                self.way.give_way(&*self.clock);
            }
        }
    }

    /// Waits for something to do, this long at most, and does it.
    pub(crate) fn run_turn(&mut self, turn: &mut Turn, events: &mut Events, timeout: Duration) {
        if let Err(error) = self.poll.poll(events, Some(timeout)) {
            if error.kind() == io::ErrorKind::Interrupted {
                return;
            }
            crash_without_poll(&error);
        }
        let server = Arc::clone(&turn.server);
        turn.worker.begin_turn(&server);
        let mut has_mail = false;
        for event in &*events {
            match event.token() {
                MAILBOX => has_mail = true,
                Token(index) => self.note(index, event),
            }
        }
        if has_mail {
            self.read_mail(turn);
        }
        self.wake_sleepers(turn);
        self.have_some_try(turn);
        turn.serve(self);
        if self.has_later() {
            turn.serve_later(self);
        }
        turn.worker.end_turn(&server);
        turn.worker.end_some_subscriptions(&server);
        self.bury_and_watch(turn);
        self.make_room(turn);
        self.care(turn);
    }

    /// A command has to wait: the rest of its connection's requests wait with it.
    #[cold]
    pub(crate) fn park(&mut self, server: &Server, index: usize, end: usize, wait: Wait) {
        let Some(connection) = &mut self.connections[index] else { return };
        let afterwards = wait.afterwards();
        if afterwards == Afterwards::Reply {
            connection.input.consume_to(end);
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
            Wait::Ready(time) => self.begin_waiting(id, time),
            Wait::Pause(time) => self.begin_waiting(id, Some(time)),
            Wait::Held if self.is_lent() => self.wait_behind(id),
            Wait::Held | Wait::Memory => {
                self.held_count += 1;
                self.begin_waiting(id, Some(pause(self.held_count as usize)));
            }
            Wait::LogRoom(shards) => self.waiting_for_room.push((id, shards)),
            Wait::Disk(gate, time) => {
                self.begin_waiting(id, time);
                self.waiting_for_disk.insert(id, gate);
            }
            wait => {
                let mailbox = Arc::clone(&self.mailbox);
                let done = move |result: Result<(), CommandError>| {
                    mailbox.send(Message::WaitOver { connection: id, result });
                };
                wait.start(&server.engine, Box::new(done));
            }
        }
    }

    /// A command waits that others will have run again, at the latest when the time has passed.
    #[cold]
    fn begin_waiting(&mut self, id: ConnectionId, time: Option<Duration>) {
        let Some(connection) = &mut self.connections[id.index] else { return };
        let timer = time.and_then(|time| self.timers.add(time, id));
        connection.input.compact(&mut self.pool);
        connection.begin_waiting(timer);
    }

    /// Those that are ready are going to be served: first one that was put off, then those that
    /// have just become ready, which mostly want little, and in the end the others that were put
    /// off.
    #[inline]
    pub(crate) fn begin_serving(&mut self) {
        std::mem::swap(&mut self.serving, &mut self.ready);
        let put_off = std::mem::take(&mut self.put_off).min(self.serving.len());
        if put_off > 1 {
            self.serving[1..].rotate_left(put_off - 1);
        }
        self.held_count = 0;
    }

    /// Where the one behind this connection stands among those that are served.
    #[cold]
    pub(crate) fn behind(&self, index: usize) -> usize {
        self.serving.iter().position(|&other| other == index).map_or(0, |at| at + 1)
    }

    /// Those that were served are ready again if they have more to do, behind those that were put
    /// off, from this place on.
    pub(crate) fn end_serving(&mut self, first_put_off: usize) {
        let mut served = std::mem::take(&mut self.serving);
        self.touched.extend_from_slice(&served);
        let has_put_off = first_put_off < served.len();
        if has_put_off {
            served.rotate_left(first_put_off);
        }
        served.retain(|&index| {
            let Some(connection) = &mut self.connections[index] else { return false };
            connection.scheduled = connection.has_more();
            if connection.scheduled && connection.comes_later() {
                self.later.add_unfinished(index);
                return false;
            }
            connection.scheduled
        });
        self.put_off = if has_put_off { served.len() } else { 0 };
        // Nearly always nobody has become ready meanwhile, and the lists change places.
        served.append(&mut self.ready);
        self.serving = std::mem::replace(&mut self.ready, served);
    }

    fn timeout(&self, turn: &Turn) -> Duration {
        let has_work = self.has_ready() || !self.behind.is_empty() || self.care_from.is_some();
        if has_work || turn.worker.has_subscriptions_to_end() {
            return Duration::ZERO;
        }
        let limit = match (self.stopping.is_some(), self.crowded.is_empty()) {
            (_, false) => ROOM_EVERY,
            (true, true) => Duration::from_millis(50),
            (false, true) => CARE_EVERY,
        };
        self.timers.next().map_or(limit, |next| next.min(limit))
    }

    /// An event for a connection.
    #[inline]
    fn note(&mut self, index: usize, event: &mio::event::Event) {
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        if event.is_writable() {
            connection.unblock();
        }
        if event.is_read_closed() {
            connection.peer_closed = true;
            connection.end_if_abandoned();
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            connection.readable = true;
        }
        self.schedule(index);
    }

    #[inline]
    fn schedule(&mut self, index: usize) {
        if let Some(connection) = &mut self.connections[index]
            && !connection.scheduled
        {
            connection.scheduled = true;
            if connection.is_new {
                self.later.add_newcomer(index);
            } else if connection.comes_later() {
                self.later.add_unfinished(index);
            } else {
                self.ready.push(index);
            }
        }
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty() || self.has_later()
    }

    fn read_mail(&mut self, turn: &mut Turn) {
        for message in self.mailbox.take() {
            match message {
                Message::Connection(new) => self.later.add_arrival(new),
                Message::WaitOver { connection, result } => self.resume(turn, connection, result),
                Message::LogMoved => {
                    self.resume_with_log(turn);
                    for index in self.take_gated() {
                        self.schedule(index);
                    }
                }
                Message::RunAgain(id) => self.run_again(turn, id),
                Message::Served { connection, served } => self.answer(turn, connection, served),
                Message::Deliveries(deliveries) => self.deliver(&deliveries),
                Message::Sweep => self.sweep(turn),
                Message::Stop => self.begin_stop(),
            }
        }
    }

    /// A connection that has come is polled from now on, and its client known to others.
    fn adopt(&mut self, turn: &mut Turn, new: NewConnection) {
        let NewConnection { mut stream, mut wire, address, local_address, certificate_name } = new;
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        if let Err(error) = stream.register(self.poll.registry(), Token(index)) {
            report_unregistered(&error);
            self.mailbox.connections.fetch_sub(1, Ordering::Relaxed);
            self.vacant.push(index);
            return;
        }
        self.generation += 1;
        let connection = ConnectionId { index, generation: self.generation };
        let server = &turn.server;
        let front = wire.front();
        let is_of_front = front.name().is_some();
        let client = server.clients.add(NewClient {
            front: front.name(),
            address,
            local_address,
            fd: stream.fd(),
            now_ms: turn.worker.now_ms,
            wake: Box::new(ConnectionHandle { mailbox: Arc::clone(&self.mailbox), connection }),
        });
        let rights = server.access.rights_of_new_client(front.lets_in());
        let mut session = Session::new(client, rights);
        session.receive_at(Address { sink: self.sink, place: index as u32 });
        session.speak(front.protocol());
        session.take_certificate(certificate_name, &turn.worker.settings, &turn.server.access);
        let mut connection = Connection::new(stream, wire, self.generation, session);
        connection.share = is_of_front.then(|| Share::of(&self.held));
        self.connections[index] = Some(connection);
        let counters = &turn.worker.counters;
        let accepted =
            if is_of_front { &counters.connections_of_fronts } else { &counters.connections };
        accepted.add(1);
        self.schedule(index);
    }

    /// Writes messages of pub/sub to the outputs of those that they are for.
    fn deliver(&mut self, deliveries: &[Delivery]) {
        self.write_deliveries(deliveries);
        self.mailbox.delivered(deliveries);
    }

    fn write_deliveries(&mut self, deliveries: &[Delivery]) {
        for delivery in deliveries {
            for &Subscription { place, serial } in delivery.subscribers.iter() {
                let index = place as usize;
                if let Some(absent) = self.absent.as_mut().filter(|absent| absent.index == index) {
                    let subscribers = Arc::new(vec![Subscription { place, serial }]);
                    let (name, body) = (Arc::clone(&delivery.name), Arc::clone(&delivery.body));
                    let kind = delivery.kind;
                    absent.late.push(Delivery { kind, name, subscribers, body });
                    continue;
                }
                let Some(Some(connection)) = self.connections.get_mut(index) else { continue };
                if connection.is_ending() {
                    continue;
                }
                if connection.receive(delivery, serial) == Receipt::Written {
                    self.schedule(index);
                }
            }
        }
    }

    fn connection(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let connection = self.connections.get_mut(id.index)?.as_mut()?;
        (connection.generation == id.generation).then_some(connection)
    }

    /// What a parked connection waited for is over.
    fn resume(&mut self, turn: &mut Turn, id: ConnectionId, result: Result<(), CommandError>) {
        let Some(connection) = self.connection(id) else { return };
        let State::Parked(afterwards) = connection.state else { return };
        connection.state = State::Open;
        // A read that failed ends the command; what was read lets it run again.
        if afterwards == Afterwards::Reply || result.is_err() {
            self.finish_wait(turn, id, (afterwards, result));
        }
        self.schedule(id.index);
    }

    /// Answers a command that waited and does not run again.
    #[cold]
    fn finish_wait(
        &mut self,
        turn: &Turn,
        id: ConnectionId,
        ended: (Afterwards, Result<(), CommandError>),
    ) {
        let Some(connection) = &mut self.connections[id.index] else { return };
        let runs_again = ended.0 == Afterwards::RunAgain;
        let write = |session: &mut Session, output: &mut Output| {
            dispatch::finish_wait(&turn.worker, session, ended, output);
        };
        if runs_again {
            let limits = turn.limits(connection);
            connection.answer_first((&limits, turn.worker.now_ms), write);
        } else {
            connection.answer(turn.worker.now_ms, write);
        }
    }

    fn wake_sleepers(&mut self, turn: &mut Turn) {
        while let Some(id) = self.timers.pop_due() {
            self.resume(turn, id, Ok(()));
            self.run_again(turn, id);
        }
    }

    /// A command that waits for keys or for the end of a pause runs again, unless `CLIENT UNBLOCK`
    /// has ended it. If it does not wait any more, the news is old.
    fn run_again(&mut self, turn: &mut Turn, id: ConnectionId) {
        let Some(connection) = self.connection(id) else { return };
        match connection.state {
            State::Waiting if connection.session.take_command_back() => {}
            State::Leaving => return self.leave_queues(turn, id),
            _ => return,
        }
        let Some(Some(connection)) = self.connections.get_mut(id.index) else { return };
        if connection.gives_up() {
            return self.leave_queues(turn, id);
        }
        self.end_waiting(id);
        let Some(connection) = &mut self.connections[id.index] else { return };
        if connection.session.client.unblocking() == Some(Unblocking::WithError) {
            self.finish_wait(turn, id, (Afterwards::RunAgain, Err(CommandError::UNBLOCKED)));
            return self.leave_queues(turn, id);
        }
        self.schedule(id.index);
    }

    /// A client has said something while a standing command of its front waits: that is given up.
    /// If another thread has it, it answers, or has it run again.
    #[cold]
    pub(crate) fn interrupt(&mut self, turn: &Turn, index: usize) {
        let Some(connection) = &mut self.connections[index] else { return };
        let id = ConnectionId { index, generation: connection.generation };
        if connection.state == State::Waiting
            && connection.session.take_command_back()
            && connection.gives_up()
        {
            self.leave_queues(turn, id);
        }
    }

    /// A client that was told that it waits no more leaves the queues of its keys, if nobody holds
    /// them for long; else it tries again. Before it has, it runs nothing: it could wait for one of
    /// them again, and would leave that queue, too.
    #[cold]
    fn leave_queues(&mut self, turn: &Turn, id: ConnectionId) {
        let Some(connection) = self.connection(id) else { return };
        if connection.state != State::Closing {
            let (session, wait) = (&mut connection.session, turn.worker.lock_wait());
            let is_held = session.stop_waiting(&turn.server.engine, wait).is_err();
            self.end_waiting(id);
            if is_held {
                let timer = self.timers.add(HELD_PAUSE, id);
                if let Some(connection) = self.connection(id) {
                    connection.begin_leaving(timer);
                }
            }
        }
        self.schedule(id.index);
    }

    /// A command that waited for a key has been run by another client's thread.
    fn answer(&mut self, turn: &Turn, id: ConnectionId, served: Served) {
        let Some(connection) = self.connection(id) else { return };
        if connection.state != State::Waiting {
            // Its client goes.
            if let Some(front) = connection.wire.other() {
                front.miss(served.reply);
                self.schedule(id.index);
            }
            return;
        }
        self.end_waiting(id);
        let Some(connection) = &mut self.connections[id.index] else { return };
        let limits = turn.limits(connection);
        let now_ms = turn.worker.now_ms;
        connection.answer_first((&limits, now_ms), |session, output| {
            session.take_served(served, output);
        });
        self.schedule(id.index);
    }

    /// A connection's command does not wait any more.
    fn end_waiting(&mut self, id: ConnectionId) {
        let Some(connection) = &mut self.connections[id.index] else { return };
        if let Some(at) = connection.end_waiting() {
            self.timers.cancel(at, id);
        }
    }

    /// Closes what is dead, and has the log wake this thread if somebody waits for it.
    fn bury_and_watch(&mut self, turn: &mut Turn) {
        // The lists are taken and put back, rather than made again every turn.
        let mut touched = std::mem::take(&mut self.touched);
        touched.drain(..).for_each(|index| self.after_turn(turn, index));
        self.touched = touched;
        let waits = !self.waiting_for_room.is_empty() || !self.waiting_for_disk.is_empty();
        if self.gated.is_empty() && !waits {
            return;
        }
        if self.mailbox.wait_for_log() == Watch::GoesOn {
            return;
        }
        // The log may have moved before it was asked to wake. That it refuses is an answer, too.
        self.resume_with_log(turn);
        for index in self.take_gated() {
            turn.finish(self, index);
            self.after_turn(turn, index);
        }
    }

    /// Commands go on that the log has room for, or of which it has on disk what they wait for;
    /// that it refuses is an answer, too.
    fn resume_with_log(&mut self, turn: &mut Turn) {
        for (id, shards) in std::mem::take(&mut self.waiting_for_room) {
            match turn.server.engine.log().admit_all(shards) {
                Err(Refusal::Busy) => self.waiting_for_room.push((id, shards)),
                Ok(()) | Err(_) => self.resume(turn, id, Ok(())),
            }
        }
        for (id, mut gate) in std::mem::take(&mut self.waiting_for_disk) {
            if gate.poll(turn.server.engine.log()) != Fate::Pending {
                self.run_again(turn, id);
            } else if self.connection(id).is_some_and(|it| it.state == State::Waiting) {
                self.waiting_for_disk.insert(id, gate);
            }
        }
    }

    fn take_gated(&mut self) -> Vec<usize> {
        for &index in &self.gated {
            if let Some(connection) = &mut self.connections[index] {
                connection.listed_as_gated = false;
            }
        }
        std::mem::take(&mut self.gated)
    }

    fn after_turn(&mut self, turn: &mut Turn, index: usize) {
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        let is_killed = connection.is_to_go(&turn.server) && !connection.is_parting();
        if connection.state == State::Dead || is_killed {
            return self.bury(turn, index);
        }
        if connection.waits_for_log() && !connection.listed_as_gated {
            connection.listed_as_gated = true;
            self.gated.push(index);
        }
        // It may have waited for its client to read, and go on now. Or its client said something
        // just before its standing command began to wait, of which no poll will tell again. Or it
        // goes on sending what is dropped.
        if connection.has_more() || connection.listens() || connection.has_more_to_drop() {
            self.schedule(index);
        }
    }

    fn bury(&mut self, turn: &mut Turn, index: usize) {
        let Some(connection) = &mut self.connections[index] else { return };
        if connection.is_parting() {
            if connection.state != State::Dead {
                return; // Its last commands run.
            }
        } else {
            connection.stream.deregister(self.poll.registry());
            connection.session.close(&turn.server.engine, turn.worker.lock_wait());
            if connection.begin_parting() {
                return self.see_off(turn, index);
            }
        }
        self.remove(turn, index);
    }

    /// A client has gone for which commands are to be run: it is seen by nobody any more, but keeps
    /// its place until they are done.
    #[cold]
    fn see_off(&mut self, turn: &mut Turn, index: usize) {
        let Some(connection) = &mut self.connections[index] else { return };
        let id = ConnectionId { index, generation: connection.generation };
        if let Some(at) = connection.timer.take() {
            self.timers.cancel(at, id);
        }
        turn.server.part_with(&mut connection.session, turn.worker.lock_wait());
        turn.worker.end_subscriptions(&mut connection.session);
        self.schedule(index);
    }

    fn remove(&mut self, turn: &mut Turn, index: usize) {
        let Some(mut connection) = self.connections[index].take() else { return };
        connection.input.end(&mut self.pool);
        if let Some(at) = connection.timer {
            let id = ConnectionId { index, generation: connection.generation };
            self.timers.cancel(at, id);
        }
        turn.server.pauses.forget(&connection.session.client);
        turn.server.part_with(&mut connection.session, turn.worker.lock_wait());
        turn.worker.counters.connections_closed.add(1);
        turn.worker.end_subscriptions(&mut connection.session);
        self.mailbox.connections.fetch_sub(1, Ordering::Relaxed);
        if connection.scheduled {
            self.ready.retain(|&ready| ready != index);
            self.later.forget(index);
        }
        if connection.listed_as_gated {
            self.gated.retain(|&gated| gated != index);
        }
        self.vacant.push(index);
    }

    fn sweep(&mut self, turn: &mut Turn) {
        for index in 0..self.connections.len() {
            if let Some(connection) = &mut self.connections[index]
                && connection.is_to_go(&turn.server)
            {
                self.bury(turn, index);
            }
        }
    }

    fn begin_stop(&mut self) {
        self.stopping = Some(self.clock.now());
        self.turn_arrivals_away();
        for index in 0..self.connections.len() {
            if let Some(connection) = &mut self.connections[index] {
                connection.begin_stop();
                self.schedule(index);
            }
        }
    }

    fn has_stopped(&self) -> bool {
        self.stopping.is_some_and(|since| {
            self.connections.iter().all(Option::is_none) || self.clock.since(since) > DRAIN_MAX
        })
    }
}

/// A thread without a poll serves nobody, and its clients would wait for ever. What was
/// acknowledged is in the journal, as after any crash.
#[cold]
fn crash_without_poll(error: &io::Error) -> ! {
    tracing::error!(%error, "polling sockets failed: the server cannot go on");
    std::process::abort();
}

#[cold]
fn report_unregistered(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be registered");
}
