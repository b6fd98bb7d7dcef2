//! A subscriber to the events of keys that have expired.

use std::io::BufReader;
use std::thread;
use std::time::Duration;

use crate::error::BenchError;
use crate::replies::read_reply;
use crate::target::{Client, ReadWrite, Target};

const CHANNEL: &str = "__keyevent@0__:expired";
/// What is published last.
const END: &str = "end";
const KEY_PREFIX: &str = "key:";
/// How long no event may come: longer than there is anything to wait for.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// What was heard.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heard {
    /// Keys without an event.
    pub(super) missing: u64,
    /// Events of keys that had had one, or do not exist.
    pub(super) again: u64,
}

/// Does some work, and hears meanwhile of the keys that expire, of this many.
pub(super) fn listening<R>(
    target: &Target,
    keys: u64,
    work: impl FnOnce() -> Result<R, BenchError>,
) -> Result<(R, Heard), BenchError> {
    let mut subscriber = Client::connect(target)?;
    subscriber.call(&["SUBSCRIBE", CHANNEL])?;
    subscriber.set_read_timeout(PATIENCE)?;
    let mut socket = subscriber.into_socket();
    thread::scope(|scope| {
        let listener = scope.spawn(move || {
            let mut seen = Seen::none_of(keys);
            let mut from: BufReader<&mut dyn ReadWrite> = BufReader::new(socket.stream());
            let mut texts = Vec::new();
            loop {
                texts.clear();
                read_reply(&mut from, &mut texts)?;
                match texts.last().map(String::as_str) {
                    Some(END) => return Ok::<Heard, BenchError>(seen.heard()),
                    Some(key) => seen.note(key),
                    None => {}
                }
            }
        });
        let result = work();
        // If the server has gone, the listener has an error of its own.
        let told =
            Client::connect(target).and_then(|mut client| client.call(&["PUBLISH", CHANNEL, END]));
        let heard = listener.join().expect("the listener reports errors and does not panic");
        let result = result?;
        told?;
        Ok((result, heard?))
    })
}

/// Which keys have been heard of.
struct Seen {
    /// By the number of the key.
    seen: Vec<bool>,
    again: u64,
}

impl Seen {
    fn none_of(keys: u64) -> Seen {
        Seen { seen: vec![false; keys as usize], again: 0 }
    }

    fn note(&mut self, key: &str) {
        let number = key.strip_prefix(KEY_PREFIX).and_then(|number| number.parse().ok());
        let seen = number.and_then(|number: usize| self.seen.get_mut(number));
        let is_first = seen.is_some_and(|seen| !std::mem::replace(seen, true));
        self.again += u64::from(!is_first);
    }

    fn heard(&self) -> Heard {
        let missing = self.seen.iter().filter(|&&seen| !seen).count() as u64;
        Heard { missing, again: self.again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_to_be_heard_of_once() {
        let mut seen = Seen::none_of(3);
        ["key:000000000002", "key:000000000000"].iter().for_each(|key| seen.note(key));
        assert_eq!(seen.heard(), Heard { missing: 1, again: 0 });
        ["key:000000000002", "key:3", "other"].iter().for_each(|key| seen.note(key));
        assert_eq!(seen.heard(), Heard { missing: 1, again: 3 });
    }
}
