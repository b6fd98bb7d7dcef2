//! Percent-encoding.

use basalt_http1::Refusal;
use basalt_http1::percent::{Plus, decode, encode};
use proptest::prelude::*;

fn decoded(text: &str, plus: Plus) -> Result<Vec<u8>, Refusal> {
    let mut bytes = [b"12345", text.as_bytes(), b"67"].concat();
    let len = decode(&mut bytes, 5..5 + text.len(), 2, plus)?;
    assert!(bytes.starts_with(b"12") && bytes.ends_with(b"67"));
    Ok(bytes[2..2 + len].to_vec())
}

#[test]
fn what_is_encoded_is_decoded_once() {
    for (text, bytes) in [
        ("", &b""[..]),
        ("abc", b"abc"),
        ("a%20b", b"a b"),
        ("%2F%2f", b"//"),
        ("%00%ff%FF", b"\0\xff\xff"),
        ("%2541", b"%41"),
        ("x%3F", b"x?"),
    ] {
        assert_eq!(decoded(text, Plus::Itself).as_deref(), Ok(bytes), "{text}");
        assert_eq!(decoded(text, Plus::Space).as_deref(), Ok(bytes), "{text}");
    }
    assert_eq!(decoded("a+%2B", Plus::Itself).as_deref(), Ok(&b"a++"[..]));
    assert_eq!(decoded("a+%2B", Plus::Space).as_deref(), Ok(&b"a +"[..]));
}

#[test]
fn two_digits_follow_a_percent_sign() {
    for text in ["%", "a%", "%4", "%4g", "%g4", "%%41", "%+1", "%\u{e4}"] {
        assert_eq!(decoded(text, Plus::Itself), Err(Refusal::PercentMalformed), "{text}");
    }
    assert!(!Refusal::PercentMalformed.closes());
}

proptest! {
    #[test]
    fn what_was_encoded_is_found_again(bytes in any::<Vec<u8>>()) {
        let mut text = Vec::new();
        encode(&bytes, &mut text);
        let text = String::from_utf8(text).expect("ASCII");
        prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?#&=+".contains(&byte)));
        for plus in [Plus::Itself, Plus::Space] {
            prop_assert_eq!(decoded(&text, plus), Ok(bytes.clone()));
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(mut bytes in any::<Vec<u8>>(), from in 0..9usize) {
        let from = from.min(bytes.len());
        let end = bytes.len();
        if let Ok(len) = decode(&mut bytes, from..end, 0, Plus::Space) {
            prop_assert!(len <= end - from);
        }
    }
}
