//! HOT PATH
//! What producers, consumers and their operators do to a queue. Each writes what it does as an edit
//! and does what the edit says (`queue/edit.rs`), so that replay cannot do anything else.

use super::block::Record;
use super::edit;
use super::entry::{Entry, Known};
use super::id::{LaneNumber, MessageId, Token};
use super::ids::Ids;
use super::native::{Native, Queue};
use super::settings::{Full, Settings};
use super::settle::SETTLED_MAX;
use super::state::State;
use super::totals::Gone;
use crate::edits::Edits;

/// Messages that one delivery or one edit names at most: the queue is locked meanwhile.
pub const MESSAGES_MAX: usize = 1_000;

/// A message that is to be put.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage<'a> {
    /// Its priority.
    pub lane: LaneNumber,
    /// What it says.
    pub body: &'a [u8],
    /// How long it is held back.
    pub delay_ms: u64,
    /// How long after its put it expires, all ones for never.
    pub ttl_ms: u64,
    /// The name by which it is known if it is put again, and for how long.
    pub dedup: Option<Dedup<'a>>,
}

/// The name of a message.
#[derive(Clone, Copy, Debug)]
pub struct Dedup<'a> {
    /// The name.
    pub name: &'a [u8],
    /// How long it is remembered; `None` for as long as the queue's settings say.
    pub window_ms: Option<u64>,
}

/// What has become of a message that was put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    /// It is in the queue.
    New(MessageId),
    /// One of the same name is known already.
    Known(MessageId),
}

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// There is no room.
    #[error("the queue is full")]
    Full,
    /// The queue takes no messages for the time being.
    #[error("the queue takes no messages")]
    Locked,
}

/// What a consumer asks for.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// How many messages at most.
    pub count: usize,
    /// How they are held.
    pub hold: Hold,
    /// The name of the consumer, or nothing.
    pub worker: &'a [u8],
}

/// How what is delivered is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// For that many milliseconds; `None` for as long as the queue's settings say.
    Lease(Option<u64>),
    /// Not at all: what is delivered is gone.
    None,
}

/// A message that is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery<'a> {
    /// Its token.
    pub token: Token,
    /// What it says.
    pub body: &'a [u8],
    /// How often it has been delivered, this time included.
    pub deliveries: u64,
    /// When it was put, unix milliseconds.
    pub put_ms: u64,
}

/// Where a message goes that a consumer hands back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Return {
    /// To its place among the ready ones.
    Ready,
    /// To its place, after that many milliseconds.
    Delayed(u64),
    /// To the dead ones.
    Dead,
}

/// How much is added to a queue, or is too much.
#[derive(Clone, Copy, Debug)]
struct Room {
    count: u64,
    bytes: u64,
}

impl Room {
    #[inline]
    fn is_nothing(self) -> bool {
        self.count == 0 && self.bytes == 0
    }
}

/// Which dead messages are revived.
#[derive(Clone, Copy, Debug)]
pub enum Revived<'a> {
    /// All of them.
    All,
    /// These.
    Named(&'a [MessageId]),
}

impl Queue {
    /// Puts a message.
    ///
    /// # Errors
    /// There is no room, or the queue takes none.
    pub fn put(
        &mut self,
        message: &NewMessage<'_>,
        now_ms: u64,
        edits: &mut Edits<'_>,
    ) -> Result<Put, Refused> {
        if self.settings().paused.stops_puts() {
            return Err(Refused::Locked);
        }
        if let Some(dedup) = message.dedup
            && let Some(known) = self.known(dedup.name, now_ms)
        {
            return Ok(Put::Known(known));
        }
        let native = self.native_mut();
        let wanted = Room { count: 1, bytes: message.body.len() as u64 };
        native.make_room(wanted, now_ms, edits)?;
        let now_ms = native.time(now_ms);
        let after = |time_ms: u64| now_ms.saturating_add(time_ms);
        let put = edit::Put {
            now_ms,
            lane: message.lane,
            delayed_until_ms: if message.delay_ms == 0 { 0 } else { after(message.delay_ms) },
            expire_ms: after(message.ttl_ms),
            dedup: message.dedup.map(|dedup| {
                let window_ms = dedup.window_ms.unwrap_or(native.settings.dedup_window_ms);
                (dedup.name, after(window_ms))
            }),
            body: message.body,
        };
        let id = native.do_put(&put, edits).ok_or(Refused::Full)?;
        edits.write(|out| put.put(out));
        Ok(Put::New(id))
    }

    /// Puts messages without names: all of them, or none.
    ///
    /// # Errors
    /// There is no room for all, or the queue takes none.
    pub fn put_all<'a>(
        &mut self,
        messages: impl Iterator<Item = NewMessage<'a>> + Clone,
        now_ms: u64,
        edits: &mut Edits<'_>,
    ) -> Result<Vec<MessageId>, Refused> {
        if self.settings().paused.stops_puts() {
            return Err(Refused::Locked);
        }
        let count = messages.clone().count() as u64;
        let bytes = messages.clone().map(|message| message.body.len() as u64).sum();
        self.native_mut().make_room(Room { count, bytes }, now_ms, edits)?;
        let mut ids = Vec::new();
        for message in messages {
            let (Put::New(id) | Put::Known(id)) = self.put(&message, now_ms, edits)?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// The message that is known by this name.
    fn known(&self, name: &[u8], now_ms: u64) -> Option<MessageId> {
        let native = self.native();
        let known = native.known.get(name)?;
        (known.until_ms > native.time(now_ms)).then_some(known.id)
    }

    /// Delivers messages, those that come first, and shows them; returns how many.
    pub fn deliver(
        &mut self,
        demand: &Demand<'_>,
        now_ms: u64,
        edits: &mut Edits<'_>,
        visit: &mut dyn FnMut(Delivery<'_>),
    ) -> usize {
        if self.settings().paused.stops_gets() || self.native().len() == 0 {
            return 0;
        }
        let native = self.native_mut();
        native.advance(now_ms, edits);
        let now_ms = native.time(now_ms);
        let lease_ms = match demand.hold {
            Hold::Lease(lease_ms) => lease_ms.unwrap_or(native.settings.lease_ms),
            Hold::None => 0,
        };
        let until_ms = now_ms.saturating_add(lease_ms);
        let worker = native.workers.share_of(demand.worker);
        let mut ids = Ids::new();
        let count = demand.count.min(MESSAGES_MAX);
        while ids.len() < count
            && let Some(id) = native.next_delivered()
            && let Some((record, before)) = native.message(id)
        {
            let entry = Entry::delivered(before, now_ms, until_ms);
            visit(Delivery {
                token: Token { id, stamp: entry.stamp },
                body: record.body,
                deliveries: entry.deliveries.into(),
                put_ms: record.put_ms,
            });
            match demand.hold {
                Hold::Lease(_) => native.lease(id, Entry { worker, ..entry }, edits),
                Hold::None => native.take_out(id, entry.deliveries, edits),
            }
            ids.push(id);
        }
        native.workers.release(worker);
        if ids.len() == 0 {
            return 0;
        }
        let named = ids.as_slice();
        match demand.hold {
            Hold::Lease(_) => {
                native.clock_ms = now_ms;
                edits.write(|out| edit::put_lease(now_ms, lease_ms, demand.worker, named, out));
            }
            Hold::None => edits.write(|out| edit::put_ids(edit::TAKE, named, out)),
        }
        ids.len()
    }

    /// Acknowledges deliveries: their messages are done. Returns how many tokens still stood for
    /// the last delivery of their message.
    pub fn acknowledge(&mut self, tokens: &[Token], now_ms: u64, edits: &mut Edits<'_>) -> usize {
        self.settle(now_ms, SETTLED_MAX, edits);
        tokens.chunks(MESSAGES_MAX).map(|tokens| self.acknowledge_some(tokens, edits)).sum()
    }

    fn acknowledge_some(&mut self, tokens: &[Token], edits: &mut Edits<'_>) -> usize {
        let mut ids = Ids::new();
        for &token in tokens.iter().filter(|token| token.id.sequence() > 0) {
            if self.held(token).is_some() {
                self.native_mut().remove(token.id, Gone::Acknowledged, edits);
                ids.push(token.id);
            }
        }
        if ids.len() > 0 {
            edits.write(|out| edit::put_ids(edit::ACKNOWLEDGE, ids.as_slice(), out));
        }
        ids.len()
    }

    /// The entry of the delivery that a token stands for, if it is the last one of its message and
    /// was not given back.
    #[inline]
    fn held(&self, token: Token) -> Option<&Entry> {
        self.native().entry(token.id).filter(|entry| entry.answers_to(token))
    }

    /// The entry that [`Queue::held`] returns once time has done its work, which may have taken the
    /// message away or buried it. A token that stands for nothing changes nothing.
    fn still_held(&mut self, token: Token, now_ms: u64, edits: &mut Edits<'_>) -> Option<Entry> {
        self.held(token)?;
        self.native_mut().advance(now_ms, edits);
        self.held(token).copied().filter(|entry| !entry.is_dead())
    }

    /// Takes a message back that its producer wants no more; returns true if nobody held it and it
    /// was not dead.
    pub fn withdraw(&mut self, id: MessageId, now_ms: u64, edits: &mut Edits<'_>) -> bool {
        if self.native().record(id).is_none() {
            return false;
        }
        let native = self.native_mut();
        native.advance(now_ms, edits);
        let state = native.entry(id).map_or(State::Ready, |entry| entry.state);
        let is_free = matches!(state, State::Ready | State::Delayed);
        let is_done = is_free && native.remove(id, Gone::Expired, edits);
        if is_done {
            edits.write(|out| edit::put_ids(edit::WITHDRAW, &[id], out));
        }
        is_done
    }

    /// Hands a message back; returns true if the token still stood for its last delivery and the
    /// message was not dead.
    pub fn give_back(
        &mut self,
        token: Token,
        to: Return,
        now_ms: u64,
        edits: &mut Edits<'_>,
    ) -> bool {
        let Some(entry) = self.still_held(token, now_ms, edits) else { return false };
        let native = self.native_mut();
        let now_ms = native.time(now_ms);
        let state = match to {
            Return::Dead => State::Dead,
            _ => entry.state_after_lease(native.settings.deliveries_max),
        };
        let until_ms = match to {
            Return::Delayed(delay_ms @ 1..) => now_ms.saturating_add(delay_ms),
            _ => 0,
        };
        if state == State::Dead {
            native.do_bury(token.id, edits);
            edits.write(|out| edit::put_ids(edit::BURY, &[token.id], out));
        } else {
            native.do_release(token.id, until_ms, edits);
            edits.write(|out| edit::put_until(edit::RELEASE, token.id, until_ms, out));
        }
        true
    }

    /// Has a lease end at another time from now on; returns true if the token still stood for the
    /// last delivery of its message and the message was not dead.
    pub fn extend(
        &mut self,
        token: Token,
        lease_ms: u64,
        now_ms: u64,
        edits: &mut Edits<'_>,
    ) -> bool {
        if self.still_held(token, now_ms, edits).is_none() {
            return false;
        }
        let native = self.native_mut();
        let until_ms = native.time(now_ms).saturating_add(lease_ms);
        native.do_extend(token.id, until_ms, edits);
        edits.write(|out| edit::put_until(edit::EXTEND, token.id, until_ms, out));
        true
    }

    /// Removes messages of these states, of one lane or of all; returns how many.
    pub fn purge(
        &mut self,
        states: &[State],
        lane: Option<LaneNumber>,
        now_ms: u64,
        edits: &mut Edits<'_>,
    ) -> u64 {
        if self.native().len() == 0 {
            return 0;
        }
        let native = self.native_mut();
        native.advance(now_ms, edits);
        let purge = edit::Purge::of(states, lane);
        let purged = native.do_purge(purge, edits);
        if purged > 0 {
            edits.write(|out| purge.put(out));
        }
        purged
    }

    /// Makes dead messages ready; returns how many. They may be delivered as often again as new
    /// ones, and expire no more.
    pub fn revive(&mut self, which: Revived<'_>, now_ms: u64, edits: &mut Edits<'_>) -> usize {
        if self.native().len() == 0 {
            return 0;
        }
        let native = self.native_mut();
        native.advance(now_ms, edits);
        let is_dead = |id: &MessageId| native.entry(*id).is_some_and(Entry::is_dead);
        let ids: Vec<MessageId> = match which {
            Revived::All => {
                let dead = native.entries().filter(|(_, entry)| entry.is_dead());
                dead.map(|(id, _)| id).collect()
            }
            Revived::Named(ids) => {
                let mut ids: Vec<MessageId> = ids.iter().copied().filter(is_dead).collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            }
        };
        for ids in ids.chunks(MESSAGES_MAX) {
            for &id in ids {
                native.do_revive(id, edits);
            }
            edits.write(|out| edit::put_ids(edit::REVIVE, ids, out));
        }
        ids.len()
    }

    /// Has other settings hold from now on.
    pub fn set_settings(&mut self, settings: &Settings, now_ms: u64, edits: &mut Edits<'_>) {
        if settings == self.settings() {
            return;
        }
        let native = self.native_mut();
        // What has ended has ended under those that held until now.
        native.advance(now_ms, edits);
        native.settings = *settings;
        edits.write(|out| {
            out.push(edit::SETTINGS);
            settings.put(out);
        });
    }
}

impl Native {
    /// Makes room: if messages have to give way and too few can, all of them stay.
    #[inline]
    fn make_room(
        &mut self,
        wanted: Room,
        now_ms: u64,
        edits: &mut Edits<'_>,
    ) -> Result<(), Refused> {
        if self.excess(wanted).is_nothing() {
            return Ok(());
        }
        self.advance(now_ms, edits);
        let excess = self.excess(wanted);
        if excess.is_nothing() {
            return Ok(());
        }
        if self.settings.full == Full::Reject {
            return Err(Refused::Full);
        }
        for ids in self.giving_way(excess).ok_or(Refused::Full)?.chunks(MESSAGES_MAX) {
            for &id in ids {
                self.remove(id, Gone::Dropped, edits);
            }
            edits.write(|out| edit::put_ids(edit::DROP, ids, out));
        }
        Ok(())
    }

    /// What is there too much of if this is added.
    #[inline]
    fn excess(&self, added: Room) -> Room {
        let Settings { max, max_bytes, .. } = self.settings;
        if max == 0 && max_bytes == 0 {
            return Room { count: 0, bytes: 0 };
        }
        let over = |is: u64, added: u64, max: u64| match max {
            0 => 0,
            max => is.saturating_add(added).saturating_sub(max),
        };
        Room {
            count: over(self.len(), added.count, max),
            bytes: over(self.body_bytes, added.bytes, max_bytes),
        }
    }

    /// The ready messages that make so much room, the oldest of the lowest lane first.
    fn giving_way(&self, mut excess: Room) -> Option<Vec<MessageId>> {
        let mut ids = Vec::new();
        let mut lanes: Vec<LaneNumber> = LaneNumber::by_precedence().collect();
        lanes.reverse();
        for lane in lanes {
            let place = self.lane(lane);
            let Some(first) = place.first_ready() else { continue };
            for (sequence, record) in place.records_from(first) {
                let id = MessageId::new(lane, sequence)?;
                let entry = place.entry(sequence);
                let is_ready = entry.map_or_else(
                    || place.is_fresh(sequence, &record),
                    |entry| entry.state == State::Ready,
                );
                if is_ready {
                    ids.push(id);
                    excess.count = excess.count.saturating_sub(1);
                    excess.bytes = excess.bytes.saturating_sub(record.body.len() as u64);
                    if excess.is_nothing() {
                        return Some(ids);
                    }
                }
            }
        }
        None
    }

    /// The message that is delivered next, if any may be.
    #[inline]
    pub(super) fn next_delivered(&self) -> Option<MessageId> {
        let Settings { inflight_max, overdue_first, .. } = self.settings;
        if inflight_max != 0 && self.leased >= inflight_max {
            return None;
        }
        if overdue_first {
            let returned = |lane| MessageId::new(lane, *self.lane(lane).returned.first()?);
            if let Some(returned) = self.ready_lanes().find_map(returned) {
                return Some(returned);
            }
        }
        self.ready_lanes().find_map(|lane| MessageId::new(lane, self.lane(lane).first_ready()?))
    }

    pub(super) fn do_put(
        &mut self,
        put: &edit::Put<'_>,
        edits: &mut Edits<'_>,
    ) -> Option<MessageId> {
        let began_delayed = put.delayed_until_ms != 0;
        let record = Record::new(put.now_ms, put.expire_ms, began_delayed, put.body);
        let id = self.append(put.lane, &record, edits)?;
        if began_delayed {
            self.set_entry(id, Entry::delayed(put.delayed_until_ms), edits);
        }
        if let Some((name, until_ms)) = put.dedup {
            self.make_room_for_a_name(edits);
            self.know(name, Known { id, until_ms }, edits);
        }
        self.clock_ms = self.clock_ms.max(put.now_ms);
        self.totals.put += 1;
        Some(id)
    }

    /// The name that would be forgotten first is forgotten now if there are too many.
    fn make_room_for_a_name(&mut self, edits: &mut Edits<'_>) {
        let max = self.settings.dedup_max;
        while max != 0
            && self.known.len() as u64 >= max
            && let Some((_, name)) = self.known_due.first()
        {
            let name = name.clone();
            self.forget(&name, edits);
        }
    }

    /// Delivers a message. Its entry comes without a share of the consumer's name.
    pub(super) fn lease(&mut self, id: MessageId, entry: Entry, edits: &mut Edits<'_>) {
        self.count_delivery(entry.deliveries);
        self.workers.share(entry.worker);
        self.set_entry(id, entry, edits);
    }

    /// Delivers a message that is gone then.
    pub(super) fn take_out(&mut self, id: MessageId, deliveries: u32, edits: &mut Edits<'_>) {
        self.count_delivery(deliveries);
        self.remove(id, Gone::Acknowledged, edits);
    }

    fn count_delivery(&mut self, deliveries: u32) {
        self.totals.delivered += 1;
        self.totals.redelivered += u64::from(deliveries > 1);
    }

    /// Hands a message back, at once if the time is 0.
    pub(super) fn do_release(
        &mut self,
        id: MessageId,
        until_ms: u64,
        edits: &mut Edits<'_>,
    ) -> bool {
        let state = if until_ms == 0 { State::Ready } else { State::Delayed };
        self.with_entry(id, edits, |entry| Entry { state, until_ms, is_open: false, ..entry })
    }

    pub(super) fn do_extend(
        &mut self,
        id: MessageId,
        until_ms: u64,
        edits: &mut Edits<'_>,
    ) -> bool {
        self.with_entry(id, edits, |entry| Entry { state: State::Leased, until_ms, ..entry })
    }

    /// Buries a message that its consumer hands back.
    pub(super) fn do_bury(&mut self, id: MessageId, edits: &mut Edits<'_>) -> bool {
        let has_entry = self.with_entry(id, edits, |entry| Entry { is_open: false, ..entry });
        self.bury(id, edits);
        has_entry
    }

    pub(super) fn do_revive(&mut self, id: MessageId, edits: &mut Edits<'_>) -> bool {
        self.with_entry(id, edits, |entry| Entry {
            state: State::Ready,
            forgiven: entry.deliveries,
            is_open: false,
            ..entry
        })
    }

    /// Some messages of a lane that are to be purged: with an entry first, from one on, then fresh
    /// ones.
    fn some_to_purge(
        &self,
        purge: edit::Purge,
        lane: LaneNumber,
        from: MessageId,
    ) -> Vec<MessageId> {
        let place = self.lane(lane);
        let id = |sequence| MessageId::new(lane, sequence);
        let entries = place.entries_from(from.sequence());
        let entries = entries.filter(|(_, entry)| purge.takes(entry.state));
        let entries = entries.filter_map(|(sequence, _)| id(sequence));
        let ids: Vec<MessageId> = entries.take(MESSAGES_MAX).collect();
        if !ids.is_empty() || !purge.takes(State::Ready) {
            return ids;
        }
        let fresh = place.fresh().filter_map(|(sequence, _)| id(sequence));
        fresh.take(MESSAGES_MAX).collect()
    }

    pub(super) fn do_purge(&mut self, purge: edit::Purge, edits: &mut Edits<'_>) -> u64 {
        let lanes = LaneNumber::by_precedence().filter(|&lane| purge.concerns(lane));
        let mut purged = 0;
        for lane in lanes {
            let mut from = MessageId::first_of(lane);
            loop {
                let ids = self.some_to_purge(purge, lane, from);
                let Some(&last) = ids.last() else { break };
                for &id in &ids {
                    self.remove(id, Gone::Purged, edits);
                }
                purged += ids.len() as u64;
                from = last;
            }
        }
        purged
    }
}
