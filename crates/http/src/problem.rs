//! Errors as `application/problem+json` (RFC 9457).
//!
//! ```json
//! {"type":"/docs/errors#WRONGTYPE","title":"Conflict","status":409,
//!  "detail":"WRONGTYPE Operation against …","code":"WRONGTYPE"}
//! ```
//! `code` is stable: Redis' where Redis has one.

use basalt_http1::{Refusal, Status};
use std::borrow::Cow;

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    pub(crate) status: Status,
    /// Stable, in capitals.
    pub(crate) code: Cow<'static, str>,
    /// A sentence for the person who wrote the client.
    pub(crate) detail: Cow<'static, str>,
    /// What may be asked of the target instead (`Allow`).
    pub(crate) allow: Option<String>,
    /// Says how a client proves who it is (`WWW-Authenticate`).
    pub(crate) challenges: bool,
    /// The connection cannot go on.
    pub(crate) closes: bool,
}

impl Problem {
    pub(crate) fn new(
        status: Status,
        code: &'static str,
        detail: impl Into<Cow<'static, str>>,
    ) -> Problem {
        Problem {
            status,
            code: Cow::Borrowed(code),
            detail: detail.into(),
            allow: None,
            challenges: false,
            closes: false,
        }
    }

    /// The request cannot be understood, but its end is known.
    pub(crate) fn bad_request(detail: impl Into<Cow<'static, str>>) -> Problem {
        Problem::new(Status::BadRequest, "BADREQUEST", detail)
    }

    /// Nothing may follow on the connection.
    pub(crate) fn closing(self) -> Problem {
        Problem { closes: true, ..self }
    }

    /// None of the bytes that are asked for is in a value of this length.
    pub(crate) fn no_such_part(len: usize) -> Problem {
        let text = format!("the value has {len} bytes");
        Problem::new(Status::RangeNotSatisfiable, "BADRANGE", text)
    }

    /// The reply is larger than this, and would be written as JSON.
    pub(crate) fn reply_too_large(most: usize) -> Problem {
        let text = format!("the reply is larger than {most} bytes (http-json-max): ask for less");
        Problem::new(Status::BadRequest, "REPLYTOOLARGE", text)
    }

    /// There is nothing under this key.
    pub(crate) fn no_key() -> Problem {
        Problem::new(Status::NotFound, "NOKEY", "there is no such key")
    }

    /// There is something under the other key already.
    pub(crate) fn key_exists() -> Problem {
        let text = "the other key exists: overwrite it with replace=1";
        Problem::new(Status::Conflict, "KEYEXISTS", text)
    }

    /// What a command has answered: its code, a space, its sentence.
    pub(crate) fn of_error(text: &[u8]) -> Problem {
        let text = String::from_utf8_lossy(text).into_owned();
        let word = text.split(' ').next().unwrap_or_default();
        let is_code = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
        let code = if is_code { word.to_owned() } else { "ERR".to_owned() };
        Problem {
            code: Cow::Owned(code.clone()),
            ..Problem::new(status_of(&code), "ERR", Cow::Owned(text))
        }
    }

    /// Its JSON.
    pub(crate) fn body(&self) -> Vec<u8> {
        #[derive(serde::Serialize)]
        struct Body<'a> {
            r#type: String,
            title: &'static str,
            status: u16,
            detail: &'a str,
            code: &'a str,
        }
        let body = Body {
            r#type: format!("/docs/errors#{}", self.code),
            title: self.status.reason(),
            status: self.status.code(),
            detail: &self.detail,
            code: &self.code,
        };
        serde_json::to_vec(&body).expect("text and numbers can be written")
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let code = match refusal.status() {
            Status::MethodNotAllowed => "BADMETHOD",
            Status::NotImplemented => "BADMETHOD",
            Status::ContentTooLarge => "TOOLARGE",
            Status::UriTooLong | Status::RequestHeaderFieldsTooLarge => "TOOLARGE",
            Status::HttpVersionNotSupported => "BADVERSION",
            Status::ExpectationFailed => "BADEXPECTATION",
            Status::Unauthorized => "NOAUTH",
            _ => "BADREQUEST",
        };
        let problem = Problem::new(refusal.status(), code, refusal.to_string());
        // CONNECT, TRACE and QUERY, which no path takes.
        let is_refused = refusal.status() == Status::MethodNotAllowed;
        let allow = is_refused.then(|| "GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS".to_owned());
        Problem { closes: refusal.closes(), allow, ..problem }
    }
}

/// The status for the code of a command's error.
fn status_of(code: &str) -> Status {
    match code {
        "WRONGTYPE" | "BUSYKEY" | "BUSYGROUP" => Status::Conflict,
        "NOAUTH" | "WRONGPASS" => Status::Unauthorized,
        "NOPERM" | "DENIED" => Status::Forbidden,
        "NOSCRIPT" | "NOGROUP" => Status::NotFound,
        "OOM" => Status::InsufficientStorage,
        "QFULL" => Status::TooManyRequests,
        "QLOCKED" => Status::Locked,
        "BUSY" | "LOADING" | "MISCONF" | "TRYAGAIN" | "UNBLOCKED" => Status::ServiceUnavailable,
        "OUTCOMEUNKNOWN" => Status::GatewayTimeout,
        _ => Status::BadRequest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_commands_keep_their_code_and_text() {
        let problem = Problem::of_error(b"WRONGTYPE Operation against a key");
        let body = String::from_utf8(problem.body()).unwrap();
        assert_eq!(
            body,
            r##"{"type":"/docs/errors#WRONGTYPE","title":"Conflict","status":409,"detail":"WRONGTYPE Operation against a key","code":"WRONGTYPE"}"##
        );
        for (text, status) in [
            ("ERR syntax error", 400),
            ("OOM command not allowed", 507),
            ("MISCONF the journal has failed", 503),
            ("NOSCRIPT No matching script", 404),
            ("OUTCOMEUNKNOWN the log has failed", 504),
            ("lower case, so no code", 400),
            ("", 400),
        ] {
            assert_eq!(Problem::of_error(text.as_bytes()).status.code(), status, "{text}");
        }
        assert_eq!(Problem::of_error(b"lower case").code, "ERR");
    }
}
