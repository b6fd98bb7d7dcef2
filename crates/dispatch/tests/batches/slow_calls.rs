//! Calls that take long although their command is fast by its flags.

use crate::harness::TestServer;
use basalt_resp::{Value, encode_request};

/// Elements: a call on as many takes several times as long as [`SLOWER_THAN_US`] on any machine.
const ELEMENTS: usize = 200_000;
/// The least at which commands that are fast by their flags are not timed one by one.
const SLOWER_THAN_US: &str = "1000";

fn names_in_slow_log(server: &mut TestServer) -> Vec<String> {
    let Value::Array(entries) = server.line("SLOWLOG GET -1") else { panic!("an array") };
    let name = |entry: &Value| {
        let Value::Array(fields) = entry else { panic!("an array: {entry:?}") };
        let Value::Array(words) = &fields[3] else { panic!("words: {fields:?}") };
        let Value::Bulk(name) = &words[0] else { panic!("a name: {words:?}") };
        String::from_utf8_lossy(name).into_owned()
    };
    entries.iter().rev().map(name).collect()
}

#[test]
fn slow_calls_of_fast_commands_are_noticed_in_the_middle_of_a_batch() {
    let mut server = TestServer::new();
    server.configure("slowlog-log-slower-than", SLOWER_THAN_US);
    server.configure("slowlog-max-len", "1000");
    let numbers: Vec<String> = (0..ELEMENTS).map(|number| format!("m{number}")).collect();
    let with = |name: &str, key: &str, words: &[String]| {
        [name.to_owned(), key.to_owned()].into_iter().chain(words.iter().cloned()).collect()
    };
    let half = (ELEMENTS / 2).to_string();
    let slow: [Vec<String>; 5] = [
        with("SADD", "set", &numbers),
        with("SPOP", "set", &[half]),
        with("RENAME", "set", &["other".to_owned()]),
        with("HSET", "hash", &numbers),
        // A look at one key, but at very many fields of it.
        with("HMGET", "hash", &numbers),
    ];
    let mut input = Vec::new();
    for words in &slow {
        (0..5).for_each(|_| encode_request(&["GET", "k"], &mut input));
        encode_request(words, &mut input);
        (0..5).for_each(|_| encode_request(&["INCR", "n"], &mut input));
    }
    server.run_bytes(input, 64);
    let noticed = names_in_slow_log(&mut server);
    for words in &slow {
        assert!(noticed.contains(&words[0]), "{} is missing: {noticed:?}", words[0]);
    }
    let text = server.line("INFO commandstats");
    let Value::Bulk(text) = text else { panic!("a text") };
    let text = String::from_utf8_lossy(&text).into_owned();
    let field = |command: &str, field: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:")));
        let fields = line.expect("it was called").split(',');
        let value = fields.filter_map(|pair| pair.split_once('=')).find(|pair| pair.0 == field);
        value.expect("a field").1.parse().expect("a number")
    };
    assert_eq!(
        [field("sadd", "calls"), field("get", "calls"), field("incr", "calls")],
        [1, 25, 25]
    );
    for command in ["sadd", "spop", "rename"] {
        let (own, others) = (field(command, "usec"), field("get", "usec"));
        assert!(own >= 1000 && own > others, "{command}: {own} us; all GETs: {others} us");
    }
}

#[test]
fn calls_of_a_script_are_timed_and_noticed() {
    let mut server = TestServer::new();
    server.line("SADD set a b c");
    server.configure("slowlog-log-slower-than", "0");
    let script = "redis.call('SET', KEYS[1], 'v') return redis.call('SMEMBERS', KEYS[2])";
    server.run(&["EVAL", script, "2", "k", "set"]);
    assert_eq!(names_in_slow_log(&mut server), ["SET", "SMEMBERS", "EVAL"]);
    // Of those that are not fast by their flags the time is known whatever the slow log wants.
    server.configure("slowlog-log-slower-than", "-1");
    server.line("CONFIG RESETSTAT");
    server.run(&["EVAL", script, "2", "k", "set"]);
    let Value::Bulk(text) = server.line("INFO latencystats") else { panic!("a text") };
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("latency_percentiles_usec_smembers:"), "{text}");
}
