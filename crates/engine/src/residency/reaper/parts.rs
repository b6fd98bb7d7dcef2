//! A partition's rows, part by part: which keys are due, by what their rows begin with.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::cold_removal::{ColdKey, PassingHash, Place};
use crate::residency::queue::Miss;
use crate::residency::rows;
use basalt_change::row::{self, HashEnd, ObjectRow, RowKind, SpreadHead};
use basalt_cold::Head;
use basalt_value::{Kind, Value};
use std::ops::ControlFlow;

/// Keys of a part at most that are due, or of which the value has to be read.
const KEYS_A_PART: usize = 4 << 10;
/// Values that are read together.
const VALUES_AT_ONCE: usize = 256;

/// Where rows are read, and as of when.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) place: Place,
    pub(super) now_ms: u64,
}

/// What the rows of a part say.
pub(super) struct Part {
    /// Keys that are due.
    pub(super) due: Vec<ColdKey>,
    /// Collections that are not, but an element of them is.
    pub(super) collections: Vec<Miss>,
    /// When the next of the others expires.
    pub(super) earliest_ms: u64,
    /// Where the next part begins, if this is not the last one.
    pub(super) next: Option<Vec<u8>>,
}

/// What a row says of when it expires.
enum Expiry {
    /// Never: or it makes no sense, which is said when somebody asks for the key.
    Never,
    /// The key is due, or all fields of it are.
    Due { expire_ms: u64, spread_id: Option<u64>, passing: Option<PassingHash> },
    /// An element of it is due.
    ElementDue,
    /// The key, or an element of it, will be.
    At(u64),
    /// Only all of the row says it.
    Unsaid,
}

impl Engine {
    /// Looks at rows until the part is full.
    pub(super) fn look_at_part(
        &self,
        from: &[u8],
        to: &[u8],
        reading: Reading,
    ) -> Result<Part, EngineError> {
        let mut part =
            Part { due: Vec::new(), collections: Vec::new(), earliest_ms: u64::MAX, next: None };
        let mut unsaid = Vec::new();
        self.cold.scan_heads(from, to, &mut |row_key, head| {
            let expiry = self.expiry_of(head, reading.now_ms);
            match expiry {
                Expiry::Unsaid => unsaid.push(row_key.to_vec()),
                expiry => part.note(self, row_key, &expiry, reading),
            }
            if part.due.len() + part.collections.len() + unsaid.len() < KEYS_A_PART
                && !self.is_stopping()
            {
                return ControlFlow::Continue(());
            }
            part.next = Some([row_key, &[0]].concat());
            ControlFlow::Break(())
        })?;
        if self.is_stopping() {
            return Err(EngineError::Stopping);
        }
        for row_keys in unsaid.chunks(VALUES_AT_ONCE) {
            for (row_key, value) in std::iter::zip(row_keys, self.cold.read_many(row_keys)?) {
                let Some(value) = value else { continue };
                let expiry = self.expiry_of(Head::Whole(&value), reading.now_ms);
                part.note(self, row_key, &expiry, reading);
            }
        }
        Ok(part)
    }

    fn expiry_of(&self, head: Head<'_>, now_ms: u64) -> Expiry {
        let Ok(row) = ObjectRow::decode(head.bytes()) else { return Expiry::Never };
        let of_key = if row.expire_ms == 0 { u64::MAX } else { row.expire_ms };
        let passing = passing_hash(&row);
        let of_key = passing.map_or(of_key, |hash| of_key.min(hash.gone_ms));
        let is_due = of_key <= now_ms;
        let of_elements = match (row.kind, head) {
            (RowKind::String(_), _) => u64::MAX,
            (RowKind::Collection(_), _) if is_due => u64::MAX,
            (RowKind::Collection(number), _) if !is_of_time(number) => u64::MAX,
            (RowKind::Spread(_) | RowKind::StringInPieces(_), _) if !is_due => u64::MAX,
            (_, Head::Beginning(_)) => return Expiry::Unsaid,
            (RowKind::Collection(number), Head::Whole(_)) => {
                let kind = Kind::from_number(number);
                let value = kind.map(|kind| Value::decode(kind, row.value, &self.limits()));
                let Some(Ok(value)) = value else { return Expiry::Never };
                value.as_ref().next_expiry_ms()
            }
            (RowKind::Spread(_) | RowKind::StringInPieces(_), Head::Whole(_)) => u64::MAX,
        };
        match (is_due, of_elements) {
            (true, _) => match rows::spread_id(head.bytes()) {
                Ok(spread_id) => Expiry::Due { expire_ms: row.expire_ms, spread_id, passing },
                Err(_) => Expiry::Never,
            },
            (false, of_elements) if of_elements <= now_ms => Expiry::ElementDue,
            (false, of_elements) => Expiry::At(of_key.min(of_elements)),
        }
    }
}

/// Whether elements of collections of this kind may expire, or messages come due.
fn is_of_time(kind: u8) -> bool {
    let kind = Kind::from_number(kind);
    matches!(kind, Some(Kind::Hash | Kind::Set | Kind::SortedSet | Kind::Queue))
}

/// A hash whose fields have rows of their own, if all of them expire. Fields of others are removed
/// in memory.
fn passing_hash(row: &ObjectRow<'_>) -> Option<PassingHash> {
    match (row.kind, row.end) {
        (RowKind::Spread(_), HashEnd::At(gone_ms)) => {
            let fields = SpreadHead::decode(row.value).map_or(0, |head| head.elements);
            Some(PassingHash { gone_ms, fields })
        }
        _ => None,
    }
}

impl Part {
    fn note(&mut self, engine: &Engine, row_key: &[u8], expiry: &Expiry, reading: Reading) {
        let Some((_, key)) = row::split_object_key(row_key) else { return };
        match *expiry {
            Expiry::Never | Expiry::Unsaid => {}
            Expiry::At(expire_ms) => self.earliest_ms = self.earliest_ms.min(expire_ms),
            Expiry::Due { expire_ms, spread_id, passing } => {
                self.due.push(ColdKey { key: key.into(), expire_ms, spread_id, passing });
            }
            Expiry::ElementDue => {
                let Place { id: partition, db, cold_version, .. } = reading.place;
                let hash = engine.keyspace.hasher().hash(key);
                let row_key = row_key.to_vec();
                self.collections.push(Miss { partition, db, cold_version, hash, row_key });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engine;
    use basalt_change::op::StringForm;
    use basalt_change::version::Version;

    const NOW_MS: u64 = 1_000;

    /// What is known by the beginning of a row of which the value is longer.
    fn said(engine: &Engine, kind: RowKind, expire_ms: u64) -> Expiry {
        let mut row = Vec::new();
        let (version, end) = (Version::NONE, HashEnd::Unsaid);
        ObjectRow { expire_ms, version, kind, end, value: &[7; 12] }.encode(&mut row);
        engine.expiry_of(Head::Beginning(&row), NOW_MS)
    }

    #[test]
    fn the_beginning_of_a_row_says_when_its_key_expires_and_not_when_an_element_does() {
        let (engine, _) = engine();
        let string = RowKind::String(StringForm::Whole);
        assert!(matches!(said(&engine, string, 0), Expiry::At(u64::MAX)));
        assert!(matches!(said(&engine, string, NOW_MS + 1), Expiry::At(1_001)));
        let due = said(&engine, string, NOW_MS);
        assert!(matches!(due, Expiry::Due { expire_ms: NOW_MS, spread_id: None, passing: None }));
        for kind in [Kind::Hash, Kind::Set, Kind::SortedSet, Kind::Queue] {
            let kind = RowKind::Collection(kind as u8);
            assert!(matches!(said(&engine, kind, 0), Expiry::Unsaid), "{kind:?}");
            assert!(matches!(said(&engine, kind, NOW_MS + 1), Expiry::Unsaid), "{kind:?}");
            assert!(matches!(said(&engine, kind, NOW_MS), Expiry::Due { .. }), "{kind:?}");
        }
        let list = RowKind::Collection(Kind::List as u8);
        assert!(matches!(said(&engine, list, NOW_MS + 1), Expiry::At(1_001)));
        // Its rows are found by what may be cut off.
        let spread = RowKind::Spread(Kind::Stream as u8);
        assert!(matches!(said(&engine, spread, NOW_MS), Expiry::Unsaid));
        assert!(matches!(said(&engine, spread, NOW_MS + 1), Expiry::At(1_001)));
    }

    #[test]
    fn rows_that_make_no_sense_say_nothing() {
        let (engine, _) = engine();
        // One of no kind, none at all, one that ends too early, one without what it must have.
        for row in [&[0; 30][..], &[], &[0x21, 1], &[0x2F, 1, 0, 0, 0, 0, 0, 0, 0]] {
            let said = engine.expiry_of(Head::Whole(row), NOW_MS);
            assert!(matches!(said, Expiry::Never), "{row:?}");
        }
    }
}
