//! ACL categories: what `+@read` in a user's rules stands for.
//!
//! Redis derives most of them from the flags and lets a command's author name the rest, nearly
//! always the one of the command's group. Here the group gives it, and an author speaks only where
//! that would be wrong.

use crate::command_spec::{CommandSpec, Group, Subcommands};
use crate::flags::{Flag, Flags};

/// One ACL category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "a category's name is all there is to say")]
pub enum Category {
    Keyspace,
    Read,
    Write,
    Set,
    Sortedset,
    List,
    Hash,
    String,
    Bitmap,
    Hyperloglog,
    Geo,
    Stream,
    Pubsub,
    Admin,
    Fast,
    Slow,
    Blocking,
    Dangerous,
    Connection,
    Transaction,
    Scripting,
}

impl Category {
    /// Every category with its name after `@`, in the order of ACL CAT and COMMAND INFO.
    pub const ALL: [(Category, &'static str); 21] = [
        (Category::Keyspace, "@keyspace"),
        (Category::Read, "@read"),
        (Category::Write, "@write"),
        (Category::Set, "@set"),
        (Category::Sortedset, "@sortedset"),
        (Category::List, "@list"),
        (Category::Hash, "@hash"),
        (Category::String, "@string"),
        (Category::Bitmap, "@bitmap"),
        (Category::Hyperloglog, "@hyperloglog"),
        (Category::Geo, "@geo"),
        (Category::Stream, "@stream"),
        (Category::Pubsub, "@pubsub"),
        (Category::Admin, "@admin"),
        (Category::Fast, "@fast"),
        (Category::Slow, "@slow"),
        (Category::Blocking, "@blocking"),
        (Category::Dangerous, "@dangerous"),
        (Category::Connection, "@connection"),
        (Category::Transaction, "@transaction"),
        (Category::Scripting, "@scripting"),
    ];

    /// The name with `@`, as COMMAND INFO shows it.
    pub const fn name_with_at(self) -> &'static str {
        Category::ALL[self as usize].1
    }

    /// The name alone, as ACL CAT shows it.
    pub fn name(self) -> &'static str {
        &self.name_with_at()[1..]
    }

    /// The category of that name (no `@`), in any case.
    pub fn from_name(name: &[u8]) -> Option<Category> {
        Category::ALL
            .into_iter()
            .map(|(category, _)| category)
            .find(|category| category.name().as_bytes().eq_ignore_ascii_case(name))
    }
}

/// A set of [`Category`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Categories(u32);

impl Categories {
    /// No category.
    pub const NONE: Categories = Categories(0);

    /// The set of the given categories, usable in a constant.
    pub const fn of(categories: &[Category]) -> Categories {
        let mut bits = 0;
        let mut index = 0;
        while index < categories.len() {
            bits |= 1 << categories[index] as u32;
            index += 1;
        }
        Categories(bits)
    }

    /// Whether the set holds `category`.
    #[inline]
    pub const fn has(self, category: Category) -> bool {
        self.0 & (1 << category as u32) != 0
    }

    /// What is in either set.
    #[must_use]
    pub const fn union(self, other: Categories) -> Categories {
        Categories(self.0 | other.0)
    }

    /// The categories in it, in the order of COMMAND INFO.
    pub fn iter(self) -> impl Iterator<Item = Category> {
        Category::ALL.into_iter().map(|(c, _)| c).filter(move |c| self.has(*c))
    }

    /// The categories of a command: those that its flags imply, and those that its author or its
    /// group implies. A container has no category of its own, since its subcommands have theirs.
    pub(crate) fn of_command(spec: &CommandSpec) -> Categories {
        let own = match (spec.acl, spec.subcommands) {
            (Some(stated), _) => stated,
            (None, Subcommands::Required) => Categories::NONE,
            (None, _) => of_group(spec.group),
        };
        own.union(implied_by(spec.flags, spec.group))
    }
}

fn implied_by(flags: Flags, group: Group) -> Categories {
    use Category::{Admin, Blocking, Dangerous, Fast, Pubsub, Read, Slow, Write};
    let mut implied = if flags.has(Flag::Fast) { vec![Fast] } else { vec![Slow] };
    if flags.has(Flag::Write) {
        implied.push(Write);
    }
    // A read-only script may only read, but `+@read` should not let a user run scripts.
    if flags.has(Flag::Readonly) && group != Group::Scripting {
        implied.push(Read);
    }
    if flags.has(Flag::Admin) {
        implied.extend([Admin, Dangerous]);
    }
    if flags.has(Flag::Pubsub) {
        implied.push(Pubsub);
    }
    if flags.has(Flag::Blocking) {
        implied.push(Blocking);
    }
    Categories::of(&implied)
}

const fn of_group(group: Group) -> Categories {
    match group {
        Group::Generic => Categories::of(&[Category::Keyspace]),
        Group::String => Categories::of(&[Category::String]),
        Group::List => Categories::of(&[Category::List]),
        Group::Set => Categories::of(&[Category::Set]),
        Group::SortedSet => Categories::of(&[Category::Sortedset]),
        Group::Hash => Categories::of(&[Category::Hash]),
        Group::Bitmap => Categories::of(&[Category::Bitmap]),
        Group::Hyperloglog => Categories::of(&[Category::Hyperloglog]),
        Group::Geo => Categories::of(&[Category::Geo]),
        Group::Stream => Categories::of(&[Category::Stream]),
        Group::Connection => Categories::of(&[Category::Connection]),
        Group::Transactions => Categories::of(&[Category::Transaction]),
        Group::Scripting => Categories::of(&[Category::Scripting]),
        Group::Pubsub | Group::Server | Group::Cluster | Group::Sentinel | Group::Module => {
            Categories::NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bits_agree() {
        for (index, (category, name)) in Category::ALL.into_iter().enumerate() {
            assert_eq!(category as usize, index);
            assert_eq!(category.name_with_at(), name);
            let upper = category.name().to_uppercase();
            assert_eq!(Category::from_name(upper.as_bytes()), Some(category));
        }
        assert_eq!(Category::from_name(b"all"), None);
    }
}
