//! Credentials.

use basalt_http1::base64::{Alphabet, encode};
use basalt_http1::{Credentials, Refusal, Status};
use proptest::prelude::*;

#[test]
fn basic_credentials_are_a_user_and_a_password() {
    let mut scratch = b"what was there".to_vec();
    let read = Credentials::parse(b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", &mut scratch);
    let expected = Credentials::Basic { user: b"Aladdin", password: b"open sesame" };
    assert_eq!(read, Ok(expected), "the example of RFC 7617");
    let read = Credentials::parse(b"bASIC   OmE6Yg==", &mut scratch);
    assert_eq!(read, Ok(Credentials::Basic { user: b"", password: b"a:b" }));
}

#[test]
fn bearer_credentials_are_a_token() {
    let mut scratch = Vec::new();
    for token in ["x", "mF_9.B5f-4.1JqM", "a+/~=="] {
        let value = format!("Bearer {token}");
        let read = Credentials::parse(value.as_bytes(), &mut scratch);
        assert_eq!(read, Ok(Credentials::Bearer { token: token.as_bytes() }));
    }
}

#[test]
fn what_is_no_credentials_is_refused() {
    use Refusal::{CredentialsMalformed, CredentialsUnknown};
    for (value, refusal) in [
        ("", CredentialsUnknown),
        ("Digest x", CredentialsUnknown),
        ("Basicx YTpi", CredentialsUnknown),
        ("Basic", CredentialsMalformed),
        ("Basic YTpi YTpi", CredentialsMalformed),
        ("Basic YWI=", CredentialsMalformed),
        ("Basic YTp", CredentialsMalformed),
        ("Bearer", CredentialsMalformed),
        ("Bearer =", CredentialsMalformed),
        ("Bearer a b", CredentialsMalformed),
        ("Bearer a=b", CredentialsMalformed),
        ("Bearer a,b", CredentialsMalformed),
    ] {
        assert_eq!(Credentials::parse(value.as_bytes(), &mut Vec::new()), Err(refusal), "{value}");
        assert_eq!((refusal.status(), refusal.closes()), (Status::Unauthorized, false));
    }
}

proptest! {
    #[test]
    fn any_user_and_password_are_found_again(user in "[^:]*", password in any::<Vec<u8>>()) {
        let mut value = b"Basic ".to_vec();
        let pair = [user.as_bytes(), b":", &password].concat();
        encode(&pair, Alphabet::Standard, &mut value);
        let mut scratch = Vec::new();
        let read = Credentials::parse(&value, &mut scratch);
        let expected = Credentials::Basic { user: user.as_bytes(), password: &password };
        prop_assert_eq!(read, Ok(expected));
    }

    #[test]
    fn any_value_has_an_answer(value in any::<Vec<u8>>(), scheme in 0..3usize) {
        let value = [["", "Basic ", "Bearer "][scheme].as_bytes(), &value].concat();
        let _ = Credentials::parse(&value, &mut Vec::new());
    }
}
