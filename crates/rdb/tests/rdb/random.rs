//! Random values come back from their encoding; random and damaged bytes do no harm.

use basalt_rdb::{
    Compression, Consumer, EXPIRE_MS_MAX, EncodeOptions, Group, Pending, Stream, StreamEntry,
    StreamId, encode, encode_body,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => vec(any::<u8>(), 0..80),
        4 => any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        4 => (-5000i64..5000).prop_map(|number| number.to_string().into_bytes()),
        2 => (any::<u8>(), 0usize..5000).prop_map(|(byte, count)| vec![byte; count]),
    ]
}

fn bytes() -> impl Strategy<Value = Bytes<'static>> {
    text().prop_map(Cow::Owned)
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("a number", |score| !score.is_nan()),
        any::<i32>().prop_map(f64::from),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
    ]
}

fn hash() -> impl Strategy<Value = Payload<'static>> {
    let expiry = || proptest::option::weighted(0.3, 1..=EXPIRE_MS_MAX);
    let fields = btree_map(text(), (bytes(), expiry()), 1..40);
    (fields, any::<bool>()).prop_map(|(fields, expires)| {
        let fields = fields.into_iter().map(|(name, (value, expire_ms))| Field {
            name: name.into(),
            value,
            expire_ms: expire_ms.filter(|_| expires),
        });
        Payload::Hash(fields.collect())
    })
}

fn id() -> impl Strategy<Value = StreamId> {
    let part = || prop_oneof![0u64..50, any::<u64>()];
    (part(), part()).prop_map(|(ms, sequence)| StreamId { ms, sequence })
}

fn group() -> impl Strategy<Value = Group<'static>> {
    let time = || 0..i64::MAX as u64;
    let pending = btree_map(id(), (time(), any::<u64>(), 0usize..4), 0..20);
    let consumers = btree_map(text(), time(), 1..4);
    let read = proptest::option::of(time());
    (bytes(), id(), read, pending, consumers).prop_map(
        |(name, last_id, entries_read, all, names)| {
            let names = names.into_iter().map(|(name, seen_ms)| Consumer {
                name: name.into(),
                seen_ms,
                active_ms: Some(seen_ms),
                pending: Vec::new(),
            });
            let mut consumers: Vec<_> = names.collect();
            for (id, (delivered_ms, deliveries, owner)) in all {
                let owner = owner % consumers.len();
                consumers[owner].pending.push(Pending { id, delivered_ms, deliveries });
            }
            Group { name, last_id, entries_read, consumers }
        },
    )
}

fn stream() -> impl Strategy<Value = Payload<'static>> {
    let schema = || vec((bytes(), bytes()), 1..4);
    let entry = prop_oneof![
        (bytes(), bytes()).prop_map(|(a, b)| vec![(b"a"[..].into(), a), (b"b"[..].into(), b)]),
        schema(),
    ];
    let entries = btree_map(id(), entry, 0..250);
    (entries, id(), id(), any::<u64>(), vec(group(), 0..3)).prop_map(
        |(entries, last_id, max_deleted_id, entries_added, mut groups)| {
            let entries = entries.into_iter().map(|(id, fields)| StreamEntry { id, fields });
            let entries: Vec<_> = entries.collect();
            let last_id = entries.last().map_or(last_id, |entry| last_id.max(entry.id));
            groups.sort_by(|a, b| a.name.cmp(&b.name));
            groups.dedup_by(|a, b| a.name == b.name);
            Payload::Stream(Stream { entries, last_id, max_deleted_id, entries_added, groups })
        },
    )
}

fn payload() -> impl Strategy<Value = Payload<'static>> {
    let member = || text().prop_map(Cow::Owned);
    prop_oneof![
        bytes().prop_map(Payload::String),
        vec(bytes(), 1..300).prop_map(Payload::List),
        btree_set(member(), 1..100).prop_map(|set| Payload::Set(set.into_iter().collect())),
        btree_set(any::<i64>(), 1..100).prop_map(|set| {
            Payload::Set(set.iter().map(|number| number.to_string().into_bytes().into()).collect())
        }),
        btree_map(member(), score(), 1..100)
            .prop_map(|members| Payload::SortedSet(members.into_iter().collect())),
        hash(),
        stream(),
    ]
}

fn options() -> impl Strategy<Value = EncodeOptions> {
    let compression = prop_oneof![Just(Compression::Lzf), Just(Compression::None)];
    let size = || prop_oneof![0usize..200, Just(10_000)];
    (compression, [size(), size(), size(), size(), size()]).prop_map(|(compression, sizes)| {
        let [entries, bytes, value_bytes, plain, node_bytes] = sizes;
        EncodeOptions {
            compression,
            list_node_entries_max: entries,
            list_node_bytes_max: node_bytes,
            list_plain_bytes_min: plain.max(1),
            set_intset_entries_max: entries,
            zset_listpack_entries_max: entries,
            zset_listpack_value_bytes_max: value_bytes,
            hash_listpack_entries_max: entries,
            hash_listpack_value_bytes_max: value_bytes,
            stream_node_entries_max: entries,
            stream_node_bytes_max: bytes,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_encoded_is_decoded(value in payload(), options in options()) {
        let mut out = b"before".to_vec();
        encode(&value, &options, &mut out);
        let mut found = decode(&out[6..], &LIMITS).expect("what was encoded can be decoded");
        let mut value = value;
        value.sort();
        found.sort();
        prop_assert_eq!(found, value);
    }

    #[test]
    fn damage_never_panics_and_what_is_read_can_be_written(
        value in payload(),
        options in options(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let options = EncodeOptions { compression: Compression::None, ..options };
        let mut body = Vec::new();
        let kind = encode_body(&value, &options, &mut body);
        // A cut is Truncated or Corrupt; only a body that needs no more bytes may be read.
        prop_assert!(decode_body(kind, &body[..cut.index(body.len())], &LIMITS).is_err());
        for (index, byte) in damage {
            let index = index.index(body.len());
            body[index] = byte;
        }
        if let Ok((mut found, _)) = decode_body(kind, &body, &LIMITS) {
            let mut out = Vec::new();
            let kind = encode_body(&found, &options, &mut out);
            let (mut again, _) = decode_body(kind, &out, &LIMITS).expect("our own bytes are good");
            found.sort();
            again.sort();
            prop_assert_eq!(again, found);
        }
    }

    #[test]
    fn any_bytes_do_no_harm(kind in 0u8..27, body in vec(any::<u8>(), 0..300)) {
        let _ = decode_body(kind, &body, &LIMITS);
        let _ = decode(&body, &LIMITS);
    }
}
