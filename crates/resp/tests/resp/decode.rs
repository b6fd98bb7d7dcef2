//! Replies that a server of ours would not send, and bytes that are none.

use basalt_resp::{DecodeError, NESTING_MAX, Value, decode};
use proptest::prelude::*;

#[test]
fn replies_are_decoded() {
    let rows: &[(&[u8], Value)] = &[
        (b"$-1\r\n", Value::Null),
        (b"*-1\r\n", Value::NullArray),
        (b"_\r\n", Value::Null),
        (b":+7\r\n", Value::Integer(7)),
        (b"!5\r\nERR x\r\n", Value::Error(b"ERR x".to_vec())),
        (b"-ERR \xff\r\n", Value::Error(b"ERR \xff".to_vec())),
        (b",inf\r\n", Value::Double(f64::INFINITY)),
        (b",-1.5e-7\r\n", Value::Double(-1.5e-7)),
        (b"=4\r\nmkd:\r\n", Value::Verbatim { format: *b"mkd", text: vec![] }),
        (
            b"%1\r\n+a\r\n*1\r\n$-1\r\n",
            Value::Map(vec![(Value::Simple(b"a".to_vec()), Value::Array(vec![Value::Null]))]),
        ),
    ];
    for (bytes, expected) in rows {
        assert_eq!(decode(bytes), Ok(Some((expected.clone(), bytes.len()))));
        assert_eq!(decode(&[bytes, &b":1"[..]].concat()).unwrap().unwrap().1, bytes.len());
        for end in 0..bytes.len() {
            assert_eq!(decode(&bytes[..end]), Ok(None), "{}", bytes[..end].escape_ascii());
        }
    }
}

#[test]
fn bytes_that_are_no_reply_are_refused() {
    let deep = b"*1\r\n".repeat(NESTING_MAX + 1);
    let endless = [b':'; 1000];
    let rows: &[(&[u8], DecodeError)] = &[
        (b"HTTP/1.1 400\r\n", DecodeError::UnknownKind(b'H')),
        (b"*1\r\n?", DecodeError::UnknownKind(b'?')),
        (b":x\r\n", DecodeError::MalformedScalar),
        (b":\r\n", DecodeError::MalformedScalar),
        (b":9223372036854775808\r\n", DecodeError::MalformedScalar),
        (&endless, DecodeError::MalformedScalar),
        (b"$-2\r\n", DecodeError::MalformedScalar),
        (b"%-1\r\n", DecodeError::MalformedScalar),
        (b"#x\r\n", DecodeError::MalformedScalar),
        (b"_x\r\n", DecodeError::MalformedScalar),
        (b",x\r\n", DecodeError::MalformedScalar),
        (b"(1x\r\n", DecodeError::MalformedScalar),
        (b"(-\r\n", DecodeError::MalformedScalar),
        (b"=3\r\ntxt\r\n", DecodeError::MalformedScalar),
        (b"$1\r\nabc", DecodeError::MissingLineEnd),
        (b"+OK\rx", DecodeError::MissingLineEnd),
        (&deep, DecodeError::TooDeep),
    ];
    for (bytes, expected) in rows {
        assert_eq!(decode(bytes), Err(*expected), "{}", bytes.escape_ascii());
    }
    assert_eq!(decode(&deep[4..]), Ok(None));
    assert_eq!(decode(b"*9223372036854775807\r\n:1\r\n"), Ok(None));
    assert_eq!(decode(b"$9223372036854775807\r\nabc"), Ok(None));
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_panic(
        bytes in prop::collection::vec(prop::sample::select(&b"*%~>$=!+-:,#_(0123\r\n\r\ntf.e\xff"[..]), 0..80),
    ) {
        if let Ok(Some((_, len))) = decode(&bytes) {
            prop_assert!(len <= bytes.len());
            prop_assert_eq!(decode(&bytes[..len - 1]), Ok(None));
        }
    }
}
