//! All commands of a server, made once at start from their specs.

mod id;
mod index;
mod list;
mod rename;

use crate::argument::{self, Argument};
use crate::category::Categories;
use crate::command_spec::{CommandSpec, Subcommands};
use crate::flags::{Flag, Flags};
use crate::keys::{
    self, BeginSearch, FindKeys, KeyFlags, KeyPlaceError, KeyRange, KeySpec, KeysError, LeastKeys,
    OptionWords, Words,
};
use crate::synopsis::{self, SynopsisError};
pub use id::CommandId;
use index::{Index, NameError};
pub use list::Filter;
pub use rename::RenameError;
use rename::Renames;

/// A command with all that derives from its spec.
#[derive(Debug)]
pub struct Command {
    /// Its place in the table.
    pub id: CommandId,
    /// Redis' arity: the number of words in a call, negative if there may be more.
    pub arity: i16,
    /// Where its keys are, unless [`Flag::Movablekeys`] says that there are others.
    pub key_range: KeyRange,
    /// The author's flags and [`Flag::Movablekeys`].
    pub flags: Flags,
    /// Its ACL categories.
    pub categories: Categories,
    /// What the author wrote.
    pub spec: &'static CommandSpec,
    /// The container that it belongs to.
    pub container: Option<CommandId>,
    /// Its subcommands, in the order of the specs.
    pub subcommands: Vec<CommandId>,
    /// Where its keys are and what is done to them.
    pub key_specs: Vec<KeySpec>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    options: Vec<OptionWords>,
}

impl Command {
    /// Whether a call of `words` words (name included) has as many as the command takes.
    #[inline]
    pub fn accepts_words(&self, words: usize) -> bool {
        let required = usize::from(self.arity.unsigned_abs());
        if self.arity >= 0 { words == required } else { words >= required }
    }

    /// Calls `visit` with the position and the flags of each key of a call, in the order of the
    /// key specifications, and of each sharded channel ([`crate::KeyFlag::NotKey`]).
    ///
    /// # Errors
    /// The call ends before a key, or its number of keys is no number or too large.
    pub fn visit_keys<W: Words + ?Sized>(
        &self,
        words: &W,
        mut visit: impl FnMut(usize, KeyFlags),
    ) -> Result<(), KeysError> {
        if let (Some(places), Some(first)) = (self.spec.keys_of_call, self.key_specs.first()) {
            if !self.accepts_words(words.count()) {
                return Err(KeysError::Invalid);
            }
            places(&ByRef(words))?.for_each(|position| visit(position, first.flags));
            return Ok(());
        }
        let may_have_none = self.key_specs.is_empty() || self.flags.has(Flag::NoMandatoryKeys);
        let search = keys::Search {
            specs: &self.key_specs,
            options: &self.options,
            words_min: usize::from(self.arity.unsigned_abs()),
            least: if may_have_none { LeastKeys::None } else { LeastKeys::One },
        };
        search.visit(words, visit)
    }

    /// The word behind which a call has its keys, up to its end, if it has none elsewhere. The
    /// first such word of a call counts that is not its last.
    pub fn word_before_keys(&self) -> Option<&'static str> {
        let [only] = &self.key_specs[..] else { return None };
        match (only.begin, only.find) {
            (
                BeginSearch::Keyword { keyword, start_from: 1 },
                FindKeys::Range { last_key: -1, step: 1, limit: 0 },
            ) => Some(keyword),
            _ => None,
        }
    }

    fn derive(id: CommandId, spec: &'static CommandSpec) -> Result<Command, Problem> {
        let name_words = 1 + usize::from(spec.container_and_name().is_some());
        let mut arguments = synopsis::parse(spec.synopsis, spec.overrides)?;
        let key_specs = keys::assign(name_words, &mut arguments, spec.keys)?;
        let (key_range, is_missing_keys) = keys::summarize(&key_specs);
        let arity = match (spec.arity, spec.subcommands) {
            (Some(stated), _) => stated,
            (None, Subcommands::None) => argument::arity(name_words, &arguments),
            (None, Subcommands::Optional) => -1,
            (None, Subcommands::Required) => -2,
        };
        let movable = if is_missing_keys { spec.flags.with(Flag::Movablekeys) } else { spec.flags };
        Ok(Command {
            id,
            arity,
            key_range,
            flags: movable,
            categories: Categories::of_command(spec),
            spec,
            container: None,
            subcommands: Vec::new(),
            options: keys::option_words(&arguments, &key_specs),
            key_specs,
            arguments,
        })
    }
}

/// Words whose type may have no size, for what takes any.
struct ByRef<'a, W: ?Sized>(&'a W);

impl<W: Words + ?Sized> Words for ByRef<'_, W> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn word(&self, index: usize) -> &[u8] {
        self.0.word(index)
    }
}

/// A spec that no table can be built from. Always a mistake in our own source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("command `{name}`: {problem}")]
pub struct SpecError {
    /// The command.
    pub name: &'static str,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The synopsis does not parse.
    #[error("synopsis: {0}")]
    Synopsis(#[from] SynopsisError),
    /// The keys do not fit the synopsis.
    #[error("keys: {0}")]
    Keys(#[from] KeyPlaceError),
    /// Upper case, empty or longer than [`NAME_BYTES_MAX`].
    #[error("a name is 1 to {NAME_BYTES_MAX} bytes of lower case, rename it")]
    Name,
    /// Two specs have this name.
    #[error("the name is taken, remove one of the two")]
    Duplicate,
    /// The container is missing or is none.
    #[error("there is no container of that name, add it or set its `subcommands`")]
    NoContainer,
    /// More than [`COMMANDS_MAX`].
    #[error("more than {COMMANDS_MAX} commands, raise the limit")]
    TooMany,
}

impl From<NameError> for Problem {
    fn from(error: NameError) -> Problem {
        match error {
            NameError::Form => Problem::Name,
            NameError::Taken => Problem::Duplicate,
        }
    }
}

/// The longest name of a command or, by itself, of a subcommand.
pub const NAME_BYTES_MAX: usize = index::NAME_BYTES_MAX;

/// The most commands and subcommands that a table holds.
pub const COMMANDS_MAX: usize = 4096;

/// What the first words of a call name.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A command or a subcommand.
    Command(&'a Command),
    /// A container with a second word that is none of its subcommands.
    NoSubcommand(&'a Command),
    /// Nothing.
    Nothing,
}

/// All commands.
#[derive(Debug)]
pub struct CommandTable {
    commands: Vec<Command>,
    index: Index,
    renames: Renames,
}

impl CommandTable {
    /// Builds the table. [`CommandId`]s follow the order of `specs`; a container may come before or
    /// after its subcommands.
    ///
    /// # Errors
    /// The first spec with a mistake.
    pub fn new(
        specs: impl IntoIterator<Item = &'static CommandSpec>,
    ) -> Result<CommandTable, SpecError> {
        let mut commands = Vec::new();
        for (index, spec) in specs.into_iter().enumerate() {
            let wrong = |problem| SpecError { name: spec.name, problem };
            let id = CommandId::new(index).filter(|_| index < COMMANDS_MAX);
            let id = id.ok_or_else(|| wrong(Problem::TooMany))?;
            commands.push(Command::derive(id, spec).map_err(wrong)?);
        }
        let index = Index::with_capacity(commands.len());
        let mut table = CommandTable { commands, index, renames: Renames::default() };
        table.insert_names()?;
        Ok(table)
    }

    /// Finds the command that the first words of a call name; `second` is the second, if any.
    ///
    /// HOT PATH: letters of any case, no allocation; one probe into a table that is at most a
    /// quarter full, one more for a container.
    #[inline]
    pub fn resolve(&self, name: &[u8], second: Option<&[u8]>) -> Found<'_> {
        let Some(command) = self.lookup(name) else { return Found::Nothing };
        if command.subcommands.is_empty() {
            return Found::Command(command);
        }
        let Some(second) = second else { return Found::Command(command) };
        match self.index.find(Some(command.id), second) {
            Some(id) => Found::Command(self.command(id)),
            None => Found::NoSubcommand(command),
        }
    }

    /// Finds a command, but no subcommand, by name.
    #[inline]
    pub fn lookup(&self, name: &[u8]) -> Option<&Command> {
        let found = self.index.find(None, name).or_else(|| self.renames.find_long(name));
        found.map(|id| self.command(id))
    }

    /// Finds a command or, by `container|name`, a subcommand.
    pub fn lookup_full_name(&self, name: &[u8]) -> Option<&Command> {
        let Some(bar) = name.iter().position(|byte| *byte == b'|') else {
            return self.lookup(name);
        };
        let container = self.lookup(&name[..bar])?;
        self.index.find(Some(container.id), &name[bar + 1..]).map(|id| self.command(id))
    }

    /// The command of that id.
    #[inline]
    pub fn command(&self, id: CommandId) -> &Command {
        &self.commands[id.index()]
    }

    /// Has a command called by another name from now on, or by none: then nobody can call it. It
    /// is looked for under the name that it has by now, as in Redis.
    ///
    /// ```text
    /// rename-command <command> <new name | "">
    /// ```
    ///
    /// # Errors
    /// There is no such command, or the new name is that of another one.
    pub fn rename(&mut self, name: &[u8], new_name: &[u8]) -> Result<(), RenameError> {
        let id = self.lookup(name).ok_or(RenameError::NoSuchCommand)?.id;
        if self.lookup(new_name).is_some_and(|taken| taken.id != id) {
            return Err(RenameError::NameTaken);
        }
        self.renames.rename(&mut self.index, id, new_name)
    }

    /// Whether a command or subcommand has a name by which it can be called.
    pub fn is_callable(&self, command: &Command) -> bool {
        self.renames.has_name(command.container.unwrap_or(command.id))
    }

    /// Whether a command is called by its own name.
    pub fn keeps_name(&self, name: &str) -> bool {
        self.lookup(name.as_bytes()).is_some_and(|command| command.spec.name == name)
    }

    /// Finds a command or, by `container|name`, a subcommand, by the name that it has in its spec,
    /// whatever it is called by: rules of users hold for commands, not for names.
    pub fn lookup_own_name(&self, name: &[u8]) -> Option<&Command> {
        let index = self.renames.own_names(&self.index);
        let id = match name.iter().position(|byte| *byte == b'|') {
            None => index.find(None, name)?,
            Some(bar) => index.find(Some(index.find(None, &name[..bar])?), &name[bar + 1..])?,
        };
        Some(self.command(id))
    }

    /// All commands and subcommands, in the order of the specs: the index is [`CommandId::index`].
    pub fn all(&self) -> &[Command] {
        &self.commands
    }

    /// All commands without subcommands, in the order of the specs.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| command.container.is_none())
    }

    /// The subcommands of a command.
    pub fn subcommands_of(&self, command: &Command) -> impl Iterator<Item = &Command> {
        command.subcommands.iter().map(|id| self.command(*id))
    }

    fn insert_names(&mut self) -> Result<(), SpecError> {
        let is_subcommand = |command: &Command| command.spec.container_and_name().is_some();
        let (inner, outer): (Vec<_>, Vec<_>) =
            (0..self.commands.len()).partition(|index| is_subcommand(&self.commands[*index]));
        for index in outer.into_iter().chain(inner) {
            let name = self.commands[index].spec.name;
            self.insert_name(index).map_err(|problem| SpecError { name, problem })?;
        }
        self.index.settle();
        Ok(())
    }

    fn insert_name(&mut self, index: usize) -> Result<(), Problem> {
        let Command { id, spec, .. } = self.commands[index];
        let Some((container, name)) = spec.container_and_name() else {
            return Ok(self.index.insert(None, spec.name.as_bytes(), id)?);
        };
        let container = self.index.find(None, container.as_bytes()).ok_or(Problem::NoContainer)?;
        if self.command(container).spec.subcommands == Subcommands::None {
            return Err(Problem::NoContainer);
        }
        self.index.insert(Some(container), name.as_bytes(), id)?;
        self.commands[index].container = Some(container);
        self.commands[container.index()].subcommands.push(id);
        Ok(())
    }
}
