//! What a client is told whose request is refused.

use basalt_http1::{Refusal, Status};

#[test]
fn a_refusal_has_a_status_and_says_whether_the_connection_closes() {
    for (refusal, status, closes) in [
        (Refusal::BareLineFeed, Status::BadRequest, true),
        (Refusal::LengthAndCoding, Status::BadRequest, true),
        (Refusal::HostMissing, Status::BadRequest, true),
        (Refusal::MethodRefused, Status::MethodNotAllowed, true),
        (Refusal::MethodUnknown, Status::NotImplemented, true),
        (Refusal::VersionUnknown, Status::HttpVersionNotSupported, true),
        (Refusal::ExpectationUnknown, Status::ExpectationFailed, true),
        (Refusal::TargetTooLong, Status::UriTooLong, true),
        (Refusal::HeadTooLarge, Status::RequestHeaderFieldsTooLarge, true),
        (Refusal::BodyTooLarge, Status::ContentTooLarge, true),
        (Refusal::ChunkMalformed, Status::BadRequest, true),
        (Refusal::PercentMalformed, Status::BadRequest, false),
        (Refusal::CredentialsUnknown, Status::Unauthorized, false),
    ] {
        assert_eq!((refusal.status(), refusal.closes()), (status, closes), "{refusal}");
    }
}
