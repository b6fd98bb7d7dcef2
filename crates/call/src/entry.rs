//! What a family's file holds of a command: its spec and its function.

use crate::context::Context;
use basalt_engine::{Point, Txn, View};
use basalt_pubsub::Kind;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_service::session::{Session, SessionResult};
use basalt_spec::CommandSpec;

/// A command: what it is and what it does.
///
/// Nothing outside of its family decides anything by its name: what the dispatch has to know about
/// a command, the command's entry says.
pub struct Entry {
    /// What it is, as clients see it.
    pub spec: CommandSpec,
    /// What it does.
    pub run: Run,
    /// What the dispatch has to know about it besides.
    pub traits: Traits,
    /// A short way for calls that need little; [`Run::Point`] is one by itself.
    pub shortcut: Option<Shortcut>,
}

impl Entry {
    /// The rest of an entry that has nothing special about it. Spec and function are always given.
    pub const DEFAULT: Entry =
        Entry { spec: CommandSpec::DEFAULT, run: Run::Exec, traits: Traits::NONE, shortcut: None };
}

/// What a command does. The signature says what it may touch.
#[derive(Clone, Copy)]
pub enum Run {
    /// Reads its keys.
    Read(ReadFn),
    /// Reads its key, which is its first word, and asks nothing else of the keyspace.
    Point(PointFn),
    /// Changes its keys.
    Write(WriteFn),
    /// Concerns the connection or the server.
    Session(SessionFn),
    /// Runs the commands that are queued: what EXEC does is part of the dispatch.
    Exec,
    /// Runs a script, which is part of the dispatch, too.
    Script(ScriptCall),
}

impl Run {
    /// Reads the keys of a command that does that.
    #[inline(always)]
    pub fn read(self, view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
        match self {
            Run::Read(run) => run(view, args, reply),
            Run::Point(run) => run(&view.point(args.key(0)), args, reply),
            _ => unreachable!("it does not read"),
        }
    }
}

/// What is tried first of a command that writes, with one key locked and nothing asked of the log.
#[derive(Clone, Copy)]
pub enum Shortcut {
    /// Called with a key and a value alone ([`OVERWRITE_WORDS`]), it puts the value under the key
    /// as a string: one that is there is overwritten in place.
    Overwrite,
    /// Looks at its key, which is its first word; the command runs only if that is not enough.
    Attempt(AttemptFn),
}

/// Words of a [`Shortcut::Overwrite`]: name, key and value.
pub const OVERWRITE_WORDS: usize = 3;

/// How many elements some calls of a command work on: what is much takes long.
#[derive(Clone, Copy, Debug)]
pub struct WorksOn {
    /// Calls of fewer words work on one at most.
    pub words_min: usize,
    /// How many a call asks for, of a collection that has this many: `usize::MAX` where it is not
    /// known which collection it is. The call has as many words as its command takes.
    pub elements: fn(&Args<'_>, usize) -> usize,
    /// They may be more than the collection has: some again and again, or what else it keeps. A
    /// call of other commands takes little time wherever the collection is small.
    pub may_exceed: bool,
}

/// Whether a call puts strings under its keys and asks nothing of what is there.
pub type PutsBlindlyFn = fn(&Args<'_>) -> bool;

/// On how much of what its connection holds, as its subscriptions, a call of this many words works.
pub type HeldFn = fn(&Session, usize) -> usize;

/// The error for a user who may not read every key; `None` if the call reads those that it names.
pub type ReadsAnyKeyFn = fn(&Args<'_>) -> Option<CommandError>;

/// Facts about a command that the dispatch decides by and that its spec has no word for.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// Its arguments may name a database: keys of a transaction or a script with it are looked for
    /// in all databases.
    pub names_databases: bool,
    /// Between MULTI and EXEC it runs at once instead of being queued.
    pub runs_in_multi: bool,
    /// It waits for another server, and changes its keys when that has answered: transactions and
    /// scripts, which hold their keys' partitions from the first command to the last, refuse it.
    pub asks_another_server: bool,
    /// It locks partitions though it names no key: it is refused while a script that takes long
    /// holds some.
    pub locks_partitions: bool,
    /// It concerns the server, but takes no lock that ranks below partitions and makes no system
    /// call: scripts may call it.
    pub is_harmless: bool,
    /// What it says holds for the rest of its connection, or it begins or ends something there: it
    /// is for clients whose requests belong together, not for those of HTTP.
    pub is_about_connection: bool,
    /// It asks for the server's own view of a key: not finding the key is no miss.
    pub inspects_keys: bool,
    /// It asks no more of its keys than what the rows of the cold tier begin with
    /// ([`View::head`]), or removes them and does nothing else ([`Txn::delete`]): the values of
    /// those that are on disk only are not read.
    pub asks_heads: bool,
    /// A client with subscriptions may call it in RESP2, where other replies could not be told from
    /// messages.
    pub is_for_subscribers: bool,
    /// Its second argument is a message for the channels of this kind that its first one names. In
    /// a script the message is kept until the script's changes are in the log.
    pub publishes: Option<Kind>,
    /// What it takes of its collection when it is called with its key alone, to prefetch it.
    pub takes: Option<Taken>,
    /// Its work is bounded neither by its words nor by its reply: on large values it takes long,
    /// and its thread's other clients are served meanwhile.
    pub takes_long: bool,
    /// With how many words at most a call works on as many elements as it answers, though the spec
    /// says more of other calls: it is not timed by itself. 0 if the spec says it all.
    pub slight_words_max: u16,
    /// Whether a call does nothing but put strings under its keys, whatever is there, and answers
    /// nothing of what was: it need not wait until that has been read.
    pub puts_blindly: Option<PutsBlindlyFn>,
    /// On how many elements it works. Where that is many, it takes long.
    pub works_on: Option<WorksOn>,
    /// On how much of what its connection holds it works. Where that is much, it takes long.
    pub works_on_held: Option<HeldFn>,
    /// It may read keys that are not among its words: why a call of a user who may not read every
    /// key is refused, if that call does.
    pub reads_any_key: Option<ReadsAnyKeyFn>,
    /// Which of its words the slow log does not show.
    pub secrets: Secrets,
}

impl Traits {
    /// Nothing special.
    pub const NONE: Traits = Traits {
        names_databases: false,
        runs_in_multi: false,
        asks_another_server: false,
        locks_partitions: false,
        is_harmless: false,
        is_about_connection: false,
        inspects_keys: false,
        asks_heads: false,
        is_for_subscribers: false,
        publishes: None,
        takes: None,
        takes_long: false,
        slight_words_max: 0,
        puts_blindly: None,
        works_on: None,
        works_on_held: None,
        reads_any_key: None,
        secrets: Secrets::None,
    };

    /// It may take long.
    pub const LONG: Traits = Traits { takes_long: true, ..Traits::NONE };

    /// Each call of it puts strings, whatever is there.
    pub const BLIND: Traits = Traits { puts_blindly: Some(|_| true), ..Traits::NONE };

    /// It replies all of its collection.
    pub const WHOLE: Traits = Traits::working_on(0, |_, len| len);

    /// Its calls of at least `words_min` words work on many elements, if they ask for many.
    pub const fn working_on(words_min: usize, elements: fn(&Args<'_>, usize) -> usize) -> Traits {
        let may_exceed = false;
        Traits { works_on: Some(WorksOn { words_min, elements, may_exceed }), ..Traits::NONE }
    }

    /// As [`Traits::working_on`], also on more elements than there are.
    pub const fn working_beyond(
        words_min: usize,
        elements: fn(&Args<'_>, usize) -> usize,
    ) -> Traits {
        let may_exceed = true;
        Traits { works_on: Some(WorksOn { words_min, elements, may_exceed }), ..Traits::NONE }
    }
}

/// Which element of a collection a command takes that names none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// The one that [`basalt_service::draws::draw`] chooses.
    Random,
    /// The first.
    First,
    /// The last.
    Last,
}

/// Which words of a call are secrets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Secrets {
    /// None.
    None,
    /// All but the command's name.
    AllWords,
    /// All behind the name of the subcommand.
    AfterSubcommand,
    /// The two words after AUTH.
    AfterAuth,
    /// The values of those options, each a name and a value, that are secret.
    OptionValues,
}

/// How a script is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScriptCall {
    /// What its first argument is.
    pub named: Named,
    /// What it may do.
    pub permit: Permit,
}

/// How a call names its script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// By its text.
    ByText,
    /// By the SHA-1 of its text.
    BySha,
    /// It is a function of a library, named by its name.
    ByFunction,
}

/// What a script may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    /// Change data.
    Writes,
    /// Read data.
    Reads,
}

/// Reads one key.
pub type PointFn = fn(&Point<'_>, &Args<'_>, &mut Reply<'_>) -> CommandResult;
/// Does what it can by looking at one key; `None`, and no reply, if that is not enough.
pub type AttemptFn = fn(&Point<'_>, &Args<'_>, &mut Reply<'_>) -> Option<CommandResult>;
/// Reads its keys.
pub type ReadFn = fn(&View<'_>, &Args<'_>, &mut Reply<'_>) -> CommandResult;
/// Changes its keys.
pub type WriteFn = fn(&mut Txn<'_>, &Args<'_>, &mut Reply<'_>) -> CommandResult;
/// Concerns the connection or the server.
pub type SessionFn = fn(&mut Context<'_>, &Args<'_>, &mut Reply<'_>) -> SessionResult;
