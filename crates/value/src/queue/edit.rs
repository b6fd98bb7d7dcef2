//! HOT PATH
//! The edits of queues.
//!
//! ```text
//! edit = 1 now lane flags:u8 [delay] [ttl] [window dedup-bytes] body-bytes     PUT
//!      | 2 now lease worker-bytes ids                                         LEASE
//!      | 3 id until       RELEASE: ready if 0, else delayed
//!      | 4 id until       EXTEND
//!      | 5 ids            ACKNOWLEDGE
//!      | 6 ids            BURY
//!      | 7 ids            REVIVE
//!      | 8 states:u8 lane PURGE: bits of states; lane 10 for all
//!      | 9 settings       SETTINGS
//!      | 10 now max       SETTLE: at most so many messages and names
//!      | 11 ids           TAKE: delivered and gone
//!      | 12 ids           DROP: gave way in a full queue
//!      | 13 head-bytes    HEAD: of an empty queue that is made equal to another
//!      | 14 name-bytes content-bytes     ADOPT: an element's row, queue/spread.rs
//!      | 15 ids           WITHDRAW: taken back by the client that put it
//! id   = sequence * 16 + lane:varint      ids = count:varint id …      x-bytes = length:varint x
//! flags = 1 delay, 2 ttl, 4 window and dedup follow; times are varints, unix milliseconds for now
//! and until, otherwise milliseconds after now
//! ```
//! Only what depends on time says what time it is: SETTLE stands before a change for which time has
//! done something since the edit before.

use super::entry::{Entry, put_bytes, take_bytes};
use super::id::{LaneNumber, MessageId};
use super::native::{Native, Queue};
use super::settings::Settings;
use super::state::State;
use super::totals::Gone;
use crate::edits::Edits;
use crate::error::DecodeError;
use basalt_stdx::varint;

const PUT: u8 = 1;
const LEASE: u8 = 2;
pub(super) const RELEASE: u8 = 3;
pub(super) const EXTEND: u8 = 4;
pub(super) const ACKNOWLEDGE: u8 = 5;
pub(super) const BURY: u8 = 6;
pub(super) const REVIVE: u8 = 7;
const PURGE: u8 = 8;
pub(super) const SETTINGS: u8 = 9;
pub(super) const SETTLE: u8 = 10;
pub(super) const TAKE: u8 = 11;
pub(super) const DROP: u8 = 12;
pub(super) const HEAD: u8 = 13;
const ADOPT: u8 = 14;
pub(super) const WITHDRAW: u8 = 15;

const HAS_DELAY: u8 = 1;
const HAS_TTL: u8 = 2;
const HAS_DEDUP: u8 = 4;
/// What stands in the place of a lane in a purge of all.
const ALL_LANES: u8 = super::id::LANES as u8;

const NO_MESSAGE: DecodeError = DecodeError::Corrupt("a message that is not in the queue");
const NOT_NEXT: DecodeError = DecodeError::Corrupt("a message that is delivered out of its turn");
const BAD: DecodeError = DecodeError::Corrupt("an edit of a queue");
const END: DecodeError = DecodeError::Truncated;

/// A message that is put.
#[derive(Clone, Copy, Debug)]
pub(super) struct Put<'a> {
    pub(super) now_ms: u64,
    pub(super) lane: LaneNumber,
    /// 0 if it is not held back.
    pub(super) delayed_until_ms: u64,
    /// All ones for never.
    pub(super) expire_ms: u64,
    /// Its name, and until when that is remembered.
    pub(super) dedup: Option<(&'a [u8], u64)>,
    pub(super) body: &'a [u8],
}

impl<'a> Put<'a> {
    #[inline]
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let expires = self.expire_ms != u64::MAX;
        out.push(PUT);
        varint::put(out, self.now_ms);
        out.push(self.lane.number());
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        out.push(
            flag(self.delayed_until_ms != 0, HAS_DELAY)
                | flag(expires, HAS_TTL)
                | flag(self.dedup.is_some(), HAS_DEDUP),
        );
        if self.delayed_until_ms != 0 {
            varint::put(out, self.delayed_until_ms - self.now_ms);
        }
        if expires {
            varint::put(out, self.expire_ms - self.now_ms);
        }
        if let Some((name, until_ms)) = self.dedup {
            varint::put(out, until_ms - self.now_ms);
            put_bytes(name, out);
        }
        put_bytes(self.body, out);
    }

    fn take(rest: &mut &'a [u8]) -> Result<Put<'a>, DecodeError> {
        let now_ms = number(rest)?;
        let lane = LaneNumber::new(byte(rest)?.into()).ok_or(BAD)?;
        let flags = byte(rest)?;
        let after = |time_ms: u64| now_ms.saturating_add(time_ms);
        let delayed_until_ms = if flags & HAS_DELAY == 0 { 0 } else { after(number(rest)?) };
        let expire_ms = if flags & HAS_TTL == 0 { u64::MAX } else { after(number(rest)?) };
        let dedup = match flags & HAS_DEDUP {
            0 => None,
            _ => {
                let until_ms = after(number(rest)?);
                Some((take_bytes(rest).ok_or(END)?, until_ms))
            }
        };
        let body = take_bytes(rest).ok_or(END)?;
        Ok(Put { now_ms, lane, delayed_until_ms, expire_ms, dedup, body })
    }
}

/// Which messages are purged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Purge {
    states: u8,
    lane: Option<LaneNumber>,
}

impl Purge {
    pub(super) fn of(states: &[State], lane: Option<LaneNumber>) -> Purge {
        Purge { states: states.iter().fold(0, |bits, &state| bits | 1 << state as u8), lane }
    }

    #[inline]
    pub(super) fn takes(self, state: State) -> bool {
        self.states & 1 << state as u8 != 0
    }

    pub(super) fn concerns(self, lane: LaneNumber) -> bool {
        self.lane.is_none_or(|only| only == lane)
    }

    pub(super) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PURGE, self.states, self.lane.map_or(ALL_LANES, |it| it.number())]);
    }

    fn take(rest: &mut &[u8]) -> Result<Purge, DecodeError> {
        let states = byte(rest)?;
        let lane = match byte(rest)? {
            ALL_LANES => None,
            lane => Some(LaneNumber::new(lane.into()).ok_or(BAD)?),
        };
        Ok(Purge { states, lane })
    }
}

/// Appends an edit that says of messages that something has happened to them.
#[inline]
pub(super) fn put_ids(code: u8, ids: &[MessageId], out: &mut Vec<u8>) {
    out.push(code);
    varint::put(out, ids.len() as u64);
    ids.iter().for_each(|id| id.put(out));
}

/// Appends an edit that says of a message until when it is in its state.
#[inline]
pub(super) fn put_until(code: u8, id: MessageId, until_ms: u64, out: &mut Vec<u8>) {
    out.push(code);
    id.put(out);
    varint::put(out, until_ms);
}

/// Appends a LEASE.
#[inline]
pub(super) fn put_lease(
    now_ms: u64,
    lease_ms: u64,
    worker: &[u8],
    ids: &[MessageId],
    out: &mut Vec<u8>,
) {
    out.push(LEASE);
    varint::put(out, now_ms);
    varint::put(out, lease_ms);
    put_bytes(worker, out);
    varint::put(out, ids.len() as u64);
    ids.iter().for_each(|id| id.put(out));
}

/// Appends an edit that takes an element in.
pub(super) fn put_adopt(name: &[u8], content: &[u8], out: &mut Vec<u8>) {
    out.push(ADOPT);
    put_bytes(name, out);
    put_bytes(content, out);
}

fn number(rest: &mut &[u8]) -> Result<u64, DecodeError> {
    varint::take(rest).ok_or(END)
}

fn byte(rest: &mut &[u8]) -> Result<u8, DecodeError> {
    let (&byte, after) = rest.split_first().ok_or(END)?;
    *rest = after;
    Ok(byte)
}

fn id(rest: &mut &[u8]) -> Result<MessageId, DecodeError> {
    MessageId::take(rest).ok_or(END)
}

/// Does something with each of the messages that follow, which are there.
fn each(
    rest: &mut &[u8],
    mut act: impl FnMut(MessageId) -> Result<bool, DecodeError>,
) -> Result<(), DecodeError> {
    for _ in 0..number(rest)? {
        if !act(id(rest)?)? {
            return Err(NO_MESSAGE);
        }
    }
    Ok(())
}

/// Does what edits say.
pub(super) fn apply(queue: &mut Queue, edits: &[u8]) -> Result<(), DecodeError> {
    let mut rest = edits;
    while let Some((&code, after)) = rest.split_first() {
        rest = after;
        let native = queue.native_mut();
        let none = &mut Edits::none();
        match code {
            PUT => {
                native.do_put(&Put::take(&mut rest)?, none).ok_or(BAD)?;
            }
            LEASE => apply_lease(native, &mut rest)?,
            RELEASE => {
                let (id, until_ms) = (id(&mut rest)?, number(&mut rest)?);
                native.do_release(id, until_ms, none).then_some(()).ok_or(NO_MESSAGE)?;
            }
            EXTEND => {
                let (id, until_ms) = (id(&mut rest)?, number(&mut rest)?);
                native.do_extend(id, until_ms, none).then_some(()).ok_or(NO_MESSAGE)?;
            }
            ACKNOWLEDGE => each(&mut rest, |id| Ok(native.remove(id, Gone::Acknowledged, none)))?,
            BURY => each(&mut rest, |id| Ok(native.do_bury(id, none)))?,
            REVIVE => each(&mut rest, |id| Ok(native.do_revive(id, none)))?,
            PURGE => {
                native.do_purge(Purge::take(&mut rest)?, none);
            }
            SETTINGS => native.settings = Settings::take(&mut rest).ok_or(END)?,
            SETTLE => native.do_settle(number(&mut rest)?, number(&mut rest)?, none),
            TAKE => each(&mut rest, |id| {
                let deliveries = next_deliveries(native, id)?;
                native.take_out(id, deliveries, none);
                Ok(true)
            })?,
            DROP => each(&mut rest, |id| Ok(native.remove(id, Gone::Dropped, none)))?,
            WITHDRAW => each(&mut rest, |id| Ok(native.remove(id, Gone::Expired, none)))?,
            HEAD => {
                let head = take_bytes(&mut rest).ok_or(END)?;
                *native = Native::from_head(head).ok_or(BAD)?;
            }
            ADOPT => {
                let name = take_bytes(&mut rest).ok_or(END)?;
                native.adopt_element(name, take_bytes(&mut rest).ok_or(END)?)?;
            }
            unknown => return Err(DecodeError::UnknownEdit(unknown)),
        }
    }
    Ok(())
}

fn apply_lease(native: &mut Native, rest: &mut &[u8]) -> Result<(), DecodeError> {
    let (now_ms, lease_ms) = (number(rest)?, number(rest)?);
    let worker = take_bytes(rest).ok_or(END)?;
    native.clock_ms = native.clock_ms.max(now_ms);
    let until_ms = now_ms.saturating_add(lease_ms);
    let worker = native.workers.share_of(worker);
    let done = each(rest, |id| {
        next_deliveries(native, id)?;
        let entry = Entry::delivered(native.entry(id), now_ms, until_ms);
        native.lease(id, Entry { worker, ..entry }, &mut Edits::none());
        Ok(true)
    });
    native.workers.release(worker);
    done
}

/// How often a message will have been delivered once it is delivered now: it must be ready, and the
/// first of its lane that is fresh if it is fresh.
fn next_deliveries(native: &Native, id: MessageId) -> Result<u32, DecodeError> {
    match native.entry(id) {
        Some(entry) if entry.state == State::Ready => Ok(entry.deliveries.saturating_add(1)),
        None if native.lane(id.lane()).first_fresh() == Some(id.sequence()) => Ok(1),
        _ => Err(NOT_NEXT),
    }
}
