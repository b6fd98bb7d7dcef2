//! Errors of scripts are told and counted as in Redis.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_resp::Value;

const SCRIPTS: &[&str] = &[
    "return 1",
    "return redis.error_reply('MY_ERR x')",
    "return {redis.error_reply('MY_ERR x'), redis.error_reply('OTHER x')}",
    "return {err = 'OWN x'}",
    "return redis.call('select', 99)",
    "return redis.pcall('select', 99)",
    "local t = redis.pcall('select', 99) return 1",
    "return {redis.pcall('select', 99), redis.pcall('select', 98)}",
    "return {redis.pcall('select', 99), redis.error_reply('MY_ERR x')}",
    "return redis.call('nosuch')",
    "return redis.pcall('nosuch')",
    "local t = redis.pcall('nosuch') return 1",
    "return redis.call('get')",
    "local t = redis.pcall('get') return 1",
    "return redis.call('eval', 'return 1', 0)",
    "return redis.call()",
    "return redis.pcall()",
    "local t = redis.pcall() return 1",
    "return redis.pcall('set', {})",
    "return redis.call('set', 'x', {})",
    "error('x')",
    "error({err = 'OWN x'})",
    "local a, b = pcall(redis.call, 'select', 99) return 1",
    "local a, b = pcall(redis.call, 'select', 99) return b",
    "local a, b = pcall(redis.call, 'select', 99) error(b)",
    "error(redis.pcall('select', 99))",
    "local s = '' for k, v in pairs(redis.pcall('select', 99)) do s = s .. #k + #tostring(v) end return #s",
    "local a, b = xpcall(function() return redis.call('select', 99) end, function(e) return e end) return b",
    "return redis.call('lpush', 'string', 'x')",
    "x = 1",
    "return nosuch",
    "(",
    "#!lua flags=no-writes\nreturn redis.call('set', 'k', 'v')",
    "#!lua flags=bad\nreturn 1",
];

#[test]
fn errors_are_counted_as_in_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    redis.run(&["SET", "string", "x"]);
    server.run(&["SET", "string", "x"]);
    for script in SCRIPTS {
        for call in ["EVAL", "EVAL_RO"] {
            compare(&mut server, &mut redis, &[call, script, "0"]);
        }
        reset(&mut server, &mut redis);
        for words in [&["MULTI"][..], &["EVAL", script, "0"], &["EXEC"]] {
            let (ours, theirs) = (server.run_for_bytes(words), redis.run_for_bytes(words));
            let (ours, theirs) =
                (ours.escape_ascii().to_string(), theirs.escape_ascii().to_string());
            assert_eq!(ours, theirs, "in EXEC: {script}");
        }
        assert_eq!(
            statistics(|words| server.run(words)),
            statistics(|words| redis.run(words)),
            "in EXEC: {script}"
        );
    }
    let unknown = "f".repeat(40);
    compare(&mut server, &mut redis, &["EVALSHA", &unknown, "0"]);
    compare(&mut server, &mut redis, &["EVAL", "return 1", "-1"]);
}

fn reset(server: &mut TestServer, redis: &mut Redis) {
    server.run(&["CONFIG", "RESETSTAT"]);
    redis.run(&["CONFIG", "RESETSTAT"]);
}

fn compare(server: &mut TestServer, redis: &mut Redis, words: &[&str]) {
    reset(server, redis);
    let (ours, theirs) = (server.run_for_bytes(words), redis.run_for_bytes(words));
    let (ours, theirs) = (ours.escape_ascii().to_string(), theirs.escape_ascii().to_string());
    assert_eq!(ours, theirs, "{words:?}");
    assert_eq!(
        statistics(|words| server.run(words)),
        statistics(|words| redis.run(words)),
        "{words:?}"
    );
}

/// What INFO tells of errors and calls, without times.
fn statistics(mut run: impl FnMut(&[&str]) -> Value) -> Vec<String> {
    let mut lines = Vec::new();
    for section in ["errorstats", "commandstats", "stats"] {
        let Value::Bulk(text) = run(&["INFO", section]) else { panic!("no text") };
        let text = String::from_utf8(text).expect("text");
        for line in text.lines() {
            let is_wanted = line.starts_with("errorstat_")
                || line.starts_with("total_error_replies")
                || line.starts_with("cmdstat_") && !line.starts_with("cmdstat_info");
            if is_wanted {
                let fields = line.split(',').filter(|field| !field.starts_with("usec"));
                lines.push(fields.collect::<Vec<_>>().join(","));
            }
        }
    }
    lines.sort();
    lines
}
