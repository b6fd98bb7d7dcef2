//! HOT PATH
//! The messages that one edit names: one or few as a rule, which need no allocation.

use super::id::MessageId;

const FEW: usize = 4;

/// See the head of this file.
pub(super) struct Ids {
    few: [MessageId; FEW],
    len: usize,
    /// All of them if they are more than few.
    many: Vec<MessageId>,
}

impl Ids {
    /// None.
    #[inline]
    pub(super) fn new() -> Ids {
        Ids { few: [MessageId::FIRST; FEW], len: 0, many: Vec::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, id: MessageId) {
        if let Some(place) = self.few.get_mut(self.len) {
            *place = id;
        } else {
            if self.many.is_empty() {
                self.many.extend_from_slice(&self.few);
            }
            self.many.push(id);
        }
        self.len += 1;
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[MessageId] {
        self.few.get(..self.len).unwrap_or(&self.many)
    }
}
