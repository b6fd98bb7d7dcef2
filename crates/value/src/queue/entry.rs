//! What is known of a message beside what was put: none for one that is ready and was never
//! delivered.

use super::id::{MessageId, Token};
use super::state::State;
use super::workers::WorkerNumber;
use basalt_stdx::varint;

/// A message that is not fresh. There are as many as messages that are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// When its lease ends, or its delay; otherwise 0.
    pub(super) until_ms: u64,
    /// When it was delivered last.
    pub(super) stamp: u64,
    /// How often it was delivered.
    pub(super) deliveries: u32,
    /// How often it had been delivered when it was revived.
    pub(super) forgiven: u32,
    /// The name of the consumer that got it, of which this is a share.
    pub(super) worker: WorkerNumber,
    /// Of its message in the block: `queue/entries.rs` sees to it.
    pub(super) index: u16,
    pub(super) state: State,
    /// The last delivery's token is good: the message was not handed back.
    pub(super) is_open: bool,
}

const _: () = assert!(size_of::<Entry>() == 32);

impl Entry {
    const NEW: Entry = Entry {
        until_ms: 0,
        stamp: 0,
        deliveries: 0,
        forgiven: 0,
        worker: WorkerNumber::NONE,
        index: 0,
        state: State::Ready,
        is_open: false,
    };

    /// Of a message that is put with a delay.
    pub(super) fn delayed(until_ms: u64) -> Entry {
        Entry { state: State::Delayed, until_ms, ..Entry::NEW }
    }

    /// The entry of the next delivery, as yet to nobody. `before` is that of the message until now,
    /// if it has one.
    #[inline]
    pub(super) fn delivered(before: Option<&Entry>, now_ms: u64, until_ms: u64) -> Entry {
        let before = before.unwrap_or(&Entry::NEW);
        Entry {
            until_ms,
            stamp: now_ms.max(before.stamp.saturating_add(1)),
            deliveries: before.deliveries.saturating_add(1),
            forgiven: before.forgiven,
            state: State::Leased,
            is_open: true,
            ..Entry::NEW
        }
    }

    /// The state in which it leaves a lease without an acknowledgement.
    #[inline]
    pub(super) fn state_after_lease(&self, deliveries_max: u64) -> State {
        let counted = u64::from(self.deliveries.saturating_sub(self.forgiven));
        if deliveries_max != 0 && counted >= deliveries_max { State::Dead } else { State::Ready }
    }

    /// It has been delivered with this token, and not given back.
    #[inline]
    pub(super) fn answers_to(&self, token: Token) -> bool {
        self.is_open && self.stamp == token.stamp
    }

    /// When time changes something about it, all ones for never.
    #[inline]
    pub(super) fn due_ms(&self, expire_ms: u64) -> u64 {
        match self.state {
            State::Ready => expire_ms,
            State::Delayed => self.until_ms.min(expire_ms),
            State::Leased => self.until_ms,
            State::Dead => u64::MAX,
        }
    }

    /// It is dead.
    pub(super) fn is_dead(&self) -> bool {
        self.state == State::Dead
    }

    /// Appends it, given the name of its consumer.
    pub(super) fn put(&self, worker: &[u8], out: &mut Vec<u8>) {
        out.push(self.state as u8 | u8::from(self.is_open) << 2);
        let (deliveries, forgiven) = (self.deliveries.into(), self.forgiven.into());
        for number in [self.until_ms, self.stamp, deliveries, forgiven] {
            varint::put(out, number);
        }
        put_bytes(worker, out);
    }

    /// Takes one off the front, as yet of nobody, and the name of its consumer.
    pub(super) fn take<'a>(rest: &mut &'a [u8]) -> Option<(Entry, &'a [u8])> {
        let (&head, after) = rest.split_first()?;
        *rest = after;
        let state = match head & 3 {
            0 => State::Ready,
            1 => State::Delayed,
            2 => State::Leased,
            _ => State::Dead,
        };
        let mut next = || varint::take(rest);
        let (until_ms, stamp) = (next()?, next()?);
        let (deliveries, forgiven) = (next()?.try_into().ok()?, next()?.try_into().ok()?);
        let worker = take_bytes(rest)?;
        let is_open = head & 4 != 0;
        let entry = Entry { until_ms, stamp, deliveries, forgiven, state, is_open, ..Entry::NEW };
        (head < 8).then_some((entry, worker))
    }
}

/// The name of a message, by which it is known when it is put again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Known {
    pub(super) id: MessageId,
    pub(super) until_ms: u64,
}

impl Known {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        self.id.put(out);
        varint::put(out, self.until_ms);
    }

    pub(super) fn take(rest: &mut &[u8]) -> Option<Known> {
        Some(Known { id: MessageId::take(rest)?, until_ms: varint::take(rest)? })
    }
}

/// Appends bytes with their length.
pub(super) fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    varint::put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Takes bytes with their length off the front.
pub(super) fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(varint::take(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(bytes)
}
