//! Finds the keys of one call by its key specifications: for COMMAND GETKEYS, and for the few
//! commands whose keys the three integers do not tell. Does not allocate.

use super::key_spec::{BeginSearch, FindKeys, KeyFlags, KeySpec};
use crate::argument::{Argument, Kind};

/// The words of a call; word 0 is the name of the command.
pub trait Words {
    /// How many there are.
    fn count(&self) -> usize;
    /// The word at `index`, which is below `count`.
    fn word(&self, index: usize) -> &[u8];
}

impl<W: AsRef<[u8]>> Words for [W] {
    fn count(&self) -> usize {
        self.len()
    }

    fn word(&self, index: usize) -> &[u8] {
        self[index].as_ref()
    }
}

/// Why the keys of a call cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// A place or a number of keys lies outside the call. The text is Redis'.
    #[error("Invalid arguments specified for command")]
    Invalid,
}

/// An option of a command with keys that no rule finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionWords {
    token: &'static str,
    words_after: usize,
    key_spec_index: Option<usize>,
}

/// The options of a command, to step over them; needed only where a key can stand anywhere.
pub(crate) fn option_words(arguments: &[Argument], specs: &[KeySpec]) -> Vec<OptionWords> {
    if specs.iter().all(|spec| spec.begin != BeginSearch::Unknown) {
        return Vec::new();
    }
    let option = |argument: &Argument| {
        let holds_key = argument.kind == Kind::Key;
        Some(OptionWords {
            token: argument.token?,
            words_after: argument.words_min() - 1,
            key_spec_index: argument.key_spec_index.filter(|_| holds_key),
        })
    };
    arguments.iter().filter(|argument| argument.is_optional()).filter_map(option).collect()
}

/// What is known about the keys of a command.
pub(crate) struct Search<'a> {
    pub(crate) specs: &'a [KeySpec],
    pub(crate) options: &'a [OptionWords],
    /// How many words a call has at least: no option comes before.
    pub(crate) words_min: usize,
    /// Whether a call may have no key at all.
    pub(crate) least: LeastKeys,
}

/// The least number of keys in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeastKeys {
    None,
    One,
}

impl Search<'_> {
    /// Calls `visit` with the position and the flags of each key.
    pub(crate) fn visit<W: Words + ?Sized>(
        &self,
        words: &W,
        mut visit: impl FnMut(usize, KeyFlags),
    ) -> Result<(), KeysError> {
        let mut least = self.least;
        for spec in self.specs {
            let Some(begin) = begin(words, spec.begin) else { continue };
            let Some((first, last, step)) = run(words, begin, spec.find, self.least)? else {
                continue;
            };
            if last < first || last >= words.count() {
                return Err(KeysError::Invalid);
            }
            for position in (first..=last).step_by(step) {
                visit(position, spec.flags);
            }
            least = LeastKeys::None;
        }
        if let Some((position, index)) = behind_option(words, self.options, self.words_min) {
            visit(position, self.specs[index].flags);
        }
        if least == LeastKeys::One { Err(KeysError::Invalid) } else { Ok(()) }
    }
}

fn begin<W: Words + ?Sized>(words: &W, search: BeginSearch) -> Option<usize> {
    match search {
        BeginSearch::Index(index) => Some(index),
        BeginSearch::Unknown => None,
        BeginSearch::Keyword { keyword, start_from } => {
            let count = words.count();
            let is_it = |index: &usize| {
                words.word(*index).eq_ignore_ascii_case(keyword.as_bytes()) && index + 1 < count
            };
            if start_from >= 0 {
                (start_from.unsigned_abs()..count).find(is_it)
            } else {
                let last = count.checked_sub(start_from.unsigned_abs())?;
                (1..=last).rev().find(is_it)
            }
            .map(|index| index + 1)
        }
    }
}

/// First, last and step; none if the call has no key there.
fn run<W: Words + ?Sized>(
    words: &W,
    begin: usize,
    find: FindKeys,
    least: LeastKeys,
) -> Result<Option<(usize, usize, usize)>, KeysError> {
    match find {
        FindKeys::Unknown => Ok(None),
        FindKeys::Range { last_key, step, limit } => {
            let last = if last_key >= 0 {
                Some(begin + last_key.unsigned_abs())
            } else if limit > 1 {
                let part = words.count().saturating_sub(begin) / limit;
                (begin + part).checked_sub(last_key.unsigned_abs())
            } else {
                words.count().checked_sub(last_key.unsigned_abs())
            };
            Ok(Some((begin, last.ok_or(KeysError::Invalid)?, step)))
        }
        FindKeys::KeyNum { number_index, first_key, step } => {
            let at = begin + number_index;
            if at >= words.count() {
                return Err(KeysError::Invalid);
            }
            let number = number(words.word(at)).ok_or(KeysError::Invalid)?;
            let first = begin + first_key;
            if number == 0 && least == LeastKeys::None {
                return Ok(None);
            }
            let more = number.checked_sub(1).and_then(|more| more.checked_mul(step));
            let last = more.and_then(|more| more.checked_add(first));
            Ok(Some((first, last.ok_or(KeysError::Invalid)?, step)))
        }
    }
}

fn number(word: &[u8]) -> Option<usize> {
    std::str::from_utf8(word).ok().filter(|text| !text.starts_with('+'))?.parse().ok()
}

/// The key behind an option that can stand anywhere. The last one counts, as in SORT.
fn behind_option<W: Words + ?Sized>(
    words: &W,
    options: &[OptionWords],
    words_min: usize,
) -> Option<(usize, usize)> {
    if options.is_empty() {
        return None;
    }
    let mut found = None;
    let mut index = words_min;
    while index < words.count() {
        let word = words.word(index);
        let is_it = |option: &&OptionWords| word.eq_ignore_ascii_case(option.token.as_bytes());
        index += 1;
        let Some(option) = options.iter().find(is_it) else { continue };
        if let Some(spec) = option.key_spec_index.filter(|_| index < words.count()) {
            found = Some((index, spec));
        }
        index += option.words_after;
    }
    found
}
