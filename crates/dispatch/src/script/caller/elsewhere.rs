//! What a script has looked at beyond the keys that it was called with.

use basalt_engine::Key;
use std::collections::{BTreeMap, BTreeSet};

/// Keys that are watched at most while a script lets go of them, of those it was called with and of
/// others: these take some four milliseconds.
pub(super) const KEYS_MAX: usize = 4096;
/// Bytes of noted keys.
const BYTES_MAX: usize = 1 << 20;

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
    count: usize,
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
                for key in keys {
                    // Then none of them is needed.
                    if noted.are_too_many() {
                        break;
                    }
                    noted.add(db, key.bytes);
                }
                if noted.are_too_many() {
                    *self = Elsewhere::Everything;
                }
            }
        }
    }
}

impl Noted {
    fn add(&mut self, db: u8, key: &[u8]) {
        let keys = self.keys.entry(db).or_default();
        if !keys.contains(key) {
            self.count += 1;
            self.bytes += key.len();
            keys.insert(key.into());
        }
    }

    fn are_too_many(&self) -> bool {
        self.count > KEYS_MAX || self.bytes > BYTES_MAX
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
        let names: Vec<String> = (0..=KEYS_MAX).map(|number| number.to_string()).collect();
        let keys: Vec<_> = names.iter().map(|name| key(name.as_bytes())).collect();
        let mut elsewhere = Elsewhere::nothing(true);
        elsewhere.add(0, &keys[1..]);
        assert!(matches!(elsewhere, Elsewhere::Keys(_)));
        elsewhere.add(0, &keys);
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
