//! HOT PATH. The index from names to commands.
//!
//! A name of up to 24 bytes is folded to lower case while it is read into three 64-bit words, so
//! that one multiplication hashes it and three comparisons check it; no byte of a stored name is
//! touched. Reads overlap, which is unambiguous because the length is part of the key:
//!
//! ```text
//!  1..=3 bytes   first, middle, last byte            in word 0
//!  4..=7         first 4, last 4                     in word 0
//!  8..=16        first 8 in word 0, last 8 in word 1
//! 17..=24        first 8, bytes 8..16, last 8
//! ```
//!
//! The id of the container is part of the key too, so that subcommands share the table. Slots
//! are found by open addressing, at most a quarter is filled, and of 64 seeds the one with the
//! shortest probes is kept. (A general-purpose hash map costs several times as much here: it must
//! fold the name into a buffer first, and then hash and compare bytes.)

use super::id::CommandId;

/// The longest name that the index holds.
pub(super) const NAME_BYTES_MAX: usize = 24;

/// Why a name is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameError {
    /// It has upper case, or is empty or too long.
    Form,
    /// Another command has it.
    Taken,
}

/// How many seeds are tried.
const SEEDS: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    words: [u64; 3],
    /// The length of the name, and the container's index + 1 (0 for none) above it.
    scope: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: Key,
    id: Option<CommandId>,
}

/// See the top of the file.
#[derive(Clone, Debug)]
pub(super) struct Index {
    slots: Box<[Slot]>,
    mask: usize,
    seed: u64,
    /// How many slots behind its own a name can be.
    probes_max: usize,
}

impl Index {
    /// An empty index for `count` names.
    pub(super) fn with_capacity(count: usize) -> Index {
        let slots = (count * 4).next_power_of_two().max(4);
        Index { slots: empty(slots), mask: slots - 1, seed: seed(0), probes_max: slots - 1 }
    }

    /// The command of that name in that container.
    #[inline]
    pub(super) fn find(&self, container: Option<CommandId>, name: &[u8]) -> Option<CommandId> {
        let key = Key::new(container, name)?;
        let mut at = key.hash(self.seed) as usize & self.mask;
        for _ in 0..=self.probes_max {
            let slot = &self.slots[at];
            // One test for all four, without a branch for each word.
            let [first, second, third] = slot.key.words;
            let [wanted_first, wanted_second, wanted_third] = key.words;
            let differs = (first ^ wanted_first)
                | (second ^ wanted_second)
                | (third ^ wanted_third)
                | u64::from(slot.key.scope ^ key.scope);
            if differs == 0 {
                return slot.id;
            }
            slot.id?;
            at = (at + 1) & self.mask;
        }
        None
    }

    /// Adds a name.
    pub(super) fn insert(
        &mut self,
        container: Option<CommandId>,
        name: &[u8],
        id: CommandId,
    ) -> Result<(), NameError> {
        let is_lower = !name.iter().any(u8::is_ascii_uppercase);
        let key = Key::new(container, name).filter(|_| is_lower);
        let key = key.ok_or(NameError::Form)?;
        if self.find(container, name).is_some() {
            return Err(NameError::Taken);
        }
        let slot = Slot { key, id: Some(id) };
        place(&mut self.slots, self.seed, slot);
        Ok(())
    }

    /// Takes the name of a command out that is in no container. The index is to be settled before
    /// it is asked again: a name behind the empty slot is not found.
    pub(super) fn remove(&mut self, id: CommandId) {
        let is_name = |slot: &Slot| slot.id == Some(id) && slot.key.scope >> 8 == 0;
        if let Some(slot) = self.slots.iter_mut().find(|slot| is_name(slot)) {
            slot.id = None;
        }
    }

    /// Rebuilds the index with the best seed, once all names are in.
    pub(super) fn settle(&mut self) {
        let names: Vec<Slot> = self.slots.iter().filter(|s| s.id.is_some()).copied().collect();
        let mut best: Option<(usize, u64, usize)> = None;
        for number in 0..SEEDS {
            let mut slots = empty(self.slots.len());
            let probes = names.iter().map(|name| place(&mut slots, seed(number), *name));
            let (sum, max) = probes.fold((0, 0), |(sum, max), p| (sum + p, max.max(p)));
            if best.is_none_or(|(least, ..)| sum < least) {
                best = Some((sum, seed(number), max));
                self.slots = slots;
            }
        }
        if let Some((_, seed, max)) = best {
            (self.seed, self.probes_max) = (seed, max);
        }
    }
}

impl Key {
    #[inline]
    fn new(container: Option<CommandId>, name: &[u8]) -> Option<Key> {
        // Folding inside the arms spares short names, which most are, the words that they lack.
        let words = match name.len() {
            4..=7 => [to_lower(half(name.first_chunk()) | half(name.last_chunk()) << 32), 0, 0],
            1..=3 => [to_lower(short(name)), 0, 0],
            8..=16 => [to_lower(word(name.first_chunk())), to_lower(word(name.last_chunk())), 0],
            17..=NAME_BYTES_MAX => [
                to_lower(word(name.first_chunk())),
                to_lower(word(name[8..].first_chunk())),
                to_lower(word(name.last_chunk())),
            ],
            _ => return None,
        };
        let container = container.map_or(0, |id| id.0.get());
        let scope = name.len() as u32 | u32::from(container) << 8;
        Some(Key { words, scope })
    }

    #[inline]
    fn hash(&self, seed: u64) -> u64 {
        let [first, second, third] = self.words;
        let mixed = first ^ second.rotate_left(29) ^ third.rotate_left(47) ^ u64::from(self.scope);
        let product = u128::from(mixed) * u128::from(seed);
        (product >> 64) as u64 ^ product as u64
    }
}

#[inline]
fn word(bytes: Option<&[u8; 8]>) -> u64 {
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[inline]
fn half(bytes: Option<&[u8; 4]>) -> u64 {
    bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
}

#[inline]
fn short(name: &[u8]) -> u64 {
    let byte = |index: usize| u64::from(name[index]);
    byte(0) | byte(name.len() / 2) << 8 | byte(name.len() - 1) << 16
}

/// Folds eight bytes at once: in each byte that is `A` to `Z`, bit 5 is set. Adding 0x3f or 0x25 to
/// the low seven bits carries into the top bit from `A` on, and from `[` on.
#[inline]
fn to_lower(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let low = word & (0x7f * ONES);
    let from_a = low + 0x3f * ONES;
    let after_z = low + 0x25 * ONES;
    let is_upper = from_a & !after_z & !word & (0x80 * ONES);
    word | is_upper >> 2
}

/// An odd number with many bits, different for each `number` (the step of splitmix64).
fn seed(number: u64) -> u64 {
    0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * number + 1) | 1
}

fn empty(slots: usize) -> Box<[Slot]> {
    let slot = Slot { key: Key { words: [0; 3], scope: 0 }, id: None };
    vec![slot; slots].into_boxed_slice()
}

/// Puts a name into its first free slot and returns how many it had to pass.
fn place(slots: &mut [Slot], seed: u64, name: Slot) -> usize {
    let mask = slots.len() - 1;
    let start = name.key.hash(seed) as usize;
    let free = (0..slots.len()).find(|step| slots[(start + step) & mask].id.is_none());
    let step = free.expect("a table has four times as many slots as names");
    slots[(start + step) & mask] = name;
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_touches_letters_only() {
        for byte in 0..=255_u8 {
            let expected = u64::from_le_bytes([byte.to_ascii_lowercase(); 8]);
            assert_eq!(to_lower(u64::from_le_bytes([byte; 8])), expected);
        }
    }

    #[test]
    fn every_length_is_found_in_any_case_and_nothing_else_is() {
        let names: Vec<String> = (1..=NAME_BYTES_MAX)
            .map(|length| ('a'..='z').cycle().skip(length).take(length).collect())
            .collect();
        let mut index = Index::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            let id = CommandId::new(number).expect("small");
            index.insert(None, name.as_bytes(), id).expect("new");
        }
        index.settle();
        for (number, name) in names.iter().enumerate() {
            let found = index.find(None, name.to_uppercase().as_bytes());
            assert_eq!(found, CommandId::new(number));
            assert_eq!(index.find(CommandId::new(0), name.as_bytes()), None);
            for at in 0..name.len() {
                let mut other = name.clone().into_bytes();
                other[at] = b'_';
                assert_eq!(index.find(None, &other), None);
            }
        }
        assert_eq!(index.find(None, b""), None);
        assert_eq!(index.find(None, &[b'a'; NAME_BYTES_MAX + 1]), None);
    }

    #[test]
    fn names_are_checked() {
        let id = CommandId::new(0).expect("small");
        let mut index = Index::with_capacity(2);
        assert_eq!(index.insert(None, b"GET", id), Err(NameError::Form));
        assert_eq!(index.insert(None, b"", id), Err(NameError::Form));
        assert_eq!(index.insert(None, b"get", id), Ok(()));
        assert_eq!(index.insert(None, b"get", id), Err(NameError::Taken));
    }
}
