//! What is known of a message beside what was put: none for one that is ready and was never
//! delivered.

use super::id::{MessageId, Token};
use super::state::State;
use basalt_stdx::varint;

/// A message that is not fresh.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) state: State,
    /// When its lease ends, or its delay; otherwise 0.
    pub(super) until_ms: u64,
    /// When it was delivered last.
    pub(super) stamp: u64,
    /// How often it was delivered.
    pub(super) deliveries: u64,
    /// How often it had been delivered when it was revived.
    pub(super) forgiven: u64,
    /// The last delivery's token is good: the message was not handed back.
    pub(super) is_open: bool,
    /// The name of the consumer that got it.
    pub(super) worker: Option<Box<[u8]>>,
}

impl Entry {
    /// Of a message that is put with a delay.
    pub(super) fn delayed(until_ms: u64) -> Entry {
        Entry {
            state: State::Delayed,
            until_ms,
            stamp: 0,
            deliveries: 0,
            forgiven: 0,
            is_open: false,
            worker: None,
        }
    }

    /// The entry of the next delivery. `before` is that of the message until now, if it has one.
    pub(super) fn delivered(
        before: Option<&Entry>,
        now_ms: u64,
        until_ms: u64,
        worker: &[u8],
    ) -> Entry {
        let last = before.map_or(0, |before| before.stamp);
        Entry {
            state: State::Leased,
            until_ms,
            stamp: now_ms.max(last.saturating_add(1)),
            deliveries: before.map_or(0, |before| before.deliveries).saturating_add(1),
            forgiven: before.map_or(0, |before| before.forgiven),
            is_open: true,
            worker: (!worker.is_empty()).then(|| worker.into()),
        }
    }

    /// The state in which it leaves a lease without an acknowledgement.
    #[inline]
    pub(super) fn state_after_lease(&self, deliveries_max: u64) -> State {
        let counted = self.deliveries.saturating_sub(self.forgiven);
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

    pub(super) fn heap_bytes(&self) -> usize {
        self.worker.as_ref().map_or(0, |worker| worker.len())
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.push(self.state as u8 | u8::from(self.is_open) << 2);
        for number in [self.until_ms, self.stamp, self.deliveries, self.forgiven] {
            varint::put(out, number);
        }
        put_bytes(self.worker.as_deref().unwrap_or_default(), out);
    }

    pub(super) fn take(rest: &mut &[u8]) -> Option<Entry> {
        let (&head, after) = rest.split_first()?;
        *rest = after;
        let state = match head & 3 {
            0 => State::Ready,
            1 => State::Delayed,
            2 => State::Leased,
            _ => State::Dead,
        };
        let mut next = || varint::take(rest);
        let (until_ms, stamp, deliveries, forgiven) = (next()?, next()?, next()?, next()?);
        let worker = take_bytes(rest)?;
        let worker = (!worker.is_empty()).then(|| worker.into());
        let is_open = head & 4 != 0;
        (head < 8).then_some(Entry {
            state,
            until_ms,
            stamp,
            deliveries,
            forgiven,
            is_open,
            worker,
        })
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
