//! The talks of one connection.
//!
//! A talk of one command is a request like others: those behind it are parsed while it waits to
//! run, so talks wait in the order of their requests. A talk of several commands begins when all
//! before it has been answered, and nothing behind it is parsed before it is over. Its request
//! stays where it is, with the words of one command after the other written over its head; so a
//! command that has to wait runs again, and none that has run does. A command after the first that
//! needs more room than the head gets it in front: the request is not parsed again any more.

use super::answer::Answered;
use super::talk::{Heard, Profile, Talk, ValueForm, Word};
use crate::plan::Ending;
use crate::problem::Problem;
use crate::words::Words;
use basalt_net::Input;
use basalt_resp::{Arg, Value};
use std::collections::VecDeque;

/// The number of a database for each kind of data, as `hust-databases` has them.
pub(crate) type Databases = [u8; 4];

/// A talk and its request.
#[derive(Debug)]
pub(crate) struct Talking {
    pub(crate) talk: Box<dyn Talk>,
    pub(crate) profile: Profile,
    pub(crate) head_bytes: usize,
    pub(crate) body_bytes: usize,
    pub(crate) ending: Ending,
    pub(crate) databases: Databases,
}

/// See the head of this file.
#[derive(Debug, Default)]
pub(crate) struct Talks {
    /// Those of one command that are parsed and not answered.
    queued: VecDeque<Talking>,
    long: Option<Long>,
}

/// A talk of several commands.
#[derive(Debug)]
struct Long {
    talking: Talking,
    stage: Stage,
    /// A command of it has run.
    has_heard: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Its next command is to be said.
    Speaks,
    /// A command is under way.
    Listens,
    /// It is answered, and its request is to be passed over.
    Over,
}

/// What is to be done with a long talk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    /// Its next command, in this database, was written; its reply may be sent as it is.
    Command { db: u8, has_room: bool, ending: Ending },
    /// Nothing until its command has run.
    Waits,
    /// It is over, and its request has this many bytes.
    Over(usize),
}

/// What is to be answered.
#[derive(Debug)]
pub(crate) enum Next {
    Answer(Answered, Profile),
    /// Another command comes first.
    Again,
}

impl Talking {
    pub(crate) fn bytes(&self) -> usize {
        self.head_bytes + self.body_bytes
    }

    /// In which database its command runs, and whether the reply may be sent as it is.
    fn terms(&self) -> (u8, bool) {
        let database = self.talk.command().database;
        (self.databases[database as usize], self.talk.value_form().is_some())
    }

    /// Makes the head longer if the words of the command need more room.
    fn make_room(&mut self, input: &mut Input) {
        let needed: usize = self.talk.command().words.iter().map(Word::written_bytes).sum();
        if needed > self.head_bytes {
            input.insert(&vec![0; needed - self.head_bytes]);
            self.head_bytes = needed;
        }
    }

    /// Writes the words of the command over the head.
    fn say(&self, input: &mut Input, words: &mut Vec<Arg>) -> Result<(), Problem> {
        let start = input.parsed();
        let of_head = start..start + self.head_bytes;
        let body = of_head.end..of_head.end + self.body_bytes;
        let mut over = Words::over(input.bytes_mut(), of_head, words);
        let no_room = || Problem::bad_request("the head has no room for the command: send a Host");
        for word in self.talk.command().words {
            match word {
                Word::Own(bytes) => {
                    let placed = over.place(&bytes).ok_or_else(no_room)?;
                    over.push(placed);
                }
                Word::Fixed(text) => {
                    for word in text.split(' ') {
                        let placed = over.place(word.as_bytes()).ok_or_else(no_room)?;
                        over.push(placed);
                    }
                }
                Word::Body => over.refer(body.clone()),
                Word::BodyBehind(start) => {
                    over.refer_behind(&start, body.clone()).ok_or_else(no_room)?;
                }
            }
        }
        Ok(())
    }
}

impl Talks {
    /// Begins a talk of one command: writes it, and returns in which database it runs and whether
    /// its reply may be sent as it is.
    ///
    /// # Errors
    /// The head has no room for the command.
    pub(crate) fn begin_short(
        &mut self,
        talking: Talking,
        input: &mut Input,
        words: &mut Vec<Arg>,
    ) -> Result<(u8, bool), Problem> {
        input.keep(input.parsed()..input.parsed() + talking.head_bytes);
        talking.say(input, words)?;
        let terms = talking.terms();
        self.queued.push_back(talking);
        Ok(terms)
    }

    /// Begins a talk of several commands.
    pub(crate) fn begin_long(&mut self, talking: Talking) {
        self.long = Some(Long { talking, stage: Stage::Speaks, has_heard: false });
    }

    /// Whether a talk of several commands has begun and its request is not passed over.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.long.is_some()
    }

    /// Goes on with the talk of several commands.
    ///
    /// # Errors
    /// The head has no room for the command: the talk is over.
    pub(crate) fn go_on(
        &mut self,
        input: &mut Input,
        words: &mut Vec<Arg>,
    ) -> Result<Said, (Problem, Ending)> {
        let Some(Long { talking, stage, has_heard }) = &mut self.long else {
            return Ok(Said::Waits);
        };
        match stage {
            Stage::Over => return Ok(Said::Over(talking.bytes())),
            Stage::Listens => return Ok(Said::Waits),
            Stage::Speaks => *stage = Stage::Listens,
        }
        if !*has_heard {
            // Afterwards the head is of no use as it came.
            input.keep(input.parsed()..input.parsed() + talking.head_bytes);
        } else {
            talking.make_room(input);
        }
        if let Err(problem) = talking.say(input, words) {
            let ending = talking.ending;
            self.long = None;
            return Err((problem, ending));
        }
        let (db, has_room) = talking.terms();
        Ok(Said::Command { db, has_room, ending: talking.ending })
    }

    /// The form of the reply that has come, if it is sent as it is.
    pub(crate) fn value_form(&self) -> Option<ValueForm> {
        self.answered()?.talk.value_form()
    }

    /// Whether the reply that has come becomes a listing.
    pub(crate) fn lists(&self) -> bool {
        self.answered().is_some_and(|talking| talking.talk.lists())
    }

    /// The talk whose command has been answered.
    fn answered(&self) -> Option<&Talking> {
        match &self.long {
            Some(long) => Some(&long.talking),
            None => self.queued.front(),
        }
    }

    /// The reply that has come was sent as the answer.
    pub(crate) fn end(&mut self) {
        match &mut self.long {
            Some(long) => long.stage = Stage::Over,
            None => {
                self.queued.pop_front();
            }
        }
    }

    /// Hears a reply.
    pub(crate) fn hear(&mut self, reply: Value) -> Option<Next> {
        if let Some(Long { talking, stage, has_heard }) = &mut self.long {
            *has_heard = true;
            return Some(match talking.talk.hear(reply) {
                Heard::Again => {
                    *stage = Stage::Speaks;
                    Next::Again
                }
                Heard::Answer(answered) => {
                    *stage = Stage::Over;
                    Next::Answer(answered, talking.profile)
                }
            });
        }
        let mut talking = self.queued.pop_front()?;
        let answered = match talking.talk.hear(reply) {
            Heard::Answer(answered) => answered,
            Heard::Again => Answered::unexpected(),
        };
        Some(Next::Answer(answered, talking.profile))
    }

    /// If a talk of several commands is over, forgets it: its request is passed over. Returns
    /// whether there was one.
    pub(crate) fn pass(&mut self) -> bool {
        let is_over = self.long.as_ref().is_some_and(|long| long.stage == Stage::Over);
        if is_over {
            self.long = None;
        }
        is_over
    }

    /// All requests that are not answered are parsed again; `is_late` if the first of them has run
    /// and its reply is yet to come.
    pub(crate) fn rewind(&mut self, is_late: bool) {
        self.queued.truncate(if is_late { 1 } else { 0 });
        match &mut self.long {
            Some(long) if long.stage == Stage::Listens => {
                long.stage = Stage::Speaks;
                if !long.has_heard && !is_late {
                    self.long = None;
                }
            }
            _ => {}
        }
    }
}
