//! COMMAND GETKEYS and GETKEYSANDFLAGS against a real Redis, on calls of every command that are
//! right, too short, too long, and wrong in a word.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_resp::Value;
use basalt_spec::example;
use std::collections::BTreeSet;

type Call = Vec<Vec<u8>>;

/// Calls whose keys stand where only the words say, beside the examples of all commands.
const CALLS: &[&str] = &[
    "BITFIELD k",
    "BITFIELD k GET u8 0 GET u8 8",
    "BITFIELD k get u8 0 OVERFLOW SAT GET u4 4",
    "BITFIELD k GET u8 0 SET u8 0 1",
    "BITFIELD k OVERFLOW",
    "BITFIELD k BOGUS u8 0",
    "BITOP AND d a b c",
    "BLMPOP 0 2 a b LEFT COUNT 2",
    "BZMPOP 0 2 a b MIN COUNT 2",
    "BLPOP a b c 0",
    "BRPOPLPUSH a b 0",
    "BZPOPMAX a b 0",
    "COPY a b DB 1 REPLACE",
    "DEBUG OBJECT k",
    "EVAL s 2 a b c d",
    "EVALSHA_RO s 1 a b",
    "EVAL s 0",
    "EVAL s 00 a",
    "EVAL s +1 a",
    "EVAL s 1x a",
    "EVAL s 99999999999999999999 a",
    "EVAL s 2147483647 a",
    "EVAL s 4294967297 a",
    "FCALL f 2 a b c",
    "FCALL_RO f 0",
    "GEORADIUS k 1 1 1 m STORE d",
    "GEORADIUS k 1 1 1 m COUNT 1 ASC STOREDIST d",
    "GEORADIUS k 1 1 1 m STORE d STOREDIST e",
    "GEORADIUS k 1 1 1 m STORE",
    "GEORADIUSBYMEMBER k p 1 m STORE d",
    "GEORADIUSBYMEMBER k p 1 m store d WITHDIST",
    "GEOSEARCHSTORE d k FROMMEMBER p BYRADIUS 1 m",
    "LMPOP 2 a b RIGHT COUNT 3",
    "MIGRATE 127.0.0.1 6379 k 0 1000",
    "MIGRATE 127.0.0.1 6379 k 0 1000 COPY REPLACE",
    "MIGRATE 127.0.0.1 6379  0 1000 KEYS a b c",
    "MIGRATE 127.0.0.1 6379  0 1000 COPY AUTH p KEYS a b",
    "MIGRATE 127.0.0.1 6379  0 1000 AUTH2 u p KEYS a b",
    "MIGRATE 127.0.0.1 6379 k 0 1000 KEYS a b",
    "MIGRATE 127.0.0.1 6379  0 1000 AUTH KEYS KEYS a",
    "MIGRATE 127.0.0.1 6379  0 1000 KEYS",
    "MSET a 1 b 2 c",
    "OBJECT NOSUCH k",
    "PFMERGE a b c",
    "SET k v GET",
    "SET k v XX get EX 1",
    "SET GET GET",
    "SET k v EX get",
    "SINTERCARD 2 a b LIMIT 1",
    "SORT k",
    "SORT k BY w* GET # GET o* LIMIT 0 5 DESC ALPHA STORE d",
    "SORT k STORE d STORE e",
    "SORT k STORE",
    "SORT k LIMIT STORE d",
    "SORT k BY STORE STORE d",
    "SORT k GET STORE STORE d",
    "SORT_RO k BY w*",
    "XADD k NOMKSTREAM MAXLEN ~ 5 * f v",
    "XGROUP CREATE k g $ MKSTREAM",
    "XGROUP NOSUCH k g",
    "XINFO STREAM k FULL COUNT 1",
    "XREAD COUNT 2 BLOCK 0 STREAMS a b 0 0",
    "XREAD STREAMS a b c 0 0 0",
    "XREAD STREAMS a b 0",
    "XREAD STREAMS",
    "XREAD COUNT 1 BLOCK 1",
    "XREAD BOGUS 1 STREAMS a 0",
    "XREAD COUNT STREAMS STREAMS a 0",
    "XREADGROUP GROUP g c COUNT 1 NOACK STREAMS a b > >",
    "XREADGROUP GROUP STREAMS c STREAMS a >",
    "XREADGROUP STREAMS a > GROUP g c",
    "ZDIFF 2 a b WITHSCORES",
    "ZDIFFSTORE d 2 a b",
    "ZINTERCARD 2 a b LIMIT 1",
    "ZINTERSTORE d 2 a b WEIGHTS 1 2 AGGREGATE MAX",
    "ZMPOP 2 a b MAX",
    "ZRANGESTORE d k 0 -1",
    "ZUNION 2 a b",
    "ZUNIONSTORE d 0 a",
    "ZUNIONSTORE d 3 a b",
    "ZUNIONSTORE d -1 a b",
    "CLIENT ID",
    "CONFIG GET x",
    "PING x",
    "NOSUCH a",
    "GET",
    "LCS a b LEN",
    "SPUBLISH c m",
    "SSUBSCRIBE a b",
    "SUBSCRIBE a b",
    "MEMORY USAGE k SAMPLES 1",
    "RESTORE k 0 x REPLACE",
    "RENAMENX a b",
    "SMOVE a b m",
    "LMOVE a b LEFT RIGHT",
    "SWAPDB 0 1",
    "WATCH a b",
];

const WRONG_NUMBERS: &[&[u8]] = &[b"+1", b"1x", b"4294967297"];

/// What is put in the place of each word.
const OTHER_WORDS: &[&str] = &["", "0", "1", "-1", "99", "x", "STORE", "STREAMS", "KEYS"];

fn calls() -> BTreeSet<Call> {
    let server = TestServer::new();
    let mut calls: BTreeSet<Call> = CALLS
        .iter()
        .map(|line| line.split(' ').map(|word| word.as_bytes().to_vec()).collect())
        .collect();
    for command in server.server.commands.table.all() {
        let examples = command.spec.examples.iter();
        calls.extend(examples.map(|line| example::parse(line).expect("an example").words));
    }
    calls
}

/// The call, and calls that differ from it in a word.
fn variations(call: &Call) -> Vec<Call> {
    let mut varied = vec![call.clone()];
    for place in 0..call.len() {
        varied.push(call[..place].to_vec());
        let mut without = call.clone();
        without.remove(place);
        varied.push(without);
        for word in OTHER_WORDS.iter().filter(|_| place > 0) {
            let mut other = call.clone();
            other[place] = word.as_bytes().to_vec();
            varied.push(other);
        }
    }
    for word in ["x", "STORE"] {
        let mut longer = call.clone();
        longer.push(word.as_bytes().to_vec());
        varied.push(longer);
    }
    varied
}

/// What Redis 7.0 does not know, or reads otherwise than the command itself, which is what counts
/// for rights and locks.
fn is_ours(call: &Call) -> bool {
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let name = call.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
    match &name[..] {
        // With compared values; with WITHSCORE.
        b"set" => call.iter().any(|word| word.to_ascii_lowercase().starts_with(b"if")),
        b"zrank" | b"zrevrank" => call.len() > 3,
        // Redis takes the word behind the second, but SORT the first for the destination.
        b"sort" => call.windows(2).any(|two| is(&two[0], "store") && is(&two[1], "store")),
        // Nothing follows KEYS, but Redis finds a KEYS that is no option.
        b"migrate" => {
            call.last().is_some_and(|word| is(word, "keys"))
                && call.iter().filter(|word| is(word, "keys")).count() > 1
        }
        // A number that begins well and goes on wrong, or overflows, is an error to EVAL.
        b"eval" | b"evalsha" | b"eval_ro" | b"evalsha_ro" | b"fcall" | b"fcall_ro" => {
            call.get(2).is_some_and(|number| WRONG_NUMBERS.contains(&&number[..]))
        }
        _ => false,
    }
}

/// Whether Redis has the command, or the subcommand if its container has it here.
fn is_known(redis: &mut Redis, server: &TestServer, call: &Call) -> bool {
    let Some(name) = call.first() else { return true };
    let table = &server.server.commands.table;
    if is_ours(call) {
        return false;
    }
    let found = table.resolve(name, call.get(1).map(Vec::as_slice));
    let basalt_spec::Found::Command(command) = found else { return true };
    match redis.run(&["COMMAND", "INFO", command.spec.name]) {
        Value::Array(described) => matches!(described.first(), Some(Value::Array(_))),
        other => panic!("{other:?}"),
    }
}

fn words(sub: &str, call: &Call) -> Vec<Vec<u8>> {
    let head = ["COMMAND", sub].map(|word| word.as_bytes().to_vec());
    head.into_iter().chain(call.iter().cloned()).collect()
}

#[test]
fn keys_of_calls_are_those_of_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let (mut compared, mut different) = (0, Vec::new());
    let varied: BTreeSet<Call> = calls().iter().flat_map(variations).collect();
    for call in &varied {
        if !is_known(&mut redis, &server, call) {
            continue;
        }
        for sub in ["GETKEYS", "GETKEYSANDFLAGS"] {
            let words = words(sub, call);
            let expected = redis.run_for_bytes(&words).escape_ascii().to_string();
            let actual = server.run_for_bytes(&words).escape_ascii().to_string();
            compared += 1;
            if actual != expected {
                let line = words.join(&b' ').escape_ascii().to_string();
                different.push(format!("{line}\n  redis:  {expected}\n  basalt: {actual}"));
            }
        }
    }
    assert!(different.is_empty(), "{}\n{}", different.len(), different.join("\n"));
    assert!(compared > 10_000, "only {compared} replies were compared");
}
