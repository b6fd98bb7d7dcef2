//! Bytes that try to cost more than they are.

use basalt_rdb::{EncodeOptions, StreamEntry, StreamId, encode_body};

use super::*;

/// A stream without entries, up to its groups.
const EMPTY_STREAM: &[u8] = b"\0\0\x05\x05\0\0\0\0\x07";

/// Types, and what may stand before a length in their bodies.
const PLACES_OF_LENGTHS: &[(u8, &[&[u8]])] = &[
    (0, &[b"", b"\xc3", b"\xc3\x04"]),
    (1, &[b"", b"\x01", b"\x01\xc3"]),
    (2, &[b"", b"\x01"]),
    (3, &[b"", b"\x01"]),
    (4, &[b"", b"\x01", b"\x01\x01a"]),
    (5, &[b"", b"\x01"]),
    (9, &[b""]),
    (10, &[b""]),
    (11, &[b""]),
    (12, &[b""]),
    (13, &[b""]),
    (14, &[b"", b"\x01"]),
    (15, &[b"", b"\x01", b"\0\0\x05\x05", b"\0\0\x05\x05\x01"]),
    (16, &[b""]),
    (17, &[b""]),
    (18, &[b"", b"\x01\x01", b"\x01\x02"]),
    (19, &[b"", EMPTY_STREAM]),
    (20, &[b""]),
    (21, &[b"", EMPTY_STREAM]),
    (22, &[b"", b"\x01\x00", b"\x01\x00\x01a"]),
    (23, &[b""]),
    (24, &[b"\0\0\0\0\0\0\0\0", b"\0\0\0\0\0\0\0\0\x01\x00"]),
    (25, &[b"\0\0\0\0\0\0\0\0"]),
];

#[test]
fn a_length_far_beyond_the_payload_allocates_nothing() {
    // An allocation of what these lengths ask for would end the test.
    let lengths: [&[u8]; 3] = [
        b"\x80\xff\xff\xff\xff",
        b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"\x81\0\0\0\xff\0\0\0\0",
    ];
    let limits = DecodeLimits { string_bytes_max: usize::MAX, memory_bytes_max: usize::MAX };
    for (kind, places) in PLACES_OF_LENGTHS {
        for (place, length) in places.iter().flat_map(|place| lengths.map(|length| (place, length)))
        {
            let body = [place, length, b"abcdef"].concat();
            let expected = match *place {
                b"\xc3\x04" => DecodeError::Corrupt("string: broken compression"),
                _ => DecodeError::Truncated,
            };
            assert_eq!(decode_body(*kind, &body, &limits), Err(expected), "type {kind}, {body:?}");
        }
    }
    // Lists within a group: its pending entries, its consumers, what is pending for one.
    let group = [EMPTY_STREAM, b"\x01\x01g\0\0\0"].concat();
    let consumer = [&group[..], b"\0\x01\x01c\0\0\0\0\0\0\0\0"].concat();
    for place in [group.clone(), [&group[..], b"\0"].concat(), consumer] {
        for length in lengths {
            let body = [&place[..], length, &[0; 40]].concat();
            let found = decode_body(19, &body, &limits);
            assert_eq!(found, Err(DecodeError::Truncated), "{body:?}");
        }
    }
}

#[test]
fn compression_cannot_grow_beyond_the_limits() {
    let zeros = Payload::String(vec![0; 1_000_000].into());
    let mut body = Vec::new();
    let kind = encode_body(&zeros, &EncodeOptions::default(), &mut body);
    assert!(body.len() < 12_000);
    assert_eq!(read(kind, &body), Ok(zeros));
    let one_less = [
        DecodeLimits { string_bytes_max: 999_999, ..LIMITS },
        DecodeLimits { memory_bytes_max: 999_999, ..LIMITS },
    ];
    for limits in one_less {
        assert_eq!(decode_body(kind, &body, &limits), Err(DecodeError::TooLarge));
    }
    // Many strings, each within its limit.
    let mut list = vec![20];
    list.extend(body.repeat(20));
    assert_eq!(read(1, &list), Err(DecodeError::TooLarge));
}

#[test]
fn many_small_elements_count_as_what_they_become() {
    let body = [b"\x80\0\x0f\xff\xff".to_vec(), vec![0; 0xfffff]].concat();
    assert_eq!(read(1, &body), Err(DecodeError::TooLarge));
    let mut packed = (0x80_007u32).to_le_bytes().to_vec();
    packed.extend_from_slice(&[0xff, 0xff]);
    packed.extend(b"\x01\x01".repeat(0x40_000));
    packed.push(0xff);
    let enough = DecodeLimits { memory_bytes_max: 48 << 18, ..LIMITS };
    let list = [vec![1, 2], string(&packed)].concat();
    assert!(
        decode_body(18, &list, &DecodeLimits { memory_bytes_max: (48 << 18) + 24, ..enough })
            .is_ok()
    );
    assert_eq!(decode_body(18, &list, &enough), Err(DecodeError::TooLarge));
}

#[test]
fn entries_that_share_long_names_count_them_every_time() {
    let name = vec![b'n'; 100_000];
    let entries = (1..=100).map(|sequence| StreamEntry {
        id: StreamId { ms: 0, sequence },
        fields: vec![(name.clone().into(), b"v"[..].into())],
    });
    let stream = basalt_rdb::Stream {
        entries: entries.collect(),
        last_id: StreamId { ms: 0, sequence: 100 },
        entries_added: 100,
        ..Default::default()
    };
    let options = EncodeOptions { stream_node_bytes_max: 0, ..EncodeOptions::default() };
    let mut body = Vec::new();
    let kind = encode_body(&Payload::Stream(stream), &options, &mut body);
    assert!(body.len() < 10_000, "{}", body.len());
    assert!(read(kind, &body).is_ok());
    let limits = DecodeLimits { memory_bytes_max: 5_000_000, ..LIMITS };
    assert_eq!(decode_body(kind, &body, &limits), Err(DecodeError::TooLarge));
}

#[test]
fn compressed_listpacks_are_read_and_bounded() {
    let fields = (0..300).map(|index| Field {
        name: format!("name of field {index}").into_bytes().into(),
        value: b"the same value, again and again"[..].into(),
        expire_ms: None,
    });
    let hash = Payload::Hash(fields.collect());
    let mut body = Vec::new();
    let kind = encode_body(&hash, &EncodeOptions::default(), &mut body);
    assert_eq!((kind, body[0]), (16, 0xc3));
    assert_eq!(read(kind, &body), Ok(hash));
    for length in 0..body.len() {
        assert!(read(kind, &body[..length]).is_err(), "{length} bytes");
    }
}
