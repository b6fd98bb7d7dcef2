//! The examples in `docs/formats/dump.md` are what the encoder writes, and mean what they are said
//! to.

use basalt_rdb::{
    Compression, Consumer, EncodeOptions, Group, Pending, Stream, StreamEntry, StreamId, encode,
};

use super::*;

const PAGE: &str = include_str!("../../../../docs/formats/dump.md");

/// The bytes at the line starts of the first block after `heading`; two spaces end them.
fn documented(heading: &str) -> Vec<u8> {
    let (_, after) = PAGE.split_once(&format!("### {heading}\n")).expect("the heading is there");
    let block = after.split("```").nth(1).expect("a block follows");
    let hex = |line: &str| {
        let bytes = line.split("  ").next().unwrap_or_default().to_owned();
        bytes.split(' ').filter_map(|byte| u8::from_str_radix(byte, 16).ok()).collect::<Vec<u8>>()
    };
    block.lines().skip(1).flat_map(hex).collect()
}

fn stream() -> Payload<'static> {
    let id = |ms| StreamId { ms, sequence: 1 };
    let entry = |ms, value: &'static str| StreamEntry {
        id: id(ms),
        fields: vec![(b"f"[..].into(), value.as_bytes().into())],
    };
    let pending = vec![Pending { id: id(5), delivered_ms: 1_700_000_000_000, deliveries: 1 }];
    let consumer = Consumer {
        name: b"c"[..].into(),
        seen_ms: 1_700_000_000_000,
        active_ms: Some(1_700_000_000_000),
        pending,
    };
    let group = Group {
        name: b"g"[..].into(),
        last_id: id(5),
        entries_read: Some(1),
        consumers: vec![consumer],
    };
    Payload::Stream(Stream {
        entries: vec![entry(5, "x"), entry(7, "y")],
        last_id: id(7),
        max_deleted_id: StreamId::default(),
        entries_added: 2,
        groups: vec![group],
    })
}

#[test]
fn payloads_are_as_documented() {
    let pair = |member: &'static str, score| (member.as_bytes().into(), score);
    let zset = || Payload::SortedSet(vec![pair("a", 1.0), pair("b", 2.5)]);
    let plain = EncodeOptions {
        zset_listpack_entries_max: 0,
        compression: Compression::None,
        ..EncodeOptions::default()
    };
    let compact = EncodeOptions::default();
    let expiring = vec![field("a", "1", Some(1_700_000_000_000)), field("b", "2", None)];
    for (heading, payload, options) in [
        ("A string", Payload::String(b"bar"[..].into()), compact),
        ("A number", Payload::String(b"-300"[..].into()), compact),
        ("A compressed string", Payload::String(vec![b'x'; 30].into()), compact),
        ("A list", Payload::List(strings(&["a", "-5"])), compact),
        ("A set of numbers", Payload::Set(strings(&["3", "-1"])), compact),
        ("A set", Payload::Set(strings(&["a", "3"])), compact),
        ("A small sorted set", zset(), compact),
        ("A sorted set", zset(), plain),
        ("A small hash", Payload::Hash(vec![field("a", "1", None)]), compact),
        ("A small hash with an expiry", Payload::Hash(expiring), compact),
        ("A stream", stream(), compact),
    ] {
        let mut bytes = Vec::new();
        encode(&payload, &options, &mut bytes);
        assert_eq!(documented(heading), bytes, "{heading}: {bytes:02x?}");
    }
}
