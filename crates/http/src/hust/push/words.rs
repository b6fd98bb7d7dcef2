//! The words of commands on push queues.

use crate::hust::answer::Answered;
use crate::hust::talk::{Command, Database, Talk, Word};
use basalt_http1::Status;

pub(super) type Started = Result<Box<dyn Talk>, Answered>;

pub(super) fn command(words: Vec<Word>) -> Command {
    Command::new(Database::Queues, words)
}

/// The ID of an index.
pub(super) fn id(index: u64) -> Word {
    Word::Own(format!("0-{index}").into_bytes())
}

/// Asks for the window.
pub(in crate::hust) fn info(queue: &[u8]) -> Command {
    command(vec!["XINFO STREAM".into(), queue.to_vec().into()])
}

/// A stream with other IDs, which somebody else has made.
pub(super) fn no_push_queue() -> Answered {
    Answered::failed(Status::PreconditionFailed, "ERR the stream is no push queue")
}
