//! What is remembered of a request until its reply is there.

use crate::conditions::Conditions;
use crate::general::General;
use crate::shape::Shape;
use basalt_http1::{ByteRange, Connection, Head, Method};

/// See the head of this file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// What becomes of the reply.
    pub(crate) answer: Answer,
    /// How the response ends.
    pub(crate) ending: Ending,
    /// The database that its command runs in, and how names are spelled.
    pub(crate) general: General,
    /// Where what it adds will be: its ID is to follow.
    pub(crate) location: Option<Box<str>>,
    /// What a read demands of the tag of its value.
    pub(crate) conditions: Option<Box<Conditions>>,
}

impl Plan {
    #[inline]
    pub(crate) fn new(answer: Answer, general: General, ending: Ending) -> Plan {
        Plan { answer, ending, general, location: None, conditions: None }
    }
}

/// What a response says about its connection, and whether it has a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ending {
    pub(crate) connection: Connection,
    /// A HEAD: the response says how long its body would be.
    pub(crate) is_without_body: bool,
    /// The origin whose page may read it, among those that are listed.
    pub(crate) origin: Option<u16>,
}

impl Ending {
    /// Of a response to bytes of which no request is known.
    pub(crate) const OF_NO_REQUEST: Ending =
        Ending { connection: Connection::Closes, is_without_body: false, origin: None };

    pub(crate) fn of(head: &Head, origin: Option<u16>) -> Ending {
        let connection = match (head.keeps_alive, head.is_old) {
            (false, _) => Connection::Closes,
            (true, true) => Connection::Kept,
            (true, false) => Connection::Unsaid,
        };
        Ending { connection, is_without_body: head.method == Method::Head, origin }
    }

    pub(crate) fn closes(self) -> bool {
        self.connection == Connection::Closes
    }
}

/// How a reply is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// A string: 200, or 206 if a part is asked for; 404 if there is none.
    Value {
        /// The part.
        range: Option<ByteRange>,
        /// A browser would show it as a page.
        is_document: bool,
    },
    /// A string if there is none on the client's side yet: 304 if there is one here.
    NotModified,
    /// SET with GET: 201 if there was nothing, else 204.
    Put,
    /// CAS.GET: as a value, with its tag and its time to live.
    Tagged {
        /// The part.
        range: Option<ByteRange>,
        /// A browser would show it as a page.
        is_document: bool,
    },
    /// A write under a condition: 201 if there was nothing, else 204; 412 if it was not met.
    Outcome,
    /// A write where nothing may have been: 201; 412 if there was something.
    Made,
    /// CAS.SISMEMBER or CAS.ZSCORE: 204, or 200 with the score, with the tag; 404 if it is not
    /// there.
    Element,
    /// GETDEL: 204, or 404 if there was nothing.
    Removed,
    /// A whole number: 200 with it under this name.
    Member(&'static str),
    /// A number: 200 with `{"value": …}`.
    Number,
    /// How many there are that were not there: 201 if one, else 204.
    Added,
    /// How many there are: 204, or 404 if none.
    Found,
    /// What became of a field's expiry, in an array: 204, or 404 if there is no such field.
    FieldExpiry,
    /// OK: 204.
    Done,
    /// OK: 201.
    Created,
    /// OK, or 1: 204; 409 if 0.
    Renamed,
    /// The ID of an entry: 201.
    Entry,
    /// The id of a message: 201.
    Queued,
    /// The answer to a message: 200 with it, or 204 if there was none in time.
    Called,
    /// A reply of a shape, as JSON.
    Shaped(Shape),
    /// The reply of one of several commands: gathered, and answered together.
    Part { purpose: Purpose, is_last: bool },
    /// A report for monitoring systems: 200.
    Report {
        /// In OpenMetrics.
        is_open: bool,
    },
    /// The reply of a command of huststore's interface.
    Hust {
        /// Room is left before it, for it may be sent as it is.
        has_room: bool,
    },
    /// Any reply, as JSON.
    Json,
    /// Any reply: a string as it is, else as JSON.
    Raw,
}

/// What becomes of the replies of several commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// All of them, in an array.
    Batch,
    /// MULTI, commands, EXEC: what EXEC replies.
    Atomic,
    /// EXISTS and a change, as one: 404 if there is nothing, 409 if nothing was changed, else 204.
    Copy,
    /// EXISTS and a change, as one: 404 if there is nothing, else 204.
    Persist,
}

impl Purpose {
    /// Of the commands of a batch, which may be one transaction.
    pub(crate) fn of_batch(is_atomic: bool) -> Purpose {
        if is_atomic { Purpose::Atomic } else { Purpose::Batch }
    }
}
