//! What counts as a change of a watched key where Redis cannot be asked: commands on versions,
//! queues, functions, MIGRATE, and what goes by itself when its time has come.

use super::{is_aborted, transaction};
use crate::harness::TestServer;
use basalt_resp::Value;
use basalt_service::peer::{PeerAnswers, PeerFailure};
use basalt_service::wait::Wait;

/// What is there before `key` is watched, what another client does then, and whether that is a
/// change of the key. `$TOKEN` is the token of the last message that was delivered before.
struct Case {
    before: &'static [&'static str],
    key: &'static str,
    event: &'static str,
    changes: bool,
}

const fn case(
    before: &'static [&'static str],
    key: &'static str,
    event: &'static str,
    changes: bool,
) -> Case {
    Case { before, key, event, changes }
}

/// A string with the version 7.
const STRING: &[&str] = &["CAS.SET k v FORCE 7"];
/// Elements with the version 7, and one that has none.
const ELEMENTS: &[&str] = &[
    "CAS.HSET h f v FORCE 7",
    "HSET h plain hello",
    "CAS.SADD s m FORCE 7",
    "CAS.ZADD z 1 m FORCE 7",
];

const VERSIONS: &[Case] = &[
    case(STRING, "k", "CAS.SET k w IF 6", false),
    case(STRING, "k", "CAS.SET k w IF 7", true),
    case(STRING, "k", "CAS.SET k w NX", false),
    case(STRING, "k", "CAS.SET k w XX", true),
    case(STRING, "k", "CAS.SET k w IFDEQ 0000000000000000", false),
    case(STRING, "k", "CAS.SET k w FORCE 6", true),
    case(STRING, "k", "CAS.SET k w NX FORCE 9", false),
    case(STRING, "k", "CAS.SET k w IF 0", false),
    case(STRING, "none", "CAS.SET none w XX", false),
    case(STRING, "none", "CAS.SET none w NX", true),
    case(STRING, "k", "CAS.GET k", false),
    case(STRING, "k", "CAS.MGET k none", false),
    case(STRING, "k", "CAS.EXISTS k", false),
    case(STRING, "k", "CAS.DEL k IF 6", false),
    case(STRING, "k", "CAS.DEL k IFDEQ 0000000000000000", false),
    case(STRING, "k", "CAS.DEL k IF 7", true),
    case(STRING, "k", "CAS.DEL k", true),
    case(STRING, "none", "CAS.DEL none", false),
    case(STRING, "none", "CAS.DEL none IF 7", false),
    case(STRING, "k", "DELEX k IFEQ other", false),
    case(STRING, "k", "DELEX k IFEQ v", true),
    case(STRING, "none", "DELEX none", false),
    case(STRING, "k", "SET k w IFEQ other", false),
    case(STRING, "k", "SET k w IFEQ v", true),
    case(ELEMENTS, "h", "CAS.HSET h f w IF 6", false),
    case(ELEMENTS, "h", "CAS.HSET h f w NX", false),
    case(ELEMENTS, "h", "CAS.HSET h new w XX", false),
    case(ELEMENTS, "h", "CAS.HSET h f w IF 7", true),
    case(ELEMENTS, "h", "CAS.HSET h new w NX", true),
    case(ELEMENTS, "none", "CAS.HSET none f w XX", false),
    case(ELEMENTS, "h", "CAS.HGET h f", false),
    case(ELEMENTS, "h", "CAS.HMGET h f plain", false),
    case(ELEMENTS, "h", "CAS.HEXISTS h f", false),
    case(ELEMENTS, "h", "CAS.HDEL h f IF 6", false),
    case(ELEMENTS, "h", "CAS.HDEL h none", false),
    case(ELEMENTS, "h", "CAS.HDEL h plain IFDEQ 0000000000000000", false),
    case(ELEMENTS, "h", "CAS.HDEL h plain IFDEQ 9555e8555c62dcfd", true),
    case(ELEMENTS, "h", "CAS.HDEL h f IF 7", true),
    case(ELEMENTS, "h", "CAS.HINCRBY h n 1 XX", false),
    case(ELEMENTS, "h", "CAS.HINCRBY h f 1", false),
    case(ELEMENTS, "h", "CAS.HINCRBY h n 1", true),
    case(ELEMENTS, "h", "HSETEX h FNX FIELDS 1 f w", false),
    case(ELEMENTS, "h", "HSETEX h FXX FIELDS 1 f w", true),
    case(ELEMENTS, "h", "HGETDEL h FIELDS 1 none", false),
    case(ELEMENTS, "h", "HGETDEL h FIELDS 1 f", true),
    case(ELEMENTS, "h", "HGETEX h EX 100 FIELDS 1 none", false),
    case(ELEMENTS, "h", "HGETEX h FIELDS 1 f", false),
    case(ELEMENTS, "h", "HGETEX h EX 100 FIELDS 1 f", true),
    case(ELEMENTS, "h", "HPERSIST h FIELDS 1 f", false),
    case(ELEMENTS, "h", "HEXPIRE h 100 FIELDS 1 none", false),
    case(ELEMENTS, "h", "HEXPIRE h 100 FIELDS 1 f", true),
    case(ELEMENTS, "s", "CAS.SADD s m NX", false),
    case(ELEMENTS, "s", "CAS.SADD s m IF 6", false),
    case(ELEMENTS, "s", "CAS.SADD s new XX", false),
    case(ELEMENTS, "s", "CAS.SADD s m IF 7", true),
    case(ELEMENTS, "s", "CAS.SADD s new", true),
    case(ELEMENTS, "s", "CAS.SISMEMBER s m", false),
    case(ELEMENTS, "s", "CAS.SMISMEMBER s m new", false),
    case(ELEMENTS, "s", "CAS.SREM s m IF 6", false),
    case(ELEMENTS, "s", "CAS.SREM s none", false),
    case(ELEMENTS, "s", "CAS.SREM s m IF 7", true),
    case(ELEMENTS, "z", "CAS.ZADD z 2 m NX", false),
    case(ELEMENTS, "z", "CAS.ZADD z 2 m IF 6", false),
    case(ELEMENTS, "z", "CAS.ZADD z 2 m IF 7", true),
    case(ELEMENTS, "z", "CAS.ZADD z 2 new", true),
    case(ELEMENTS, "z", "CAS.ZSCORE z m", false),
    case(ELEMENTS, "z", "CAS.ZMSCORE z m", false),
    case(ELEMENTS, "z", "CAS.ZREM z m IF 6", false),
    case(ELEMENTS, "z", "CAS.ZREM z m IF 7", true),
];

/// Two messages that are ready.
const READY: &[&str] = &["Q.MPUT q 2 a b"];
/// One that is held, one that is ready.
const HELD: &[&str] = &["Q.MPUT q 2 a b", "Q.GET LEASE 60000 QUEUES q"];
/// A dead one.
const DEAD: &[&str] = &["Q.PUT q a", "Q.GET QUEUES q", "Q.NACK q $TOKEN DEAD"];
/// None, but settings.
const EMPTY: &[&str] = &["Q.CONFIG SET q lease 1000"];
/// Full, and closed.
const FULL: &[&str] = &["Q.CONFIG SET q max 1", "Q.PUT q a"];
const PAUSED: &[&str] = &["Q.PUT q a", "Q.CONFIG SET q paused all"];
/// A message whose name is remembered.
const NAMED: &[&str] = &["Q.PUT q a DEDUP name"];

const QUEUES: &[Case] = &[
    case(&[], "q", "Q.PUT q a", true),
    case(&[], "q", "Q.GET QUEUES q", false),
    case(&[], "q", "Q.GET NOACK WORKER w QUEUES q", false),
    case(&[], "q", "Q.PURGE q", false),
    case(&[], "q", "Q.STAT q", false),
    case(&[], "q", "Q.CONFIG GET q", false),
    case(&[], "q", "Q.REVIVE q ALL", false),
    case(&[], "q", "Q.CONFIG INIT q lease 1000", true),
    case(&[], "q", "Q.CONFIG SET q lease 1000", true),
    case(&[], "q", "Q.CONFIG SET q colour blue", false),
    case(&[], "q", "Q.PUT q long INIT max-bytes 3", false),
    case(EMPTY, "q", "Q.GET QUEUES q", false),
    case(EMPTY, "q", "Q.GET NOACK COUNT 5 QUEUES none q", false),
    case(EMPTY, "q", "Q.CONFIG INIT q lease 2000", false),
    case(EMPTY, "q", "Q.CONFIG SET q lease 2000", true),
    case(EMPTY, "q", "Q.PURGE q", false),
    case(READY, "q", "Q.PUT q c", true),
    case(READY, "q", "Q.MPUT q 1 c", true),
    case(READY, "q", "Q.PUT q c PRIORITY 10", false),
    case(READY, "q", "Q.GET QUEUES q", true),
    case(READY, "q", "Q.GET NOACK QUEUES q", true),
    case(READY, "none", "Q.GET QUEUES none q", false),
    case(READY, "q", "Q.PEEK q", false),
    case(READY, "q", "Q.LEN q", false),
    case(READY, "q", "Q.STAT q", false),
    case(READY, "q", "Q.WORKERS q", false),
    case(READY, "q", "Q.PURGE q", true),
    case(READY, "q", "Q.PURGE q STATE dead", false),
    case(READY, "q", "Q.PURGE q PRIORITY 9", false),
    case(READY, "q", "Q.REVIVE q ALL", false),
    case(READY, "q", "Q.ACK q 0-1-5", false),
    case(READY, "q", "Q.ACK q nonsense", false),
    case(HELD, "q", "Q.ACK q $TOKEN", true),
    case(HELD, "q", "Q.ACK q 0-1-5 0-9-5", false),
    case(HELD, "q", "Q.NACK q $TOKEN", true),
    case(HELD, "q", "Q.NACK q $TOKEN DELAY 1000", true),
    case(HELD, "q", "Q.NACK q 0-1-5 DEAD", false),
    case(HELD, "q", "Q.EXTEND q $TOKEN 90000", true),
    case(HELD, "q", "Q.EXTEND q 0-1-5 90000", false),
    case(HELD, "q", "Q.REPLY q $TOKEN answer", true),
    case(HELD, "q", "Q.REPLY q 0-1-5 answer", false),
    case(HELD, "q", "Q.HELD q TOKENS $TOKEN", false),
    case(HELD, "q", "Q.PEEK q STATE leased", false),
    case(DEAD, "q", "Q.GET QUEUES q", false),
    case(DEAD, "q", "Q.REVIVE q ALL", true),
    case(DEAD, "q", "Q.REVIVE q 0-9", false),
    case(DEAD, "q", "Q.PURGE q STATE dead", true),
    case(FULL, "q", "Q.PUT q b", false),
    case(FULL, "q", "Q.CALL q b TIMEOUT 10", false),
    case(PAUSED, "q", "Q.PUT q b", false),
    case(PAUSED, "q", "Q.GET QUEUES q", false),
    case(NAMED, "q", "Q.PUT q b DEDUP name", false),
    case(NAMED, "q", "Q.PUT q b DEDUP other", true),
    case(READY, "q", "DEL q", true),
    case(READY, "q", "FLUSHALL", true),
    case(READY, "q", "SWAPDB 0 1", true),
    case(&[], "q", "FLUSHALL", false),
];

const LIBRARY: &str = "#!lua name=watched\n\
    redis.register_function('put', function(keys, args) \
        return redis.call('CAS.SET', keys[1], args[1], 'NX') end)\n\
    redis.register_function('drop', function(keys) return redis.call('DEL', keys[1]) end)\n\
    redis.register_function('take', function(keys) \
        return redis.call('Q.GET', 'QUEUES', keys[1]) end)\n\
    redis.register_function('fails', function(keys) \
        redis.call('SET', keys[1], 'x') error('late') end)\n\
    redis.register_function{function_name='look', flags={'no-writes'}, \
        callback=function(keys) return redis.call('GET', keys[1]) end}";

const FUNCTIONS: &[Case] = &[
    case(STRING, "k", "FCALL put 1 k w", false),
    case(STRING, "none", "FCALL put 1 none w", true),
    case(STRING, "k", "FCALL put 1 none w", false),
    case(STRING, "k", "FCALL drop 1 k", true),
    case(STRING, "none", "FCALL drop 1 none", false),
    case(STRING, "k", "FCALL look 1 k", false),
    case(STRING, "k", "FCALL_RO look 1 k", false),
    case(STRING, "k", "FCALL fails 1 k", true),
    case(STRING, "k", "FCALL none 1 k", false),
    case(READY, "q", "FCALL take 1 q", true),
    case(EMPTY, "q", "FCALL take 1 q", false),
    case(STRING, "k", "EVAL return(redis.call('CAS.SET',KEYS[1],'w','IF','6')) 1 k", false),
    case(STRING, "k", "EVAL return(redis.call('CAS.SET',KEYS[1],'w','IF','7')) 1 k", true),
    case(READY, "q", "EVAL return(redis.call('Q.GET','QUEUES',KEYS[1])) 1 q", true),
    case(EMPTY, "q", "EVAL return(redis.call('Q.GET','QUEUES',KEYS[1])) 1 q", false),
    case(STRING, "k", "FUNCTION DELETE nosuch", false),
];

/// The token in what Q.GET has answered.
fn token(reply: &Value) -> Option<String> {
    let Value::Array(deliveries) = reply else { return None };
    let Value::Array(fields) = deliveries.first()? else { return None };
    let Value::Bulk(token) = fields.get(1)? else { return None };
    Some(String::from_utf8_lossy(token).into_owned())
}

/// Whether EXEC finds that the key has changed.
fn is_change(watcher: &mut TestServer, other: &mut TestServer, case: &Case) -> bool {
    watcher.line("FLUSHALL");
    let mut held = String::new();
    for line in case.before {
        let reply = watcher.line(&line.replace("$TOKEN", &held));
        assert!(!matches!(reply, Value::Error(_)), "{line}: {reply:?}");
        held = token(&reply).unwrap_or(held);
    }
    watcher.line(&format!("WATCH {}", case.key));
    other.line(&case.event.replace("$TOKEN", &held));
    is_aborted(&transaction(watcher, &["PING"]))
}

fn check(watcher: &mut TestServer, cases: &[Case]) {
    let mut other = watcher.another_connection();
    let mut wrong = Vec::new();
    for case in cases {
        let changes = is_change(watcher, &mut other, case);
        if changes != case.changes {
            let Case { before, key, event, .. } = case;
            wrong.push(format!("{before:?}, then {event}: a change of {key}: {changes}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn commands_on_versions_change_a_watched_key_only_if_they_do_something() {
    check(&mut TestServer::new(), VERSIONS);
}

#[test]
fn commands_on_queues_change_a_watched_key_only_if_they_do_something() {
    check(&mut TestServer::new(), QUEUES);
}

#[test]
fn functions_and_scripts_change_a_watched_key_as_their_commands_do() {
    let mut server = TestServer::new();
    server.run(&["FUNCTION", "LOAD", LIBRARY]);
    check(&mut server, FUNCTIONS);
}

#[test]
fn a_caller_that_is_answered_changes_a_watched_queue_by_its_call() {
    let mut server = TestServer::new();
    let mut caller = server.another_connection();
    server.line("Q.CONFIG SET q lease 1000");
    server.line("WATCH q");
    assert!(matches!(caller.run_once("Q.CALL q question TIMEOUT 1000"), Some(Wait::Ready(_))));
    assert!(is_aborted(&transaction(&mut server, &["PING"])));
}

/// What the other server answers to SELECT and RESTORE, and whether the key is gone then.
#[test]
fn migrate_changes_a_watched_key_only_if_the_target_has_taken_it() {
    let refused = || Err("ERR no".to_owned());
    let answers = |replies, failure| PeerAnswers { replies, failure };
    let call = "MIGRATE 10.0.0.1 6379 k 2 100";
    for (line, answers, changes) in [
        (call, answers(vec![Ok(()), Ok(())], None), true),
        (call, answers(vec![Ok(()), refused()], None), false),
        (call, answers(vec![Ok(())], Some(PeerFailure::Reading)), false),
        (call, answers(vec![], Some(PeerFailure::Connecting)), false),
        ("MIGRATE 10.0.0.1 6379 k 2 100 COPY", answers(vec![Ok(()), Ok(())], None), false),
    ] {
        let mut server = TestServer::new();
        let mut other = server.another_connection();
        server.line("SET k v");
        server.line("WATCH k none");
        assert!(matches!(other.run_once(line), Some(Wait::Peer(_))));
        let (_, answered) = server.host.calls.lock().pop().expect("it was asked");
        answered(answers.clone());
        other.line(line);
        assert_eq!(
            is_aborted(&transaction(&mut server, &["PING"])),
            changes,
            "{line}: {answers:?}"
        );
    }
    let mut server = TestServer::new();
    let mut other = server.another_connection();
    server.line("WATCH none");
    assert_eq!(other.line("MIGRATE 10.0.0.1 6379 none 2 100"), Value::Simple(b"NOKEY".to_vec()));
    assert!(!is_aborted(&transaction(&mut server, &["PING"])));
}

/// What is made with an end, the key that is watched, and whether the key changes when the expiry
/// cycle removes what is over. All of it ends after a second.
const ENDS: &[(&[&str], &str, bool)] = &[
    (&["CAS.SET k v PX 1000"], "k", true),
    (&["SET k v", "SET other v PX 1000"], "k", false),
    (&["CAS.HSET h a v PX 1000", "HSET h b v"], "h", true),
    (&["CAS.SADD s a PX 1000", "SADD s b"], "s", true),
    (&["CAS.ZADD z 1 a PX 1000", "ZADD z 1 b"], "z", true),
    (&["CAS.SADD s a PX 1000"], "s", true),
    (&["CAS.ZADD z 1 a PX 1000"], "z", true),
    (&["SADD s b"], "s", false),
];

#[test]
fn what_the_expiry_cycle_removes_is_a_change_of_its_key() {
    for &(before, key, changes) in ENDS {
        let mut server = TestServer::new();
        server.server.engine.set_active_expiry(false);
        before.iter().for_each(|line| drop(server.line(line)));
        server.line(&format!("WATCH {key}"));
        server.clock.advance_ms(1000);
        server.server.engine.expire_due();
        let aborted = is_aborted(&transaction(&mut server, &["PING"]));
        assert_eq!(aborted, changes, "{before:?}: {key}");
    }
}

#[test]
fn leaving_memory_and_coming_back_is_no_change_of_a_queue_or_of_versions() {
    let mut server = TestServer::new();
    for line in STRING.iter().chain(ELEMENTS).chain(HELD) {
        server.line(line);
    }
    server.line("WATCH k h s z q");
    server.leave_memory();
    for line in ["CAS.GET k", "CAS.HGET h f", "CAS.SISMEMBER s m", "CAS.ZSCORE z m", "Q.PEEK q"] {
        server.line(line);
    }
    assert!(!is_aborted(&transaction(&mut server, &["PING"])));
}
