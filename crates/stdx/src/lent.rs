//! Bytes that are lent and not copied: a part of a vector that has other owners, too.

use std::ops::Range;
use std::sync::Arc;

/// A part of a vector, kept alive and unchanged by a share in it.
#[derive(Clone, Debug)]
pub struct LentBytes {
    owner: Arc<Vec<u8>>,
    range: Range<usize>,
}

/// Bytes that a receiver copies, and behind them, if there are any, bytes that it gets lent.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The bytes to be copied.
    pub copied: &'a [u8],
    /// Those behind them.
    pub lent: Option<&'a LentBytes>,
}

impl LentBytes {
    /// A part of a vector; what of the range is beyond its end is left out.
    pub fn new(owner: Arc<Vec<u8>>, range: Range<usize>) -> LentBytes {
        let end = range.end.min(owner.len());
        LentBytes { range: range.start.min(end)..end, owner }
    }

    /// All of a vector.
    pub fn whole(owner: Arc<Vec<u8>>) -> LentBytes {
        LentBytes { range: 0..owner.len(), owner }
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.owner[self.range.clone()]
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Takes the first bytes off, at most `count`.
    #[must_use]
    pub fn take_front(&mut self, count: usize) -> LentBytes {
        let Range { start, end } = self.range;
        let middle = end.min(start.saturating_add(count));
        self.range.start = middle;
        LentBytes { owner: Arc::clone(&self.owner), range: start..middle }
    }
}

impl<'a> Parts<'a> {
    /// How many bytes there are in all.
    #[inline]
    pub fn len(self) -> usize {
        self.copied.len() + self.lent.map_or(0, LentBytes::len)
    }

    /// There are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// All of them, copied.
    pub fn to_vec(self) -> Vec<u8> {
        [self.copied, self.lent.map_or(&[], LentBytes::bytes)].concat()
    }
}

impl<'a> From<&'a [u8]> for Parts<'a> {
    fn from(copied: &'a [u8]) -> Parts<'a> {
        Parts { copied, lent: None }
    }
}

#[cfg(test)]
mod tests {
    use super::{LentBytes, Parts};
    use std::sync::Arc;

    #[test]
    fn parts_are_taken_off_the_front_and_share_their_owner() {
        let owner = Arc::new(b"0123456789".to_vec());
        let mut rest = LentBytes::new(Arc::clone(&owner), 2..9);
        let (first, second) = (rest.take_front(3), rest.take_front(100));
        assert_eq!((first.bytes(), second.bytes()), (&b"234"[..], &b"5678"[..]));
        assert!(rest.is_empty() && first.len() == 3);
        assert_eq!(Arc::strong_count(&owner), 4);
        assert_eq!(first.bytes().as_ptr(), owner[2..].as_ptr());
        assert_eq!(LentBytes::new(Arc::clone(&owner), 8..20).bytes(), b"89");
        assert!(LentBytes::new(Arc::clone(&owner), 20..30).is_empty());
        assert_eq!(LentBytes::whole(owner).len(), 10);
        let parts = Parts { copied: b"ab", lent: Some(&first) };
        assert_eq!((parts.len(), &parts.to_vec()[..]), (5, &b"ab234"[..]));
        assert_eq!(Parts::from(&b"x"[..]).to_vec(), b"x");
    }
}
