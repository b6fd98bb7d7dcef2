//! Sets: maps of members to versions.

use super::spelled::spelled;
use super::version::SOME_NUMBER;
use crate::choice::{name, names};
use basalt_env::random::Random;
use basalt_value::hash::Terms;
use basalt_value::item::Item;
use basalt_value::{Collection, Edits, Set};
use std::collections::BTreeMap;

/// Versions, 0 for none.
pub(crate) type PlainSet = BTreeMap<Vec<u8>, u64>;

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Add(Vec<Vec<u8>>),
    /// Adds a member with a version.
    Give(Vec<u8>),
    Remove(Vec<Vec<u8>>),
    /// Removes those whose last byte modulo this is not 0: most of them.
    Thin(u8),
}

pub(crate) fn plain(set: &Set) -> PlainSet {
    let version = |item: Item<'_>| set.attribute(item).map_or(0, |attribute| attribute.version);
    let members: PlainSet = set.iter().map(|item| (spelled(item), version(item))).collect();
    assert_eq!(members.len(), set.len(), "a set counts its members, and has each once");
    members
}

/// Whether thinning keeps a member.
pub(super) fn stays(member: &[u8], divisor: u8) -> bool {
    member.last().is_none_or(|byte| byte.is_multiple_of(divisor))
}

impl Edit {
    pub(crate) fn choose(random: &mut Random) -> Edit {
        match random.below(12) {
            10..=11 => Edit::Give(name(random)),
            0..=5 => Edit::Add(names(random)),
            6..=7 => Edit::Remove(vec![name(random)]),
            8 => Edit::Remove(names(random)),
            _ => Edit::Thin(2 + random.below(20) as u8),
        }
    }

    pub(super) fn change(&self, set: &mut Set, terms: &Terms, edits: &mut Edits<'_>) {
        match self {
            Edit::Add(members) => members.iter().for_each(|member| {
                set.add(member, &terms.limits, edits);
            }),
            Edit::Give(member) => {
                set.add_versioned(Item::of(member), 0, None, &terms.limits, edits);
            }
            Edit::Remove(members) => members.iter().for_each(|member| {
                set.remove(member, edits);
            }),
            Edit::Thin(divisor) => {
                let gone: Vec<_> =
                    plain(set).into_keys().filter(|it| !stays(it, *divisor)).collect();
                gone.iter().for_each(|member| {
                    set.remove(member, edits);
                });
            }
        }
    }

    pub(super) fn imitate(&self, set: &mut PlainSet) {
        match self {
            Edit::Add(members) => members.iter().for_each(|member| {
                set.entry(member.clone()).or_insert(0);
            }),
            Edit::Give(member) => drop(set.insert(member.clone(), SOME_NUMBER)),
            Edit::Remove(members) => members.iter().for_each(|member| {
                set.remove(member);
            }),
            Edit::Thin(divisor) => set.retain(|member, _| stays(member, *divisor)),
        }
    }
}
