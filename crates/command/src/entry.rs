//! What a family's file holds of a command: its spec and its function.

use crate::args::Args;
use crate::context::Context;
use crate::error::CommandResult;
use crate::session::SessionResult;
use basalt_engine::{Point, Txn, View};
use basalt_resp::Reply;
use basalt_spec::CommandSpec;

/// A command: what it is and what it does.
pub struct Entry {
    /// What it is.
    pub spec: CommandSpec,
    /// What it does.
    pub run: Run,
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
    /// The same; called with a key and a value alone, it puts the value under the key as a string
    /// ([`PUT_WORDS`]).
    Put(WriteFn),
    /// Looks at its key, which is its first word, and changes something only if it has to.
    Attempt(AttemptFn, WriteFn),
    /// Concerns the connection or the server.
    Session(SessionFn),
    /// Runs other commands: what EXEC does is part of the dispatch.
    Exec,
    /// The same for scripts.
    Script(ScriptCall),
}

impl Run {
    /// Reads the keys of a command that does that.
    #[inline(always)]
    pub(crate) fn read(
        self,
        view: &View<'_>,
        args: &Args<'_>,
        reply: &mut Reply<'_>,
    ) -> CommandResult {
        match self {
            Run::Read(run) => run(view, args, reply),
            Run::Point(run) => run(&view.point(args.key(0)), args, reply),
            _ => unreachable!("it does not read"),
        }
    }
}

/// Words of a [`Run::Put`] without options: name, key and value.
pub(crate) const PUT_WORDS: usize = 3;

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
