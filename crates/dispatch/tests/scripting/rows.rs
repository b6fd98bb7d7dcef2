//! Scripts that follow one another in a batch run in one go; each is answered, counted and told of
//! as if it came alone.

use crate::harness::{TestServer, bytes_of};
use basalt_resp::{Output, Value, decode, encode_request};

const LIBRARY: &str = "#!lua name=lib\n\
    redis.register_function('f', function(keys, args) return {#keys, #args, type(KEYS_OF)} end)\n\
    redis.register_function('g', function(keys) return redis.call('incr', keys[1]) end)";

/// Requests of one client, nearly all of them scripts.
fn requests() -> Vec<Vec<&'static str>> {
    let one_round = [
        "EVAL|return redis.call('get', KEYS[1])|1|k",
        "EVAL|return redis.call('set', KEYS[1], ARGV[1])|1|k|v",
        "EVAL|return redis.call('get', KEYS[1])|1|k",
        "EVAL|return {#KEYS, #ARGV}|0",
        "EVAL|return {#KEYS, #ARGV, KEYS[1]}|1|k",
        "FCALL|g|1|n",
        "FCALL|f|2|a|b|c",
        "EVAL|return redis.call('incr', KEYS[1])|1|n",
        "EVAL|return redis.call('nosuch')|0",
        "EVAL|return redis.pcall('incr', KEYS[1])|1|k",
        "EVAL|return redis.call('publish', 'channel', ARGV[1])|0|m1",
        "PUBLISH|channel|m2",
        "EVAL|redis.call('publish', 'channel', 'm3') return redis.call('rpush', KEYS[1], 'x')|1|l",
        "EVAL|return redis.call('lrange', KEYS[1], 0, -1)|1|l",
        "EVAL|return {redis.call('get', KEYS[2]), redis.call('get', KEYS[1])}|2|n|k",
        "EVAL|return redis.call('get', ARGV[1])|0|k",
        "GET|k",
        "EVAL|return redis.call('get', KEYS[1])|00|k",
        "EVAL|return redis.call('get', KEYS[1])|1",
        "FCALL|nosuch|0",
        "EVALSHA|ffffffffffffffffffffffffffffffffffffffff|0",
        "SELECT|1",
        "EVAL|return redis.call('select', 2)|0",
        "EVAL|return redis.call('dbsize')|0",
        "SELECT|0",
        "MULTI",
        "EVAL|return redis.call('get', 'k')|0",
        "FCALL|g|1|n",
        "EXEC",
        "EVAL|return 1|-1",
        "CLIENT|REPLY|SKIP",
        "EVAL|return redis.call('incr', KEYS[1])|1|n",
        "EVAL|return redis.call('incr', KEYS[1])|1|n",
        "EVAL|redis.setresp(3) return redis.call('hgetall', 'h')|0",
        "EVAL|return redis.call('del', 'k', 'l')|2|k|l",
    ];
    // More than the runs after which a script is trusted to keep to its keys.
    let rounds = (0..12).flat_map(|_| one_round);
    rounds.map(|line| line.split('|').collect()).collect()
}

/// What a client is answered whose requests come in batches of this size, what a subscriber and a
/// client that monitors are told, and what is counted.
fn outcome(batch: usize) -> (Vec<u8>, Vec<Value>, Vec<Vec<u8>>, String) {
    let mut server = TestServer::new();
    server.run(&["FUNCTION", "LOAD", LIBRARY]);
    let mut subscriber = server.another_connection();
    subscriber.line("SUBSCRIBE channel");
    let mut watcher = server.another_connection();
    watcher.line("MONITOR");
    let mut bytes = Vec::new();
    requests().iter().for_each(|words| encode_request(words, &mut bytes));
    let mut out = Output::new();
    server.serve(bytes, batch, &mut out);
    server.worker.hand_over_messages(&server.server);
    server.worker.end_turn(&server.server);
    let lines = watcher.messages().into_iter().filter_map(|line| match line {
        // Without the time.
        Value::Simple(text) => text.splitn(2, |byte| *byte == b' ').nth(1).map(<[u8]>::to_vec),
        _ => None,
    });
    let (messages, lines) = (subscriber.messages(), lines.collect());
    let Value::Bulk(stats) = server.run(&["INFO", "commandstats"]) else { panic!("a text") };
    let stats = String::from_utf8(stats).expect("a text");
    let without_times = |line: &str| {
        let fields = line.split(',').filter(|field| !field.starts_with("usec"));
        fields.collect::<Vec<_>>().join(",")
    };
    let counted = stats.lines().map(without_times).collect::<Vec<_>>().join("\n");
    (bytes_of(&mut out), messages, lines, counted)
}

#[test]
fn scripts_of_a_batch_are_as_if_each_came_alone() {
    let alone = outcome(1);
    for batch in [2, 7, 50, 1000] {
        let together = outcome(batch);
        let (ours, expected) = (together.0.escape_ascii(), alone.0.escape_ascii());
        assert_eq!(ours.to_string(), expected.to_string(), "{batch}");
        assert_eq!(together.1, alone.1, "{batch}");
        assert_eq!(together.2, alone.2, "{batch}");
        assert_eq!(together.3, alone.3, "{batch}");
    }
    assert!(!alone.1.is_empty() && !alone.2.is_empty() && alone.3.contains("cmdstat_fcall"));
}

#[test]
fn each_script_of_a_batch_has_its_own_keys() {
    let mut server = TestServer::new();
    let mut bytes = Vec::new();
    for number in 0..100 {
        server.line(&format!("SET key{number} value{number}"));
    }
    let keys = |number: usize| [number * 7 % 100, number * 3 % 50].map(|key| format!("key{key}"));
    for number in 0..100 {
        let [first, second] = keys(number);
        for script in ["return redis.call('get', KEYS[2])", "return redis.call('get', KEYS[1])"] {
            encode_request(&["EVAL", script, "2", &first, &second], &mut bytes);
        }
        let undeclared = ["EVAL", "return redis.call('get', ARGV[1])", "0", &second];
        encode_request(&undeclared, &mut bytes);
    }
    let mut replies = &server.run_bytes(bytes, 1000)[..];
    for number in 0..100 {
        let [first, second] = keys(number);
        for key in [&second, &first, &second] {
            let (reply, len) = decode(replies).expect("a reply").expect("a whole reply");
            let value = key.replace("key", "value");
            assert_eq!(reply, Value::Bulk(value.into_bytes()), "{number}");
            replies = &replies[len..];
        }
    }
}
