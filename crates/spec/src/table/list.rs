//! COMMAND LIST and its filters.

use super::{Command, CommandTable};
use crate::category::Category;

/// Which commands COMMAND LIST shows.
#[derive(Clone, Copy)]
pub enum Filter<'a> {
    /// Those of a category.
    Category(Category),
    /// Those whose full name (`client|list`) the caller's pattern accepts. The pattern is a
    /// function because matching globs is no business of this crate.
    Pattern(&'a dyn Fn(&str) -> bool),
}

impl CommandTable {
    /// The commands and subcommands that pass the filter, in the order of the specs.
    ///
    /// ```text
    /// COMMAND LIST [FILTERBY <ACLCAT category | PATTERN pattern>]
    /// ```
    pub fn list<'a>(&'a self, filter: Filter<'a>) -> impl Iterator<Item = &'a Command> {
        self.all().iter().filter(move |command| match filter {
            Filter::Category(category) => command.categories.has(category),
            Filter::Pattern(accepts) => accepts(command.spec.name),
        })
    }
}
