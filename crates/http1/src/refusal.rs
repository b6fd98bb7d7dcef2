//! Why a request is refused before anybody knows what it is about.

use crate::status::Status;
use thiserror::Error;

/// What is wrong with a request. `Display` gives a sentence for the person who wrote the client.
///
/// A request whose end is not known for certain is the last of its connection: what follows could
/// be a part of it that a proxy has taken for another request (RFC 9112, sections 9.6 and 11.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Refusal {
    /// A line ends without a carriage return (RFC 9112, section 2.2 allows to take it).
    #[error("a line of the head ends with a line feed alone")]
    BareLineFeed,
    /// No request line, no field lines (RFC 9112, sections 3 and 5): a folded line, a space before
    /// a colon, a carriage return or another control character, for example.
    #[error("the head is malformed")]
    HeadMalformed,
    /// A field that may occur once occurs twice (RFC 9110, section 5.3).
    #[error("a field occurs twice that may occur once")]
    FieldRepeated,
    /// `Content-Length` is not a number (RFC 9110, section 8.6).
    #[error("Content-Length is not a number")]
    LengthMalformed,
    /// Two ways to find the end of the body (RFC 9112, section 6.3).
    #[error("Transfer-Encoding and Content-Length exclude each other")]
    LengthAndCoding,
    /// A transfer coding that is not `chunked` alone (RFC 9112, section 6.1).
    #[error("the only transfer coding is chunked")]
    CodingUnknown,
    /// `Transfer-Encoding` in HTTP/1.0, which does not know it (RFC 9112, section 6.1).
    #[error("HTTP/1.0 has no Transfer-Encoding")]
    CodingInOldVersion,
    /// No `Host` in HTTP/1.1 (RFC 9112, section 3.2).
    #[error("Host is missing")]
    HostMissing,
    /// `Host` is no host with or without a port (RFC 9110, section 7.2).
    #[error("Host is malformed")]
    HostMalformed,
    /// The target is neither a path nor a URL of this server (RFC 9112, section 3.2).
    #[error("the target must be a path, or a URL of the host that Host names")]
    TargetMalformed,
    /// CONNECT, TRACE or QUERY.
    #[error("CONNECT, TRACE and QUERY are refused")]
    MethodRefused,
    /// No method of [`Method`](crate::Method).
    #[error("the method is not known")]
    MethodUnknown,
    /// Not HTTP/1.0 or HTTP/1.1; the preface of HTTP/2 (RFC 9113, section 3.4) is one case.
    #[error("only HTTP/1.1 and HTTP/1.0 are spoken here")]
    VersionUnknown,
    /// Something other than `100-continue` is expected (RFC 9110, section 10.1.1).
    #[error("the only expectation is 100-continue")]
    ExpectationUnknown,
    /// Beyond [`HeadLimits::target_bytes_max`](crate::HeadLimits::target_bytes_max).
    #[error("the target is too long")]
    TargetTooLong,
    /// Beyond [`HeadLimits::head_bytes_max`](crate::HeadLimits::head_bytes_max), or
    /// [`HEADERS_MAX`](crate::HEADERS_MAX).
    #[error("the head is too large")]
    HeadTooLarge,
    /// The body is larger than it may be, as the size of a chunk says.
    #[error("the body is too large")]
    BodyTooLarge,
    /// No chunk (RFC 9112, section 7.1).
    #[error("a chunk is malformed")]
    ChunkMalformed,
    /// More than 256 bytes behind a chunk's size.
    #[error("an extension of a chunk is too long")]
    ExtensionTooLong,
    /// More than 4 KiB behind the last chunk.
    #[error("the trailer section is too long")]
    TrailerTooLong,
    /// A percent sign without two hexadecimal digits behind it (RFC 3986, section 2.1).
    #[error("a percent sign must be followed by two hexadecimal digits")]
    PercentMalformed,
    /// No Base64 (RFC 4648), or not as it is written here.
    #[error("Base64 is malformed")]
    Base64Malformed,
    /// No list of entity tags (RFC 9110, section 8.8.3).
    #[error("an entity tag is malformed")]
    ETagMalformed,
    /// No range of bytes (RFC 9110, section 14.1.1), or one that ends before it begins.
    #[error("Range is malformed")]
    RangeMalformed,
    /// Credentials that are none of their scheme's.
    #[error("the credentials are malformed")]
    CredentialsMalformed,
    /// A scheme other than Basic and Bearer.
    #[error("the schemes of authentication are Basic and Bearer")]
    CredentialsUnknown,
    /// No opening handshake of a WebSocket (RFC 6455, section 4.2.1).
    #[error("a WebSocket is asked for by GET, with Upgrade and Sec-WebSocket-Key")]
    UpgradeMalformed,
    /// Another version of WebSocket: the response has `Sec-WebSocket-Version: 13` (RFC 6455,
    /// section 4.4).
    #[error("the version of WebSocket is 13")]
    WebSocketVersionUnknown,
}

impl Refusal {
    /// The status of the response.
    pub fn status(self) -> Status {
        match self {
            Refusal::BareLineFeed
            | Refusal::HeadMalformed
            | Refusal::FieldRepeated
            | Refusal::LengthMalformed
            | Refusal::LengthAndCoding
            | Refusal::CodingUnknown
            | Refusal::CodingInOldVersion
            | Refusal::HostMissing
            | Refusal::HostMalformed
            | Refusal::TargetMalformed
            | Refusal::ChunkMalformed
            | Refusal::ExtensionTooLong
            | Refusal::TrailerTooLong
            | Refusal::PercentMalformed
            | Refusal::Base64Malformed
            | Refusal::ETagMalformed
            | Refusal::RangeMalformed
            | Refusal::UpgradeMalformed => Status::BadRequest,
            Refusal::WebSocketVersionUnknown => Status::UpgradeRequired,
            Refusal::CredentialsMalformed | Refusal::CredentialsUnknown => Status::Unauthorized,
            Refusal::MethodRefused => Status::MethodNotAllowed,
            Refusal::MethodUnknown => Status::NotImplemented,
            Refusal::VersionUnknown => Status::HttpVersionNotSupported,
            Refusal::ExpectationUnknown => Status::ExpectationFailed,
            Refusal::BodyTooLarge => Status::ContentTooLarge,
            Refusal::TargetTooLong => Status::UriTooLong,
            Refusal::HeadTooLarge => Status::RequestHeaderFieldsTooLarge,
        }
    }

    /// Whether the connection closes behind the response.
    pub fn closes(self) -> bool {
        !matches!(
            self,
            Refusal::PercentMalformed
                | Refusal::Base64Malformed
                | Refusal::ETagMalformed
                | Refusal::RangeMalformed
                | Refusal::CredentialsMalformed
                | Refusal::CredentialsUnknown
                | Refusal::UpgradeMalformed
                | Refusal::WebSocketVersionUnknown
        )
    }
}
