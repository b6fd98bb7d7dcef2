//! The crate `rdb` against a real Redis: what it dumps is read, and what is written is restored as
//! the same value. A Basalt server takes part in `migrate` only.

mod damage;
mod migrate;
mod values;

use basalt_rdb::{Compression, DecodeLimits, EncodeOptions, Payload, decode, encode};
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::missing::is_redis_missing;
use basalt_tests::server::{Kind, Launch, Server};

const LIMITS: DecodeLimits = DecodeLimits { string_bytes_max: 1 << 26, memory_bytes_max: 1 << 28 };

/// Everything string by string, and nodes of two.
const PLAIN: EncodeOptions = EncodeOptions {
    compression: Compression::None,
    list_node_entries_max: 2,
    list_node_bytes_max: 8192,
    list_plain_bytes_min: 1 << 30,
    set_intset_entries_max: 0,
    zset_listpack_entries_max: 0,
    zset_listpack_value_bytes_max: 64,
    hash_listpack_entries_max: 0,
    hash_listpack_value_bytes_max: 64,
    stream_node_entries_max: 2,
    stream_node_bytes_max: 4096,
};

/// [`PLAIN`] as options of Redis.
const PLAIN_OPTIONS: [(&str, &str); 5] = [
    ("list-max-listpack-size", "2"),
    ("set-max-intset-entries", "0"),
    ("zset-max-listpack-entries", "0"),
    ("hash-max-listpack-entries", "0"),
    ("stream-node-max-entries", "2"),
];

/// A Redis; `None` if there is none and that is permitted.
fn start() -> Option<Server> {
    if is_redis_missing() {
        return None;
    }
    let launch = Launch::new(Kind::Redis).option("enable-debug-command", "yes");
    Some(launch.option("sanitize-dump-payload", "yes").start())
}

fn call(redis: &mut Connection, args: &[impl AsRef<[u8]>]) -> Value {
    redis.call(args).expect("a reply")
}

fn run(redis: &mut Connection, line: &str) -> Value {
    redis.run(line).expect("a reply")
}

fn dump(redis: &mut Connection, key: &str) -> Vec<u8> {
    match run(redis, &format!("DUMP {key}")) {
        Value::Bulk(payload) => payload,
        other => panic!("DUMP {key}: {other:?}"),
    }
}

fn restore(redis: &mut Connection, key: &str, payload: &[u8]) -> Value {
    call(redis, &[b"RESTORE", key.as_bytes(), b"0", payload, b"REPLACE"])
}

fn sorted(mut payload: Payload<'_>) -> Payload<'_> {
    payload.sort();
    payload
}

/// Reads what Redis dumped, compares it with what Redis says, and returns it in several
/// encodings.
fn check(redis: &mut Connection, key: &str, same: &EncodeOptions) -> u8 {
    let dumped = dump(redis, key);
    let payload = decode(&dumped, &LIMITS).unwrap_or_else(|error| panic!("{key}: {error}"));
    values::assert_is_what_redis_says(redis, key, &payload);
    let digest = run(redis, &format!("DEBUG DIGEST-VALUE {key}"));
    let groups = run(redis, &format!("XINFO STREAM {key} FULL COUNT 0"));
    let uncompressed = EncodeOptions { compression: Compression::None, ..EncodeOptions::default() };
    for options in [*same, EncodeOptions::default(), uncompressed, PLAIN] {
        let mut ours = Vec::new();
        encode(&payload, &options, &mut ours);
        let reply = restore(redis, "copy", &ours);
        assert_eq!(reply, Value::Simple(b"OK".to_vec()), "{key}, {options:?}");
        assert_eq!(run(redis, "DEBUG DIGEST-VALUE copy"), digest, "{key}, {options:?}");
        values::assert_is_what_redis_says(redis, "copy", &payload);
        if let (Payload::Stream(_), Value::Array(ours), Value::Array(theirs)) =
            (&payload, run(redis, "XINFO STREAM copy FULL COUNT 0"), &groups)
        {
            assert_eq!(values::without_nodes(&ours), values::without_nodes(theirs), "{key}");
        }
        let dumped_again = dump(redis, "copy");
        let again = decode(&dumped_again, &LIMITS).expect("a dump of Redis");
        assert_eq!(sorted(again), sorted(payload.clone()), "{key}, {options:?}");
    }
    let mut ours = Vec::new();
    encode(&payload, same, &mut ours);
    // Compressors choose differently, deleted entries of streams are not written, nor 17 digits of
    // scores.
    if same.compression == Compression::None && !key.ends_with(":differs") {
        assert!(ours == dumped, "{key}: {ours:?}\n{dumped:?}");
    }
    dumped[0]
}

#[test]
fn what_redis_dumps_is_read_and_given_back() {
    let Some(server) = start() else { return };
    let mut redis = server.connect();
    let mut types = Vec::new();
    for (compression, name) in [(Compression::None, "no"), (Compression::Lzf, "yes")] {
        let compact = EncodeOptions { compression, ..EncodeOptions::default() };
        let plain = EncodeOptions { compression, ..PLAIN };
        run(&mut redis, &format!("CONFIG SET rdbcompression {name}"));
        for (same, options) in [(compact, &[][..]), (plain, &PLAIN_OPTIONS[..])] {
            run(&mut redis, "FLUSHALL");
            let before: Vec<_> =
                options.iter().map(|(name, value)| set(&mut redis, name, value)).collect();
            let keys = values::create(&mut redis);
            types.extend(keys.iter().map(|key| check(&mut redis, key, &same)));
            for ((name, _), value) in options.iter().zip(before) {
                set(&mut redis, name, &value);
            }
        }
    }
    types.sort_unstable();
    types.dedup();
    // All that Redis 7.0 writes.
    assert_eq!(types, [0, 2, 4, 5, 11, 16, 17, 18, 19]);
}

/// Sets an option; returns what it was.
fn set(redis: &mut Connection, name: &str, value: &str) -> String {
    let Value::Array(before) = run(redis, &format!("CONFIG GET {name}")) else {
        panic!("no option {name}")
    };
    let Value::Bulk(before) = &before[1] else { panic!("option {name}: {before:?}") };
    let reply = run(redis, &format!("CONFIG SET {name} {value}"));
    assert_eq!(reply, Value::Simple(b"OK".to_vec()));
    String::from_utf8_lossy(before).into_owned()
}
