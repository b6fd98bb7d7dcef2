//! From arguments to key specifications.
//!
//! The arguments are walked in order with the place of the next word. As long as everything before
//! it takes the same number of words in every call the place is exact, and a key there is found by
//! its index; behind that only what follows a literal can be found, by searching for the literal.

use super::key_spec::{BeginSearch, FindKeys, Found, KeySpec, KeyUse};
use crate::argument::{Argument, Kind, required_words_min};

/// Why the keys of a synopsis cannot be described. Always a mistake in our own source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyPlaceError {
    /// A key stands behind arguments of varying length, without a literal before it.
    #[error("nothing tells where `{0}` is, state it with `KeyUse::found`")]
    Unlocated(String),
    /// The spec has more or fewer uses than the synopsis has runs of keys.
    #[error(
        "the synopsis has {derived} runs of keys, but `keys` has {stated} uses, make them equal"
    )]
    Uses {
        /// Runs found in the synopsis.
        derived: usize,
        /// Uses that the author gave, without those with a stated place.
        stated: usize,
    },
}

/// Works out the specifications and writes their indexes into the arguments.
///
/// `first_word` is the place of the first argument: 1, or 2 after the name of a subcommand.
pub(crate) fn assign(
    first_word: usize,
    arguments: &mut [Argument],
    uses: &[KeyUse],
) -> Result<Vec<KeySpec>, KeyPlaceError> {
    let mut walk = Walk { place: first_word, is_exact: true, uses, runs: Vec::new() };
    walk.sequence(arguments, Context::default())?;
    let runs = walk.runs;
    let stated = uses.iter().filter(|key_use| key_use.found == Found::BySynopsis).count();
    if stated != runs.len() {
        return Err(KeyPlaceError::Uses { derived: runs.len(), stated });
    }
    let mut runs = runs.into_iter();
    let spec = |key_use: &KeyUse| {
        let (begin, find) = match key_use.found {
            Found::Stated { begin, find, .. } => Some((begin, find)),
            Found::BySynopsis => runs.next().map(|run| (run.begin, run.find)),
        }?;
        Some(KeySpec { flags: key_use.flags, notes: key_use.notes, begin, find })
    };
    Ok(uses.iter().filter_map(spec).collect())
}

struct Walk<'a> {
    /// The least place at which the next word can be.
    place: usize,
    /// Whether it can be nowhere else.
    is_exact: bool,
    uses: &'a [KeyUse],
    runs: Vec<KeyRun>,
}

struct KeyRun {
    /// The name of the argument, to join `key1` and `key2`.
    name: String,
    begin: BeginSearch,
    find: FindKeys,
}

/// What an argument needs to know about its surroundings.
#[derive(Clone, Copy, Default)]
struct Context {
    /// The literal right before it with its place.
    keyword: Option<(&'static str, usize)>,
    /// How many words must follow it at least.
    words_after: usize,
    /// Whether the word before it says how many it is.
    is_numbered: bool,
    /// The length of the block that repeats and that it is a part of.
    block_step: Option<usize>,
    /// How many runs of equal length share the rest of the call.
    parts: usize,
}

impl Walk<'_> {
    fn sequence(
        &mut self,
        arguments: &mut [Argument],
        context: Context,
    ) -> Result<(), KeyPlaceError> {
        let mut words_left: usize = arguments.iter().map(required_words_min).sum();
        let mut keyword = context.keyword;
        let mut is_numbered = false;
        for argument in arguments {
            let (place, words) = (self.place, required_words_min(argument));
            words_left -= words;
            let words_after = context.words_after + words_left;
            self.argument(argument, Context { keyword, words_after, is_numbered, ..context })?;
            self.place = place + words;
            self.is_exact &= argument.is_fixed();
            is_numbered = argument.name == "numkeys";
            keyword = None;
        }
        Ok(())
    }

    fn argument(
        &mut self,
        argument: &mut Argument,
        mut context: Context,
    ) -> Result<(), KeyPlaceError> {
        if let Some(token) = argument.token {
            if let Some(index) = self.stated_for(token) {
                argument.key_spec_index = Some(index);
                return Ok(());
            }
            context.keyword = Some((token, self.place));
            self.place += 1;
        }
        match argument.kind {
            Kind::OneOf => self.alternatives(argument, context),
            Kind::Block => self.block(argument, context),
            Kind::Key => self.key(argument, context),
            Kind::String if self.is_channel(&argument.name) => self.key(argument, context),
            _ => Ok(()),
        }
    }

    fn alternatives(
        &mut self,
        argument: &mut Argument,
        context: Context,
    ) -> Result<(), KeyPlaceError> {
        let (place, is_exact) = (self.place, self.is_exact);
        for child in &mut argument.children {
            (self.place, self.is_exact) = (place, is_exact);
            self.argument(child, context)?;
        }
        self.is_exact = is_exact;
        Ok(())
    }

    fn block(&mut self, argument: &mut Argument, context: Context) -> Result<(), KeyPlaceError> {
        let repeated = argument.children.iter().filter(|child| child.is_multiple()).count();
        let parts = if repeated > 1 { repeated } else { 0 };
        let is_exact = self.is_exact;
        let step = argument.children.iter().map(required_words_min).sum();
        let block_step = argument.is_multiple().then_some(step);
        self.sequence(&mut argument.children, Context { block_step, parts, ..context })?;
        self.is_exact = is_exact;
        Ok(())
    }

    fn key(&mut self, argument: &mut Argument, context: Context) -> Result<(), KeyPlaceError> {
        if self.continues_last_run(&argument.name) {
            let index = self.index_of_run(self.runs.len() - 1);
            if let Some(KeyRun { find: FindKeys::Range { last_key, .. }, .. }) =
                self.runs.last_mut()
            {
                *last_key += 1;
            }
            argument.key_spec_index = index;
            return Ok(());
        }
        let begin = match context.keyword {
            Some((keyword, place)) => {
                BeginSearch::Keyword { keyword, start_from: place.cast_signed() }
            }
            None if self.is_exact && context.is_numbered => BeginSearch::Index(self.place - 1),
            None if self.is_exact => BeginSearch::Index(self.place),
            None => return Err(KeyPlaceError::Unlocated(argument.name.clone())),
        };
        let is_run = argument.is_multiple() || context.block_step.is_some();
        let step = context.block_step.unwrap_or(1);
        let find = if context.is_numbered {
            FindKeys::KeyNum { number_index: 0, first_key: 1, step }
        } else if is_run {
            // What shares the rest of the call in equal parts needs no counting from its end, and
            // words after a key in a block that repeats belong to the block.
            let is_counted = context.parts == 0 && context.block_step.is_none();
            let words_after = if is_counted { context.words_after.cast_signed() } else { 0 };
            FindKeys::Range { last_key: -1 - words_after, step, limit: context.parts }
        } else {
            FindKeys::Range { last_key: 0, step, limit: 0 }
        };
        if argument.kind == Kind::Key {
            argument.key_spec_index = self.index_of_run(self.runs.len());
        }
        self.runs.push(KeyRun { name: argument.name.clone(), begin, find });
        Ok(())
    }

    /// A sharded channel is routed like a key where the author says so; PUBSUB SHARDNUMSUB, which
    /// asks one node about any channel, has none.
    fn is_channel(&self, name: &str) -> bool {
        name == "shardchannel" && self.uses.contains(&KeyUse::CHANNEL)
    }

    /// Whether the last run was `key1` and this is `key2`: two keys that are one to the command.
    fn continues_last_run(&self, name: &str) -> bool {
        let stem = |name: &str, digit| name.strip_suffix(digit).map(str::to_owned);
        match (self.runs.last(), stem(name, '2')) {
            (Some(last), Some(this)) => stem(&last.name, '1') == Some(this),
            _ => false,
        }
    }

    /// The index among all specifications of the `run`th that comes from the synopsis.
    fn index_of_run(&self, run: usize) -> Option<usize> {
        let by_synopsis = |(index, key_use): (usize, &KeyUse)| {
            (key_use.found == Found::BySynopsis).then_some(index)
        };
        self.uses.iter().enumerate().filter_map(by_synopsis).nth(run)
    }

    /// The index of the specification whose place the author stated for this token.
    fn stated_for(&self, token: &str) -> Option<usize> {
        self.uses.iter().position(|key_use| match key_use.found {
            Found::Stated { tokens, .. } => tokens.contains(&token),
            Found::BySynopsis => false,
        })
    }
}
