//! Status codes (RFC 9110, section 15; 423, 429 and 431 as RFC 4918 and RFC 6585 have them).

/// How a response begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Status {
    /// The connection goes on as a WebSocket.
    SwitchingProtocols = 101,
    /// Done, and here it is.
    Ok = 200,
    /// Something is there that was not.
    Created = 201,
    /// Done, and there is nothing to say.
    NoContent = 204,
    /// The range that was asked for.
    PartialContent = 206,
    /// What the client has is what there is.
    NotModified = 304,
    /// The request is wrong.
    BadRequest = 400,
    /// Valid credentials are missing.
    Unauthorized = 401,
    /// The user may not do this, or the page may not.
    Forbidden = 403,
    /// There is nothing.
    NotFound = 404,
    /// The method is not for this target.
    MethodNotAllowed = 405,
    /// The request did not arrive in time.
    RequestTimeout = 408,
    /// What is there is of another kind.
    Conflict = 409,
    /// The condition of the request does not hold.
    PreconditionFailed = 412,
    /// The body is larger than is taken.
    ContentTooLarge = 413,
    /// The target is longer than is taken.
    UriTooLong = 414,
    /// The body is of a type that is not taken.
    UnsupportedMediaType = 415,
    /// The range begins behind the end.
    RangeNotSatisfiable = 416,
    /// What the client expects is not known.
    ExpectationFailed = 417,
    /// The name in `Host` is not one of this server.
    MisdirectedRequest = 421,
    /// What is there takes nothing for the time being (RFC 4918).
    Locked = 423,
    /// The client must speak another version of the protocol that it asks to change to.
    UpgradeRequired = 426,
    /// There is no room until others have taken something (RFC 6585).
    TooManyRequests = 429,
    /// The head is larger than is taken.
    RequestHeaderFieldsTooLarge = 431,
    /// It has failed, and that is not the client's fault.
    InternalServerError = 500,
    /// The method is not known.
    NotImplemented = 501,
    /// Not now.
    ServiceUnavailable = 503,
    /// It cannot be known whether it is done.
    GatewayTimeout = 504,
    /// The version is not spoken here.
    HttpVersionNotSupported = 505,
    /// There is no room for what was sent.
    InsufficientStorage = 507,
}

/// What comes in a status line before the reason.
const REASON_START: usize = "HTTP/1.1 200 ".len();

impl Status {
    /// Its three digits.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// Its name, as RFC 9110 has it.
    pub fn reason(self) -> &'static str {
        self.line()[REASON_START..].trim_end()
    }

    /// The status line (RFC 9112, section 4) with its line end.
    pub(crate) fn line(self) -> &'static str {
        match self {
            Status::SwitchingProtocols => "HTTP/1.1 101 Switching Protocols\r\n",
            Status::Ok => "HTTP/1.1 200 OK\r\n",
            Status::Created => "HTTP/1.1 201 Created\r\n",
            Status::NoContent => "HTTP/1.1 204 No Content\r\n",
            Status::PartialContent => "HTTP/1.1 206 Partial Content\r\n",
            Status::NotModified => "HTTP/1.1 304 Not Modified\r\n",
            Status::BadRequest => "HTTP/1.1 400 Bad Request\r\n",
            Status::Unauthorized => "HTTP/1.1 401 Unauthorized\r\n",
            Status::Forbidden => "HTTP/1.1 403 Forbidden\r\n",
            Status::NotFound => "HTTP/1.1 404 Not Found\r\n",
            Status::MethodNotAllowed => "HTTP/1.1 405 Method Not Allowed\r\n",
            Status::RequestTimeout => "HTTP/1.1 408 Request Timeout\r\n",
            Status::Conflict => "HTTP/1.1 409 Conflict\r\n",
            Status::PreconditionFailed => "HTTP/1.1 412 Precondition Failed\r\n",
            Status::ContentTooLarge => "HTTP/1.1 413 Content Too Large\r\n",
            Status::UriTooLong => "HTTP/1.1 414 URI Too Long\r\n",
            Status::UnsupportedMediaType => "HTTP/1.1 415 Unsupported Media Type\r\n",
            Status::RangeNotSatisfiable => "HTTP/1.1 416 Range Not Satisfiable\r\n",
            Status::ExpectationFailed => "HTTP/1.1 417 Expectation Failed\r\n",
            Status::MisdirectedRequest => "HTTP/1.1 421 Misdirected Request\r\n",
            Status::Locked => "HTTP/1.1 423 Locked\r\n",
            Status::TooManyRequests => "HTTP/1.1 429 Too Many Requests\r\n",
            Status::UpgradeRequired => "HTTP/1.1 426 Upgrade Required\r\n",
            Status::RequestHeaderFieldsTooLarge => {
                "HTTP/1.1 431 Request Header Fields Too Large\r\n"
            }
            Status::InternalServerError => "HTTP/1.1 500 Internal Server Error\r\n",
            Status::NotImplemented => "HTTP/1.1 501 Not Implemented\r\n",
            Status::ServiceUnavailable => "HTTP/1.1 503 Service Unavailable\r\n",
            Status::GatewayTimeout => "HTTP/1.1 504 Gateway Timeout\r\n",
            Status::HttpVersionNotSupported => "HTTP/1.1 505 HTTP Version Not Supported\r\n",
            Status::InsufficientStorage => "HTTP/1.1 507 Insufficient Storage\r\n",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn a_line_has_its_code_and_its_reason() {
        let all = [
            (Status::SwitchingProtocols, "Switching Protocols"),
            (Status::Ok, "OK"),
            (Status::ContentTooLarge, "Content Too Large"),
            (Status::RequestHeaderFieldsTooLarge, "Request Header Fields Too Large"),
            (Status::HttpVersionNotSupported, "HTTP Version Not Supported"),
        ];
        for (status, reason) in all {
            assert_eq!(status.reason(), reason);
            assert_eq!(status.line(), format!("HTTP/1.1 {} {reason}\r\n", status.code()));
        }
    }
}
