//! The log is asked for the shards of a command's keys, and for no others.

use crate::harness::{TestServer, requests};
use basalt_change::place::ShardSet;
use basalt_engine::Refusal;
use basalt_resp::Value;

fn is_refused(value: &Value) -> bool {
    matches!(value, Value::Error(text) if text.starts_with(b"MISCONF"))
}

/// A server whose log refuses changes of the shard of the key `a`, for good.
fn refusing() -> TestServer {
    let server = TestServer::new();
    let refused = server.server.engine.key(b"a").partition.shard();
    let other = server.server.engine.key(b"b").partition.shard();
    assert_ne!(refused, other);
    server.log.refuse_shards(Refusal::Failed("no".to_owned()), ShardSet::of(refused));
    server
}

#[test]
fn a_command_is_refused_if_one_of_its_shards_is() {
    let mut server = refusing();
    assert_eq!(server.line("SET b 1"), Value::Simple(b"OK".to_vec()));
    for line in ["SET a 1", "INCR a", "MSET b 1 a 2", "RENAME b a"] {
        assert!(is_refused(&server.line(line)), "{line}");
    }
    // Both the short ways and what is pipelined.
    let pipelined = requests(&["SET b 2", "SET a 2", "SET b 3", "SET a 3", "SET b 4"]);
    let replies = server.run_bytes(pipelined, 64);
    let replies = String::from_utf8_lossy(&replies).into_owned();
    let is_error: Vec<bool> =
        replies.split_inclusive("\r\n").map(|reply| reply.starts_with("-MISCONF")).collect();
    assert_eq!(is_error, [false, true, false, true, false], "{replies}");
    assert_eq!(server.line("GET b"), Value::Bulk(b"4".to_vec()));
    assert_eq!(server.line("EXISTS a"), Value::Integer(0));
}

#[test]
fn transactions_and_scripts_are_asked_for_their_keys() {
    let mut server = refusing();
    let ok = Value::Simple(b"OK".to_vec());
    assert_eq!(server.line("MULTI"), ok);
    assert!(is_refused(&server.line("SET a 1")));
    assert!(matches!(server.line("EXEC"), Value::Error(text) if text.starts_with(b"EXECABORT")));
    assert_eq!(server.line("MULTI"), ok);
    server.line("SET b 1");
    assert_eq!(server.line("EXEC"), Value::Array(vec![ok]));
    let set = "redis.call('SET',KEYS[1],'v')";
    assert_eq!(server.run(&["EVAL", set, "1", "b"]), Value::Null);
    assert!(is_refused(&server.run(&["EVAL", set, "1", "a"])));
    assert!(is_refused(&server.line("FLUSHALL")));
}
