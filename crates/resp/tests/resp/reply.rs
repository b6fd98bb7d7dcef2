//! Replies: every writer in both protocols, and everything written can be decoded.

use basalt_resp::{Output, Protocol, ProtocolError, Reply, SHARED_BYTES_MIN, Value, decode};
use proptest::prelude::*;
use std::io::IoSlice;
use std::sync::Arc;

fn written(protocol: Protocol, write: impl Fn(&mut Reply<'_>)) -> Vec<u8> {
    let mut output = Output::new();
    write(&mut Reply::new(&mut output, protocol));
    let mut slices = [IoSlice::new(&[]); 64];
    let count = output.io_slices(&mut slices);
    let bytes = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect::<Vec<u8>>();
    assert_eq!(bytes.len(), output.len());
    bytes
}

type Row = (fn(&mut Reply<'_>), &'static str, &'static str);

#[test]
fn every_reply_in_both_protocols() {
    let rows: &[Row] = &[
        (|r| r.ok(), "+OK\r\n", "+OK\r\n"),
        (|r| r.simple("PONG"), "+PONG\r\n", "+PONG\r\n"),
        (|r| r.simple("a\r\nb"), "+a  b\r\n", "+a  b\r\n"),
        (|r| r.error("ERR no\r\nno"), "-ERR no  no\r\n", "-ERR no  no\r\n"),
        (|r| r.error(b"ERR bytes"), "-ERR bytes\r\n", "-ERR bytes\r\n"),
        (|r| r.integer(0), ":0\r\n", ":0\r\n"),
        (|r| r.integer(-1), ":-1\r\n", ":-1\r\n"),
        (|r| r.integer(i64::MAX), ":9223372036854775807\r\n", ":9223372036854775807\r\n"),
        (|r| r.integer(i64::MIN), ":-9223372036854775808\r\n", ":-9223372036854775808\r\n"),
        (|r| r.bulk(b""), "$0\r\n\r\n", "$0\r\n\r\n"),
        (|r| r.bulk(b"a\r\nb"), "$4\r\na\r\nb\r\n", "$4\r\na\r\nb\r\n"),
        (|r| r.bulk_shared(Arc::new(b"abc".to_vec())), "$3\r\nabc\r\n", "$3\r\nabc\r\n"),
        (|r| r.null(), "$-1\r\n", "_\r\n"),
        (|r| r.null_array(), "*-1\r\n", "_\r\n"),
        (|r| r.array(0), "*0\r\n", "*0\r\n"),
        (|r| r.array(1_048_576), "*1048576\r\n", "*1048576\r\n"),
        (|r| r.map(2), "*4\r\n", "%2\r\n"),
        (|r| r.set(12), "*12\r\n", "~12\r\n"),
        (|r| r.push(3), "*3\r\n", ">3\r\n"),
        (|r| r.double(3.2), "$3\r\n3.2\r\n", ",3.2\r\n"),
        (|r| r.double(10.0), "$2\r\n10\r\n", ",10\r\n"),
        (|r| r.double(f64::NEG_INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n"),
        (|r| r.double(f64::NAN), "$3\r\nnan\r\n", ",nan\r\n"),
        (|r| r.boolean(true), ":1\r\n", "#t\r\n"),
        (|r| r.boolean(false), ":0\r\n", "#f\r\n"),
        (
            |r| r.big_number("-12345678901234567890"),
            "$21\r\n-12345678901234567890\r\n",
            "(-12345678901234567890\r\n",
        ),
        (|r| r.verbatim(*b"txt", b"a\nb"), "$3\r\na\nb\r\n", "=7\r\ntxt:a\nb\r\n"),
        (|r| r.raw(b":1\r\n:2\r\n"), ":1\r\n:2\r\n", ":1\r\n:2\r\n"),
        (
            |r| r.protocol_error(ProtocolError::UnbalancedQuotes),
            "-ERR Protocol error: unbalanced quotes in request\r\n",
            "-ERR Protocol error: unbalanced quotes in request\r\n",
        ),
        (
            |r| r.protocol_error(ProtocolError::ExpectedDollar(b'\n')),
            "-ERR Protocol error: expected '$', got ' '\r\n",
            "-ERR Protocol error: expected '$', got ' '\r\n",
        ),
    ];
    for (write, resp2, resp3) in rows {
        assert_eq!(
            written(Protocol::Resp2, write).escape_ascii().to_string(),
            resp2.as_bytes().escape_ascii().to_string()
        );
        assert_eq!(
            written(Protocol::Resp3, write).escape_ascii().to_string(),
            resp3.as_bytes().escape_ascii().to_string()
        );
    }
    let bytes = written(Protocol::Resp2, |r| r.protocol_error(ProtocolError::ExpectedDollar(0xff)));
    assert_eq!(bytes, b"-ERR Protocol error: expected '$', got '\xff'\r\n");
}

#[test]
fn headers_of_every_length_are_right() {
    for power in 0..19 {
        for value in [10i64.pow(power) - 1, 10i64.pow(power), 10i64.pow(power) * 2 + 7] {
            let expected = format!(":{value}\r\n:-{}\r\n", value + 1);
            let bytes = written(Protocol::Resp2, |r| {
                r.integer(value);
                r.integer(-value - 1);
            });
            assert_eq!(bytes, expected.as_bytes());
        }
    }
    for len in (0..100).chain([100, 999, 1000, 9999, 10_000, 20_000]) {
        let value: Vec<u8> = (0..len).map(|at| at as u8).collect();
        let expected = [format!("${len}\r\n").as_bytes(), &value, b"\r\n"].concat();
        assert!(written(Protocol::Resp2, |r| r.bulk(&value)) == expected);
    }
}

#[test]
fn deferred_headers_nest_and_keep_shared_values_in_place() {
    let big = Arc::new(vec![b'x'; SHARED_BYTES_MIN]);
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        let bytes = written(protocol, |r| {
            r.bulk_shared(Arc::clone(&big));
            let outer = r.array_deferred();
            r.integer(1);
            r.bulk_shared(Arc::clone(&big));
            let inner = r.array_deferred();
            r.bulk(b"k");
            r.bulk_shared(Arc::clone(&big));
            r.map_end(inner, 1);
            let empty = r.array_deferred();
            r.set_end(empty, 0);
            r.array_end(outer, 4);
            r.ok();
        });
        let bulk = || Value::Bulk(big.to_vec());
        let key = || Value::Bulk(b"k".to_vec());
        let (map, set) = match protocol {
            Protocol::Resp2 => (Value::Array(vec![key(), bulk()]), Value::Array(vec![])),
            Protocol::Resp3 => (Value::Map(vec![(key(), bulk())]), Value::Set(vec![])),
        };
        let expected = [
            bulk(),
            Value::Array(vec![Value::Integer(1), bulk(), map, set]),
            Value::Simple(b"OK".to_vec()),
        ];
        let mut rest = &bytes[..];
        for expected in expected {
            let (value, len) = decode(rest).unwrap().unwrap();
            assert!(value == expected);
            rest = &rest[len..];
        }
        assert!(rest.is_empty());
    }
}

/// Any RESP3 value but those that RESP3 has no way to write.
fn value() -> impl Strategy<Value = Value> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..1100);
    let text = || "[ -~]{0,30}".prop_map(String::into_bytes);
    let leaf = prop_oneof![
        text().prop_map(Value::Simple),
        text().prop_map(Value::Error),
        any::<i64>().prop_map(Value::Integer),
        bytes().prop_map(Value::Bulk),
        Just(Value::Null),
        any::<f64>().prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        "-?[0-9]{1,40}".prop_map(|digits| Value::BigNumber(digits.into_bytes())),
        bytes().prop_map(|text| Value::Verbatim { format: *b"txt", text }),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Set),
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Push),
            prop::collection::vec((inner.clone(), inner), 0..4).prop_map(Value::Map),
        ]
    })
}

fn write(reply: &mut Reply<'_>, value: &Value) {
    match value {
        Value::Simple(text) => reply.simple(text),
        Value::Error(text) => reply.error(text),
        Value::Integer(value) => reply.integer(*value),
        Value::Bulk(value) => reply.bulk(value),
        Value::Null => reply.null(),
        Value::NullArray => reply.null_array(),
        Value::Double(value) => reply.double(*value),
        Value::Boolean(value) => reply.boolean(*value),
        Value::BigNumber(digits) => reply.big_number(std::str::from_utf8(digits).unwrap()),
        Value::Verbatim { format, text } => reply.verbatim(*format, text),
        Value::Array(elements) => {
            let place = reply.array_deferred();
            elements.iter().for_each(|element| write(reply, element));
            reply.array_end(place, elements.len());
        }
        Value::Set(elements) => {
            reply.set(elements.len());
            elements.iter().for_each(|element| write(reply, element));
        }
        Value::Push(elements) => {
            reply.push(elements.len());
            elements.iter().for_each(|element| write(reply, element));
        }
        Value::Map(pairs) => {
            reply.map(pairs.len());
            for (key, value) in pairs {
                write(reply, key);
                write(reply, value);
            }
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_decoded(value in value()) {
        let bytes = written(Protocol::Resp3, |reply| write(reply, &value));
        prop_assert_eq!(decode(&bytes), Ok(Some((value.clone(), bytes.len()))));
        for end in (0..bytes.len()).step_by(1 + bytes.len() / 200) {
            prop_assert_eq!(decode(&bytes[..end]), Ok(None));
        }
        // RESP2 says less, but says it properly.
        let bytes = written(Protocol::Resp2, |reply| write(reply, &value));
        let decoded = decode(&bytes).unwrap();
        prop_assert_eq!(decoded.map(|(_, len)| len), Some(bytes.len()));
    }
}
