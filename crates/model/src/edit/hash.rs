//! Hashes: maps of fields that may expire.
//!
//! An expired field stays in the plain hash until it is overwritten or removed: whether the engine
//! has removed it is the engine's affair, but it must never be seen again.

use super::set::stays;
use super::spelled::spelled;
use super::version::{SOME_NUMBER, moved};
use crate::choice::{EXPIRY_SPAN_MS, name, names, word};
use basalt_env::random::Random;
use basalt_value::hash::{Field, OldExpiry, Terms};
use basalt_value::item::Item;
use basalt_value::{Collection, Edits, Hash};
use std::collections::BTreeMap;

pub(crate) type PlainHash = BTreeMap<Vec<u8>, PlainField>;

/// A field's value, and when it expires, 0 for never.
#[derive(Clone, PartialEq, Eq)]
pub struct PlainField {
    value: Vec<u8>,
    expire_ms: u64,
    /// 0 for none.
    pub(crate) version: u64,
}

impl PlainField {
    pub(crate) fn is_live(&self, now_ms: u64) -> bool {
        self.expire_ms == 0 || self.expire_ms > now_ms
    }
}

impl std::fmt::Debug for PlainField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes until {}, {}", self.value.len(), self.expire_ms, self.version)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Fields that expire no more.
    Set(Vec<(Vec<u8>, Vec<u8>)>),
    /// A field that keeps its expiry.
    SetKeeping(Vec<u8>, Vec<u8>),
    /// A field that expires after this number of milliseconds.
    SetExpiring(Vec<u8>, Vec<u8>, u64),
    /// A field with a version that expires after this number of milliseconds, 0 for never.
    Give(Vec<u8>, Vec<u8>, u64),
    /// Fields that expire after this number of milliseconds, 0 for never.
    Expire(Vec<Vec<u8>>, u64),
    Remove(Vec<Vec<u8>>),
    RemoveExpired(usize),
    /// Removes most.
    Thin(u8),
}

pub(crate) fn plain(hash: &Hash) -> PlainHash {
    let mut fields = PlainHash::new();
    hash.visit(0, |field| {
        let version = hash.version(field.name, 0).unwrap_or(0);
        let value = spelled(field.value);
        let plain = PlainField { value, expire_ms: field.expire_ms, version };
        fields.insert(spelled(field.name), plain);
    });
    assert_eq!(fields.len(), hash.len(), "a hash counts its fields, and has each once");
    fields
}

fn after(now_ms: u64, ms: u64) -> u64 {
    if ms == 0 { 0 } else { now_ms + ms }
}

impl Edit {
    pub(crate) fn choose(random: &mut Random) -> Edit {
        let ms = 1 + random.below(EXPIRY_SPAN_MS);
        match random.below(19) {
            16..=17 => Edit::Give(name(random), word(random), 0),
            18 => Edit::Give(name(random), word(random), ms),
            0..=5 => Edit::Set(names(random).into_iter().map(|it| (it, word(random))).collect()),
            6 => Edit::SetKeeping(name(random), word(random)),
            7..=8 => Edit::SetExpiring(name(random), word(random), ms),
            9 => Edit::Expire(names(random), ms),
            10 => Edit::Expire(vec![name(random)], if random.chance(1, 3) { 0 } else { ms }),
            11..=12 => Edit::Remove(vec![name(random)]),
            13 => Edit::Remove(names(random)),
            14 => Edit::RemoveExpired(random.below(5) as usize),
            _ => Edit::Thin(2 + random.below(20) as u8),
        }
    }

    pub(super) fn change(&self, hash: &mut Hash, terms: &Terms, edits: &mut Edits<'_>) {
        let now_ms = terms.now_ms;
        let mut set = |name: &[u8], value: &[u8], expire_ms, old| {
            let field = Field { name: Item::of(name), value: Item::of(value), expire_ms };
            hash.set(field, old, terms, edits);
        };
        match self {
            Edit::Set(fields) => {
                fields.iter().for_each(|(name, value)| set(name, value, 0, OldExpiry::Forget));
            }
            Edit::SetKeeping(name, value) => set(name, value, 0, OldExpiry::Keep),
            Edit::SetExpiring(name, value, ms) => {
                set(name, value, after(now_ms, *ms), OldExpiry::Forget);
            }
            Edit::Give(name, value, ms) => {
                let (name, value) = (Item::of(name), Item::of(value));
                let field = Field { name, value, expire_ms: after(now_ms, *ms) };
                hash.set_versioned(field, None, terms, edits);
            }
            Edit::Expire(names, ms) => {
                for name in names.iter().map(|name| Item::of(name)) {
                    if hash.field(name, now_ms).is_some() {
                        hash.set_expiry(name, after(now_ms, *ms), edits);
                    }
                }
            }
            Edit::Remove(names) => names.iter().for_each(|name| {
                hash.remove(Item::of(name), now_ms, edits);
            }),
            Edit::RemoveExpired(max) => {
                hash.remove_expired(now_ms, *max, edits);
            }
            Edit::Thin(divisor) => {
                let names: Vec<_> =
                    plain(hash).into_keys().filter(|it| !stays(it, *divisor)).collect();
                names.iter().for_each(|name| {
                    hash.remove(Item::of(name), now_ms, edits);
                });
            }
        }
    }

    pub(super) fn imitate(&self, hash: &mut PlainHash, now_ms: u64) {
        match self {
            Edit::Set(fields) => {
                fields.iter().for_each(|(name, value)| put(hash, name, value, 0, now_ms));
            }
            Edit::SetKeeping(name, value) => {
                let live = hash.get(name).filter(|field| field.is_live(now_ms));
                let expire_ms = live.map_or(0, |field| field.expire_ms);
                put(hash, name, value, expire_ms, now_ms);
            }
            Edit::SetExpiring(name, value, ms) => {
                put(hash, name, value, after(now_ms, *ms), now_ms);
            }
            Edit::Give(name, value, ms) => {
                let expire_ms = after(now_ms, *ms);
                let plain = PlainField { value: value.clone(), expire_ms, version: SOME_NUMBER };
                hash.insert(name.clone(), plain);
            }
            Edit::Expire(names, ms) => {
                for name in names {
                    if let Some(field) = hash.get_mut(name).filter(|field| field.is_live(now_ms)) {
                        let expire_ms = after(now_ms, *ms);
                        field.version = moved(field.version, field.expire_ms != expire_ms);
                        field.expire_ms = expire_ms;
                    }
                }
            }
            Edit::Remove(names) => names.iter().for_each(|name| {
                hash.remove(name);
            }),
            Edit::RemoveExpired(_) => {}
            Edit::Thin(divisor) => hash.retain(|name, _| stays(name, *divisor)),
        }
    }
}

/// Puts a field in the place of another, whose version moves if it has not expired.
fn put(hash: &mut PlainHash, name: &[u8], value: &[u8], expire_ms: u64, now_ms: u64) {
    let live = hash.get(name).filter(|field| field.is_live(now_ms));
    let version = live.map_or(0, |field| {
        moved(field.version, field.value != value || field.expire_ms != expire_ms)
    });
    hash.insert(name.to_vec(), PlainField { value: value.to_vec(), expire_ms, version });
}
