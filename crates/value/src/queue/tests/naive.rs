//! A queue as a vector of messages, in which time does its work at once.

use super::super::{Full, LaneNumber, MessageId, Paused, Settings, State, Token, Totals};
use std::collections::BTreeMap;

/// What can be wrong with it: a judge that does not find these finds nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Canary {
    /// Nothing.
    None,
    /// A token's stamp is not looked at.
    AcknowledgesById,
    /// What returns goes behind the others of its lane.
    ReturnsToTheEnd,
    /// The end of a lease is not looked at.
    ForgetsLeases,
    /// A message that is held expires.
    ExpiresWhatIsHeld,
    /// Leases that ended are judged by the settings that hold now.
    BuriesByLaterSettings,
    /// What is revived has its deliveries counted on.
    RevivesUnforgiven,
}

#[derive(Clone, Debug)]
pub(super) struct NaiveMessage {
    pub(super) id: MessageId,
    pub(super) body: Vec<u8>,
    pub(super) put_ms: u64,
    pub(super) expire_ms: u64,
    pub(super) state: State,
    pub(super) until_ms: u64,
    pub(super) stamp: u64,
    pub(super) deliveries: u64,
    forgiven: u64,
    is_open: bool,
    /// Its place in the lane.
    place: u64,
    has_returned: bool,
}

pub(super) struct NaiveQueue {
    canary: Canary,
    pub(super) messages: Vec<NaiveMessage>,
    pub(super) settings: Settings,
    pub(super) totals: Totals,
    clock_ms: u64,
    next: [u64; 10],
    places: u64,
    known: BTreeMap<Vec<u8>, (MessageId, u64)>,
}

pub(super) struct NaivePut<'a> {
    pub(super) lane: LaneNumber,
    pub(super) body: &'a [u8],
    pub(super) delay_ms: u64,
    pub(super) ttl_ms: u64,
    pub(super) dedup: Option<(&'a [u8], Option<u64>)>,
}

/// A token, the body, how often, when it was put.
pub(super) type NaiveDelivery = (Token, Vec<u8>, u64, u64);

impl NaiveQueue {
    pub(super) fn new(canary: Canary) -> NaiveQueue {
        NaiveQueue {
            canary,
            messages: Vec::new(),
            settings: Settings::DEFAULT,
            totals: Totals::default(),
            clock_ms: 0,
            next: [1; 10],
            places: 0,
            known: BTreeMap::new(),
        }
    }

    /// Time passes: everything that ends by now ends, in the order in which it ends.
    pub(super) fn pass(&mut self, now_ms: u64) -> u64 {
        if self.canary == Canary::BuriesByLaterSettings && !now_ms.is_multiple_of(3) {
            return self.clock_ms.max(now_ms);
        }
        self.clock_ms = self.clock_ms.max(now_ms);
        let (now_ms, deliveries_max) = (self.clock_ms, self.settings.deliveries_max);
        for index in 0..self.messages.len() {
            let canary = self.canary;
            let message = &mut self.messages[index];
            if message.state == State::Leased
                && message.until_ms <= now_ms
                && canary != Canary::ForgetsLeases
            {
                let is_expired = message.expire_ms <= message.until_ms;
                let counted = message.deliveries - message.forgiven;
                if !is_expired && deliveries_max != 0 && counted >= deliveries_max {
                    message.die();
                    self.totals.buried += 1;
                } else {
                    self.put_back(index);
                }
            } else if message.state == State::Delayed && message.until_ms <= now_ms {
                self.put_back(index);
            }
        }
        let all = self.messages.len() as u64;
        let expires_held = self.canary == Canary::ExpiresWhatIsHeld;
        self.messages.retain(|message| {
            let may = matches!(message.state, State::Ready | State::Delayed)
                || expires_held && message.state == State::Leased;
            !(may && message.expire_ms <= now_ms)
        });
        self.totals.expired += all - self.messages.len() as u64;
        self.known.retain(|_, (_, until_ms)| *until_ms > now_ms);
        now_ms
    }

    fn put_back(&mut self, index: usize) {
        self.places += 1;
        let places = self.places;
        let message = &mut self.messages[index];
        (message.state, message.until_ms, message.has_returned) = (State::Ready, 0, true);
        if self.canary == Canary::ReturnsToTheEnd {
            message.place = places << 32;
        }
    }

    fn held(&self, token: Token) -> Option<usize> {
        let by_id = self.canary == Canary::AcknowledgesById;
        self.messages.iter().position(|message| {
            let is_it = message.stamp == token.stamp || by_id;
            message.id == token.id && message.is_open && is_it
        })
    }

    fn bytes(&self) -> u64 {
        self.messages.iter().map(|message| message.body.len() as u64).sum()
    }

    /// The message's identity, or whether the queue is locked.
    pub(super) fn put(&mut self, put: &NaivePut<'_>, now_ms: u64) -> Result<MessageId, bool> {
        let now_ms = self.pass(now_ms);
        if matches!(self.settings.paused, Paused::Put | Paused::All) {
            return Err(true);
        }
        if let Some((name, _)) = put.dedup
            && let Some(&(id, _)) = self.known.get(name)
        {
            return Ok(id);
        }
        let Settings { max, max_bytes, full, .. } = self.settings;
        let len = put.body.len() as u64;
        let (saved, saved_totals) = (self.messages.clone(), self.totals);
        while max != 0 && self.messages.len() as u64 >= max
            || max_bytes != 0 && self.bytes() + len > max_bytes
        {
            let ready = self.messages.iter().filter(|message| message.state == State::Ready);
            let oldest = ready.map(|message| message.id).min();
            match oldest {
                Some(id) if full == Full::DropOldest => {
                    self.messages.retain(|message| message.id != id);
                    self.totals.dropped += 1;
                }
                _ => {
                    (self.messages, self.totals) = (saved, saved_totals);
                    return Err(false);
                }
            }
        }
        let next = &mut self.next[usize::from(put.lane.number())];
        let id = MessageId::new(put.lane, *next).unwrap();
        *next += 1;
        let is_delayed = put.delay_ms > 0;
        self.messages.push(NaiveMessage {
            id,
            body: put.body.to_vec(),
            put_ms: now_ms,
            expire_ms: now_ms.saturating_add(put.ttl_ms),
            state: if is_delayed { State::Delayed } else { State::Ready },
            until_ms: if is_delayed { now_ms.saturating_add(put.delay_ms) } else { 0 },
            stamp: 0,
            deliveries: 0,
            forgiven: 0,
            is_open: false,
            place: id.sequence(),
            has_returned: false,
        });
        if let Some((name, window_ms)) = put.dedup {
            let window_ms = window_ms.unwrap_or(self.settings.dedup_window_ms);
            let max = self.settings.dedup_max as usize;
            while max != 0 && self.known.len() >= max {
                let first = self.known.iter().min_by_key(|(name, (_, ms))| (*ms, (*name).clone()));
                let first = first.map(|(name, _)| name.clone()).unwrap();
                self.known.remove(&first);
            }
            self.known.insert(name.to_vec(), (id, now_ms.saturating_add(window_ms)));
        }
        self.totals.put += 1;
        Ok(id)
    }

    pub(super) fn deliver(
        &mut self,
        count: usize,
        lease_ms: Option<Option<u64>>,
        now_ms: u64,
    ) -> Vec<NaiveDelivery> {
        let now_ms = self.pass(now_ms);
        let mut delivered = Vec::new();
        if matches!(self.settings.paused, Paused::Get | Paused::All) {
            return delivered;
        }
        let inflight_max = self.settings.inflight_max;
        while delivered.len() < count
            && (inflight_max == 0 || self.count(State::Leased) < inflight_max)
        {
            let overdue_first = self.settings.overdue_first;
            let ready = self.messages.iter_mut().filter(|message| message.state == State::Ready);
            let Some(message) = ready.min_by_key(|message| {
                let is_late = overdue_first && !message.has_returned;
                (is_late, 9 - message.id.lane().number(), message.place)
            }) else {
                break;
            };
            message.deliveries += 1;
            message.stamp = now_ms.max(message.stamp + 1);
            self.totals.delivered += 1;
            self.totals.redelivered += u64::from(message.deliveries > 1);
            let token = Token { id: message.id, stamp: message.stamp };
            delivered.push((token, message.body.clone(), message.deliveries, message.put_ms));
            match lease_ms {
                Some(lease_ms) => {
                    let lease_ms = lease_ms.unwrap_or(self.settings.lease_ms);
                    message.state = State::Leased;
                    message.until_ms = now_ms.saturating_add(lease_ms);
                    message.is_open = true;
                }
                None => {
                    self.messages.retain(|message| message.id != token.id);
                    self.totals.acknowledged += 1;
                }
            }
        }
        delivered
    }

    pub(super) fn count(&self, state: State) -> u64 {
        self.messages.iter().filter(|message| message.state == state).count() as u64
    }

    pub(super) fn acknowledge(&mut self, token: Token, now_ms: u64) -> bool {
        self.pass(now_ms);
        let held = self.held(token);
        if let Some(index) = held {
            self.messages.remove(index);
            self.totals.acknowledged += 1;
        }
        held.is_some()
    }

    /// Hands back: `None` buries, else the delay.
    pub(super) fn give_back(&mut self, token: Token, delay_ms: Option<u64>, now_ms: u64) -> bool {
        let now_ms = self.pass(now_ms);
        let Some(index) = self.held(token) else { return false };
        let deliveries_max = self.settings.deliveries_max;
        let message = &mut self.messages[index];
        if message.state == State::Dead {
            return false;
        }
        message.is_open = false;
        let counted = message.deliveries - message.forgiven;
        if delay_ms.is_none() || deliveries_max != 0 && counted >= deliveries_max {
            message.die();
            self.totals.buried += 1;
            return true;
        }
        self.put_back(index);
        if let Some(delay_ms @ 1..) = delay_ms {
            let message = &mut self.messages[index];
            message.state = State::Delayed;
            message.until_ms = now_ms.saturating_add(delay_ms);
        }
        true
    }

    pub(super) fn extend(&mut self, token: Token, lease_ms: u64, now_ms: u64) -> bool {
        let now_ms = self.pass(now_ms);
        let Some(index) = self.held(token) else { return false };
        let message = &mut self.messages[index];
        if message.state == State::Dead {
            return false;
        }
        message.state = State::Leased;
        message.until_ms = now_ms.saturating_add(lease_ms);
        true
    }

    pub(super) fn purge(&mut self, states: &[State], lane: Option<LaneNumber>, now_ms: u64) -> u64 {
        self.pass(now_ms);
        let before = self.messages.len();
        self.messages.retain(|message| {
            !states.contains(&message.state) || lane.is_some_and(|lane| lane != message.id.lane())
        });
        let purged = (before - self.messages.len()) as u64;
        self.totals.purged += purged;
        purged
    }

    pub(super) fn withdraw(&mut self, id: MessageId, now_ms: u64) -> bool {
        self.pass(now_ms);
        let before = self.messages.len();
        self.messages.retain(|message| {
            message.id != id || matches!(message.state, State::Leased | State::Dead)
        });
        let is_gone = self.messages.len() < before;
        self.totals.expired += u64::from(is_gone);
        is_gone
    }

    pub(super) fn revive(&mut self, ids: Option<&[MessageId]>, now_ms: u64) -> usize {
        self.pass(now_ms);
        let mut revived = 0;
        for index in 0..self.messages.len() {
            let message = &mut self.messages[index];
            if message.state == State::Dead && ids.is_none_or(|ids| ids.contains(&message.id)) {
                if self.canary != Canary::RevivesUnforgiven {
                    message.forgiven = message.deliveries;
                }
                message.is_open = false;
                self.put_back(index);
                revived += 1;
            }
        }
        revived
    }

    pub(super) fn set_settings(&mut self, settings: Settings, now_ms: u64) {
        self.pass(now_ms);
        self.settings = settings;
    }
}

impl NaiveMessage {
    fn die(&mut self) {
        (self.state, self.until_ms, self.expire_ms) = (State::Dead, 0, u64::MAX);
    }
}
