//! What a line of the table of paths says: methods, parameters, bodies, commands, responses.
//!
//! The table is read by `routes.rs` to find what answers a request, by `translate.rs` to make the
//! words of a command, and by `document.rs` to write what clients may rely on. So none of them can
//! say what another does not know.

use crate::plan::{Answer, Purpose};
use basalt_http1::sse::EVENT_STREAM;
use basalt_http1::{Field, Head, Method};

/// A path and what it takes.
pub(crate) struct Route {
    pub(crate) path: &'static [Segment],
    pub(crate) operations: &'static [Operation],
}

/// A part of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Segment {
    /// As it is.
    Text(&'static str),
    /// The name of a key: any bytes, percent-encoded.
    Key,
    /// What is named within the key's value, and what the documents call it.
    Name(&'static str),
    /// What is named within that.
    Within(&'static str),
}

/// One thing that can be done with a path.
pub(crate) struct Operation {
    pub(crate) method: Method,
    /// The parameter, with its value, that tells it from others with the same method.
    pub(crate) when: Option<(&'static str, &'static str)>,
    /// What it does, in a sentence without its end.
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [&'static Parameter],
    pub(crate) body: Body,
    pub(crate) run: Run,
    /// The statuses beside those of errors that all may have.
    pub(crate) statuses: &'static [u16],
}

/// What answers it.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// A string, by `strings.rs`.
    String,
    /// The command of these words, by `translate.rs`.
    Command(&'static [Part], Answer),
    /// A read of what may have a tag, by `translate.rs`; conditions are on that.
    Tagged(&'static [Part], Answer),
    /// A write, the command that does it if it says when what is written expires, if there is one,
    /// and the one that does it under a condition on the tag, by `translate.rs`.
    Conditional {
        plain: (&'static [Part], Answer),
        expiring: Option<(&'static [Part], Answer)>,
        under: &'static [Part],
    },
    /// Several commands as one, by `translate.rs` and `series.rs`.
    Several(&'static [Part], Purpose),
    /// One of two commands, by whether the time in the body is null. The first is several as one
    /// if its reply alone does not tell what became of it.
    Expiry { cleared: &'static [Part], several: Option<Purpose>, set: (&'static [Part], Answer) },
    /// Server-sent events, by `feed.rs`.
    Events(FeedKind),
    /// A WebSocket, by `feed.rs`.
    Socket(FeedKind),
    /// Any command, by `command.rs`.
    Any,
    /// Commands one after the other, by `series.rs`.
    Batch,
    /// The report for monitoring systems, by `metrics.rs`.
    Metrics,
    /// Whether the process answers, by `health.rs`.
    Live,
    /// Whether it takes requests, by `health.rs`.
    Ready,
    /// A token for a password, by `login.rs`.
    Login,
    /// The table itself, by `document.rs`.
    Document,
}

/// As what a client wants the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    /// As a response that ends.
    Response,
    /// As server-sent events.
    Events,
    /// Over a WebSocket.
    Socket,
}

impl Asks {
    /// As what the client wants it whose request has this head.
    pub(crate) fn of(head: &Head, bytes: &[u8]) -> Asks {
        let accept = head.field(Field::Accept).map_or(&b""[..], |range| &bytes[range]);
        let mut kinds = accept.split(|&byte| byte == b',' || byte == b';');
        let wants_events =
            kinds.any(|kind| kind.trim_ascii().eq_ignore_ascii_case(EVENT_STREAM.as_bytes()));
        let is_socket = |protocol: &[u8]| protocol.trim_ascii().eq_ignore_ascii_case(b"websocket");
        let upgrade = head.field(Field::Upgrade).map_or(&b""[..], |range| &bytes[range]);
        match head.method {
            Method::Get if head.upgrades && upgrade.split(|&byte| byte == b',').any(is_socket) => {
                Asks::Socket
            }
            Method::Get if wants_events => Asks::Events,
            _ => Asks::Response,
        }
    }
}

/// What a path has feeds of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FeedKind {
    /// The entries of a stream.
    Stream,
    /// The messages of a channel, or of channels.
    Channel,
    /// The messages of a queue.
    Queue,
}

/// What an operation takes as its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Body {
    /// Nothing: what comes is ignored.
    None,
    /// Any bytes.
    Bytes,
    /// JSON.
    Json(Items),
    /// JSON if it is called so, else bytes.
    BytesOrJson(Items),
}

/// The form of a body in JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Items {
    /// An array of words.
    Words,
    /// An object: names, and the words under them.
    Fields,
    /// An object: members, and their scores.
    Scores,
    /// `{"ttl_ms": …}`: milliseconds, or null.
    Expiry,
    /// An array of commands.
    Commands,
    /// User and password.
    Password,
}

/// A parameter of a query.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) about: &'static str,
}

/// What a parameter may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Any bytes, which the command judges.
    Bytes,
    /// The name of a key.
    Name,
    /// A whole number within these bounds.
    Number { min: i64, max: i64 },
    /// Seconds, with a fraction if need be.
    Seconds,
    /// 1 or 0.
    Flag,
    /// One of these values, the first if none is given; and the word that it stands for, which is
    /// left out if it is empty.
    Choice(&'static [(&'static str, &'static str)]),
}

/// Where words of a command come from.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// Always the same; several are separated by spaces.
    Word(&'static str),
    /// The key.
    Key,
    /// The name within the key's value.
    Name,
    /// The name within what that names.
    Within,
    /// The value of a parameter, or what stands for it.
    Or(&'static Parameter, &'static str),
    /// The value of a parameter, or what stands for it, forwards and with `reverse`.
    Bound(&'static Parameter, &'static str, &'static str),
    /// The value of the second parameter, or a thousand places behind the first one.
    Stop(&'static Parameter, &'static Parameter),
    /// Words, and the value of a parameter; nothing if it is not given.
    Option(&'static str, &'static Parameter),
    /// A word if a parameter is 1.
    Switch(&'static Parameter, &'static str),
    /// The first word if a parameter is 1, else the second.
    Either(&'static Parameter, &'static str, &'static str),
    /// The value of a parameter that must be given.
    Value(&'static Parameter),
    /// The word that a choice stands for.
    Choice(&'static Parameter),
    /// A word and a time to wait if one is given, else another word.
    Wait(&'static Parameter, (&'static str, &'static str), Unit),
    /// The first word if a parameter is a whole number, which it is by default; else the second.
    Whole(&'static Parameter, &'static str, &'static str),
    /// How old an entry of a stream may become: the words that trim it.
    Age(&'static Parameter),
    /// The condition of the request; a digest is one, or no value has one.
    Condition(Digests),
    /// The body.
    Body,
    /// Here the next command of several begins.
    Next,
    /// The body under a name; its names and what is under them if it is JSON.
    BodyAs(&'static str),
}

/// Whether a value without a version has its digest for a tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Digests {
    Had,
    NotHad,
}

/// In what a command takes a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Seconds,
    Milliseconds,
}

impl Operation {
    /// The rest of one that has nothing special about it.
    pub(crate) const DEFAULT: Operation = Operation {
        method: Method::Get,
        when: None,
        summary: "",
        parameters: &[],
        body: Body::None,
        run: Run::Live,
        statuses: &[200],
    };

    /// Whether its requests run a command on data: they name a database and spell names.
    pub(crate) fn is_on_data(&self) -> bool {
        let is_command = matches!(
            self.run,
            Run::String
                | Run::Command(..)
                | Run::Tagged(..)
                | Run::Conditional { .. }
                | Run::Several(..)
                | Run::Expiry { .. }
        );
        is_command || matches!(self.run, Run::Events(_) | Run::Socket(_))
    }

    /// Whether its requests may change data.
    pub(crate) fn may_change(&self) -> bool {
        let runs = self.is_on_data() || matches!(self.run, Run::Any | Run::Batch);
        runs && self.method != Method::Get
    }

    /// As what its requests want the answer.
    pub(crate) fn asks(&self) -> Asks {
        match self.run {
            Run::Events(_) => Asks::Events,
            Run::Socket(_) => Asks::Socket,
            _ => Asks::Response,
        }
    }
}
