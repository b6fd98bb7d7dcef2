//! Values of every type in a Redis, and how to see that a payload is such a value.

use basalt_rdb::{Payload, StreamId};
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::random::Random;

use super::{call, run};

/// Texts of every length and kind that an encoding treats apart.
fn texts() -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for power in [0, 6, 7, 8, 11, 12, 13, 15, 16, 23, 24, 31, 32, 62] {
        for near in [-1i64, 0, 1] {
            let number = (1i64 << power) + near;
            texts.extend([number, -number].map(|number| number.to_string().into_bytes()));
        }
    }
    texts.extend([i64::MAX, i64::MIN].map(|number| number.to_string().into_bytes()));
    for text in ["", "a", "-0", "007", "+7", "1.5", "9223372036854775808", "\0\u{ff}\r\n"] {
        texts.push(text.as_bytes().to_vec());
    }
    let mut random = Random::new(1);
    for length in [20, 21, 63, 64, 65, 127, 128] {
        texts.push(vec![b'x'; length]);
        texts.push(random.bytes(length));
    }
    texts.sort();
    texts.dedup();
    texts
}

/// Texts too long for small collections.
fn long_texts() -> Vec<Vec<u8>> {
    let mut random = Random::new(2);
    let lengths = [4_095, 4_096, 8_183, 8_192, 16_383, 16_384, 70_000];
    lengths.iter().flat_map(|length| [vec![b'y'; *length], random.bytes(*length)]).collect()
}

struct Maker<'c> {
    redis: &'c mut Connection,
    keys: Vec<String>,
}

impl Maker<'_> {
    fn add(&mut self, command: &str, key: &str, args: Vec<Vec<u8>>) {
        let mut request = vec![command.as_bytes().to_vec(), key.as_bytes().to_vec()];
        request.extend(args);
        let reply = call(self.redis, &request);
        assert!(!matches!(reply, Value::Error(_)), "{command} {key}: {reply:?}");
        if !self.keys.iter().any(|known| known == key) {
            self.keys.push(key.to_owned());
        }
    }
}

/// Makes keys of every type; those whose name ends in `:differs` Redis does not write as we do.
pub fn create(redis: &mut Connection) -> Vec<String> {
    let mut maker = Maker { redis, keys: Vec::new() };
    for (index, text) in texts().into_iter().chain(long_texts()).enumerate() {
        maker.add("SET", &format!("string:{index}"), vec![text]);
    }
    maker.add("RPUSH", "list", texts());
    maker.add("RPUSH", "list:long", [texts(), long_texts(), texts()].concat());
    let numbers = |range: std::ops::Range<i64>| range.map(|number| number.to_string().into_bytes());
    maker.add("SADD", "set:16", numbers(-200..200).collect());
    maker.add("SADD", "set:32", vec![b"40000".to_vec(), b"-5".to_vec()]);
    maker.add("SADD", "set:64", vec![b"5000000000".to_vec(), b"-5".to_vec()]);
    maker.add("SADD", "set", texts());
    maker.add("SADD", "set:long", [texts(), long_texts()].concat());
    maker.add("HSET", "hash", texts().into_iter().flat_map(|text| [text.clone(), text]).collect());
    let short = texts().into_iter().filter(|text| text.len() < 60);
    maker.add("HSET", "hash:short", short.clone().flat_map(|text| [text.clone(), text]).collect());
    sorted_sets(&mut maker, short.collect());
    streams(&mut maker);
    maker.keys
}

fn sorted_sets(maker: &mut Maker<'_>, members: Vec<Vec<u8>>) {
    let score = |index: usize| (index as i64 / 2 * 37 % 11 - 5).to_string().into_bytes();
    let pairs = |members: &[Vec<u8>]| {
        let pairs = members.iter().enumerate();
        pairs.flat_map(|(index, member)| [score(index), member.clone()]).collect::<Vec<_>>()
    };
    maker.add("ZADD", "zset", pairs(&members[..50]));
    maker.add("ZADD", "zset:long", pairs(&texts()));
    let scores = [
        "0.1",
        "-1e300",
        "inf",
        "-inf",
        "1e-310",
        "-0",
        "123456789012345680",
        "3.14",
        "1e17",
        "9e18",
    ];
    let scores =
        scores.iter().flat_map(|score| [score.as_bytes().to_vec(), score.as_bytes().to_vec()]);
    maker.add("ZADD", "zset:differs", scores.collect());
}

fn streams(maker: &mut Maker<'_>) {
    let words = |line: &str| line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    for index in 0..250u64 {
        // A later millisecond with a lower sequence, and now and then other names.
        let (ms, sequence) = (index / 3 + 1, 1_000 - index / 3 + index % 3);
        let fields = if index % 10 == 7 { "other 1 a x" } else { "a 1 b text" };
        maker.add("XADD", "stream", words(&format!("{ms}-{sequence} {fields}{index}")));
        maker.add("XADD", "stream:differs", words(&format!("{ms}-{sequence} {fields}{index}")));
    }
    let huge = vec![b"*".to_vec(), b"name".to_vec(), vec![b'z'; 5_000]];
    maker.add("XADD", "stream", huge.clone());
    maker.add("XADD", "stream", huge);
    for id in (1..250u64).step_by(4).map(|index| (index / 3 + 1, 1_000 - index / 3 + index % 3)) {
        maker.add("XDEL", "stream:differs", words(&format!("{}-{}", id.0, id.1)));
    }
    maker.add("XADD", "stream:empty", words("5-5 a b"));
    maker.add("XDEL", "stream:empty", words("5-5"));
    for (group, start) in [("first", "0"), ("second", "$"), ("third", "3-999")] {
        let line = format!("XGROUP CREATE stream {group} {start}");
        assert_eq!(run(maker.redis, &line), Value::Simple(b"OK".to_vec()));
        run(maker.redis, &format!("XGROUP CREATE stream:differs {group} {start}"));
    }
    run(maker.redis, "XGROUP CREATE stream:empty g 0");
    run(maker.redis, "XGROUP CREATECONSUMER stream:empty g idle");
    for key in ["stream", "stream:differs"] {
        for (consumer, count) in [("bob", 5), ("alice", 3), ("bob", 100)] {
            let line = format!("XREADGROUP GROUP first {consumer} COUNT {count} STREAMS {key} >");
            assert!(matches!(run(maker.redis, &line), Value::Array(_)));
        }
        run(maker.redis, &format!("XREADGROUP GROUP third c COUNT 7 STREAMS {key} >"));
        run(maker.redis, &format!("XREADGROUP GROUP first bob COUNT 4 STREAMS {key} 0"));
    }
}

fn bulk(bytes: &[u8]) -> Value {
    Value::Bulk(bytes.to_vec())
}

fn array(reply: Value) -> Vec<Value> {
    match reply {
        Value::Array(values) => values,
        other => panic!("{other:?} is no array"),
    }
}

/// Compares a payload with what the commands of its type reply.
pub fn assert_is_what_redis_says(redis: &mut Connection, key: &str, payload: &Payload<'_>) {
    match payload {
        Payload::String(value) => assert_eq!(run(redis, &format!("GET {key}")), bulk(value)),
        Payload::List(elements) => {
            let elements = elements.iter().map(|element| bulk(element)).collect();
            assert_eq!(run(redis, &format!("LRANGE {key} 0 -1")), Value::Array(elements), "{key}");
        }
        Payload::Set(members) => {
            let members: Vec<_> = members.iter().map(|member| bulk(member)).collect();
            let theirs = array(run(redis, &format!("SMEMBERS {key}")));
            assert_eq!(in_order(theirs, 1), in_order(members, 1), "{key}");
        }
        Payload::Hash(fields) => {
            let pairs = fields.iter().flat_map(|field| [bulk(&field.name), bulk(&field.value)]);
            let theirs = array(run(redis, &format!("HGETALL {key}")));
            assert_eq!(in_order(theirs, 2), in_order(pairs.collect(), 2), "{key}");
        }
        Payload::SortedSet(members) => {
            let theirs = array(run(redis, &format!("ZRANGE {key} 0 -1 WITHSCORES")));
            assert_eq!(theirs.len(), members.len() * 2, "{key}");
            for (theirs, (member, score)) in theirs.chunks(2).zip(members) {
                assert_eq!(theirs[0], bulk(member), "{key}");
                let Value::Bulk(text) = &theirs[1] else { panic!("{theirs:?} is no score") };
                let text = String::from_utf8_lossy(text);
                let theirs = text.parse::<f64>().map(f64::to_bits);
                assert_eq!(theirs, Ok(score.to_bits()), "{key}: {score}");
            }
        }
        Payload::Stream(stream) => {
            let entries = stream.entries.iter().map(|entry| {
                let fields =
                    entry.fields.iter().flat_map(|(name, value)| [bulk(name), bulk(value)]);
                Value::Array(vec![id(entry.id), Value::Array(fields.collect())])
            });
            let expected = Value::Array(entries.collect());
            assert_eq!(run(redis, &format!("XRANGE {key} - +")), expected, "{key}");
            let about = array(run(redis, &format!("XINFO STREAM {key}")));
            let fact = |name: &str| {
                let index = about.iter().position(|value| *value == bulk(name.as_bytes()));
                about[index.expect("Redis 7.0 has it") + 1].clone()
            };
            assert_eq!(fact("last-generated-id"), id(stream.last_id));
            assert_eq!(fact("max-deleted-entry-id"), id(stream.max_deleted_id));
            assert_eq!(fact("entries-added"), Value::Integer(stream.entries_added as i64));
            assert_eq!(fact("groups"), Value::Integer(stream.groups.len() as i64));
        }
    }
}

fn id(id: StreamId) -> Value {
    bulk(format!("{}-{}", id.ms, id.sequence).as_bytes())
}

/// Values by groups of `width`, in an order of their own.
fn in_order(values: Vec<Value>, width: usize) -> Vec<String> {
    let mut groups: Vec<String> =
        values.chunks(width).map(|values| format!("{values:?}")).collect();
    groups.sort();
    groups
}

/// What `XINFO STREAM FULL` says, without how the stream is kept in memory.
pub fn without_nodes(about: &[Value]) -> Vec<Value> {
    let is_kept = |pair: &&[Value]| {
        !["radix-tree-keys", "radix-tree-nodes"].iter().any(|name| pair[0] == bulk(name.as_bytes()))
    };
    about.chunks(2).filter(is_kept).flatten().cloned().collect()
}
