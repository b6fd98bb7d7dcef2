//! Bytes as a client would pass to RESTORE, without the footer, which would stop almost all:
//! decoding never panics, and what was decoded is the same value when encoded again, compact or
//! plain.
#![no_main]

use basalt_rdb::{Compression, EncodeOptions, DecodeLimits, Payload, decode, decode_body, encode};
use libfuzzer_sys::fuzz_target;

const LIMITS: DecodeLimits = DecodeLimits { string_bytes_max: 1 << 20, memory_bytes_max: 1 << 22 };
/// An element counts more in a listpack than by itself.
const LIMITS_AGAIN: DecodeLimits = DecodeLimits { string_bytes_max: 1 << 24, memory_bytes_max: 1 << 26 };

const PLAIN: EncodeOptions = EncodeOptions {
    compression: Compression::None,
    list_node_entries_max: 2,
    list_node_bytes_max: 64,
    list_plain_bytes_min: 8,
    set_intset_entries_max: 0,
    zset_listpack_entries_max: 0,
    zset_listpack_value_bytes_max: 0,
    hash_listpack_entries_max: 0,
    hash_listpack_value_bytes_max: 0,
    stream_node_entries_max: 2,
    stream_node_bytes_max: 64,
};

fuzz_target!(|bytes: &[u8]| {
    let _ = decode(bytes, &LIMITS);
    let Some((&kind, body)) = bytes.split_first() else { return };
    let Ok((mut value, length)) = decode_body(kind, body, &LIMITS) else { return };
    assert!(length <= body.len());
    value.sort();
    forget_activity(&mut value);
    for options in [PLAIN, EncodeOptions::default()] {
        let mut out = Vec::new();
        encode(&value, &options, &mut out);
        let mut again = decode(&out, &LIMITS_AGAIN).expect("our own bytes are good");
        again.sort();
        assert_eq!(again, value);
    }
});

/// The one thing that is not encoded.
fn forget_activity(value: &mut Payload<'_>) {
    let Payload::Stream(stream) = value else { return };
    for consumer in stream.groups.iter_mut().flat_map(|group| &mut group.consumers) {
        consumer.active_ms = Some(consumer.seen_ms);
    }
}
