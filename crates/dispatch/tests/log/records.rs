//! No request makes a record of the log much longer than the bound, and records that were cut do
//! what the whole ones would have done.

use crate::collections::templates::{HASHES, LISTS, SETS, Templates};
use crate::harness::{LogBounds, START_MS, TestServer};
use crate::{sorted_set, streams, strings};
use basalt_change::op::{self, Op};
use basalt_env::Random;
use basalt_resp::Value;

/// Small, so that small values are large ones.
const RECORD_BYTES_MAX: usize = 300;
/// What a record may have beyond the bound: one element, which is part of one request, or one row
/// of a stream, and the head of an operation.
const ELEMENT_BYTES_MAX: usize = 600;
/// Words of commands on streams are cut to this: an entry is an element.
const WORD_BYTES_MAX: usize = 100;
const COMMANDS: usize = 2_000;
/// From where on strings are lent to the log.
const LENT_BYTES_MIN: usize = 50;

/// Commands that change much at once, and commands of several.
const LARGE: [&str; 14] = [
    "SPOP K 40",
    "LTRIM K 3 -3",
    "SUNIONSTORE K K K",
    "ZUNIONSTORE K 2 K K",
    "SORT K ALPHA STORE K",
    "RENAME K K",
    "COPY K K REPLACE",
    "DEL K",
    "SETRANGE K 900 V",
    "APPEND K V",
    "PFADD K V V V V V V",
    "PFMERGE K K K",
    "EVAL fill 1 K",
    "EXEC K K",
];

const KEYS: [&str; 8] = ["a", "b", "c", "{a}d", "s", "t", "{s}u", "n"];

const FILL: &str = "for i = 1, 40 do redis.pcall('SADD', KEYS[1], 'member' .. i .. string.rep('x', 20)) end \
                    for i = 1, 40 do redis.pcall('RPUSH', KEYS[1], 'value' .. i) end \
                    redis.call('SET', 'n', string.rep('y', 2500))";

/// All families in turn.
struct Mixed {
    random: Random,
    collections: Templates,
    large: Templates,
    strings: strings::random_commands::Commands,
    sorted_sets: sorted_set::random_commands::Commands,
    streams: streams::random_commands::Commands,
}

impl Mixed {
    fn new(seed: u64) -> Mixed {
        let families = [LISTS, SETS, HASHES].concat();
        Mixed {
            random: Random::new(seed),
            collections: Templates::new(seed, &families, 80),
            large: Templates::new(seed, &LARGE, 80),
            strings: strings::random_commands::Commands::new(seed, START_MS),
            sorted_sets: sorted_set::random_commands::Commands::new(seed),
            streams: streams::random_commands::Commands::new(seed),
        }
    }

    /// Runs one command, or some.
    fn step(&mut self, server: &mut TestServer) {
        match self.random.below(12) {
            0..5 => drop(server.run_for_bytes(&self.collections.next())),
            5 => drop(server.run_for_bytes(&self.strings.next())),
            6 | 7 => drop(server.run_for_bytes(&self.sorted_sets.next())),
            8 | 9 => {
                let mut words = self.streams.next();
                words.iter_mut().for_each(|word| word.truncate(WORD_BYTES_MAX));
                server.run_for_bytes(&words);
            }
            _ => self.run_large(server),
        }
    }

    fn run_large(&mut self, server: &mut TestServer) {
        let words = self.large.next();
        match &words[0][..] {
            b"EVAL" => {
                server.run_for_bytes(&[b"EVAL", FILL.as_bytes(), b"1", &words[3]]);
            }
            b"EXEC" => {
                server.line("MULTI");
                for _ in 0..3 {
                    server.run_for_bytes(&[&b"COPY"[..], &words[1], &words[2], b"REPLACE"]);
                    server.run_for_bytes(&[&b"RENAME"[..], &words[2], &words[1]]);
                    server.run_for_bytes(&[&b"SETRANGE"[..], b"n", b"700", &words[1]]);
                }
                server.line("EXEC");
            }
            _ => drop(server.run_for_bytes(&words)),
        }
    }
}

fn server(lent_bytes_min: usize) -> TestServer {
    let record_bytes_max = RECORD_BYTES_MAX;
    let bounds = LogBounds { record_bytes_max, lent_bytes_min, ..LogBounds::default() };
    let mut server = TestServer::with_bounds(bounds);
    server.configure("proto-max-bulk-len", "1048576");
    server.line("CONFIG SET stream-node-max-bytes 400");
    server
}

/// What all keys of database 0 hold.
fn digest(server: &mut TestServer) -> Value {
    server.line("DEBUG DIGEST")
}

#[test]
fn no_request_makes_a_long_record_and_the_log_alone_gives_the_same_keys() {
    for seed in 0..4 {
        let mut server = server(if seed < 2 { usize::MAX } else { LENT_BYTES_MIN });
        let mut commands = Mixed::new(seed);
        for number in 0..COMMANDS {
            if seed % 2 == 1 && number == COMMANDS / 2 {
                server.server.engine.checkpoint().expect("the tier is in memory");
            }
            server.clock.advance_ms(10);
            commands.strings.now_ms += 10;
            commands.step(&mut server);
        }
        let records = server.log.records();
        let longest = records.iter().max_by_key(|record| record.bytes.len());
        let bytes = &longest.expect("there are some").bytes;
        assert!(bytes.len() > RECORD_BYTES_MAX / 2, "seed {seed}: nothing was long");
        assert!(
            bytes.len() <= RECORD_BYTES_MAX + ELEMENT_BYTES_MAX,
            "seed {seed}: {} bytes: {}",
            bytes.len(),
            bytes[..100].escape_ascii()
        );
        let mut reopened = server.reopen();
        for key in KEYS {
            let value = [&["TYPE", key][..], &["PTTL", key], &["DEBUG", "DIGEST-VALUE", key]];
            for words in value {
                let (after, before) = (reopened.run(words), server.run(words));
                assert_eq!(after, before, "seed {seed}: {words:?}");
            }
        }
        assert_eq!(digest(&mut reopened), digest(&mut server), "seed {seed}");
    }
}

/// The operations of the last append, by record.
fn last_append(server: &TestServer, records_before: usize) -> Vec<Vec<String>> {
    let name = |op: Op<'_>| {
        let text = format!("{op:?}");
        text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_owned()
    };
    let records = server.log.records();
    let ops = |bytes| op::decode(bytes).expect("a record").1;
    records[records_before..]
        .iter()
        .map(|record| ops(&record.bytes).map(|op| name(op.expect("an operation"))).collect())
        .collect()
}

#[test]
fn a_value_larger_than_a_record_is_several_records_of_one_append() {
    let mut server = server(usize::MAX);
    let value = "v".repeat(700);
    let appends = server.log.appends();
    server.run(&["SET", "s", &value]);
    assert_eq!(last_append(&server, 0), [["Put"], ["Splice"], ["Splice"]]);
    assert_eq!(server.log.appends(), appends + 1);
    let records = server.log.records().len();
    let members: Vec<String> = (0..40).map(|number| format!("member-number-{number}")).collect();
    let words = ["SADD", "s2"].into_iter().chain(members.iter().map(|member| &**member));
    server.run(&words.collect::<Vec<_>>());
    assert_eq!(last_append(&server, records), [["Edit"], ["Edit"], ["Edit"]]);
    let records = server.log.records().len();
    server.line("PEXPIRE s2 100000");
    server.line("COPY s2 s REPLACE");
    assert_eq!(
        last_append(&server, records)[1..],
        [vec!["Delete"], vec!["Edit"], vec!["Edit"], vec!["Edit", "Expire"]]
    );
    assert_eq!(server.log.appends(), appends + 4);
    assert_eq!(digest(&mut server.reopen()), digest(&mut server));
}

#[test]
fn what_is_too_large_at_once_is_refused_before_anything_has_changed() {
    let bounds =
        LogBounds { record_bytes_max: 300, change_set_bytes_max: 2_000, ..LogBounds::default() };
    let mut server = TestServer::with_bounds(bounds);
    let members: Vec<String> = (0..300).map(|number| format!("member-number-{number}")).collect();
    for part in members.chunks(20) {
        let words: Vec<&str> = ["SADD", "a"].into_iter().chain(part.iter().map(|m| &**m)).collect();
        server.run(&words);
    }
    server.run(&["SET", "{a}s", &"v".repeat(1_500)]);
    let (before, records) = (digest(&mut server), server.log.records().len());
    let refused = "TOOLARGE the changes of one request are limited to 2000 bytes";
    for line in [
        "COPY a {a}b",
        "RENAME a {a}b",
        "RENAMENX a {a}b",
        "MOVE a 1",
        "SUNIONSTORE {a}b a",
        "SORT a ALPHA STORE {a}b",
        "ZUNIONSTORE {a}b 1 a",
    ] {
        assert_eq!(server.line(line), Value::Error(refused.into()), "{line}");
    }
    assert_eq!(digest(&mut server), before);
    assert_eq!(server.log.records().len(), records);
    // In a transaction it is the command that would be too much, and no other.
    server.line("MULTI");
    for line in ["COPY {a}s {a}1", "COPY {a}s {a}2", "SET {a}3 x", "COPY {a}s {a}4"] {
        server.line(line);
    }
    let expected = [
        Value::Integer(1),
        Value::Error(refused.into()),
        Value::Simple(b"OK".to_vec()),
        Value::Error(refused.into()),
    ];
    assert_eq!(server.line("EXEC"), Value::Array(expected.into()));
}

#[test]
fn a_script_cannot_make_a_longer_word_than_a_client() {
    let mut server = TestServer::new();
    server.line("CONFIG SET proto-max-bulk-len 1048576");
    let script = "return redis.pcall('SET', string.rep('k', tonumber(ARGV[1])), 'x')";
    let refused = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
    let run = |server: &mut TestServer, bytes: &str| server.run(&["EVAL", script, "0", bytes]);
    assert_eq!(run(&mut server, "1048577"), Value::Error(refused.into()));
    assert_eq!(run(&mut server, "1048576"), Value::Simple(b"OK".to_vec()));
}
