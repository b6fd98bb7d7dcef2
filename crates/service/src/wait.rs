//! What a command that cannot finish at once waits for. The connection is parked meanwhile; its
//! thread goes on with others.

use crate::error::CommandError;
use crate::peer::Errand;
use crate::read_rows::ReadRows;
use crate::reports::Reports;
use basalt_change::place::{PartitionId, ShardSet};
use basalt_engine::{
    Engine, EngineError, Gate, Held, Missing, ReadHeads, RowsWanted, Unready, WarmUp,
};
use basalt_observe::exposition::Form;
use std::sync::Arc;
use std::time::Duration;

/// What a connection waits for.
#[derive(Debug)]
pub enum Wait {
    /// Keys that are read from the cold tier; then the command runs again.
    Keys(Missing),
    /// What the rows of keys begin with, which is put here; then the command runs again.
    Heads(Missing, Arc<ReadHeads>),
    /// Rows that are read for a walk, and put here; then the command runs again.
    Rows(RowsWanted, Arc<ReadRows>),
    /// Partitions that are read into memory; then the command runs again.
    Partitions(Vec<PartitionId>),
    /// Room in the log's buffers for changes of these shards; then the command runs again.
    LogRoom(ShardSet),
    /// A partition that somebody holds for longer than a network thread waits, which only scripts
    /// do, or a very long string that a checkpoint holds; then the command runs again.
    Held,
    /// Memory that keys are leaving; then the command runs again.
    Memory,
    /// Subscribers that are behind with what they have to get; then the command runs again.
    Subscribers,
    /// A report about the server; then the command runs again.
    Report(Arc<Reports>, Form),
    /// A checkpoint; then `+OK`, or why it failed.
    Checkpoint,
    /// A checkpoint and the forgetting of memory; then `+OK`, or why it failed.
    Reload(WarmUp),
    /// Time; then `+OK`.
    Sleep(Duration),
    /// That a key has something, this long at most; then the command runs again. A client that
    /// waits for it is in the queues of the keys already.
    Ready(Option<Duration>),
    /// That changes are on disk, this long at most; then the command runs again.
    Disk(Gate, Option<Duration>),
    /// Another server's answers; then the command runs again.
    Peer(Arc<Errand>),
    /// The end of a pause, this long at most; then the command runs again.
    Pause(Duration),
}

/// What happens when the wait is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Afterwards {
    /// The command runs again from the start.
    RunAgain,
    /// The command is answered with `+OK` or the error.
    Reply,
}

/// Called from another thread when a wait is over.
pub type Done = Box<dyn FnOnce(Result<(), CommandError>) + Send>;

impl Wait {
    /// What happens when it is over.
    pub fn afterwards(&self) -> Afterwards {
        match self {
            Wait::Keys(_)
            | Wait::Heads(..)
            | Wait::Partitions(_)
            | Wait::Rows(..)
            | Wait::LogRoom(_)
            | Wait::Held
            | Wait::Memory
            | Wait::Subscribers
            | Wait::Report(..)
            | Wait::Peer(_)
            | Wait::Ready(_)
            | Wait::Disk(..)
            | Wait::Pause(_) => Afterwards::RunAgain,
            Wait::Checkpoint | Wait::Reload(_) | Wait::Sleep(_) => Afterwards::Reply,
        }
    }

    /// Sets in motion what is waited for. Time, room in the log, subscribers and what runs a
    /// command again through [`Wake`](crate::clients::Wake) are the event loop's to watch: for
    /// those, returns `done`.
    pub fn start(self, engine: &Arc<Engine>, done: Done) -> Option<Done> {
        match self {
            Wait::Keys(missing) => engine.fetch(missing, Box::new(|result| done(reading(result)))),
            Wait::Heads(missing, read) => {
                engine.fetch_heads(missing, read, Box::new(|result| done(reading(result))));
            }
            Wait::Partitions(partitions) => {
                engine.fetch_partitions(partitions, Box::new(|result| done(reading(result))));
            }
            Wait::Rows(wanted, read) => engine.fetch_rows(
                wanted,
                Box::new(move |result| {
                    done(reading(result.map(|rows| read.put(rows))));
                }),
            ),
            Wait::Peer(errand) => errand.when_finished(done),
            Wait::Report(reports, form) => reports.ask(form, engine.env().clock.now(), done),
            Wait::Checkpoint => engine.request_checkpoint(Box::new(|result| {
                done(result.map_err(CommandError::because));
            })),
            Wait::Reload(warm_up) => reload(Arc::clone(engine), warm_up, done),
            Wait::LogRoom(_)
            | Wait::Held
            | Wait::Memory
            | Wait::Subscribers
            | Wait::Sleep(_)
            | Wait::Ready(_)
            | Wait::Disk(..)
            | Wait::Pause(_) => return Some(done),
        }
        None
    }
}

impl From<Unready> for Wait {
    fn from(unready: Unready) -> Wait {
        match unready {
            Unready::Keys(missing) => Wait::Keys(missing),
            Unready::Partitions(partitions) => Wait::Partitions(partitions),
            Unready::Held => Wait::Held,
        }
    }
}

impl From<Held> for Wait {
    fn from(_: Held) -> Wait {
        Wait::Held
    }
}

/// Like a restart: what memory knew is gone and comes back from the cold tier, as it is asked for
/// and, if the server does that after a start, all of it in the background. Hot keys alone do
/// not: they are listed for a start.
fn reload(engine: Arc<Engine>, warm_up: WarmUp, done: Done) {
    let reloaded = Arc::clone(&engine);
    engine.request_checkpoint(Box::new(move |result| {
        if result.is_ok() {
            reloaded.unload();
            if warm_up == WarmUp::All {
                // A failure is logged, and met again by the next command that asks for the keys.
                reloaded.fetch_partitions(PartitionId::all().collect(), Box::new(|_| ()));
            }
        }
        done(result.map_err(CommandError::because));
    }));
}

fn reading(result: Result<(), EngineError>) -> Result<(), CommandError> {
    result.map_err(|error| match error {
        EngineError::TooMuch { .. } => CommandError::new(error.to_string()),
        _ => CommandError::new(format!("IOERR {error}")),
    })
}
