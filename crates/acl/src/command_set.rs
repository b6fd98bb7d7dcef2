//! The commands that a selector permits, and the rules that have led to them.

use crate::rules::RuleError;
use crate::selector::is_word;
use basalt_spec::{Category, Command, CommandId, CommandTable, Flag};
use std::collections::BTreeMap;

/// The commands that a selector permits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandSet {
    /// A bit for each command and subcommand of the table.
    bits: Vec<u64>,
    /// It was given all commands, and none has been taken since.
    is_all: bool,
    /// The latest rule about all commands gave them: a command that comes with a later version is
    /// permitted.
    has_future: bool,
    /// First arguments with which a command is permitted that is not otherwise.
    first_arguments: BTreeMap<usize, Vec<Vec<u8>>>,
    /// What was given and taken since the latest rule about all commands, in this order, in lower
    /// case.
    rules: Vec<Given>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    verb: Verb,
    what: String,
}

/// The sign of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// `+`
    Give,
    /// `-`
    Take,
}

impl Verb {
    fn sign(self) -> char {
        match self {
            Verb::Give => '+',
            Verb::Take => '-',
        }
    }
}

impl CommandSet {
    /// Whether every command is permitted, and no look at any is needed.
    #[inline]
    pub(crate) fn is_all(&self) -> bool {
        self.is_all
    }

    /// Whether a call of a command may run; `first` is its first argument.
    #[inline]
    pub(crate) fn permits(&self, command: &Command, first: Option<&[u8]>) -> bool {
        self.is_all
            || self.has(command.id)
            || command.flags.has(Flag::NoAuth)
            || self.permits_first(command.id, first)
    }

    #[inline]
    fn has(&self, id: CommandId) -> bool {
        let index = id.index();
        self.bits.get(index / 64).is_some_and(|word| word & (1 << (index % 64)) != 0)
    }

    fn permits_first(&self, id: CommandId, first: Option<&[u8]>) -> bool {
        let (Some(first), Some(permitted)) = (first, self.first_arguments.get(&id.index())) else {
            return false;
        };
        permitted.iter().any(|argument| argument.eq_ignore_ascii_case(first))
    }

    /// `+@all` and `-@all`.
    pub(crate) fn set_all(&mut self, table: &CommandTable, verb: Verb) {
        let word = if verb == Verb::Give { u64::MAX } else { 0 };
        *self = CommandSet {
            bits: vec![word; table.all().len().div_ceil(64)],
            is_all: verb == Verb::Give,
            has_future: verb == Verb::Give,
            ..CommandSet::default()
        };
    }

    /// `+@category` and `-@category`.
    pub(crate) fn set_category(
        &mut self,
        table: &CommandTable,
        name: &[u8],
        verb: Verb,
    ) -> Result<(), RuleError> {
        let category = Category::from_name(name).ok_or(RuleError::Unknown)?;
        for command in table.all().iter().filter(|command| command.categories.has(category)) {
            self.set_with_subcommands(command, verb);
        }
        self.note(verb, category.name_with_at().to_owned());
        Ok(())
    }

    /// `+name`, `+name|sub`, `+name|argument`.
    pub(crate) fn give(&mut self, table: &CommandTable, what: &[u8]) -> Result<(), RuleError> {
        let Some(bar) = what.iter().rposition(|&byte| byte == b'|') else {
            let command = table.lookup_own_name(what).ok_or(RuleError::Unknown)?;
            self.set_with_subcommands(command, Verb::Give);
            self.note(Verb::Give, command.spec.name.to_owned());
            return Ok(());
        };
        let (name, argument) = (&what[..bar], &what[bar + 1..]);
        let command = table.lookup_own_name(name).ok_or(RuleError::Unknown)?;
        if command.container.is_some() {
            return Err(RuleError::ArgumentOfSubcommand);
        }
        // What could not be one word of a file could not be read back.
        let text = std::str::from_utf8(what).map_err(|_| RuleError::Syntax)?;
        if argument.is_empty() || !is_word(argument) {
            return Err(RuleError::Syntax);
        }
        if command.subcommands.is_empty() {
            let permitted = self.first_arguments.entry(command.id.index()).or_default();
            if !permitted.iter().any(|known| known.eq_ignore_ascii_case(argument)) {
                permitted.push(argument.to_vec());
            }
        } else {
            let sub = table.lookup_own_name(what).ok_or(RuleError::Unknown)?;
            self.set_with_subcommands(sub, Verb::Give);
        }
        self.note(Verb::Give, text.to_ascii_lowercase());
        Ok(())
    }

    /// `-name` and `-name|sub`.
    pub(crate) fn take(&mut self, table: &CommandTable, what: &[u8]) -> Result<(), RuleError> {
        let command = table.lookup_own_name(what).ok_or(RuleError::Unknown)?;
        self.set_with_subcommands(command, Verb::Take);
        self.note(Verb::Take, command.spec.name.to_owned());
        Ok(())
    }

    fn set_with_subcommands(&mut self, command: &Command, verb: Verb) {
        self.first_arguments.remove(&command.id.index());
        for id in std::iter::once(command.id).chain(command.subcommands.iter().copied()) {
            self.set(id, verb);
        }
    }

    fn set(&mut self, id: CommandId, verb: Verb) {
        let (word, bit) = (id.index() / 64, 1 << (id.index() % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        match verb {
            Verb::Give => self.bits[word] |= bit,
            Verb::Take => {
                self.bits[word] &= !bit;
                self.is_all = false;
            }
        }
    }

    /// A later rule about something makes an earlier one about it, or about a part of it, void.
    fn note(&mut self, verb: Verb, what: String) {
        self.rules.retain(|known| {
            let rest = known.what.strip_prefix(&what);
            !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('|'))
        });
        self.rules.push(Given { verb, what });
    }

    /// The rules that lead here, as `-@all +get`.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::from(if self.has_future { "+@all" } else { "-@all" });
        for Given { verb, what } in &self.rules {
            text.push(' ');
            text.push(verb.sign());
            text.push_str(what);
        }
        text
    }
}
