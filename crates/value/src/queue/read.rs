//! What can be seen of a queue without changing it: as if time had done its work.

use super::entry::Entry;
use super::id::{LANES, LaneNumber, MessageId, Token};
use super::native::{Native, Queue};
use super::settings::Settings;
use super::settle::{Came, SETTLED_MAX};
use super::state::State;
use super::totals::Totals;

/// Messages that have come due and that counting looks at, at most: about 5 ms.
const COUNTED_DUE_MAX: usize = 16_384;

/// How many messages there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Ready ones by lane.
    pub ready: [u64; LANES],
    /// Those that are held back.
    pub delayed: u64,
    /// Those that consumers hold.
    pub leased: u64,
    /// Dead ones.
    pub dead: u64,
}

impl Counts {
    /// All that are ready.
    pub fn all_ready(&self) -> u64 {
        self.ready.iter().sum()
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        self.all_ready() + self.delayed + self.leased + self.dead
    }

    fn of(&mut self, state: State, lane: LaneNumber) -> &mut u64 {
        match state {
            State::Ready => &mut self.ready[lane.index()],
            State::Delayed => &mut self.delayed,
            State::Leased => &mut self.leased,
            State::Dead => &mut self.dead,
        }
    }
}

/// A message, looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// Which it is.
    pub id: MessageId,
    /// Its state.
    pub state: State,
    /// What it says.
    pub body: &'a [u8],
    /// When it was put, unix milliseconds.
    pub put_ms: u64,
    /// When it expires, all ones for never.
    pub expire_ms: u64,
    /// How often it was delivered.
    pub deliveries: u64,
    /// When its lease or its delay ends, 0 if it has neither.
    pub until_ms: u64,
    /// How often it had been delivered when it was revived.
    pub forgiven: u64,
    /// When it was delivered last, 0 if it never was: its token has this stamp.
    pub stamp: u64,
    /// The name of the consumer that got it last.
    pub worker: &'a [u8],
}

/// Which messages are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Peek {
    /// Of this state.
    pub state: State,
    /// From this one on, in the order in which they are shown.
    pub from: Option<MessageId>,
    /// At most as many.
    pub count: usize,
}

impl Queue {
    /// Its settings.
    #[inline]
    pub fn settings(&self) -> &Settings {
        &self.native().settings
    }

    /// What has happened to its messages.
    pub fn totals(&self) -> &Totals {
        &self.native().totals
    }

    /// The sequence of the next message of a lane.
    pub fn next_sequence(&self, lane: LaneNumber) -> u64 {
        self.native().lane(lane).next
    }

    /// Bytes of all bodies.
    pub fn body_bytes(&self) -> u64 {
        self.native().body_bytes
    }

    /// How many messages are known by a name.
    pub fn known_names(&self) -> usize {
        self.native().known.len()
    }

    /// How many messages there are at this time. Of more than `COUNTED_DUE_MAX` that have come
    /// due, the others count as what they were.
    pub fn counts(&self, now_ms: u64) -> Counts {
        self.native().counts(now_ms, COUNTED_DUE_MAX)
    }

    /// Whether a consumer would get something at this time.
    #[inline]
    pub fn has_ready(&self, now_ms: u64) -> bool {
        let native = self.native();
        if native.settings.paused.stops_gets() {
            return false;
        }
        let inflight_max = native.settings.inflight_max;
        if native.next_ms() > native.time(now_ms) {
            return native.ready_lanes != 0 && (inflight_max == 0 || native.leased < inflight_max);
        }
        // What a delivery settles first.
        let counts = native.counts(now_ms, SETTLED_MAX);
        counts.all_ready() > 0 && (inflight_max == 0 || counts.leased < inflight_max)
    }

    /// How many messages there are, and when the first ready one was put, as of the last time that
    /// the queue knows of: looks at no message but the first of each lane.
    pub fn counts_settled(&self) -> (Counts, Option<u64>) {
        let native = self.native();
        let put_ms = |lane| {
            let id = MessageId::new(lane, native.lane(lane).first_ready()?)?;
            native.record(id).map(|record| record.put_ms)
        };
        let oldest_ms = LaneNumber::by_precedence().filter_map(put_ms).min();
        (native.counts(0, 0), oldest_ms)
    }

    /// Whether a message is there at this time.
    pub fn has(&self, id: MessageId, now_ms: u64) -> bool {
        let native = self.native();
        native.message_at(id, native.time(now_ms)).is_some()
    }

    /// When the lease of the delivery ends that a token stands for, 0 if it is over.
    pub fn held_until_ms(&self, token: Token, now_ms: u64) -> u64 {
        let native = self.native();
        let message = native.message_at(token.id, native.time(now_ms));
        let is_held = |it: &Message<'_>| it.state == State::Leased && it.stamp == token.stamp;
        message.filter(is_held).map_or(0, |message| message.until_ms)
    }

    /// When the ready message was put that has been in the queue for longest. Of more than
    /// `COUNTED_DUE_MAX` messages that have come due, the others are what they were.
    pub fn oldest_ready_ms(&self, now_ms: u64) -> Option<u64> {
        let native = self.native();
        let now_ms = native.time(now_ms);
        // By lane the first of those that time has made ready.
        let mut returned = [None; LANES];
        for id in native.due_by(now_ms).take(COUNTED_DUE_MAX) {
            if let Came::To(State::Ready) = native.state_when_due(id, now_ms) {
                let first: &mut Option<MessageId> = &mut returned[id.lane().index()];
                *first = Some(first.map_or(id, |first| first.min(id)));
            }
        }
        let put_ms = |id| native.record(id).map(|record| record.put_ms);
        let oldest_of = |lane: LaneNumber| {
            let firsts = [returned[lane.index()], native.first_returned(lane, now_ms)];
            let firsts = firsts.into_iter().chain([native.first_fresh(lane, now_ms)]);
            firsts.flatten().filter_map(put_ms).min()
        };
        LaneNumber::by_precedence().filter_map(oldest_of).min()
    }

    /// Shows messages of a state: by precedence of their lanes, in a lane in the order of puts.
    pub fn peek(&self, peek: &Peek, now_ms: u64, visit: &mut dyn FnMut(Message<'_>)) {
        let mut left = peek.count;
        if left == 0 {
            return;
        }
        let begin = peek.from.map_or(LANES as u8 - 1, |from| from.lane().number());
        for lane in LaneNumber::by_precedence().filter(|lane| lane.number() <= begin) {
            let goes_on = self.peek_lane(peek, lane, now_ms, &mut |message| {
                visit(message);
                left -= 1;
                left > 0
            });
            if !goes_on {
                return;
            }
        }
    }

    /// Shows those of a lane until `visit` has had enough, and returns false then.
    fn peek_lane(
        &self,
        peek: &Peek,
        lane: LaneNumber,
        now_ms: u64,
        visit: &mut dyn FnMut(Message<'_>) -> bool,
    ) -> bool {
        let native = self.native();
        let now_ms = native.time(now_ms);
        let first = MessageId::first_of(lane);
        let from = peek.from.filter(|from| from.lane() == lane).unwrap_or(first);
        let mut show = |id: MessageId| {
            let message = native.message_at(id, now_ms);
            message.filter(|message| message.state == peek.state).is_none_or(&mut *visit)
        };
        if peek.state == State::Ready {
            let mut records = native.lane(lane).records_from(from.sequence());
            records.all(|(sequence, _)| MessageId::new(lane, sequence).is_none_or(&mut show))
        } else {
            let mut entries = native.lane(lane).entries_from(from.sequence());
            entries.all(|(sequence, _)| MessageId::new(lane, sequence).is_none_or(&mut show))
        }
    }

    /// Shows which workers hold messages, a call a message.
    pub fn visit_leases(&self, now_ms: u64, visit: &mut dyn FnMut(&[u8])) {
        let native = self.native();
        let now_ms = native.time(now_ms);
        let is_leased = |entry: &&Entry| entry.state == State::Leased && entry.until_ms > now_ms;
        for entry in native.entries().map(|(_, entry)| entry).filter(is_leased) {
            visit(native.workers.name(entry.worker));
        }
    }
}

impl Native {
    /// The messages that have come due, in the order in which they did.
    fn due_by(&self, now_ms: u64) -> impl Iterator<Item = MessageId> {
        self.due.iter().take_while(move |(due_ms, _)| *due_ms <= now_ms).map(|(_, id)| id)
    }

    /// The first message of a lane that is ready, was so before, and has not expired.
    fn first_returned(&self, lane: LaneNumber, now_ms: u64) -> Option<MessageId> {
        self.first_that_stays(lane, self.lane(lane).returned.iter().copied(), now_ms)
    }

    /// The first message of a lane that is fresh and has not expired.
    fn first_fresh(&self, lane: LaneNumber, now_ms: u64) -> Option<MessageId> {
        let fresh = self.lane(lane).fresh().map(|(sequence, _)| sequence);
        self.first_that_stays(lane, fresh, now_ms)
    }

    /// The first of these ready messages that has not expired.
    fn first_that_stays(
        &self,
        lane: LaneNumber,
        sequences: impl Iterator<Item = u64>,
        now_ms: u64,
    ) -> Option<MessageId> {
        let stays = |id| self.record(id).is_some_and(|record| record.expire_ms() > now_ms);
        let mut ids = sequences.filter_map(|sequence| MessageId::new(lane, sequence)).zip(0..);
        let found = ids.find(|&(id, passed)| passed >= COUNTED_DUE_MAX || stays(id));
        found.map(|(id, _)| id)
    }

    /// The counts of [`Queue::counts`], that many messages being settled.
    fn counts(&self, now_ms: u64, max: usize) -> Counts {
        let now_ms = self.time(now_ms);
        let Native { delayed, leased, dead, .. } = *self;
        let mut counts = Counts { delayed, leased, dead, ..Counts::default() };
        for (count, lane) in counts.ready.iter_mut().zip(&self.lanes) {
            *count = lane.ready();
        }
        for id in self.due_by(now_ms).take(max) {
            let was = self.entry(id).map_or(State::Ready, |entry| entry.state);
            let count = counts.of(was, id.lane());
            *count = count.saturating_sub(1);
            if let Came::To(state) = self.state_when_due(id, now_ms) {
                *counts.of(state, id.lane()) += 1;
            }
        }
        counts
    }

    /// A message at this time, unless it has expired.
    fn message_at(&self, id: MessageId, now_ms: u64) -> Option<Message<'_>> {
        let (record, entry) = self.message(id)?;
        let expire_ms = record.expire_ms();
        let due_ms = entry.map_or(expire_ms, |entry| entry.due_ms(expire_ms));
        let was = entry.map_or(State::Ready, |entry| entry.state);
        let state = if due_ms > now_ms {
            was
        } else {
            match self.state_when_due(id, now_ms) {
                Came::To(state) => state,
                Came::Expired => return None,
            }
        };
        let is_timed = matches!(state, State::Delayed | State::Leased);
        Some(Message {
            id,
            state,
            body: record.body,
            put_ms: record.put_ms,
            expire_ms: if state == State::Dead { u64::MAX } else { expire_ms },
            deliveries: entry.map_or(0, |entry| entry.deliveries.into()),
            until_ms: entry.filter(|_| is_timed).map_or(0, |entry| entry.until_ms),
            forgiven: entry.map_or(0, |entry| entry.forgiven.into()),
            stamp: entry.map_or(0, |entry| entry.stamp),
            worker: entry.map_or(b"", |entry| self.workers.name(entry.worker)),
        })
    }
}
