//! A command of a feed, whose words stand in the query buffer.

use super::orders::Command;
use basalt_net::{Input, Next};
use basalt_resp::Arg;

/// What a command is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// It finds out whether there is a feed.
    Opening,
    /// It waits for something to send.
    Standing,
    /// The client has asked for it.
    Order(Command),
    /// It hands back what a client held that has gone.
    Release,
}

/// A command that has not been answered.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) asked: Asked,
    /// Its words, as ranges from where it begins.
    words: Vec<Arg>,
    /// Bytes of the query buffer that it takes.
    bytes: usize,
    /// It is in a batch.
    is_out: bool,
}

impl Request {
    /// Writes words where parsing stands: over as many bytes of the client's as are done with, and
    /// in front of all else.
    pub(super) fn place(
        input: &mut Input,
        over: usize,
        words: &[Vec<u8>],
        asked: Asked,
    ) -> Request {
        let start = input.parsed();
        let all = words.concat();
        if all.len() > over {
            input.insert(&all[over..]);
        }
        input.bytes_mut()[start..start + all.len()].copy_from_slice(&all);
        let places = words.iter().scan(0, |at, word| {
            let place = Arg { start: *at, len: word.len() };
            *at += word.len();
            Some(place)
        });
        let words = places.collect();
        Request { asked, words, bytes: over.max(all.len()), is_out: false }
    }

    /// Puts it into the batch, where parsing stands at `start`. If it is in one, that runs before
    /// anything else of the client.
    pub(super) fn next(&mut self, start: usize, words: &mut Vec<Arg>) -> Next {
        if std::mem::replace(&mut self.is_out, true) {
            return Next::Passed { bytes: 0 };
        }
        words.extend(self.words.iter().map(|word| Arg { start: word.start + start, ..*word }));
        Next::Request { bytes: self.bytes }
    }

    /// Takes it out of the query buffer; it has not run, and stands where parsing does.
    pub(super) fn remove(self, input: &mut Input) {
        let start = input.parsed();
        input.remove(start..start + self.bytes);
    }

    /// Where it ends, if it begins at `start`.
    pub(super) fn end(&self, start: usize) -> usize {
        start + self.bytes
    }

    /// It has not run, and is parsed again.
    pub(super) fn rewind(&mut self) {
        self.is_out = false;
    }
}
