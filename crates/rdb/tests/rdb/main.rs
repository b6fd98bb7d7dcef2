//! What is read and written, through the crate's doors only: encodings made by hand, random values,
//! hostile bytes. `crates/tests` compares with a real Redis.

#![forbid(unsafe_code)]

mod documents;
mod fixtures;
mod hostile;
mod random;
mod streams;

use std::borrow::Cow;

use basalt_rdb::{Bytes, DecodeError, DecodeLimits, Field, Payload, crc64, decode, decode_body};

/// Enough for every good value in these tests.
const LIMITS: DecodeLimits = DecodeLimits { string_bytes_max: 1 << 20, memory_bytes_max: 1 << 24 };

/// Reads a body to its end.
fn read(kind: u8, body: &[u8]) -> Result<Payload<'_>, DecodeError> {
    let (value, length) = decode_body(kind, body, &LIMITS)?;
    assert_eq!(length, body.len(), "bytes are left over");
    Ok(value)
}

/// Asserts that a body is refused as corrupt, for the reason given.
fn assert_corrupt(kind: u8, body: &[u8], reason: &str) {
    match read(kind, body) {
        Err(DecodeError::Corrupt(found)) => assert_eq!(found, reason),
        other => panic!("{other:?} instead of {reason}"),
    }
}

/// A body that is one string.
fn string(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x80];
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
    out
}

/// A footer around a type and a body.
fn payload(kind: u8, body: &[u8], version: u16) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend_from_slice(body);
    out.extend_from_slice(&version.to_le_bytes());
    let checksum = crc64(0, &out);
    out.extend_from_slice(&checksum.to_le_bytes());
    out
}

fn strings<'a>(strings: &[&'a str]) -> Vec<Bytes<'a>> {
    strings.iter().map(|string| Cow::Borrowed(string.as_bytes())).collect()
}

fn field<'a>(name: &'a str, value: &'a str, expire_ms: Option<u64>) -> Field<'a> {
    Field { name: name.as_bytes().into(), value: value.as_bytes().into(), expire_ms }
}

#[test]
fn the_footer_is_checked_before_all() {
    let good = payload(0, b"\x03abc", 12);
    assert_eq!(decode(&good, &LIMITS), Ok(Payload::String(b"abc"[..].into())));
    let newer = payload(0, b"\x03abc", 13);
    assert_eq!(decode(&newer, &LIMITS), Err(DecodeError::Version(13)));
    for index in 0..good.len() {
        let mut bad = good.clone();
        bad[index] ^= 1;
        let error = decode(&bad, &LIMITS).expect_err("a flipped bit is found");
        assert!(error.is_footer(), "byte {index}: {error}");
    }
    for length in 0..good.len() {
        let error = decode(&good[..length], &LIMITS).expect_err("a cut is found");
        assert!(error.is_footer(), "{length} bytes: {error}");
    }
    let longer = payload(0, b"\x03abcd", 10);
    assert_eq!(decode(&longer, &LIMITS), Err(DecodeError::Trailing(1)));
    assert!(!DecodeError::Trailing(1).is_footer());
}

#[test]
fn modules_and_unknown_types_are_refused() {
    for kind in [6, 7] {
        assert_eq!(read(kind, b"\x01\x01\x00"), Err(DecodeError::Module));
    }
    for kind in [8, 26, 128, 255] {
        assert_eq!(read(kind, b"\x01\x01\x00"), Err(DecodeError::UnknownType(kind)));
    }
}
