//! What every type has in common.

use crate::edits::Edits;
use crate::error::DecodeError;
use crate::kind::Kind;
use crate::limits::FormLimits;

/// A collection: one word, see [`crate::form`].
///
/// Operations that change it take [`Edits`] and write there what they did, physically: absolute
/// times, no randomness left, nothing that depends on the order of a hash table. An operation that
/// changes nothing writes nothing.
pub trait Collection: Sized {
    /// Its kind.
    const KIND: Kind;
    /// Whether Redis keeps the key of an empty one, as it does for streams.
    const STAYS_WHEN_EMPTY: bool = false;
    /// Whether elements expire of which none has a version.
    const EXPIRES_WITHOUT_VERSIONS: bool = false;

    /// An empty one. Allocates nothing.
    fn new() -> Self;

    /// Elements, fields, members or entries.
    fn len(&self) -> usize;

    /// Nothing is in it.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory outside of its word, about. Constant time.
    fn heap_bytes(&self) -> usize;

    /// Unix time in milliseconds when the first of its elements expires, all ones for never.
    #[inline]
    fn next_expiry_ms(&self) -> u64 {
        u64::MAX
    }

    /// What OBJECT ENCODING answers.
    fn encoding(&self) -> &'static str;

    /// Appends all of it.
    fn encode(&self, out: &mut Vec<u8>);

    /// Writes edits that make an empty collection equal to it: for one that is too large to be
    /// logged as a whole.
    fn write_as_edits(&self, edits: &mut Edits<'_>);

    /// Visits bytes that say what is in it, in any order: equal values visit the same bytes, each
    /// as often. For `DEBUG DIGEST`.
    fn visit_parts(&self, visit: &mut dyn FnMut(&[u8])) {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        visit(&bytes);
    }

    /// Reads what [`Collection::encode`] wrote, of this or an earlier version.
    fn decode(bytes: &[u8], limits: &FormLimits) -> Result<Self, DecodeError>;

    /// Does what edits say.
    fn apply(&mut self, edits: &[u8], limits: &FormLimits) -> Result<(), DecodeError>;

    /// An equal one. The native form may share parts with the original as long as nobody can tell.
    fn duplicate(&self, limits: &FormLimits) -> Self {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        Self::decode(&bytes, limits).expect("what was just encoded can be decoded")
    }
}
