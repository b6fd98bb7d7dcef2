//! HOT PATH
//! One client's connection.

mod linger;

use crate::buffers::{BUFFER_BYTES, BufferPool};
use crate::front::{Beat, Next};
use crate::input::{Input, READ_BYTES};
use crate::share::Share;
use crate::stream::Stream;
use crate::wire::Wire;
use basalt_config::OutputLimit;
use basalt_dispatch::{Ended, Then};
use basalt_engine::{CommitLog, Fate, Gate};
use basalt_env::{Clock, Instant};
use basalt_pubsub::Serial;
use basalt_resp::{Output, RequestLimits};
use basalt_service::error::CommandError;
use basalt_service::push::{Delivery, Receipt};
use basalt_service::server::Server;
use basalt_service::session::Session;
use basalt_service::wait::Afterwards;
use basalt_tls::ReadBytes;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Slices that one write takes.
const SLICES_MAX: usize = 64;
/// Bytes that a client may be owed before its further requests wait for it to read. Several clients
/// that do not read are each owed that much and one reply.
pub(crate) const OWED_BYTES_PAUSE: usize = 16 << 20;

/// Bytes that the client of a front may be owed before its further requests wait: such clients wait
/// for the answer to a request before they send the next one, or send few ahead.
const OWED_BYTES_PAUSE_OF_FRONTS: usize = 256 << 10;

/// Bytes that one read takes. What a front makes of them holds up other clients.
const READ_BYTES_MAX: usize = 256 << 10;

/// Bytes that a client may be owed when a standing command of its front runs: what it is to be told
/// next waits until it has taken what it was told before.
const OWED_BYTES_STANDING: usize = 64 << 10;

/// How long a request waits for room that others take, at a time.
const CROWDED_MAX: Duration = Duration::from_secs(5);

/// How long a connection that ends waits for its client to take the last replies.
const CLOSING_MAX: Duration = Duration::from_secs(10);

/// One client's connection.
pub(crate) struct Connection {
    pub(crate) stream: Stream,
    pub(crate) generation: u64,
    pub(crate) session: Session,
    /// How its requests and replies look.
    pub(crate) wire: Wire,
    pub(crate) input: Input,
    /// Of what all clients of fronts hold, if it has one.
    pub(crate) share: Option<Share>,
    /// Replies of this turn.
    pub(crate) output: Output,
    /// Replies of earlier turns that wait for the log or for the client, oldest first.
    owed: VecDeque<(Output, Gate)>,
    /// Bytes of `owed` that are not sent.
    owed_earlier_bytes: usize,
    pub(crate) state: State,
    /// When it is woken if nothing wakes it before.
    pub(crate) timer: Option<Instant>,
    /// There may be something to read, or its front may have a command to run.
    pub(crate) readable: bool,
    /// Nothing has been read yet.
    pub(crate) is_new: bool,
    /// The client has ended its side: what it has sent is followed by the end.
    pub(crate) peer_closed: bool,
    /// It is in the list of connections whose replies wait for the log.
    pub(crate) listed_as_gated: bool,
    /// The socket takes no more until it says so.
    blocked: bool,
    /// It is in the list of connections to be looked at in this turn.
    pub(crate) scheduled: bool,
    /// Since when it owes more than its soft limit.
    over_soft_limit_since: Option<Instant>,
    /// Nothing is read, for there is no room for the rest of the request that its client has begun.
    pub(crate) is_crowded: bool,
    /// When that was first so for this request.
    crowded_since: Option<Instant>,
    /// When it was first seen closing, or lingering.
    closing_since: Option<Instant>,
    /// What its client still sends may be waited for when everything owed is sent.
    may_linger: bool,
    /// Its client has gone, and commands run for which nobody waits.
    is_parting: bool,
}

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Reading and running requests.
    Open,
    /// A command waits; nothing is read or run until it is over.
    Parked(Afterwards),
    /// A command waits, for keys or for the end of a pause, and runs again whenever it is woken.
    Waiting,
    /// A command that waited for keys has been answered, but could not leave their queues, because
    /// somebody holds them for long. It does not run again; nothing else runs before it has left.
    Leaving,
    /// Nothing is read any more; it closes when everything owed is sent.
    Closing,
    /// Everything owed is sent, and our side has ended. What its client still sends is dropped, but
    /// no more bytes than that.
    Lingering { bytes_left: usize },
    /// It is to be closed now.
    Dead,
}

/// Whether there is room for a request that has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    /// There is.
    Taken,
    /// Nothing is read before there is.
    NotYet,
    /// There is none, and it is not waited for.
    None,
}

/// What a read found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadOutcome {
    Bytes(usize),
    Nothing,
    Closed,
}

impl Connection {
    pub(crate) fn new(stream: Stream, wire: Wire, generation: u64, session: Session) -> Connection {
        Connection {
            stream,
            generation,
            session,
            wire,
            input: Input::default(),
            share: None,
            output: Output::new(),
            owed: VecDeque::new(),
            owed_earlier_bytes: 0,
            state: State::Open,
            timer: None,
            readable: true,
            is_new: true,
            peer_closed: false,
            listed_as_gated: false,
            blocked: false,
            scheduled: false,
            over_soft_limit_since: None,
            is_crowded: false,
            crowded_since: None,
            closing_since: None,
            may_linger: true,
            is_parting: false,
        }
    }

    /// Reads what the socket has, at most what fits.
    pub(crate) fn read(&mut self, pool: &mut BufferPool) -> ReadOutcome {
        loop {
            let most = match self.share {
                None => READ_BYTES_MAX,
                Some(_) => READ_BYTES,
            };
            let room = self.input.room(most, pool);
            match self.stream.read(room) {
                Ok(ReadBytes { count: 0, .. }) => return ReadOutcome::Closed,
                Ok(ReadBytes { count, drained }) => {
                    self.input.fill(count);
                    self.is_new = false;
                    // The news of the client's end may have come together with its last bytes, and
                    // comes only once.
                    self.readable = !drained || self.peer_closed;
                    return ReadOutcome::Bytes(count);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.readable = false;
                    return ReadOutcome::Nothing;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return ReadOutcome::Closed,
            }
        }
    }

    /// Sends what may go; returns the bytes sent. The replies of this turn join those that wait if
    /// the log has not acknowledged what they tell, or if others wait already.
    pub(crate) fn flush(&mut self, log: &dyn CommitLog) -> usize {
        let gate = &mut self.session.gate;
        let gated = !gate.is_open() && gate.poll(log) != Fate::Acknowledged;
        if !self.output.is_empty() && (gated || !self.owed.is_empty()) {
            let output = std::mem::take(&mut self.output);
            self.owed_earlier_bytes += output.len();
            self.session.unacknowledged.poll(log);
            self.session.unacknowledged.merge(&self.session.gate);
            self.owed.push_back((output, self.session.gate.take()));
        }
        let mut sent = 0;
        while !self.blocked
            && let Some((output, gate)) = self.owed.front_mut()
        {
            match if gate.is_open() { Fate::Acknowledged } else { gate.poll(log) } {
                Fate::Acknowledged => {}
                Fate::Pending => break,
                fate @ (Fate::Lost | Fate::Unknown) => {
                    self.take_back(fate);
                    break;
                }
            }
            match send(&mut self.stream, output) {
                Ok((bytes, blocked)) => {
                    sent += bytes;
                    self.owed_earlier_bytes -= bytes;
                    self.blocked = blocked;
                }
                Err(_) => self.state = State::Dead,
            }
            if self.state == State::Dead || !output.is_empty() {
                break;
            }
            // The next replies go where these were, rather than into new memory.
            if let Some((emptied, _)) = self.owed.pop_front()
                && self.output.is_empty()
            {
                self.output = emptied;
            }
        }
        if self.owed.is_empty() && !self.blocked && !self.output.is_empty() {
            match send(&mut self.stream, &mut self.output) {
                Ok((bytes, blocked)) => {
                    sent += bytes;
                    self.blocked = blocked;
                }
                Err(_) => self.state = State::Dead,
            }
        }
        if self.state == State::Closing && !self.owes() {
            self.state = self.after_last_reply();
        }
        sent
    }

    /// The log will not acknowledge what the replies tell that wait for it. In their place, and of
    /// all behind them, the client gets one error, and then the end: it cannot be told which of its
    /// requests the error is for.
    #[cold]
    fn take_back(&mut self, fate: Fate) {
        self.owed.clear();
        self.owed_earlier_bytes = 0;
        self.output = Output::new();
        self.stream.forget_accepted();
        self.session.gate = Gate::default();
        if let Some(error) = CommandError::of_outcome(fate) {
            self.wire.front().dismiss(error.text(), &mut self.output);
        }
        if self.state != State::Dead {
            self.state = State::Closing;
        }
    }

    /// The socket takes bytes again.
    pub(crate) fn unblock(&mut self) {
        self.blocked = false;
    }

    /// A command waits for something that may never come: the client's end is not waited for.
    pub(crate) fn begin_waiting(&mut self, timer: Option<Instant>) {
        self.state = State::Waiting;
        self.timer = timer;
        self.session.client.parked.store(true, Ordering::Relaxed);
        self.end_if_abandoned();
    }

    /// Its first request has waited for what was held, and has not run since; nothing else is to be
    /// done before it runs.
    pub(crate) fn has_waited_for_held(&self) -> bool {
        let waits_on = self.state == State::Open && self.session.held_since.is_some();
        waits_on && !self.owes() && !self.peer_closed
    }

    /// A command has been answered, and tries again to leave the queues when the time has passed.
    pub(crate) fn begin_leaving(&mut self, timer: Option<Instant>) {
        self.state = State::Leaving;
        self.timer = timer;
        self.end_if_abandoned();
    }

    /// Its wait is over: returns the timer that is to be cancelled.
    pub(crate) fn end_waiting(&mut self) -> Option<Instant> {
        self.state = State::Open;
        self.session.client.parked.store(false, Ordering::Relaxed);
        self.timer.take()
    }

    /// Nobody waits for the answer any more: closes when what came before has been sent.
    #[cold]
    pub(crate) fn end_if_abandoned(&mut self) {
        if matches!(self.state, State::Waiting | State::Leaving) && self.peer_closed {
            self.state = State::Closing;
        }
    }

    /// Something is still to be sent.
    pub(crate) fn owes(&self) -> bool {
        !self.owed.is_empty() || !self.output.is_empty()
    }

    /// Something waits for the log.
    pub(crate) fn waits_for_log(&self) -> bool {
        self.owed.front().is_some_and(|(_, gate)| !gate.is_open())
    }

    /// Bytes that are still to be sent.
    pub(crate) fn owed_bytes(&self) -> usize {
        self.output.len() + self.owed_earlier_bytes
    }

    /// Bytes of earlier turns that are still to be sent.
    #[inline(always)]
    pub(crate) fn owed_earlier_bytes(&self) -> usize {
        self.owed_earlier_bytes
    }

    /// The client is owed more than it may be: nothing more is sent to it.
    #[cold]
    pub(crate) fn abandon_output(&mut self) {
        self.state = State::Dead;
        self.output = Output::new();
        self.owed.clear();
        self.owed_earlier_bytes = 0;
    }

    /// Bytes of memory that its replies take.
    fn output_memory_bytes(&self) -> usize {
        let earlier = self.owed.iter().map(|(output, _)| output.memory_bytes_held());
        self.output.memory_bytes_held() + earlier.sum::<usize>()
    }

    /// Whether the client owes us its reading for too long or too much.
    pub(crate) fn is_over(&mut self, limit: OutputLimit, clock: &dyn Clock) -> bool {
        let owed = self.owed_bytes() as u64;
        if limit.hard_bytes != 0 && owed > limit.hard_bytes {
            return true;
        }
        if limit.soft_bytes == 0 || owed <= limit.soft_bytes {
            self.over_soft_limit_since = None;
            return false;
        }
        let now = clock.now();
        (now - *self.over_soft_limit_since.get_or_insert(now)).as_secs() >= limit.soft_s
    }

    /// Whether it has been closing for longer than [`CLOSING_MAX`], because its client does not
    /// take what it is owed, or has lingered for as long as it may. What waits for the log is not
    /// the client's fault.
    pub(crate) fn closes_for_too_long(&mut self, now: Instant) -> bool {
        let max = match self.state {
            State::Closing if !self.waits_for_log() => CLOSING_MAX,
            State::Lingering { .. } => self.linger_time_max(),
            _ => return false,
        };
        let since = *self.closing_since.get_or_insert(now);
        now - since >= max
    }

    /// For how long its client may be silent, with this `timeout` for all, 0 for none.
    pub(crate) fn idle_max_ms(&mut self, timeout_ms: u64) -> u64 {
        let own = self.wire.other().and_then(|front| front.idle_max());
        let own_ms = own.map_or(u64::MAX, |max| max.as_millis() as u64);
        if timeout_ms == 0 { own_ms } else { own_ms.min(timeout_ms) }
    }

    /// Refuses the request that its client is sending if that takes too long; returns true if so.
    pub(crate) fn refuses_late_request(&mut self, now: Instant) -> bool {
        let unparsed = self.input.pending();
        if self.state != State::Open || self.input.is_parsable() || self.is_crowded() {
            return false;
        }
        let Some(front) = self.wire.other() else { return false };
        if !front.is_late(now, unparsed) {
            return false;
        }
        front.refuse(&mut self.output);
        self.state = State::Closing;
        true
    }

    /// Its client may take what a standing command says.
    #[inline]
    pub(crate) fn may_be_told(&self) -> bool {
        self.owed_bytes() <= OWED_BYTES_STANDING
    }

    /// What its client says is heard though a command waits.
    pub(crate) fn listens(&mut self) -> bool {
        self.state == State::Waiting
            && self.readable
            && self.wire.other().is_some_and(|front| front.listens())
    }

    /// Takes back the standing command that waits, if its client has said something meanwhile.
    #[cold]
    pub(crate) fn gives_up(&mut self) -> bool {
        let Connection { wire, input, .. } = self;
        wire.other().is_some_and(|front| front.give_up(input))
    }

    /// Has its front do what is due; returns true if something is to be sent.
    pub(crate) fn beat(&mut self, now: Instant) -> bool {
        if !matches!(self.state, State::Open | State::Waiting) || self.is_parting {
            return false;
        }
        let owed_bytes = self.owed_bytes();
        let beat = self.wire.other().map(|front| front.beat(now, owed_bytes, &mut self.output));
        if beat == Some(Beat::Closes) {
            self.state = State::Closing;
        }
        let stands = self.state == State::Open && self.wire.front().stands();
        stands || matches!(beat, Some(Beat::Wrote | Beat::Closes))
    }

    /// The server stops: nothing more is read, and what is owed is sent.
    pub(crate) fn begin_stop(&mut self) {
        if self.is_parting {
            return;
        }
        if matches!(self.state, State::Open | State::Waiting)
            && let Some(front) = self.wire.other()
        {
            front.say_goodbye(&mut self.output);
        }
        self.close_without_lingering();
    }

    /// It was killed before its client went: what the client says after the killer has its answer
    /// is not run.
    #[inline]
    pub(crate) fn is_killed(&self) -> bool {
        self.session.client.is_killed() && !self.is_parting
    }

    /// Whether it is to be closed: it was killed, or its user has lost a right to what it has
    /// subscribed to.
    pub(crate) fn is_to_go(&mut self, server: &Server) -> bool {
        self.session.client.is_killed() || self.session.has_lost_channels(&server.access)
    }

    /// Its client has gone, and it may still have commands to run.
    pub(crate) fn is_parting(&self) -> bool {
        self.is_parting
    }

    /// Its client has gone: returns true if commands are to be run for which nobody waits. The
    /// client has left all queues.
    pub(crate) fn begin_parting(&mut self) -> bool {
        if self.wire.other().is_none() {
            return false;
        }
        self.rewind();
        let Connection { wire, input, .. } = self;
        self.is_parting = wire.other().is_some_and(|front| front.part(input));
        if self.is_parting {
            self.stream = Stream::Closed;
            (self.output, self.owed_earlier_bytes) = (Output::new(), 0);
            self.owed.clear();
            self.blocked = false;
            self.state = State::Open;
        }
        self.is_parting
    }

    /// Nothing of it is to be parsed or run now.
    pub(crate) fn is_idle(&self) -> bool {
        self.state != State::Open || self.owed_bytes() > self.owed_bytes_max() || self.is_crowded
    }

    /// Bytes that its client may be owed before its further requests wait for it to read.
    #[inline]
    pub(crate) fn owed_bytes_max(&self) -> usize {
        match &self.share {
            None => OWED_BYTES_PAUSE,
            Some(share) if share.is_owed_too_much() => 0,
            Some(_) => OWED_BYTES_PAUSE_OF_FRONTS,
        }
    }

    /// Takes room for the rest of the request that its client has begun.
    pub(crate) fn take_room(&mut self, now: Instant) -> Room {
        let Some(share) = &mut self.share else { return Room::Taken };
        let Some(max) = self.wire.other().map(|front| front.unfinished_bytes_max()) else {
            return Room::Taken;
        };
        let own = self.input.bytes_cut();
        let is_taken = match own <= BUFFER_BYTES {
            true => share.take_loose(own, max),
            false => share.take_seat(own, self.input.end_wanted().saturating_sub(own), max),
        };
        share.set_waiting(!is_taken);
        if is_taken {
            (self.is_crowded, self.crowded_since) = (false, None);
            return Room::Taken;
        }
        self.is_crowded = true;
        let since = *self.crowded_since.get_or_insert(now);
        let has_begun_only = self.input.pending() <= BUFFER_BYTES;
        let is_beyond = has_begun_only && !share.fits_loose(self.input.memory_bytes(), max);
        let is_over = now - since > CROWDED_MAX || is_beyond;
        if is_over { Room::None } else { Room::NotYet }
    }

    /// It waits for room that others take.
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_crowded && self.state == State::Open
    }

    /// Ends its turn: notes what it holds, if it has a front. What has come of a request whose rest
    /// may be long in coming is kept in no more memory than it needs.
    #[inline]
    pub(crate) fn settle(&mut self, pool: &mut BufferPool) {
        let (owed_bytes, lingers) = (self.owed_bytes(), self.lingers());
        let Some(share) = &mut self.share else { return };
        if lingers {
            self.input.end(pool);
        }
        if self.input.wants_nothing() {
            self.crowded_since = None;
            if self.input.is_parsed() {
                share.leave_seat();
            }
        }
        if !self.readable && self.input.is_cut() {
            self.input.compact(pool);
        }
        let bytes = match self.is_crowded {
            // It is read no further.
            true => self.input.memory_bytes(),
            false => self.input.bytes_cut(),
        };
        share.set_input(bytes, self.input.end_wanted().saturating_sub(bytes));
        share.set_owed(owed_bytes);
    }

    /// There is something to read or to run, and nothing to wait for.
    pub(crate) fn has_more(&self) -> bool {
        (self.readable || self.input.is_parsable()) && !self.is_idle()
    }

    /// What there is to do begins with reading the rest of a request, or what is dropped, or it is
    /// the last: it comes behind what others have to do.
    #[inline]
    pub(crate) fn comes_later(&self) -> bool {
        !self.input.wants_nothing() || self.lingers() || self.peer_closed
    }

    /// There is something to be read and dropped.
    #[inline]
    pub(crate) fn has_more_to_drop(&self) -> bool {
        self.readable && self.lingers()
    }

    /// Its client is to hear nothing beside what it is owed.
    pub(crate) fn is_ending(&self) -> bool {
        matches!(self.state, State::Closing | State::Lingering { .. } | State::Dead)
    }

    /// Goes back to the first request that has not run.
    pub(crate) fn rewind(&mut self) {
        self.input.rewind();
        self.wire.front().rewind();
    }

    /// Answers the first request that has not run, and passes over it: it has run elsewhere, or
    /// will not run.
    pub(crate) fn answer_first(
        &mut self,
        (limits, now_ms): (&RequestLimits, u64),
        write: impl FnOnce(&mut Session, &mut Output),
    ) {
        self.rewind();
        let start = self.input.parsed();
        // Its front has to know which request the answer is for.
        let next = self.wire.front().next(&mut self.input, limits, &mut Vec::new());
        self.answer(now_ms, write);
        if let Next::Request { bytes } = next {
            self.input.pass_to(start + bytes);
            self.input.consume_to(start + bytes);
        }
        self.rewind();
    }

    /// Writes the answer to the next request that is to be answered, as the client's front has it.
    pub(crate) fn answer(&mut self, now_ms: u64, write: impl FnOnce(&mut Session, &mut Output)) {
        let front = self.wire.front();
        front.begin(&mut self.output, now_ms);
        write(&mut self.session, &mut self.output);
        if front.end(Ended::Answered, &mut self.output) == Then::Closes {
            self.state = State::Closing;
        }
    }

    /// Writes a message of pub/sub, if it is for a subscription that it has.
    #[inline]
    pub(crate) fn receive(&mut self, delivery: &Delivery, serial: Serial) -> Receipt {
        let Connection { session, wire, output, .. } = self;
        match wire {
            Wire::Resp(_) => session.receive(delivery, serial, output),
            Wire::Other(front) => {
                let mut message = Output::new();
                let receipt = session.receive(delivery, serial, &mut message);
                if receipt == Receipt::Written {
                    front.deliver(message, output);
                }
                receipt
            }
        }
    }

    /// What CLIENT LIST shows.
    pub(crate) fn publish(&self, now_ms: u64) {
        let client = &self.session.client;
        client.active_ms.store(now_ms, Ordering::Relaxed);
        client.db.store(self.session.db, Ordering::Relaxed);
        client.query_bytes.store(self.input.pending() as u64, Ordering::Relaxed);
        client.query_memory_bytes.store(self.input.memory_bytes() as u64, Ordering::Relaxed);
        client.output_bytes.store(self.owed_bytes() as u64, Ordering::Relaxed);
        client.output_memory_bytes.store(self.output_memory_bytes() as u64, Ordering::Relaxed);
        client.outputs.store(self.owed.len() as u64, Ordering::Relaxed);
    }
}

/// Sends until everything is gone or the socket takes no more; returns the bytes sent and whether
/// it takes no more.
fn send(stream: &mut Stream, output: &mut Output) -> io::Result<(usize, bool)> {
    let mut sent = 0;
    while !output.is_empty() {
        let written = match output.one_piece() {
            Some(bytes) => stream.write(bytes),
            None => write_pieces(stream, output),
        };
        match written {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(bytes) => {
                output.advance(bytes);
                sent += bytes;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok((sent, true)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((sent, false))
}

/// Writes once what does not stand together.
#[inline(never)]
fn write_pieces(stream: &mut Stream, output: &Output) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); SLICES_MAX];
    let count = output.io_slices(&mut slices);
    stream.write_vectored(&slices[..count])
}

#[cfg(test)]
mod tests {
    use super::{Connection, ReadOutcome, State};
    use crate::buffers::BufferPool;
    use crate::stream::{Hoarding, Stream};
    use crate::wire::Wire;
    use basalt_env::Instant;
    use basalt_resp::{Output, Protocol, Reply};
    use basalt_service::access::Access;
    use basalt_service::clients::{Clients, NewClient, Wake};
    use basalt_service::hand_over::Served;
    use basalt_service::session::Session;

    #[derive(Debug)]
    struct Nobody;

    impl Wake for Nobody {
        fn sweep(&self) {}

        fn run_again(&self) {}

        fn serve(&self, _: Served) {}
    }

    fn connection(stream: Stream) -> Connection {
        let (address, local_address) = (String::from("peer"), String::from("here"));
        let wake = Box::new(Nobody);
        let fd = stream.fd();
        let new = NewClient { front: None, address, local_address, fd, now_ms: 0, wake };
        let rights = Access::default().rights_of_new_client(true);
        let session = Session::new(Clients::default().add(new), rights);
        Connection::new(stream, Wire::default(), 1, session)
    }

    /// Nothing but the stream itself can tell that it has more: the socket is empty, and its poll
    /// reports nothing.
    #[test]
    fn a_stream_that_holds_more_than_it_returned_is_read_again() {
        let mut connection = connection(Hoarding::stream(&[b"PING\r\n", b"PING", b"\r\n"]));
        let mut pool = BufferPool::default();
        let mut reads = Vec::new();
        while connection.readable {
            match connection.read(&mut pool) {
                ReadOutcome::Bytes(bytes) => reads.push(bytes),
                outcome => panic!("{outcome:?}"),
            }
        }
        assert_eq!(reads, [6, 4, 2]);
        assert_eq!(connection.input.bytes(), b"PING\r\nPING\r\n");
    }

    /// What has to be sent, and the client's end, would be forgotten with it.
    #[test]
    fn a_connection_waits_on_for_what_is_held_if_there_is_nothing_else_to_do() {
        let mut connection = connection(Hoarding::stream(&[]));
        assert!(!connection.has_waited_for_held());
        connection.session.held_since = Some(Instant::default());
        assert!(connection.has_waited_for_held());
        Reply::new(&mut connection.output, Protocol::Resp2).ok();
        assert!(!connection.has_waited_for_held());
        connection.output = Output::new();
        connection.peer_closed = true;
        assert!(!connection.has_waited_for_held());
    }

    #[test]
    fn nobody_lingers_when_the_server_stops() {
        for (before, after) in
            [(State::Open, State::Closing), (State::Lingering { bytes_left: 1 }, State::Dead)]
        {
            let mut connection = connection(Hoarding::stream(&[]));
            connection.state = before;
            connection.begin_stop();
            assert_eq!((connection.state, connection.may_linger), (after, false));
        }
    }
}
