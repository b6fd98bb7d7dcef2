//! The table of commands as the dispatch sees it: names and specs, and per command what each call
//! of it asks for, worked out once.

use crate::entry::{Entry, HeldFn, Run, Shortcut, Taken, Traits, WorksOn};
use basalt_resp::Arg;
use basalt_service::collection_target::CollectionTarget;
use basalt_spec::{
    BeginSearch, Command, CommandId, CommandTable, Flag, Group, KeyFlag, KeySpec, RenameError,
};
use basalt_value::sorted_set::Direction;
use std::sync::Arc;

/// The word of a call of a script that is its first key: behind the command, the script and the
/// number of keys.
pub const FIRST_COUNTED_KEY: usize = 3;

/// The table with its functions.
pub struct Commands {
    /// Names, arities, keys, documents.
    pub table: Arc<CommandTable>,
    calls: Vec<Call>,
    traits: Vec<&'static Traits>,
}

/// What every call of a command needs of it: one small entry in one dense array. The rest is in the
/// table, whose entries take several cache lines.
#[derive(Clone, Copy)]
pub struct Call {
    /// What it does.
    pub run: Run,
    /// What is tried before that.
    pub shortcut: Option<Shortcut>,
    arity: i16,
    /// The word that is its first key, 0 if it has none.
    pub first_key: u16,
    /// The word that is its only key, whatever the call; 0 if it has none or may have several.
    pub only_key: u16,
    /// The number of words with which a command that may have several keys has one; 0 for those
    /// that cannot tell so.
    pub words_of_one_key: u16,
    /// The word behind which it has its keys, if it has them nowhere else.
    pub word_before_keys: Option<&'static str>,
    /// It says how many keys it has before it names them: a call of a script.
    counts_keys: bool,
    /// Where its first key is, other words of a call say ([`Call::position_by_words`]).
    pub has_key_by_words: bool,
    /// Some call of it may ask for more than its keys.
    pub may_want_more: bool,
    /// The number of its family, for what is counted by families.
    pub family: u8,
    /// It runs before a client has said who it is.
    pub for_anybody: bool,
    /// It is refused when memory is full.
    pub takes_memory: bool,
    /// It is not timed by itself: two clock readings cost as much as a GET. It is counted with its
    /// share of its batch's time.
    pub shares_time: bool,
    /// A call of at most so few words that answers little takes little time: the clock is not read
    /// for it. 0 if there is none.
    pub slight_words_max: u16,
    /// Calls in a row that name the same key share its lock and a record of the log.
    pub runs_together: bool,
    /// It may take long: other clients are served meanwhile.
    pub takes_long: bool,
    /// On how many elements it works, if it may be many.
    pub works_on: Option<WorksOn>,
    /// On how much of what its connection holds it works, if it may be much.
    pub works_on_held: Option<HeldFn>,
    /// What of a collection is prefetched.
    pub target: CollectionTarget,
}

impl Call {
    fn new(entry: &Entry, command: &Command) -> Call {
        let range = command.key_range;
        let is_alone = range.first == range.last && !command.flags.has(Flag::Movablekeys);
        let first_key = range.first.max(0) as u16;
        let may_have_several = first_key > 0 && range.last < 0;
        let (word_before_keys, counts_keys) =
            (command.word_before_keys(), matches!(entry.run, Run::Script(_)));
        let has_plain_range = may_have_several && !command.flags.has(Flag::Movablekeys);
        Call {
            run: entry.run,
            shortcut: entry.shortcut,
            arity: command.arity,
            first_key,
            only_key: if is_alone { first_key } else { 0 },
            words_of_one_key: match has_plain_range {
                true => (range.first + range.step - 1 - range.last) as u16,
                false => 0,
            },
            word_before_keys,
            counts_keys,
            has_key_by_words: word_before_keys.is_some() || counts_keys,
            may_want_more: may_want_more(entry, command),
            family: entry.spec.group as u8,
            for_anybody: command.flags.has(Flag::NoAuth),
            takes_memory: command.flags.has(Flag::Denyoom),
            shares_time: shares_time(entry),
            slight_words_max: slight_words_max(entry),
            runs_together: (is_alone || word_before_keys.is_some())
                && runs_together(entry, command),
            takes_long: takes_long(entry),
            works_on: entry.traits.works_on,
            works_on_held: entry.traits.works_on_held,
            target: collection_target(entry, first_key),
        }
    }

    /// The word that is the one key of a call of `words` words, which is its first; 0 if it has
    /// none or may have several.
    #[inline(always)]
    pub fn position_of_one_key(&self, words: usize) -> usize {
        let has_one_here = words == usize::from(self.words_of_one_key);
        usize::from(if has_one_here { self.first_key } else { self.only_key })
    }

    /// The word that is the one key of a call which has its keys behind a word of their own; 0 if
    /// it has several, or if the command has its keys elsewhere.
    #[inline]
    pub fn position_behind_word(&self, words: &[Arg], buffer: &[u8]) -> usize {
        let (Some(word), [_, options @ .., before, _]) = (self.word_before_keys, words) else {
            return 0;
        };
        let is_it = |arg: &Arg| {
            arg.len == word.len() && arg.of(buffer).eq_ignore_ascii_case(word.as_bytes())
        };
        if is_it(before) && !options.iter().any(is_it) { words.len() - 1 } else { 0 }
    }

    /// The word that is the first key of a call whose other words say where that is; 0 if they say
    /// nothing, or that there are several behind a word of their own.
    #[inline]
    pub fn position_by_words(&self, words: &[Arg], buffer: &[u8]) -> usize {
        const COUNT: usize = FIRST_COUNTED_KEY - 1;
        if !self.counts_keys {
            return self.position_behind_word(words, buffer);
        }
        // What is no count is refused when the call runs.
        let has_some = words.len() > FIRST_COUNTED_KEY && words[COUNT].of(buffer) != b"0";
        if has_some { FIRST_COUNTED_KEY } else { 0 }
    }

    /// Whether some call of `words` words has one key, which is its first.
    #[inline]
    pub fn may_have_one_key(&self, words: usize) -> bool {
        self.position_of_one_key(words) != 0 || self.word_before_keys.is_some()
    }

    /// On how many elements a call of `words` words works, if it may be many. It is not one that is
    /// refused for its number of words.
    #[inline(always)]
    pub fn works_on(&self, words: usize) -> Option<&WorksOn> {
        let it = self.works_on.as_ref()?;
        (words >= it.words_min && self.accepts_words(words)).then_some(it)
    }

    /// Whether a call of `words` words (name included) has as many as the command takes.
    #[inline]
    pub fn accepts_words(&self, words: usize) -> bool {
        let required = usize::from(self.arity.unsigned_abs());
        words == required || self.arity < 0 && words > required
    }
}

impl Commands {
    /// Builds the table of these commands.
    ///
    /// # Panics
    /// If a spec is wrong, or if an entry but one has no function: that is a mistake in the table's
    /// source, and its tests find it.
    pub fn of(entries: impl IntoIterator<Item = &'static Entry>) -> Commands {
        let entries: Vec<&'static Entry> = entries.into_iter().collect();
        let table = CommandTable::new(entries.iter().map(|entry| &entry.spec))
            .unwrap_or_else(|error| panic!("the command table is wrong: {error}"));
        let calls =
            entries.iter().zip(table.all()).map(|(entry, command)| Call::new(entry, command));
        let calls: Vec<Call> = calls.collect();
        let count = calls.iter().filter(|call| matches!(call.run, Run::Exec)).count();
        assert!(count <= 1, "{count} entries are EXEC: some do not say what they run");
        let traits = entries.iter().map(|entry| &entry.traits).collect();
        Commands { calls, table: Arc::new(table), traits }
    }

    /// Has a command called by another name, or by none ([`CommandTable::rename`]).
    ///
    /// # Errors
    /// There is no such command, or the new name is that of another one.
    ///
    /// # Panics
    /// If a server has the table already.
    pub fn rename(&mut self, name: &[u8], new_name: &[u8]) -> Result<(), RenameError> {
        let table = Arc::get_mut(&mut self.table);
        table.expect("commands are renamed before a server has them").rename(name, new_name)
    }

    /// What a command's entry says for the dispatch.
    #[inline]
    pub fn traits(&self, id: CommandId) -> &'static Traits {
        self.traits[id.index()]
    }

    /// What every call of a command needs of it.
    #[inline]
    pub fn call(&self, id: CommandId) -> &Call {
        &self.calls[id.index()]
    }
}

/// Constant work on its keys. A session command may well wait or walk.
fn shares_time(entry: &Entry) -> bool {
    let spec = &entry.spec;
    let constant = entry.traits.slight_words_max > 0
        || spec.flags.has(Flag::Fast)
        || spec.complexity.starts_with("O(1)");
    constant && !matches!(entry.run, Run::Session(_) | Run::Exec | Run::Script(_))
}

/// With how many words at most a call works on as many elements of a value as it has words or
/// answers: what its entry says, or what its family does. With more, a command on streams may trim
/// one, and one on bits may be many; commands on strings may replace a collection and free all of
/// it, but not those that only take a key and memory: counters.
fn slight_words_max(entry: &Entry) -> u16 {
    let spec = &entry.spec;
    if entry.traits.slight_words_max > 0 {
        return entry.traits.slight_words_max;
    }
    if !shares_time(entry) || spec.flags.has(Flag::Blocking) {
        return 0;
    }
    match spec.group {
        Group::List | Group::Set | Group::SortedSet | Group::Hash => 16,
        Group::Hyperloglog if spec.flags.has(Flag::Fast) => 16,
        Group::Stream => 6,
        Group::Bitmap => 4,
        Group::String if spec.flags.has(Flag::Denyoom) && spec.flags.has(Flag::Fast) => 2,
        _ => 0,
    }
}

/// It changes what is under a key in little time: the lock, the transaction and the record of the
/// log would add as much again for each call. A bit may be far behind the end of its string, and
/// each such call fills up to a megabyte under the lock.
fn runs_together(entry: &Entry, command: &Command) -> bool {
    let changes = matches!(entry.run, Run::Write(_)) && entry.shortcut.is_none();
    let is_slight = slight_words_max(entry) >= command.arity.unsigned_abs();
    changes && is_slight && !takes_long(entry) && entry.spec.group != Group::Bitmap
}

/// It looks at the server, its connection is noted under keys, or its specification does not tell
/// all of its keys.
fn may_want_more(entry: &Entry, command: &Command) -> bool {
    let hides_keys =
        |spec: &KeySpec| spec.begin == BeginSearch::Unknown || spec.flags.has(KeyFlag::Incomplete);
    matches!(entry.run, Run::Session(_))
        || entry.spec.group == Group::Connection
        || command.key_specs.iter().any(hides_keys)
}

/// Runs other commands, or its entry says so.
fn takes_long(entry: &Entry) -> bool {
    entry.traits.takes_long || matches!(entry.run, Run::Exec | Run::Script(_))
}

/// What of a collection a command will touch: what its entry says that it takes, or, by its
/// synopsis, the word behind its first key, options left out, that is called a member or a field;
/// or the bit whose offset follows the key.
fn collection_target(entry: &Entry, first_key: u16) -> CollectionTarget {
    let spec = &entry.spec;
    if spec.group == Group::Bitmap && spec.synopsis.starts_with("key offset") {
        return CollectionTarget::Bit { key: 1, offset: 2 };
    }
    let is_collection = matches!(
        spec.group,
        Group::List | Group::Set | Group::SortedSet | Group::Hash | Group::Stream | Group::Geo
    );
    let (true, Ok(key @ 1..)) = (is_collection, u8::try_from(first_key)) else {
        return CollectionTarget::Nothing;
    };
    match entry.traits.takes {
        Some(Taken::Random) => return CollectionTarget::Random { key },
        Some(Taken::First) => return CollectionTarget::End { key, direction: Direction::Forward },
        Some(Taken::Last) => return CollectionTarget::End { key, direction: Direction::Backward },
        None => {}
    }
    let mut depth = 0;
    let mut words = 1;
    for word in spec.synopsis.split(' ') {
        let outside = depth == 0 && !word.starts_with(['[', '<']);
        depth += word.matches(['[', '<']).count();
        depth -= word.matches([']', '>']).count();
        if outside && matches!(word, "member" | "field") {
            return CollectionTarget::Element { key, element: words };
        }
        words += u8::from(outside);
    }
    CollectionTarget::Collection { key }
}
