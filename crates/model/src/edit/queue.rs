//! Queues: maps of messages, in which time does its work when somebody looks.
//!
//! Not imitated: limits, names and totals. The tests of the type itself have all of them.

use crate::choice::word;
use basalt_env::random::Random;
use basalt_value::queue::{
    Delivery, Demand, Hold, LaneNumber, MessageId, NewMessage, Peek, Return, Revived, Settings,
    State, Token,
};
use basalt_value::{Edits, Queue};
use std::collections::BTreeMap;

/// Of lanes some shall have many messages.
const LANES: u64 = 3;
/// Times of leases and delays, and of messages.
const SPAN_MS: u64 = 2_000;

/// A queue.
#[derive(Clone, PartialEq)]
pub struct PlainQueue {
    pub(crate) messages: BTreeMap<MessageId, PlainMessage>,
    deliveries_max: u64,
    next: [u64; LANES as usize],
}

impl Default for PlainQueue {
    fn default() -> PlainQueue {
        PlainQueue { messages: BTreeMap::new(), deliveries_max: 0, next: [1; LANES as usize] }
    }
}

/// A message.
#[derive(Clone, PartialEq, Debug)]
pub struct PlainMessage {
    body: Vec<u8>,
    put_ms: u64,
    expire_ms: u64,
    state: State,
    until_ms: u64,
    stamp: u64,
    deliveries: u64,
    forgiven: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Put {
    lane: u64,
    body: Vec<u8>,
    delay_ms: u64,
    ttl_ms: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Put(Vec<Put>),
    Deliver { count: usize, lease_ms: Option<u64> },
    Acknowledge { nth: usize, count: usize },
    GiveBack { nth: usize, delay_ms: u64 },
    Bury { nth: usize },
    Extend { nth: usize, lease_ms: u64 },
    Withdraw { nth: usize },
    Revive,
    Purge(u64),
    DeliveriesMax(u64),
}

/// The messages of a queue, as of the last time that it knows of.
pub(crate) fn plain(queue: &Queue) -> PlainQueue {
    let mut plain =
        PlainQueue { deliveries_max: queue.settings().deliveries_max, ..PlainQueue::default() };
    for state in State::ALL {
        queue.peek(&Peek { state, from: None, count: usize::MAX }, 0, &mut |message| {
            let plain_message = PlainMessage {
                body: message.body.to_vec(),
                put_ms: message.put_ms,
                expire_ms: message.expire_ms,
                state,
                until_ms: message.until_ms,
                stamp: message.stamp,
                deliveries: message.deliveries,
                forgiven: message.forgiven,
            };
            let was = plain.messages.insert(message.id, plain_message);
            assert!(was.is_none(), "a message has one state");
        });
    }
    let count = queue.counts(0).all();
    assert_eq!(plain.messages.len() as u64, count, "a queue counts its messages");
    for (next, lane) in plain.next.iter_mut().zip(0..) {
        *next = LaneNumber::new(lane).map_or(0, |lane| queue.next_sequence(lane));
    }
    plain
}

fn put(random: &mut Random) -> Put {
    let some = |chance: bool, random: &mut Random| if chance { random.below(SPAN_MS) } else { 0 };
    let (is_delayed, expires) = (random.chance(1, 4), random.chance(1, 4));
    Put {
        lane: random.below(LANES),
        body: word(random),
        delay_ms: some(is_delayed, random),
        ttl_ms: if expires { random.below(SPAN_MS) } else { u64::MAX },
    }
}

impl Edit {
    pub(crate) fn choose(random: &mut Random) -> Edit {
        let nth = random.below(60) as usize;
        let time_ms = random.below(SPAN_MS);
        match random.below(24) {
            0..=5 => Edit::Put(vec![put(random)]),
            6 | 7 => {
                let count = if random.chance(1, 3) { 1_500 } else { 10 };
                Edit::Put((0..random.below(count)).map(|_| put(random)).collect())
            }
            8..=12 => {
                let count_max = if random.chance(1, 4) { 400 } else { 6 };
                let count = random.below(count_max) as usize;
                let lease_ms = random.chance(7, 8).then_some(time_ms);
                Edit::Deliver { count, lease_ms }
            }
            13..=16 => Edit::Acknowledge { nth, count: 1 + random.below(20) as usize },
            17 | 18 => Edit::GiveBack { nth, delay_ms: if nth < 30 { 0 } else { time_ms } },
            19 => Edit::Bury { nth },
            20 => Edit::Extend { nth, lease_ms: time_ms },
            21 if nth < 30 => Edit::Withdraw { nth },
            21 => Edit::Revive,
            22 if random.chance(1, 4) => Edit::Purge(random.below(LANES)),
            _ => Edit::DeliveriesMax(random.below(4)),
        }
    }

    pub(crate) fn change(&self, queue: &mut Queue, now_ms: u64, edits: &mut Edits<'_>) {
        match self {
            Edit::Put(puts) => puts.iter().for_each(|put| {
                let lane = LaneNumber::new(put.lane).expect("there are ten");
                let Put { delay_ms, ttl_ms, .. } = *put;
                let message = NewMessage { lane, body: &put.body, delay_ms, ttl_ms, dedup: None };
                queue.put(&message, now_ms, edits).expect("the queue has no limits");
            }),
            Edit::Deliver { count, lease_ms } => {
                let hold = lease_ms.map_or(Hold::None, |lease_ms| Hold::Lease(Some(lease_ms)));
                let demand = Demand { count: *count, hold, worker: b"" };
                queue.deliver(&demand, now_ms, edits, &mut |_: Delivery<'_>| ());
            }
            Edit::Acknowledge { nth, count } => {
                let tokens: Vec<Token> =
                    (0..*count).filter_map(|step| leased(queue, nth + step, now_ms)).collect();
                queue.acknowledge(&tokens, now_ms, edits);
            }
            Edit::GiveBack { nth, delay_ms } => {
                if let Some(token) = leased(queue, *nth, now_ms) {
                    queue.give_back(token, Return::Delayed(*delay_ms), now_ms, edits);
                }
            }
            Edit::Bury { nth } => {
                if let Some(token) = leased(queue, *nth, now_ms) {
                    queue.give_back(token, Return::Dead, now_ms, edits);
                }
            }
            Edit::Extend { nth, lease_ms } => {
                if let Some(token) = leased(queue, *nth, now_ms) {
                    queue.extend(token, *lease_ms, now_ms, edits);
                }
            }
            Edit::Withdraw { nth } => {
                let ids = ids(queue, now_ms);
                if let Some(&id) = ids.get(nth % ids.len().max(1)) {
                    queue.withdraw(id, now_ms, edits);
                }
            }
            Edit::Revive => {
                queue.revive(Revived::All, now_ms, edits);
            }
            Edit::Purge(lane) => {
                queue.purge(&[State::Ready], LaneNumber::new(*lane), now_ms, edits);
            }
            Edit::DeliveriesMax(deliveries_max) => {
                let settings = Settings { deliveries_max: *deliveries_max, ..*queue.settings() };
                queue.set_settings(&settings, now_ms, edits);
            }
        }
    }

    /// Whether the queue has what time has done behind it then. Otherwise that is still to come,
    /// and moves the queue's version when the engine gets to it.
    fn settles(&self, queue: &PlainQueue, now_ms: u64) -> bool {
        match self {
            Edit::Put(_) => false,
            Edit::GiveBack { nth, .. } | Edit::Bury { nth } | Edit::Extend { nth, .. } => {
                queue.passed(now_ms).leased(*nth).is_some()
            }
            Edit::Withdraw { .. } => !queue.passed(now_ms).messages.is_empty(),
            Edit::DeliveriesMax(deliveries_max) => queue.deliveries_max != *deliveries_max,
            Edit::Deliver { .. } | Edit::Acknowledge { .. } | Edit::Revive | Edit::Purge(_) => true,
        }
    }

    pub(crate) fn imitate(&self, queue: &mut PlainQueue, now_ms: u64) {
        if self.settles(queue, now_ms) {
            queue.pass(now_ms);
        } else if !matches!(self, Edit::Put(_)) {
            return;
        }
        match self {
            Edit::Put(puts) => puts.iter().for_each(|put| queue.put(put, now_ms)),
            Edit::Deliver { count, lease_ms } => queue.deliver(*count, *lease_ms, now_ms),
            Edit::Acknowledge { nth, count } => {
                let leased: Vec<MessageId> =
                    (0..*count).filter_map(|step| queue.leased(nth + step)).collect();
                leased.iter().for_each(|id| {
                    queue.messages.remove(id);
                });
            }
            Edit::GiveBack { nth, delay_ms } => {
                let deliveries_max = queue.deliveries_max;
                queue.with_leased(*nth, |message| {
                    if message.is_spent(deliveries_max) {
                        return message.die();
                    }
                    message.put_back();
                    if *delay_ms > 0 {
                        message.state = State::Delayed;
                        message.until_ms = now_ms + delay_ms;
                    }
                });
            }
            Edit::Bury { nth } => queue.with_leased(*nth, PlainMessage::die),
            Edit::Extend { nth, lease_ms } => {
                queue.with_leased(*nth, |message| message.until_ms = now_ms + lease_ms);
            }
            Edit::Withdraw { nth } => {
                let nth = nth % queue.messages.len().max(1);
                let id = queue.messages.keys().nth(nth).copied();
                let is_free = |it: &PlainMessage| matches!(it.state, State::Ready | State::Delayed);
                if let Some(id) = id.filter(|id| queue.messages.get(id).is_some_and(is_free)) {
                    queue.messages.remove(&id);
                }
            }
            Edit::Revive => {
                for message in queue.messages.values_mut() {
                    if message.state == State::Dead {
                        message.forgiven = message.deliveries;
                        message.put_back();
                    }
                }
            }
            Edit::Purge(lane) => queue.messages.retain(|id, message| {
                message.state != State::Ready || u64::from(id.lane().number()) != *lane
            }),
            Edit::DeliveriesMax(deliveries_max) => queue.deliveries_max = *deliveries_max,
        }
    }
}

/// All messages that are there at this time.
fn ids(queue: &Queue, now_ms: u64) -> Vec<MessageId> {
    let mut ids = Vec::new();
    for state in State::ALL {
        let peek = Peek { state, from: None, count: usize::MAX };
        queue.peek(&peek, now_ms, &mut |message| ids.push(message.id));
    }
    ids.sort_unstable();
    ids
}

/// The token of the nth message that is leased, counted around.
fn leased(queue: &Queue, nth: usize, now_ms: u64) -> Option<Token> {
    let mut tokens = Vec::new();
    let peek = Peek { state: State::Leased, from: None, count: usize::MAX };
    queue.peek(&peek, now_ms, &mut |it| tokens.push(Token { id: it.id, stamp: it.stamp }));
    tokens.sort_by_key(|token| token.id);
    tokens.get(nth % tokens.len().max(1)).copied()
}

impl PlainQueue {
    /// As it is at this time.
    pub(crate) fn passed(&self, now_ms: u64) -> PlainQueue {
        let mut queue = self.clone();
        queue.pass(now_ms);
        queue
    }

    fn pass(&mut self, now_ms: u64) {
        let deliveries_max = self.deliveries_max;
        for message in self.messages.values_mut().filter(|message| message.until_ms <= now_ms) {
            let in_time = message.expire_ms > message.until_ms;
            match message.state {
                State::Leased if in_time && message.is_spent(deliveries_max) => message.die(),
                State::Leased | State::Delayed => message.put_back(),
                State::Ready | State::Dead => {}
            }
        }
        self.messages.retain(|_, message| {
            let may = matches!(message.state, State::Ready | State::Delayed);
            !(may && message.expire_ms <= now_ms)
        });
    }

    fn put(&mut self, put: &Put, now_ms: u64) {
        let next = &mut self.next[put.lane as usize];
        let lane = LaneNumber::new(put.lane).expect("there are ten");
        let id = MessageId::new(lane, *next).expect("few messages are put");
        *next += 1;
        let is_delayed = put.delay_ms > 0;
        let message = PlainMessage {
            body: put.body.clone(),
            put_ms: now_ms,
            expire_ms: now_ms.saturating_add(put.ttl_ms),
            state: if is_delayed { State::Delayed } else { State::Ready },
            until_ms: if is_delayed { now_ms + put.delay_ms } else { 0 },
            stamp: 0,
            deliveries: 0,
            forgiven: 0,
        };
        self.messages.insert(id, message);
    }

    fn deliver(&mut self, count: usize, lease_ms: Option<u64>, now_ms: u64) {
        let ready = self.messages.iter().filter(|(_, it)| it.state == State::Ready);
        let mut ready: Vec<MessageId> = ready.map(|(&id, _)| id).collect();
        ready.sort_by_key(|id| (std::cmp::Reverse(id.lane()), id.sequence()));
        for id in ready.into_iter().take(count) {
            match (lease_ms, self.messages.get_mut(&id)) {
                (Some(lease_ms), Some(message)) => {
                    message.state = State::Leased;
                    message.until_ms = now_ms + lease_ms;
                    message.stamp = now_ms.max(message.stamp + 1);
                    message.deliveries += 1;
                }
                _ => {
                    self.messages.remove(&id);
                }
            }
        }
    }

    fn leased(&self, nth: usize) -> Option<MessageId> {
        let all = self.messages.iter().filter(|(_, it)| it.state == State::Leased);
        let ids: Vec<MessageId> = all.map(|(&id, _)| id).collect();
        ids.get(nth % ids.len().max(1)).copied()
    }

    fn with_leased(&mut self, nth: usize, change: impl FnOnce(&mut PlainMessage)) {
        if let Some(message) = self.leased(nth).and_then(|id| self.messages.get_mut(&id)) {
            change(message);
        }
    }
}

impl PlainMessage {
    /// It has been delivered as often as it may.
    fn is_spent(&self, deliveries_max: u64) -> bool {
        deliveries_max != 0 && self.deliveries - self.forgiven >= deliveries_max
    }

    fn put_back(&mut self) {
        (self.state, self.until_ms) = (State::Ready, 0);
    }

    fn die(&mut self) {
        (self.state, self.until_ms, self.expire_ms) = (State::Dead, 0, u64::MAX);
    }
}
