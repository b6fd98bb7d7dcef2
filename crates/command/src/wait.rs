//! What a command that cannot finish at once waits for. The connection is parked meanwhile; its
//! thread goes on with others.

use crate::error::CommandError;
use crate::server::Server;
use basalt_change::place::PartitionId;
use basalt_engine::Missing;
use std::time::Duration;

/// What a connection waits for.
#[derive(Debug)]
pub enum Wait {
    /// Keys that are read from the cold tier; then the command runs again.
    Keys(Missing),
    /// Partitions that are read into memory; then the command runs again.
    Partitions(Vec<PartitionId>),
    /// Room in the log's buffers; then the command runs again.
    LogRoom,
    /// A checkpoint; then `+OK`, or why it failed.
    Checkpoint,
    /// Time; then `+OK`.
    Sleep(Duration),
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
            Wait::Keys(_) | Wait::Partitions(_) | Wait::LogRoom => Afterwards::RunAgain,
            Wait::Checkpoint | Wait::Sleep(_) => Afterwards::Reply,
        }
    }

    /// Sets in motion what is waited for. Time and room in the log are the event loop's to watch:
    /// for those, gives `done` back.
    pub fn start(self, server: &Server, done: Done) -> Option<Done> {
        let engine = &server.engine;
        match self {
            Wait::Keys(missing) => engine.fetch(missing, Box::new(|result| done(reading(result)))),
            Wait::Partitions(partitions) => {
                engine.fetch_partitions(partitions, Box::new(|result| done(reading(result))));
            }
            Wait::Checkpoint => engine.request_checkpoint(Box::new(|result| {
                done(result.map_err(|error| CommandError::new(format!("ERR {error}"))));
            })),
            Wait::LogRoom | Wait::Sleep(_) => return Some(done),
        }
        None
    }
}

fn reading(result: Result<(), basalt_engine::EngineError>) -> Result<(), CommandError> {
    result.map_err(|error| CommandError::new(format!("IOERR {error}")))
}
