//! The messages of a channel: SUBSCRIBE or PSUBSCRIBE. What is published comes by itself.

use super::note::{Each, Note, Words, words};
use crate::walk::Walk;

/// See the head of this file.
#[derive(Debug)]
pub(super) struct ChannelFeed {
    pub(super) name: Vec<u8>,
    pub(super) is_pattern: bool,
}

impl ChannelFeed {
    pub(super) fn opening(&self) -> Words {
        words(if self.is_pattern { "PSUBSCRIBE" } else { "SUBSCRIBE" }, &[&self.name])
    }
}

/// Reads a message of pub/sub.
pub(super) fn message(walk: &mut Walk<'_>, each: Each<'_>) -> Option<()> {
    walk.array()?;
    let pattern = match walk.bulk()? {
        b"message" => None,
        b"pmessage" => Some(walk.bulk()?),
        _ => return None,
    };
    let (channel, body) = (walk.bulk()?, walk.bulk()?);
    each(Note::Message { channel, pattern, body });
    Some(())
}
