//! HOT PATH
//! What names an entry: a millisecond and a number within it.

use basalt_stdx::varint;

/// The identity of an entry, ascending in its stream. `0-0` is no entry's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Debug)]
pub struct EntryId {
    /// Unix time in milliseconds, by custom.
    pub ms: u64,
    /// Number within the millisecond.
    pub sequence: u64,
}

/// Most characters of an identity: two numbers of 20 digits and the dash.
pub const ID_CHARS_MAX: usize = 41;

impl EntryId {
    /// Before every entry.
    pub const MIN: EntryId = EntryId { ms: 0, sequence: 0 };
    /// The greatest that there is.
    pub const MAX: EntryId = EntryId { ms: u64::MAX, sequence: u64::MAX };

    /// The one right behind it; `None` behind the greatest.
    #[inline]
    pub fn next(self) -> Option<EntryId> {
        match self.sequence.checked_add(1) {
            Some(sequence) => Some(EntryId { sequence, ..self }),
            None => Some(EntryId { ms: self.ms.checked_add(1)?, sequence: 0 }),
        }
    }

    /// The one right before it; `None` before the least.
    #[inline]
    pub fn previous(self) -> Option<EntryId> {
        match self.sequence.checked_sub(1) {
            Some(sequence) => Some(EntryId { sequence, ..self }),
            None => Some(EntryId { ms: self.ms.checked_sub(1)?, sequence: u64::MAX }),
        }
    }

    /// Spells it: `ms-sequence`.
    #[inline]
    pub fn spell(self, text: &mut [u8; ID_CHARS_MAX]) -> &[u8] {
        let dash = spell_before(text, ID_CHARS_MAX, self.sequence) - 1;
        text[dash] = b'-';
        let start = spell_before(text, dash, self.ms);
        &text[start..]
    }

    /// Appends it.
    pub fn put(self, out: &mut Vec<u8>) {
        varint::put(out, self.ms);
        varint::put(out, self.sequence);
    }

    /// Takes one off the front; `None` if there is none whole.
    pub fn take(bytes: &mut &[u8]) -> Option<EntryId> {
        Some(EntryId { ms: varint::take(bytes)?, sequence: varint::take(bytes)? })
    }

    /// Appends it in few bytes, given one that is close before it.
    pub fn put_after(self, before: EntryId, out: &mut Vec<u8>) {
        let ms = self.ms.wrapping_sub(before.ms);
        varint::put(out, ms);
        let base = if ms == 0 { before.sequence } else { 0 };
        varint::put(out, self.sequence.wrapping_sub(base));
    }

    /// Takes one off the front that [`EntryId::put_after`] wrote.
    pub fn take_after(before: EntryId, bytes: &mut &[u8]) -> Option<EntryId> {
        let ms = varint::take(bytes)?;
        let base = if ms == 0 { before.sequence } else { 0 };
        let sequence = varint::take(bytes)?.wrapping_add(base);
        Some(EntryId { ms: before.ms.wrapping_add(ms), sequence })
    }
}

/// Spells a number up to before `end`; returns where it begins.
#[inline]
fn spell_before(text: &mut [u8; ID_CHARS_MAX], end: usize, number: u64) -> usize {
    let (mut at, mut rest) = (end, number);
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(ms: u64, sequence: u64) -> EntryId {
        EntryId { ms, sequence }
    }

    #[test]
    fn spells() {
        let spelled = |id: EntryId| id.spell(&mut [0; ID_CHARS_MAX]).to_vec();
        assert_eq!(spelled(EntryId::MIN), b"0-0");
        assert_eq!(spelled(id(1_700_000_000_000, 12)), b"1700000000000-12");
        assert_eq!(spelled(EntryId::MAX), b"18446744073709551615-18446744073709551615");
    }

    #[test]
    fn neighbours() {
        assert_eq!(id(5, u64::MAX).next(), Some(id(6, 0)));
        assert_eq!(id(6, 0).previous(), Some(id(5, u64::MAX)));
        assert_eq!(EntryId::MAX.next(), None);
        assert_eq!(EntryId::MIN.previous(), None);
    }

    #[test]
    fn round_trips_after_any_other() {
        let ids = [EntryId::MIN, id(0, 1), id(5, 0), id(5, 7), id(u64::MAX, 3), EntryId::MAX];
        for before in ids {
            for after in ids {
                let mut bytes = Vec::new();
                after.put_after(before, &mut bytes);
                let mut rest = &bytes[..];
                assert_eq!(EntryId::take_after(before, &mut rest), Some(after));
                assert!(rest.is_empty());
            }
        }
    }
}
