//! What a verb says to commands and hears from them.

use super::answer::Answered;
use basalt_resp::Value;
use std::fmt::Debug;

/// The side of huststore that is spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Profile {
    /// One of its storage nodes: `/hustdb/…`, with all of its statuses.
    Node,
    /// The front before them: verbs at the root, few statuses.
    Front,
}

/// huststore keeps apart what may have the same name; so do databases. The number is the place in
/// `hust-databases`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Database {
    Kv = 0,
    Tables = 1,
    Queues = 2,
    Cache = 3,
}

/// How long the verbs of the front wait that wait, as long as huststore's do; `http-wait-max` may
/// be less.
pub(crate) const WAIT_MS: u64 = 180_000;

/// A word of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// Always the same; several are separated by spaces.
    Fixed(&'static str),
    Own(Vec<u8>),
    /// The body of the request.
    Body,
    /// The body of the request, behind this: the last word.
    BodyBehind(Vec<u8>),
}

impl Word {
    /// Bytes that are to be written for it.
    pub(crate) fn written_bytes(&self) -> usize {
        match self {
            Word::Fixed(text) => text.len(),
            Word::Own(bytes) | Word::BodyBehind(bytes) => bytes.len(),
            Word::Body => 0,
        }
    }
}

impl From<&'static str> for Word {
    fn from(word: &'static str) -> Word {
        Word::Fixed(word)
    }
}

impl From<Vec<u8>> for Word {
    fn from(word: Vec<u8>) -> Word {
        Word::Own(word)
    }
}

impl From<u64> for Word {
    fn from(number: u64) -> Word {
        Word::Own(number.to_string().into_bytes())
    }
}

/// A command that is to run.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) database: Database,
    pub(crate) words: Vec<Word>,
}

impl Command {
    pub(crate) fn new(database: Database, words: Vec<Word>) -> Command {
        Command { database, words }
    }

    /// The command with more words.
    pub(crate) fn with(mut self, words: impl IntoIterator<Item = Word>) -> Command {
        self.words.extend(words);
        self
    }
}

/// A reply that is a value, which stays where the command has written it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueForm {
    /// Version, time to live, value.
    Versioned,
    /// The value alone.
    Bare,
}

/// What follows a reply.
#[derive(Debug)]
pub(crate) enum Heard {
    /// The client is answered.
    Answer(Answered),
    /// [`Talk::command`] is the next one.
    Again,
}

/// One request: what it asks of commands, and what becomes of their replies.
pub(crate) trait Talk: Debug + Send {
    /// The command that is to run now. It is asked for again if the request is parsed again before
    /// it has run.
    fn command(&self) -> Command;

    /// Whether that is the last one, whatever it replies.
    fn is_last(&self) -> bool;

    /// The form of a reply that is sent as the answer without being heard.
    fn value_form(&self) -> Option<ValueForm> {
        None
    }

    /// Whether JSON is made of the reply, so that `http-json-max` bounds it.
    fn lists(&self) -> bool {
        false
    }

    /// Hears the reply of the command.
    fn hear(&mut self, reply: Value) -> Heard;
}

/// A talk of one command.
#[derive(Debug)]
pub(crate) struct One {
    command: Command,
    form: Option<ValueForm>,
    read: fn(Value) -> Answered,
}

impl One {
    /// A command, and what its reply means.
    pub(crate) fn talk(command: Command, read: fn(Value) -> Answered) -> Box<dyn Talk> {
        Box::new(One { command, form: None, read })
    }

    /// A command that replies with a value of this form, or with what is to be read.
    pub(crate) fn value(
        command: Command,
        form: ValueForm,
        read: fn(Value) -> Answered,
    ) -> Box<dyn Talk> {
        Box::new(One { command, form: Some(form), read })
    }
}

impl Talk for One {
    fn command(&self) -> Command {
        self.command.clone()
    }

    fn is_last(&self) -> bool {
        true
    }

    fn value_form(&self) -> Option<ValueForm> {
        self.form
    }

    fn hear(&mut self, reply: Value) -> Heard {
        Heard::Answer((self.read)(reply))
    }
}
