//! Random commands go to a real Redis 7 and to Basalt alike, and each reply must be the same,
//! byte for byte.

use super::random_commands::{Commands, KEYS};
use crate::harness::redis::Redis;
use crate::harness::{Stored, TestServer};
use basalt_change::op::StringForm;
use basalt_env::clock::{Clock, SystemClock};
use basalt_resp::{Protocol, Value, decode};

const COMMANDS: usize = 3000;
/// How far the clocks of the two servers may be apart when a command runs.
const CLOCKS_APART_MS_MAX: u64 = 60_000;
/// The least that Redis takes for proto-max-bulk-len.
const BULK_BYTES_MAX: &str = "1048576";

#[test]
fn replies_are_the_same_as_of_redis_in_resp2() {
    for seed in 1..=3 {
        compare(seed, Protocol::Resp2);
    }
}

#[test]
fn replies_are_the_same_as_of_redis_in_resp3() {
    compare(4, Protocol::Resp3);
}

fn compare(seed: u64, protocol: Protocol) {
    let seed = crate::harness::seed::from_base(seed);
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    server.configure("proto-max-bulk-len", BULK_BYTES_MAX);
    redis.run_for_bytes(&["CONFIG", "SET", "proto-max-bulk-len", BULK_BYTES_MAX]);
    if protocol == Protocol::Resp3 {
        server.session.protocol = protocol;
        redis.run_for_bytes(&["HELLO", "3"]);
    }
    let clock = SystemClock::new();
    let mut commands = Commands::new(seed, clock.unix_ms());
    for number in 0..COMMANDS {
        let words = commands.next();
        server.clock.set_unix_ms(clock.unix_ms());
        let expected = redis.run_for_bytes(&words);
        let actual = server.run_for_bytes(&words);
        assert!(
            actual == expected,
            "seed {seed}, command {number}: {}\nredis:  {}\nbasalt: {}",
            shown(&words.join(&b' ')),
            shown(&expected),
            shown(&actual),
        );
    }
    for key in KEYS {
        compare_key(&mut redis, &server, key, seed);
    }
}

#[test]
fn sums_have_the_same_digits_as_in_redis() {
    const SUMS: usize = 4000;
    const SEED: u64 = 5;
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut commands = Commands::new(SEED, server.clock.unix_ms());
    for _ in 0..SUMS {
        let (a, b) = (commands.float(), commands.float());
        for words in [[b"SET", &b"k"[..], &a], [b"INCRBYFLOAT", b"k", &b]] {
            let expected = redis.run_for_bytes(&words);
            let actual = server.run_for_bytes(&words);
            let sum = [&a, &b[..]].map(shown).join(" + ");
            assert_eq!(shown(&actual), shown(&expected), "{sum}");
        }
    }
}

/// Value, expiry and encoding of a key are the same.
fn compare_key(redis: &mut Redis, server: &TestServer, key: &str, seed: u64) {
    let mut ask = |words: &[&str]| decode(&redis.run_for_bytes(words)).unwrap().unwrap().0;
    let expected = ask(&["GET", key]);
    let Some(stored) = server.stored(key) else {
        assert_eq!(expected, Value::Null, "seed {seed}, key {key}");
        return;
    };
    assert_eq!(expected, Value::Bulk(stored.value.clone()), "seed {seed}, key {key}");
    let Value::Integer(expire_ms) = ask(&["PEXPIRETIME", key]) else { panic!("no integer") };
    let expected_ms = u64::try_from(expire_ms).unwrap_or(0);
    assert_eq!(expected_ms == 0, stored.expire_ms == 0, "seed {seed}, key {key}");
    let apart_ms = expected_ms.abs_diff(stored.expire_ms);
    assert!(apart_ms <= CLOCKS_APART_MS_MAX, "seed {seed}, key {key}: {apart_ms} ms apart");
    let Value::Bulk(encoding) = ask(&["OBJECT", "ENCODING", key]) else { panic!("no bulk") };
    let encoding = String::from_utf8(encoding).expect("a name");
    let own = self::encoding(&stored);
    // Redis does not encode an INCRBYFLOAT's result until it is loaded again.
    assert!(
        encoding == own || (encoding.as_str(), own) == ("embstr", "int"),
        "seed {seed}, key {key}: {encoding} in redis, {own} in basalt"
    );
}

/// What OBJECT ENCODING has to say of a string.
fn encoding(stored: &Stored) -> &'static str {
    const EMBEDDED_BYTES_MAX: usize = 44;
    let text = std::str::from_utf8(&stored.value).unwrap_or("");
    let is_integer = text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    match stored.form {
        StringForm::Edited => "raw",
        StringForm::Whole if is_integer => "int",
        StringForm::Whole if stored.value.len() <= EMBEDDED_BYTES_MAX => "embstr",
        StringForm::Whole => "raw",
    }
}

fn shown(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 400;
    bytes[..bytes.len().min(SHOWN_BYTES_MAX)].escape_ascii().to_string()
}
