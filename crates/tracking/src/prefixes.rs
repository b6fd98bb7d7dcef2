//! The prefixes of keys that clients want to hear of (`CLIENT TRACKING ON BCAST PREFIX …`).
//!
//! Prefixes of one client do not overlap, so a key has one of them at most. A key is looked up by
//! its own prefixes, but only those of a length that some client has asked for.

use std::collections::BTreeMap;

/// The prefixes of all clients.
#[derive(Debug, Default)]
pub struct Prefixes {
    /// The clients of each prefix, in ascending order of their numbers.
    by_name: BTreeMap<Box<[u8]>, Vec<u64>>,
    /// How many prefixes have which length.
    lengths: BTreeMap<usize, usize>,
}

/// Two prefixes of one client of which one begins with the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlap<'a> {
    /// This new one overlaps with that which the client has.
    Existing(&'a [u8], &'a [u8]),
    /// These two new ones overlap.
    Provided(&'a [u8], &'a [u8]),
}

impl Prefixes {
    /// How many different prefixes there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// A client wants to hear of keys with this prefix.
    pub fn add(&mut self, prefix: &[u8], client: u64) {
        if !self.by_name.contains_key(prefix) {
            *self.lengths.entry(prefix.len()).or_default() += 1;
        }
        let clients = self.by_name.entry(prefix.into()).or_default();
        if let Err(at) = clients.binary_search(&client) {
            clients.insert(at, client);
        }
    }

    /// A client does not want to hear of keys with this prefix any more.
    pub fn remove(&mut self, prefix: &[u8], client: u64) {
        let Some(clients) = self.by_name.get_mut(prefix) else { return };
        clients.retain(|other| *other != client);
        if !clients.is_empty() {
            return;
        }
        self.by_name.remove(prefix);
        if let Some(count) = self.lengths.get_mut(&prefix.len()) {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&prefix.len());
            }
        }
    }

    /// Calls `visit` for each prefix that `key` begins with.
    pub fn visit<'a>(&'a self, key: &[u8], mut visit: impl FnMut(&'a [u8], &'a [u64])) {
        for len in self.lengths.keys().take_while(|len| **len <= key.len()) {
            if let Some((prefix, clients)) = self.by_name.get_key_value(&key[..*len]) {
                visit(prefix, clients);
            }
        }
    }

    /// Whether of these prefixes, new ones of a client that has some already, two overlap. Any
    /// client may name hundreds of thousands, so not each is compared with each.
    pub fn overlap<'a>(new: &[&'a [u8]], existing: &'a [Box<[u8]>]) -> Option<Overlap<'a>> {
        let first = first_that_overlaps(new, existing)?;
        let one = new[first];
        let overlaps = |other: &[u8]| one.starts_with(other) || other.starts_with(one);
        if let Some(other) = existing.iter().find(|other| overlaps(other)) {
            return Some(Overlap::Existing(one, other));
        }
        let other = new[first + 1..].iter().find(|other| overlaps(other));
        other.map(|other| Overlap::Provided(one, other))
    }
}

/// Which new prefix is the first that overlaps with any other. In the order of their bytes those
/// that begin with a prefix stand behind it, with nothing else in between.
fn first_that_overlaps(new: &[&[u8]], existing: &[Box<[u8]>]) -> Option<usize> {
    let new_ones = new.iter().enumerate().map(|(index, prefix)| (*prefix, Some(index)));
    let known = existing.iter().map(|prefix| (&**prefix, None));
    let mut all: Vec<(&[u8], Option<usize>)> = new_ones.chain(known).collect();
    all.sort_unstable();
    let mut first = None;
    let mut shortest: Option<(&[u8], Option<usize>)> = None;
    for (prefix, index) in all {
        match shortest {
            Some((start, of)) if prefix.starts_with(start) => {
                first = [first, index, of].into_iter().flatten().min();
            }
            _ => shortest = Some((prefix, index)),
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn overlapping_prefixes_are_found_in_redis_order() {
        let existing: [Box<[u8]>; 1] = [b"user:"[..].into()];
        let overlap = |new: &[&'static [u8]]| match Prefixes::overlap(new, &existing) {
            Some(Overlap::Existing(one, other)) => Some((true, one.to_vec(), other.to_vec())),
            Some(Overlap::Provided(one, other)) => Some((false, one.to_vec(), other.to_vec())),
            None => None,
        };
        let found = |is_existing, one: &[u8], other: &[u8]| {
            Some((is_existing, one.to_vec(), other.to_vec()))
        };
        assert_eq!(overlap(&[b"a", b"b"]), None);
        assert_eq!(overlap(&[b"a", b"us"]), found(true, b"us", b"user:"));
        assert_eq!(overlap(&[b"a", b"ab", b"us"]), found(false, b"a", b"ab"));
        assert_eq!(overlap(&[b""]), found(true, b"", b"user:"));
    }

    /// Each compared with each.
    fn plain_overlap<'a>(new: &[&'a [u8]], existing: &'a [Box<[u8]>]) -> Option<Overlap<'a>> {
        let overlaps = |one: &[u8], other: &[u8]| one.starts_with(other) || other.starts_with(one);
        for (index, one) in new.iter().enumerate() {
            if let Some(other) = existing.iter().find(|other| overlaps(one, other)) {
                return Some(Overlap::Existing(one, other));
            }
            if let Some(other) = new[index + 1..].iter().find(|other| overlaps(one, other)) {
                return Some(Overlap::Provided(one, other));
            }
        }
        None
    }

    proptest! {
        #[test]
        fn an_overlap_is_the_first_of_all_pairs(
            new in prop::collection::vec("[abc]{0,4}", 0..8),
            existing in prop::collection::vec("[abc]{1,4}", 0..4),
        ) {
            let new: Vec<&[u8]> = new.iter().map(|prefix| prefix.as_bytes()).collect();
            // Those that a client has do not overlap.
            let mut known: Vec<Box<[u8]>> = Vec::new();
            for prefix in existing {
                if plain_overlap(&[prefix.as_bytes()], &known).is_none() {
                    known.push(prefix.into_bytes().into());
                }
            }
            prop_assert_eq!(Prefixes::overlap(&new, &known), plain_overlap(&new, &known));
        }

        /// Against a plain set of pairs.
        #[test]
        fn a_key_finds_the_clients_of_all_its_prefixes(
            changes in prop::collection::vec((any::<bool>(), "[ab]{0,3}", 0..4_u64), 0..60),
            key in "[ab]{0,5}",
        ) {
            let (mut prefixes, mut model) = (Prefixes::default(), BTreeSet::new());
            for (adds, prefix, client) in changes {
                if adds {
                    prefixes.add(prefix.as_bytes(), client);
                    model.insert((prefix, client));
                } else {
                    prefixes.remove(prefix.as_bytes(), client);
                    model.remove(&(prefix, client));
                }
            }
            let mut found = BTreeSet::new();
            prefixes.visit(key.as_bytes(), |prefix, clients| {
                let prefix = String::from_utf8_lossy(prefix).into_owned();
                found.extend(clients.iter().map(|client| (prefix.clone(), *client)));
            });
            let fits = |(prefix, _): &&(String, u64)| key.starts_with(prefix.as_str());
            prop_assert_eq!(found, model.iter().filter(fits).cloned().collect::<BTreeSet<_>>());
            let names: BTreeSet<_> = model.iter().map(|(prefix, _)| prefix).collect();
            prop_assert_eq!(prefixes.len(), names.len());
            prop_assert_eq!(prefixes.is_empty(), names.is_empty());
        }
    }
}
