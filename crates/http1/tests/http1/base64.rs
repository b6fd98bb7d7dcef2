//! Base64.

use basalt_http1::Refusal;
use basalt_http1::base64::{Alphabet, decode, encode};
use proptest::prelude::*;

fn encoded(bytes: &[u8], alphabet: Alphabet) -> String {
    let mut out = Vec::new();
    encode(bytes, alphabet, &mut out);
    String::from_utf8(out).expect("ASCII")
}

fn decoded(text: &str, alphabet: Alphabet) -> Result<Vec<u8>, Refusal> {
    let mut bytes = text.as_bytes().to_vec();
    let len = decode(&mut bytes, alphabet)?;
    bytes.truncate(len);
    Ok(bytes)
}

#[test]
fn the_vectors_of_rfc_4648() {
    for (bytes, standard) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ] {
        let url = standard.trim_end_matches('=');
        assert_eq!(encoded(bytes.as_bytes(), Alphabet::Standard), standard);
        assert_eq!(encoded(bytes.as_bytes(), Alphabet::Url), url);
        assert_eq!(decoded(standard, Alphabet::Standard).as_deref(), Ok(bytes.as_bytes()));
        assert_eq!(decoded(url, Alphabet::Url).as_deref(), Ok(bytes.as_bytes()));
    }
    assert_eq!(encoded(b"\xfb\xff", Alphabet::Standard), "+/8=");
    assert_eq!(encoded(b"\xfb\xff", Alphabet::Url), "-_8");
}

#[test]
fn there_is_one_way_to_spell_bytes() {
    for text in
        ["Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zg==Zg==", "=", "Zm9v\n", "-_8=", "Z=g="]
    {
        assert_eq!(decoded(text, Alphabet::Standard), Err(Refusal::Base64Malformed), "{text}");
    }
    for text in ["Z", "Zg==", "Zh", "Zm9", "+/8", "Zm9vZ", "Zm 9v"] {
        assert_eq!(decoded(text, Alphabet::Url), Err(Refusal::Base64Malformed), "{text}");
    }
}

proptest! {
    #[test]
    fn what_was_encoded_is_found_again(bytes in any::<Vec<u8>>()) {
        for alphabet in [Alphabet::Standard, Alphabet::Url] {
            prop_assert_eq!(decoded(&encoded(&bytes, alphabet), alphabet), Ok(bytes.clone()));
        }
    }

    #[test]
    fn what_is_decoded_is_spelled_as_it_was(text in "[A-Za-d0-1+/=_-]{0,9}") {
        for alphabet in [Alphabet::Standard, Alphabet::Url] {
            if let Ok(bytes) = decoded(&text, alphabet) {
                prop_assert_eq!(encoded(&bytes, alphabet), text.clone());
            }
        }
    }
}
