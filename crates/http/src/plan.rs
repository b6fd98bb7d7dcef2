//! What is remembered of a request until its reply is there.

use basalt_http1::{ByteRange, Connection, Head, Method};

/// See the head of this file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// What becomes of the reply.
    pub(crate) answer: Answer,
    /// How the response ends.
    pub(crate) ending: Ending,
    /// The database that its command runs in.
    pub(crate) db: u8,
}

/// What a response says about its connection, and whether it has a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ending {
    pub(crate) connection: Connection,
    /// A HEAD: the response says how long its body would be.
    pub(crate) is_without_body: bool,
}

impl Ending {
    pub(crate) fn of(head: &Head) -> Ending {
        let connection = match (head.keeps_alive, head.is_old) {
            (false, _) => Connection::Closes,
            (true, true) => Connection::Kept,
            (true, false) => Connection::Unsaid,
        };
        Ending { connection, is_without_body: head.method == Method::Head }
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
    /// SET with a condition: this status if it was met, else 412.
    PutIf {
        /// There was nothing, and that was the condition.
        creates: bool,
    },
    /// GETDEL: 204, or 404 if there was nothing.
    Removed,
    /// A length: 200 with `{"length": …}`.
    Length,
    /// A number: 200 with `{"value": …}`.
    Number,
    /// Any reply, as JSON.
    Json,
    /// Any reply: a string as it is, else as JSON.
    Raw,
}
