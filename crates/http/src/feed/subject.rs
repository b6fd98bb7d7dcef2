//! What a feed is about: the commands that it runs, and what their replies say.

use super::channel::ChannelFeed;
use super::note::{Each, Words};
use super::queue::QueueFeed;
use super::stream::StreamFeed;

/// See the head of this file.
#[derive(Debug)]
pub(super) enum Subject {
    Stream(StreamFeed),
    Channel(ChannelFeed),
    Queue(QueueFeed),
}

impl Subject {
    /// The command that finds out whether there is a feed.
    pub(super) fn opening(&self) -> Words {
        match self {
            Subject::Stream(stream) => stream.opening(),
            Subject::Channel(channel) => channel.opening(),
            Subject::Queue(queue) => queue.opening(),
        }
    }

    /// Takes the reply to that; `None` if it is none.
    pub(super) fn opened(&mut self, reply: &[u8], each: Each<'_>) -> Option<()> {
        match self {
            Subject::Stream(stream) => stream.opened(reply, each),
            Subject::Channel(_) | Subject::Queue(_) => Some(()),
        }
    }

    /// Whether there is a standing command now.
    pub(super) fn wants(&self) -> bool {
        match self {
            Subject::Stream(_) => true,
            Subject::Channel(_) => false,
            Subject::Queue(queue) => queue.wants(),
        }
    }

    /// The standing command, if there is one now.
    pub(super) fn standing(&self) -> Option<Words> {
        match self {
            Subject::Stream(stream) => Some(stream.standing()),
            Subject::Channel(_) => None,
            Subject::Queue(queue) => queue.standing(),
        }
    }

    /// Takes the reply to that; `None` if it is none.
    pub(super) fn take(&mut self, reply: &[u8], each: Each<'_>) -> Option<()> {
        match self {
            Subject::Stream(stream) => stream.take(reply, each),
            Subject::Channel(_) => None,
            Subject::Queue(queue) => queue.take(reply, each),
        }
    }

    /// A reply was too large: returns true if the next one may be smaller.
    pub(super) fn takes_less(&mut self) -> bool {
        match self {
            Subject::Stream(stream) => stream.takes_less(),
            Subject::Channel(_) | Subject::Queue(_) => false,
        }
    }

    /// The queue whose messages the client holds, if it is one.
    pub(super) fn queue(&mut self) -> Option<&mut QueueFeed> {
        match self {
            Subject::Queue(queue) => Some(queue),
            Subject::Stream(_) | Subject::Channel(_) => None,
        }
    }
}
