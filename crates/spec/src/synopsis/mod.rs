//! The synopsis grammar: one line from which a command's arguments, arity and keys derive.
//!
//! It is the notation of Redis' reference pages:
//!
//! ```text
//! key value [NX | XX] [GET] [EX seconds | PX milliseconds | KEEPTTL]
//!
//! sequence     = item { item }
//! alternatives = sequence { "|" sequence }
//! item         = NAME                      an argument: has a lower-case letter
//!              | TOKEN                     a literal: has none (`EX`, `*`, `=`, `""`)
//!              | "[" alternatives "]"      may be left out
//!              | "<" alternatives ">"      exactly one of them
//!              | "(" sequence ")"          a group, where reading on would group differently
//!              | "[" sequence "...]"       again: repeats the items before it
//!              | "[...]"                   again: repeats the one item before it
//! ```
//!
//! A token takes what follows it as its argument: one `<…>`, one `(…)`, or all names up to the
//! next thing that is not a name, so that `EX seconds` is an argument with a token,
//! `LIMIT offset count` a block with a token, and in `BYRADIUS radius <M | KM>` the token belongs
//! to the radius. Where that is wrong, `(BYBOX width) height <M | KM>` or `TO (host port [FORCE])`
//! says what is meant; parentheses around a token and one argument add no level.
//!
//! Types, versions and names of groups are not in the line: types follow from the names
//! ([`crate::Kind::from_argument_name`]), the rest is said by [`crate::Override`]s.

mod lower;
mod syntax;

use crate::argument::{Argument, Extent, Kind, Override, Repeat};

/// How deeply brackets may nest. The most in any Redis command is four.
pub const NESTING_MAX: usize = 8;

/// What is wrong with a synopsis. Always a mistake in our own source, found when the table is
/// built, that is by any test.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SynopsisError {
    /// A bracket is not closed, or closed by another kind.
    #[error("expected `{expected}` before `{found}`, balance the brackets")]
    Unbalanced {
        /// The closing bracket that should have come.
        expected: &'static str,
        /// What came, "end" at the end of the line.
        found: String,
    },
    /// Nothing between two brackets or bars.
    #[error("an empty alternative, remove it or fill it")]
    Empty,
    /// Brackets nest more deeply than [`NESTING_MAX`].
    #[error("brackets nest deeper than {NESTING_MAX}, simplify")]
    TooDeep,
    /// `[x ...]` does not follow an `x`.
    #[error("a repetition must repeat the items right before it, write them again before `...`")]
    Repetition,
    /// An override matches no argument.
    #[error("no argument is called or has the token `{0}`, correct the override")]
    UnusedOverride(&'static str),
}

/// The arguments that a synopsis describes, corrected by `overrides`.
pub fn parse(
    synopsis: &'static str,
    overrides: &[Override],
) -> Result<Vec<Argument>, SynopsisError> {
    let mut arguments = lower::sequence(&syntax::parse(synopsis)?);
    for correction in overrides {
        if apply(*correction, &mut arguments) == 0 {
            return Err(SynopsisError::UnusedOverride(correction.target.label()));
        }
    }
    Ok(arguments)
}

/// Corrects the arguments that match and returns how many did.
fn apply(correction: Override, arguments: &mut [Argument]) -> usize {
    let mut count = 0;
    for argument in arguments {
        if count == 1 && correction.extent == Extent::First {
            break;
        }
        count += apply(correction, &mut argument.children);
        if !correction.target.matches(argument) {
            continue;
        }
        count += 1;
        if let Some(name) = correction.name {
            name.clone_into(&mut argument.name);
        }
        argument.kind = correction.kind.unwrap_or(argument.kind);
        argument.since = correction.since.or(argument.since);
        argument.deprecated_since = correction.deprecated_since.or(argument.deprecated_since);
    }
    count
}

impl Argument {
    /// A one-line rendering for tests and error messages: names with types, groups in brackets.
    pub fn outline(&self) -> String {
        let inner = |separator: &str| {
            self.children.iter().map(Argument::outline).collect::<Vec<_>>().join(separator)
        };
        let body = match self.kind {
            Kind::PureToken => String::new(),
            Kind::OneOf => format!("{}<{}>", self.name, inner(" | ")),
            Kind::Block => format!("{}({})", self.name, inner(" ")),
            kind => format!("{}:{}", self.name, kind.name()),
        };
        let token = self.token.unwrap_or_default();
        let space = if token.is_empty() || body.is_empty() { "" } else { " " };
        let since = self.since.map(|version| format!("@{version}")).unwrap_or_default();
        let repeat = match self.repeat {
            Repeat::Once => "",
            Repeat::Many => "...",
            Repeat::ManyWithToken => " and again...",
        };
        let text = format!("{token}{space}{body}{since}{repeat}");
        if self.is_optional() { format!("[{text}]") } else { text }
    }
}
