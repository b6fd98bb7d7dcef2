//! What scripts may call, and what these commands answer there.

use super::{bulk, error, eval};
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_resp::Value;

#[test]
fn what_replicas_would_get_is_a_write_to_a_script_that_only_reads() {
    let mut server = TestServer::new();
    let mut subscriber = server.another_connection();
    subscriber.line("SUBSCRIBE c");
    for command in
        ["'SET', 'k', 'v'", "'PUBLISH', 'c', 'm'", "'SPUBLISH', 'c', 'm'", "'PFCOUNT', 'h'"]
    {
        let script = format!("return redis.call({command})");
        let flagged = format!("#!lua flags=no-writes\n{script}");
        for words in [["EVAL_RO", &*script, "0"], ["EVAL", &*flagged, "0"]] {
            let reply = server.run(&words);
            let expected = "ERR Write commands are not allowed from read-only scripts.";
            assert!(error(&reply).starts_with(expected), "{words:?}: {reply:?}");
        }
        let reply = eval(&mut server, &format!("#!lua\n{script}"), &[], &[]);
        assert!(!matches!(reply, Value::Error(_)), "{script}: {reply:?}");
    }
    assert_eq!(subscriber.messages().len(), 1, "only one of them may publish");
}

/// As in a transaction: as if their time had passed.
#[test]
fn what_would_wait_answers_at_once() {
    let mut server = TestServer::new();
    server.line("XGROUP CREATE s g $ MKSTREAM");
    for command in [
        "'BLPOP', 'l', 0",
        "'BRPOP', 'l', 'm', 0",
        "'BLMOVE', 'l', 'm', 'LEFT', 'LEFT', 0",
        "'BRPOPLPUSH', 'l', 'm', 0",
        "'BLMPOP', 0, 1, 'l', 'LEFT'",
        "'BZPOPMIN', 'z', 0",
        "'BZPOPMAX', 'z', 0",
        "'BZMPOP', 0, 1, 'z', 'MIN'",
        "'XREAD', 'BLOCK', 0, 'STREAMS', 's', '$'",
        "'XREADGROUP', 'GROUP', 'g', 'c', 'BLOCK', 0, 'STREAMS', 's', '>'",
    ] {
        let script = format!("return redis.call({command}) == false");
        assert_eq!(eval(&mut server, &script, &[], &[]), Value::Integer(1), "{command}");
    }
    server.line("RPUSH l x");
    let popped = eval(&mut server, "return redis.call('BLPOP', 'l', 0)", &[], &[]);
    assert_eq!(popped, Value::Array(vec![bulk("l"), bulk("x")]));
    let reply = eval(&mut server, "return redis.call('WAIT', 0, 0)", &[], &[]);
    assert!(matches!(reply, Value::Error(_)), "{reply:?}");
}

#[test]
fn a_set_that_nobody_sorts_is_sorted_in_a_script() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut both = |words: &[&str]| {
        let (ours, theirs) = (server.run_for_bytes(words), redis.run_for_bytes(words));
        let (ours, theirs) = (ours.escape_ascii().to_string(), theirs.escape_ascii().to_string());
        assert_eq!(ours, theirs, "{words:?}");
    };
    let mut members = vec!["SADD".to_owned(), "s".to_owned()];
    members.extend((0..300).map(|number| format!("m{}", number * 7919 % 1000)));
    both(&members.iter().map(String::as_str).collect::<Vec<_>>());
    both(&["RPUSH", "l", "c", "a", "b"]);
    for script in [
        "return redis.call('SORT', 's', 'BY', 'constant')",
        "return redis.call('SORT', 's', 'BY', 'constant', 'DESC', 'LIMIT', 3, 10)",
        "return redis.call('SORT', 's', 'BY', 'constant', 'GET', '#', 'GET', 'none')",
        "return redis.call('SORT_RO', 's', 'BY', 'constant')",
        "return redis.call('SORT', 'l', 'BY', 'constant')",
        "redis.call('SORT', 's', 'BY', 'constant', 'STORE', 'd') return redis.call('LRANGE', 'd', 0, -1)",
    ] {
        both(&["EVAL", script, "0"]);
    }
    both(&["MULTI"]);
    both(&["SORT", "l", "BY", "constant"]);
    both(&["EVAL", "return redis.call('SORT', 's', 'BY', 'constant')", "0"]);
    both(&["EXEC"]);
}
