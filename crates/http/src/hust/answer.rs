//! What a client of huststore's interface is answered.

use super::talk::Profile;
use basalt_http1::Status;

/// An answer, with huststore's status codes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answered {
    pub(crate) status: Status,
    /// `Version`.
    pub(crate) version: Option<u64>,
    /// `VerError`: nothing was changed because of the version.
    pub(crate) is_refused: Option<bool>,
    /// Other fields.
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Why it is no success: `Basalt-Error`.
    pub(crate) reason: Option<String>,
    /// The front has this answer, whatever its status.
    pub(crate) is_of_front: bool,
}

impl Answered {
    /// Nothing but a status.
    pub(crate) fn new(status: Status) -> Answered {
        Answered {
            status,
            version: None,
            is_refused: None,
            fields: Vec::new(),
            body: Vec::new(),
            reason: None,
            is_of_front: false,
        }
    }

    /// A failure, and why.
    pub(crate) fn failed(status: Status, reason: impl Into<String>) -> Answered {
        Answered { reason: Some(reason.into()), ..Answered::new(status) }
    }

    /// Success with a body.
    pub(crate) fn body(body: impl Into<Vec<u8>>) -> Answered {
        Answered { body: body.into(), ..Answered::new(Status::Ok) }
    }

    /// A parameter that is needed is not given, or empty.
    pub(crate) fn missing(name: &str) -> Answered {
        Answered::failed(Status::NotFound, format!("ERR {name} is missing"))
    }

    /// A parameter is wrong.
    pub(crate) fn wrong(reason: impl Into<String>) -> Answered {
        Answered::failed(Status::BadRequest, reason)
    }

    /// There is nothing.
    pub(crate) fn nothing() -> Answered {
        Answered::new(Status::NotFound).with_version(0)
    }

    /// There is no such queue.
    pub(crate) fn no_queue() -> Answered {
        Answered::failed(Status::PreconditionFailed, "ERR there is no such queue")
    }

    /// A command has replied with something that it does not reply with.
    pub(crate) fn unexpected() -> Answered {
        Answered::failed(Status::InternalServerError, "ERR the command has answered something else")
    }

    /// What a command's error means here.
    pub(crate) fn of_error(text: &[u8]) -> Answered {
        let text = String::from_utf8_lossy(text).into_owned();
        let code = text.split(' ').next().unwrap_or_default();
        let is_no_number = text.contains("not an integer") || text.contains("not a valid float");
        let status = match code {
            "WRONGTYPE" => Status::PreconditionFailed,
            "OOM" => Status::Forbidden,
            "QFULL" | "QLOCKED" => Status::Unauthorized,
            "LOADING" | "BUSY" | "MISCONF" | "TRYAGAIN" | "UNBLOCKED" => {
                Status::InternalServerError
            }
            _ if is_no_number => Status::Forbidden,
            _ => Status::BadRequest,
        };
        Answered::failed(status, text)
    }

    pub(crate) fn with_version(self, version: u64) -> Answered {
        Answered { version: Some(version), ..self }
    }

    pub(crate) fn with_refusal(self, is_refused: bool) -> Answered {
        Answered { is_refused: Some(is_refused), ..self }
    }

    /// It is a verb of the front alone, which answers it as it is.
    pub(crate) fn of_front(self) -> Answered {
        Answered { is_of_front: true, ..self }
    }

    /// As it is seen through a profile: the front of huststore knew few statuses, and no
    /// `VerError`.
    pub(crate) fn seen_by(self, profile: Profile) -> Answered {
        if profile == Profile::Node || self.is_of_front {
            return self;
        }
        let answered = Answered { is_refused: None, ..self };
        match answered.status {
            Status::Ok
            | Status::MethodNotAllowed
            | Status::Conflict
            | Status::RequestTimeout
            | Status::NotImplemented => answered,
            _ => Answered {
                status: Status::NotFound,
                version: answered.version.map(|_| 0),
                fields: Vec::new(),
                ..answered
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_knows_few_statuses() {
        let mismatch = Answered::new(Status::Unauthorized).with_version(7).with_refusal(true);
        assert_eq!(mismatch.clone().seen_by(Profile::Node), mismatch);
        let seen = mismatch.seen_by(Profile::Front);
        assert_eq!((seen.status, seen.version, seen.is_refused), (Status::NotFound, Some(0), None));
        let outside = Answered::new(Status::Forbidden).of_front();
        assert_eq!(outside.clone().seen_by(Profile::Front), outside);
        let done = Answered::new(Status::Ok).with_version(7).with_refusal(false);
        let seen = done.seen_by(Profile::Front);
        assert_eq!((seen.status, seen.version, seen.is_refused), (Status::Ok, Some(7), None));
    }

    #[test]
    fn errors_have_the_statuses_of_huststore() {
        for (text, status) in [
            ("WRONGTYPE Operation against a key", 412),
            ("OOM command not allowed", 403),
            ("ERR hash value is not an integer", 403),
            ("QLOCKED the queue is paused", 401),
            ("MISCONF the journal has failed", 500),
            ("ERR syntax error", 400),
        ] {
            assert_eq!(Answered::of_error(text.as_bytes()).status.code(), status, "{text}");
        }
    }
}
