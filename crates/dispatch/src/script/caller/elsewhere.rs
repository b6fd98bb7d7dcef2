//! What a script has looked at beyond the keys that it was called with.

use basalt_engine::Key;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of noted keys, with what each takes besides.
const BYTES_MAX: usize = 1 << 20;
const BYTES_A_KEY: usize = 64;

/// See the head of this file. Few scripts have their keys noted: many use other keys, but few of
/// these take long.
#[derive(Debug, Default)]
pub(super) enum Elsewhere {
    #[default]
    Nothing,
    /// Keys that nobody has noted.
    Something,
    /// These keys.
    Keys(Noted),
    /// More keys than are noted, or whatever there is.
    Everything,
}

/// Keys by their databases.
#[derive(Debug, Default)]
pub(super) struct Noted {
    keys: BTreeMap<u8, BTreeSet<Box<[u8]>>>,
    bytes: usize,
}

impl Elsewhere {
    pub(super) fn nothing(notes_keys: bool) -> Elsewhere {
        if notes_keys { Elsewhere::Keys(Noted::default()) } else { Elsewhere::Nothing }
    }

    /// It looks at keys of a database.
    pub(super) fn add(&mut self, db: u8, keys: &[Key<'_>]) {
        match self {
            Elsewhere::Something | Elsewhere::Everything => {}
            Elsewhere::Nothing => *self = Elsewhere::Something,
            Elsewhere::Keys(noted) => {
                keys.iter().for_each(|key| noted.add(db, key.bytes));
                if noted.bytes > BYTES_MAX {
                    *self = Elsewhere::Everything;
                }
            }
        }
    }
}

impl Noted {
    fn add(&mut self, db: u8, key: &[u8]) {
        let keys = self.keys.entry(db).or_default();
        // Once there are too many, they are not needed.
        if self.bytes <= BYTES_MAX && !keys.contains(key) {
            self.bytes += key.len() + BYTES_A_KEY;
            keys.insert(key.into());
        }
    }

    /// All of them, each with its database.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.keys.iter().flat_map(|(&db, keys)| keys.iter().map(move |key| (db, &**key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_change::place::PartitionId;

    fn key(bytes: &[u8]) -> Key<'_> {
        Key { bytes, hash: 1, partition: PartitionId::new(1).expect("there is one") }
    }

    #[test]
    fn a_key_is_noted_once_and_too_many_are_everything() {
        let mut elsewhere = Elsewhere::nothing(true);
        for db in [0, 1, 0] {
            elsewhere.add(db, &[key(b"one"), key(b"two")]);
        }
        let Elsewhere::Keys(noted) = &elsewhere else { panic!("{elsewhere:?}") };
        let all: Vec<_> = noted.iter().collect();
        assert_eq!(all, [(0, &b"one"[..]), (0, b"two"), (1, b"one"), (1, b"two")]);
        elsewhere.add(0, &[key(&vec![b'x'; BYTES_MAX])]);
        assert!(matches!(elsewhere, Elsewhere::Everything));
    }

    #[test]
    fn nothing_is_noted_without_a_reason() {
        let mut elsewhere = Elsewhere::nothing(false);
        assert!(matches!(elsewhere, Elsewhere::Nothing));
        elsewhere.add(0, &[key(b"one")]);
        assert!(matches!(elsewhere, Elsewhere::Something));
    }
}
