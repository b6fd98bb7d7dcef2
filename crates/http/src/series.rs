//! Requests of several commands: `/v1/batch`, and what takes Redis two commands.
//!
//! ```text
//! request   │ head │ body                                   │
//! batch     MULTI ▸ SET a 1 ▸ GET a ▸ EXEC    the first three have no bytes, EXEC has all
//! replies   │ gathered, and cut out                         │ one response
//! ```
//! Each of its commands is a request of its own to the dispatch, so nothing there knows of it. The
//! bytes of the whole go with the last one: if a command has to wait, the request is parsed again,
//! and what has run is passed over, as its replies say.

use crate::command::Decoded;
use crate::json;
use crate::plan::Purpose;
use crate::problem::Problem;
use basalt_call::calls::Commands;
use basalt_resp::Arg;
use serde::Deserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Most commands of a batch.
const COMMANDS_MAX: usize = 1000;

/// The commands of a request that is being parsed.
#[derive(Debug)]
pub(crate) struct Series {
    /// Their words, as ranges of the request.
    words: Vec<Arg>,
    /// How many words each of them has; the last comes first.
    counts: Vec<usize>,
    /// The first word of the next one.
    at: usize,
}

impl Series {
    /// Of words one behind the other, as ranges of a buffer in which the request begins at `start`,
    /// this many for each command.
    pub(crate) fn new(mut words: Vec<Arg>, mut counts: Vec<usize>, start: usize) -> Series {
        words.iter_mut().for_each(|word| word.start -= start);
        counts.reverse();
        Series { words, counts, at: 0 }
    }

    /// Passes over commands that have run.
    pub(crate) fn skip(&mut self, ran: usize) {
        for _ in 0..ran {
            self.at += self.counts.pop().unwrap_or(0);
        }
    }

    /// Appends the words of the next command, of a request that begins at `start`. Returns true if
    /// it is the last.
    pub(crate) fn take(&mut self, start: usize, words: &mut Vec<Arg>) -> bool {
        let count = self.counts.pop().unwrap_or(0);
        let own = &self.words[self.at..self.at + count];
        words.extend(own.iter().map(|word| Arg { start: word.start + start, ..*word }));
        self.at += count;
        self.counts.is_empty()
    }
}

/// The replies of a series so far.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// How many of its commands have run.
    pub(crate) ran: usize,
    /// Bytes of replies that were made JSON, or were to be.
    looked_at: usize,
    /// What is to be answered.
    body: Vec<u8>,
    /// Why a command could not be queued.
    refused: Option<Problem>,
}

/// What is to be answered to a series.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Json(Vec<u8>),
    Done,
    Problem(Problem),
}

impl Gathered {
    /// How many bytes the next reply may have to be looked at: replies for which there is no room
    /// are not made JSON first, or a batch of a thousand of them would take seconds.
    pub(crate) fn room(&self, bytes_max: usize) -> usize {
        bytes_max.saturating_sub(self.looked_at)
    }

    /// Adds the reply of the next command; `None` if it is larger than `bytes_max`.
    pub(crate) fn add(&mut self, reply: Option<&[u8]>, purpose: Purpose, bytes_max: usize) {
        if purpose != Purpose::Batch {
            self.refused = self.refused.take().or_else(|| match reply {
                Some(reply @ [b'-', ..]) => json::of_reply(reply, bytes_max).err(),
                Some(_) => None,
                None => Some(Problem::reply_too_large(bytes_max)),
            });
            self.body = reply.unwrap_or_default().to_vec();
            return;
        }
        self.looked_at += reply.map_or(0, <[u8]>::len);
        self.body.push(if self.body.is_empty() { b'[' } else { b',' });
        let room = bytes_max.saturating_sub(self.body.len());
        match reply.and_then(|reply| json::of_element(reply, room)) {
            Some(element) => self.body.extend_from_slice(&element),
            _ => {
                let problem = Problem::reply_too_large(bytes_max);
                let text = format!("{} {}", problem.code, problem.detail);
                self.body.extend(serde_json::json!({ "$error": text }).to_string().into_bytes());
            }
        }
    }

    /// MULTI was refused: what follows it would run by itself.
    pub(crate) fn cannot_begin(&self, purpose: Purpose) -> bool {
        purpose != Purpose::Batch && self.ran == 1 && self.refused.is_some()
    }

    /// The answer, when all have run.
    pub(crate) fn outcome(mut self, purpose: Purpose, bytes_max: usize) -> Outcome {
        if let Some(refused) = self.refused {
            return Outcome::Problem(refused);
        }
        match purpose {
            Purpose::Batch => {
                self.body.push(b']');
                Outcome::Json(self.body)
            }
            Purpose::Atomic => match json::of_reply(&self.body, bytes_max) {
                Ok(body) => Outcome::Json(body),
                Err(problem) => Outcome::Problem(problem),
            },
            Purpose::Copy | Purpose::Persist => checked(&self.body, purpose, bytes_max),
        }
    }
}

/// The answer to a change behind EXISTS: `*2 :1 …`.
fn checked(reply: &[u8], purpose: Purpose, bytes_max: usize) -> Outcome {
    let Some(rest) = reply.strip_prefix(b"*2\r\n:1\r\n") else {
        return Outcome::Problem(Problem::no_key());
    };
    if rest.starts_with(b"-") {
        return match json::of_reply(rest, bytes_max) {
            Ok(_) => Outcome::Done,
            Err(problem) => Outcome::Problem(problem),
        };
    }
    match (purpose, rest) {
        (Purpose::Copy, b":0\r\n") => Outcome::Problem(Problem::key_exists()),
        _ => Outcome::Done,
    }
}

/// The commands of a batch, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) words: Decoded,
    /// How many words each has.
    pub(crate) counts: Vec<usize>,
}

impl Batch {
    /// Reads a body: an array of commands.
    ///
    /// # Errors
    /// It is none, or one of them cannot be part of a batch.
    pub(crate) fn of(body: &[u8], words_max: usize, commands: &Commands) -> Result<Batch, Problem> {
        let mut reading = Reading { words_max, commands, batch: Batch::default(), problem: None };
        let mut source = serde_json::Deserializer::from_slice(body);
        let read = source.deserialize_seq(&mut reading).and_then(|()| source.end());
        match (reading.problem, read) {
            (Some(problem), _) => Err(problem),
            (None, Err(error)) => {
                Err(Problem::bad_request(format!("the body is no JSON array: {error}")))
            }
            (None, Ok(())) if reading.batch.counts.is_empty() => Err(wrong_count()),
            (None, Ok(())) => Ok(reading.batch),
        }
    }
}

fn wrong_count() -> Problem {
    Problem::bad_request(format!("a batch has from 1 to {COMMANDS_MAX} commands"))
}

/// Reads a batch command by command, so that too many take no memory.
struct Reading<'a> {
    words_max: usize,
    commands: &'a Commands,
    batch: Batch,
    problem: Option<Problem>,
}

impl Reading<'_> {
    fn add(&mut self, element: &str) -> Result<(), Problem> {
        let number = self.batch.counts.len();
        if number == COMMANDS_MAX {
            return Err(wrong_count());
        }
        let of_command = |problem: Problem| {
            let detail = format!("command {number}: {}", problem.detail);
            Problem { detail: detail.into(), ..problem }
        };
        let command = Decoded::of(element.as_bytes(), self.words_max).map_err(of_command)?;
        command.demand_connectionless(self.commands).map_err(of_command)?;
        self.batch.counts.push(command.count());
        self.batch.words.append(command);
        Ok(())
    }
}

impl<'de> Visitor<'de> for &mut Reading<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of commands")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<&RawValue>()? {
            if let Err(problem) = self.add(element.get()) {
                self.problem = Some(problem);
                return Err(A::Error::custom("see the problem"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_http1::Status;

    #[test]
    fn replies_are_gathered_in_their_order() {
        let mut gathered = Gathered::default();
        for reply in [&b"+OK\r\n"[..], b":7\r\n", b"-ERR no\r\n", b"$3\r\nabc\r\n"] {
            gathered.add(Some(reply), Purpose::Batch, 100);
        }
        let body = br#"["OK",7,{"$error":"ERR no"},"abc"]"#.to_vec();
        assert_eq!(gathered.outcome(Purpose::Batch, 1000), Outcome::Json(body));
    }

    #[test]
    fn a_reply_that_does_not_fit_is_an_error_in_its_place() {
        let mut gathered = Gathered::default();
        for _ in 0..3 {
            gathered.add(Some(b"$9\r\n012345678\r\n"), Purpose::Batch, 30);
        }
        let Outcome::Json(body) = gathered.outcome(Purpose::Batch, 1000) else { panic!("no JSON") };
        let body = String::from_utf8(body).unwrap();
        assert_eq!(body.matches("REPLYTOOLARGE").count(), 1, "{body}");
        assert_eq!(body.matches("012345678").count(), 2, "{body}");
    }

    #[test]
    fn what_finds_no_room_is_not_looked_at_without_end() {
        let reply = [&b"$40\r\n"[..], &[0xff; 40], b"\r\n"].concat();
        let mut gathered = Gathered::default();
        let mut looked_at = 0;
        for _ in 0..100 {
            let seen = (reply.len() <= gathered.room(100)).then_some(&reply[..]);
            looked_at += seen.map_or(0, <[u8]>::len);
            gathered.add(seen, Purpose::Batch, 100);
        }
        assert!(looked_at <= 100, "{looked_at} bytes of replies made JSON");
    }

    #[test]
    fn what_was_not_queued_is_the_answer() {
        let mut gathered = Gathered::default();
        for reply in [
            &b"+OK\r\n"[..],
            b"+QUEUED\r\n",
            b"-ERR unknown command\r\n",
            b"-EXECABORT Transaction discarded\r\n",
        ] {
            gathered.add(Some(reply), Purpose::Atomic, 100);
        }
        let Outcome::Problem(problem) = gathered.outcome(Purpose::Atomic, 1000) else {
            panic!("no problem")
        };
        assert_eq!((problem.status, &problem.code[..]), (Status::BadRequest, "ERR"));
    }

    #[test]
    fn a_change_is_one_of_a_key_that_exists() {
        let outcome = |reply: &[u8], purpose| {
            let mut gathered = Gathered::default();
            gathered.add(Some(reply), purpose, 100);
            match gathered.outcome(purpose, 1000) {
                Outcome::Done => 204,
                Outcome::Problem(problem) => problem.status.code(),
                Outcome::Json(_) => 200,
            }
        };
        assert_eq!(outcome(b"*2\r\n:1\r\n:1\r\n", Purpose::Copy), 204);
        assert_eq!(outcome(b"*2\r\n:1\r\n:0\r\n", Purpose::Copy), 409);
        assert_eq!(outcome(b"*2\r\n:1\r\n:0\r\n", Purpose::Persist), 204);
        assert_eq!(outcome(b"*2\r\n:0\r\n:0\r\n", Purpose::Copy), 404);
        assert_eq!(outcome(b"*2\r\n:1\r\n-OOM no\r\n", Purpose::Copy), 507);
    }
}
