//! Scripts of several threads, with transactions and commands on several keys: nobody sees a script
//! half-done, nobody waits for ever, and the log has all of it.

use super::{bulk, eval};
use crate::harness::TestServer;
use basalt_resp::Value;

const THREADS: usize = 4;
const ROUNDS: usize = 300;
/// In different partitions.
const ACCOUNTS: [&str; 4] = ["a", "b", "c", "d"];

const TRANSFER: &str = "redis.call('DECR', KEYS[1]) redis.call('INCR', KEYS[2]) return 'done'";
/// A transfer whose keys are not among those that EVAL is called with.
const HIDDEN_TRANSFER: &str =
    "redis.call('DECR', ARGV[1]) redis.call('INCR', ARGV[2]) return 'done'";
const AUDIT: &str = "local sum = 0 for _, key in ipairs(KEYS) do sum = sum + redis.call('GET', key) end \
                     return sum";

fn sum(reply: &Value) -> i64 {
    let Value::Array(values) = reply else { panic!("no array: {reply:?}") };
    let number = |value: &Value| match value {
        Value::Bulk(digits) => std::str::from_utf8(digits).expect("digits").parse().expect("one"),
        Value::Integer(number) => *number,
        other => panic!("{other:?}"),
    };
    values.iter().map(number).sum()
}

/// One step of a thread, by its number.
fn transfer(own: &mut TestServer, thread: usize, round: usize) {
    let (from, to) = (ACCOUNTS[round % 4], ACCOUNTS[(round + thread + 1) % 4]);
    match (round + thread) % 4 {
        0 => assert_eq!(eval(own, HIDDEN_TRANSFER, &[], &[from, to]), bulk("done")),
        1 => {
            own.line("MULTI");
            own.line(&format!("DECR {from}"));
            assert_eq!(
                own.run(&["EVAL", "return redis.call('INCR', KEYS[1])", "1", to]),
                Value::Simple(b"QUEUED".to_vec())
            );
            assert!(matches!(own.line("EXEC"), Value::Array(_)));
        }
        _ => assert_eq!(eval(own, TRANSFER, &[from, to], &[]), bulk("done")),
    }
}

#[test]
fn transfers_keep_the_sum_whoever_looks() {
    let server = TestServer::new();
    let mut bank = server.another_connection();
    bank.line("MSET a 100 b 100 c 100 d 100");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let mut own = server.another_connection();
            scope.spawn(move || (0..ROUNDS).for_each(|round| transfer(&mut own, thread, round)));
        }
        let mut auditor = server.another_connection();
        scope.spawn(move || {
            for _ in 0..ROUNDS {
                assert_eq!(sum(&auditor.line("MGET a b c d")), 400);
                assert_eq!(eval(&mut auditor, AUDIT, &ACCOUNTS, &[]), Value::Integer(400));
            }
        });
    });
    let mut restarted = server.reopen();
    assert_eq!(sum(&restarted.line("MGET a b c d")), 400);
    let mut before = server.another_connection();
    assert_eq!(restarted.line("MGET a b c d"), before.line("MGET a b c d"));
}

/// The canary of the auditor: what is not atomic is seen, sooner or later, also by a script.
#[test]
fn a_transfer_in_two_steps_is_noticed() {
    let server = TestServer::new();
    let mut own = server.another_connection();
    own.line("MSET a 100 b 100 c 100 d 100");
    own.line("DECR a");
    assert_eq!(eval(&mut own, AUDIT, &ACCOUNTS, &[]), Value::Integer(399));
}

#[test]
fn the_log_has_one_append_for_all_of_a_script() {
    let server = TestServer::new();
    let mut own = server.another_connection();
    let before = server.log.appends();
    let script = "for i = 1, 50 do redis.call('SET', 'key' .. i, i) end redis.call('NOSUCH')";
    assert!(matches!(eval(&mut own, script, &[], &[]), Value::Error(_)));
    assert_eq!(server.log.appends() - before, 1);
    // Even after an error, what was changed is there, and stays.
    assert_eq!(server.reopen().line("DBSIZE"), Value::Integer(50));
}

#[test]
fn who_waits_is_served_after_the_script() {
    let mut server = TestServer::new();
    let script = "redis.call('RPUSH', KEYS[1], 'x', 'y') return redis.call('LLEN', KEYS[1])";
    // Nothing waits inside a script, and a list is not eaten up before it has ended.
    assert_eq!(eval(&mut server, script, &["list"], &[]), Value::Integer(2));
    assert_eq!(server.line("BLPOP list 0"), Value::Array(vec![bulk("list"), bulk("x")]));
}

#[test]
fn events_and_watches_notice_what_a_script_does() {
    let mut server = TestServer::new();
    server.line("WATCH k");
    eval(&mut server.another_connection(), "redis.call('SET', KEYS[1], 1)", &["k"], &[]);
    server.line("MULTI");
    server.line("PING");
    assert_eq!(server.line("EXEC"), Value::NullArray);
}

#[test]
fn a_script_that_begins_again_announces_each_event_once() {
    let mut server = TestServer::new();
    for _ in 0..20 {
        eval(&mut server, "if ARGV[1] then redis.call('SET', ARGV[1], 1) end", &["none"], &[]);
    }
    server.configure("notify-keyspace-events", "KEAm");
    let mut listener = server.another_connection();
    listener.line("PSUBSCRIBE __keyevent@0__:*");
    listener.messages();
    let script = "redis.call('GET', KEYS[1]) if ARGV[1] then redis.call('SET', ARGV[1], 1) end";
    for _ in 0..20 {
        eval(&mut server, script, &["none"], &[]);
    }
    let misses = listener.messages().len();
    assert_eq!(misses, 20);
    eval(&mut server, script, &["none"], &["other"]);
    let names: Vec<String> = listener.messages().iter().map(|push| format!("{push:?}")).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}
