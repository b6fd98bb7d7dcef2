//! Scripts that take long, have only read, and let others have their keys in between.

use super::{bulk, error, eval};
use crate::harness::TestServer;
use basalt_engine::LockWait;
use basalt_resp::Value;
use basalt_service::scripts::EarlierRuns;
use basalt_service::wait::Wait;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, yield_now};
use std::time::Duration;

/// In different partitions.
const KEYS: [&str; 2] = ["one", "two"];

/// Ends when somebody has changed the key: for Redis, never.
const LOOKS_FOR_AN_END: &str = "local key = KEYS[1] or ARGV[1] \
                                while true do if redis.call('GET', key) == 'end' then return 'ended' end end";
const READS_ONCE: &str =
    "local value = redis.call('GET', KEYS[1]) for i = 1, 8e7 do end return value";
/// Takes several times as long as a script holds its keys at first.
const READS_BOTH: &str = "local keys = KEYS[1] and KEYS or ARGV \
                          local one = redis.call('GET', keys[1]) for i = 1, 1e7 do end \
                          return {one, redis.call('GET', keys[2])}";
const COUNTS_TWICE: &str = "local first = redis.call('DBSIZE') for i = 1, 1e7 do end \
                            return {first, redis.call('DBSIZE')}";
const COUNTS_ON: &str = "local count = redis.call('GET', KEYS[1]) for i = 1, 3e6 do end \
                         return redis.call('SET', KEYS[1], count + 1)";
const CHANGES_TWICE: &str = "redis.call('INCR', KEYS[1]) for i = 1, 2e6 do end \
                             return redis.call('INCR', KEYS[1])";

/// Waits until a script holds the first key.
fn wait_for_script(server: &TestServer) {
    let key = server.server.engine.key(KEYS[0].as_bytes());
    while !server.server.engine.is_held(key.partition) {
        yield_now();
    }
}

/// How often GET has been called.
fn gets(server: &mut TestServer) -> u64 {
    let Value::Bulk(info) = server.line("INFO commandstats") else { panic!("no text") };
    let info = String::from_utf8(info).expect("text");
    let line = info.lines().find_map(|line| line.strip_prefix("cmdstat_get:calls="));
    let calls = line.and_then(|line| line.split(',').next());
    calls.expect("it was called").parse().expect("a number")
}

/// Works while a client sends one line after the other; returns also how many it has sent.
fn beside<R>(
    mut other: TestServer,
    line: impl Fn(u64) -> String + Send,
    work: impl FnOnce() -> R,
) -> (R, u64) {
    let is_over = AtomicBool::new(false);
    scope(|scope| {
        let is_over = &is_over;
        let lines = scope.spawn(move || {
            let mut sent = 0;
            while !is_over.load(Ordering::Relaxed) {
                other.line(&line(sent));
                sent += 1;
            }
            sent
        });
        let result = work();
        is_over.store(true, Ordering::Relaxed);
        (result, lines.join().expect("no panic"))
    })
}

#[test]
fn a_script_sees_what_others_have_changed_meanwhile() {
    sees_what_others_have_changed(&KEYS[..1], &[]);
}

/// Then it holds every key.
#[test]
fn so_does_one_that_was_not_called_with_its_keys() {
    sees_what_others_have_changed(&[], &KEYS[..1]);
}

fn sees_what_others_have_changed(keys: &[&str], args: &[&str]) {
    let mut server = TestServer::new();
    server.line("SET one going");
    let mut other = server.another_connection();
    scope(|scope| {
        let script = scope.spawn(move || eval(&mut server, LOOKS_FOR_AN_END, keys, args));
        wait_for_script(&other);
        assert_eq!(other.line("SET one end"), Value::Simple(b"OK".to_vec()));
        assert_eq!(script.join().expect("no panic"), bulk("ended"));
    });
}

/// They would have to be watched, each time.
#[test]
fn a_script_with_thousands_of_keys_keeps_them() {
    let mut server = TestServer::new();
    server.line("SET one going");
    server.line("CONFIG SET script-time-max 2000");
    let mut other = server.another_connection();
    let mut keys = vec![KEYS[0]];
    keys.resize(5_000, KEYS[1]);
    scope(|scope| {
        let script = scope.spawn(|| eval(&mut server, LOOKS_FOR_AN_END, &keys, &[]));
        wait_for_script(&other);
        assert_eq!(other.line("SET one end"), Value::Simple(b"OK".to_vec()));
        let ended = script.join().expect("no panic");
        assert!(error(&ended).contains("script-time-max"), "{ended:?}");
    });
}

/// Each waits for what the other holds.
#[test]
fn scripts_that_do_not_end_let_each_other_have_their_keys() {
    let mut server = TestServer::new();
    server.line("SET one going");
    let (mut second, mut other) = (server.another_connection(), server.another_connection());
    scope(|scope| {
        let scripts = [
            scope.spawn(move || eval(&mut server, LOOKS_FOR_AN_END, &KEYS[..1], &[])),
            scope.spawn(move || eval(&mut second, LOOKS_FOR_AN_END, &[], &KEYS[..1])),
        ];
        wait_for_script(&other);
        assert_eq!(other.line("SET one end"), Value::Simple(b"OK".to_vec()));
        for script in scripts {
            assert_eq!(script.join().expect("no panic"), bulk("ended"));
        }
    });
}

#[test]
fn a_script_whose_keys_are_only_read_goes_on() {
    let mut server = TestServer::new();
    for setting in ["busy-reply-threshold", "script-time-max"] {
        server.configure(setting, "60000");
    }
    server.line("SET one v");
    let mut other = server.another_connection();
    let is_over = AtomicBool::new(false);
    scope(|scope| {
        let is_over = &is_over;
        let script = scope.spawn(move || {
            let value = eval(&mut server, READS_ONCE, &KEYS[..1], &[]);
            is_over.store(true, Ordering::Relaxed);
            (value, gets(&mut server))
        });
        wait_for_script(&other);
        let mut answered = 0;
        while !is_over.load(Ordering::Relaxed) {
            assert_eq!(other.line("TYPE one"), Value::Simple(b"string".to_vec()));
            answered += usize::from(!is_over.load(Ordering::Relaxed));
        }
        assert!(answered > 0, "nobody was let go first");
        assert_eq!(script.join().expect("no panic"), (bulk("v"), 1), "it began again");
    });
}

#[test]
fn what_a_script_has_read_was_there_at_once() {
    reads_what_was_there_at_once(&KEYS, &[]);
}

#[test]
fn so_was_what_it_was_not_called_with() {
    reads_what_was_there_at_once(&[], &KEYS);
}

/// However often its keys are changed: it holds them longer each time.
fn reads_what_was_there_at_once(keys: &[&str], args: &[&str]) {
    const ROUNDS: usize = 5;
    let mut server = TestServer::new();
    server.line("CONFIG SET script-time-max 20000");
    server.line("MSET one 0 two 0");
    let other = server.another_connection();
    let (seen, _) = beside(
        other,
        |number| format!("MSET one {number} two {number}"),
        || [(); ROUNDS].map(|()| eval(&mut server, READS_BOTH, keys, args)),
    );
    for reply in seen {
        let Value::Array(values) = reply else { panic!("no array: {reply:?}") };
        assert_eq!(values[0], values[1]);
    }
    let runs = gets(&mut server) / 2 / ROUNDS as u64;
    assert!((1..20).contains(&runs), "{runs} runs a script");
}

/// It cannot be told what has changed of all keys.
#[test]
fn a_script_that_has_looked_at_all_keys_keeps_them() {
    let mut server = TestServer::new();
    let other = server.another_connection();
    let (seen, _) = beside(
        other,
        |number| format!("SET {number} v"),
        || [(); 3].map(|()| eval(&mut server, COUNTS_TWICE, &KEYS[..1], &[])),
    );
    for reply in seen {
        let Value::Array(values) = reply else { panic!("no array: {reply:?}") };
        assert_eq!(values[0], values[1]);
    }
}

/// Nothing is lost between what a script has read and what it makes of that.
#[test]
fn a_script_changes_what_is_there_still() {
    const ROUNDS: u64 = 20;
    const FIRST_RUNS: u64 = 8;
    let mut server = TestServer::new();
    server.line("SET one 0");
    let other = server.another_connection();
    let (_, others) = beside(
        other,
        |_| "INCR one".to_owned(),
        || {
            // At first it locks all keys before it changes one, and later its own only.
            (0..ROUNDS).for_each(|_| drop(eval(&mut server, COUNTS_ON, &KEYS[..1], &[])));
        },
    );
    assert_eq!(server.line("GET one"), bulk(&(ROUNDS + others).to_string()));
    // Each calls it once, and the first ones again, to lock all keys; so does this test.
    let expected = ROUNDS + FIRST_RUNS + 1;
    assert!(gets(&mut server) > expected, "no script was overtaken");
}

#[test]
fn nobody_sees_a_script_half_done() {
    let mut server = TestServer::new();
    let mut other = server.another_connection();
    other.line("SET one 0");
    let is_over = AtomicBool::new(false);
    scope(|scope| {
        let is_over = &is_over;
        scope.spawn(move || {
            // By then it is known to keep to its keys.
            for _ in 0..20 {
                eval(&mut server, CHANGES_TWICE, &KEYS[..1], &[]);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        while !is_over.load(Ordering::Relaxed) {
            let Value::Bulk(digits) = other.line("GET one") else { panic!("no string") };
            let digits = String::from_utf8(digits).expect("digits");
            assert_eq!(digits.parse::<u64>().expect("a number") % 2, 0);
        }
    });
}

/// Nor does it leave a watch.
#[test]
fn a_script_that_does_not_get_its_keys_back_ends_in_time() {
    let mut server = TestServer::new();
    server.line("SET one v");
    server.line("CONFIG SET script-time-max 2000");
    let (mut other, engine) = (server.another_connection(), server.server.engine.clone());
    let key = engine.key(KEYS[0].as_bytes());
    scope(|scope| {
        let script = scope.spawn(|| eval(&mut server, LOOKS_FOR_AN_END, &KEYS[..1], &[]));
        wait_for_script(&other);
        let held = loop {
            // So that it lets go, for so short a time that this thread may not run in it.
            let waits = other.run_once("TYPE one");
            assert!(matches!(waits, None | Some(Wait::Held)), "{waits:?}");
            if let Some(held) = engine.lock_within(&[key], LockWait::Patient) {
                break held;
            }
        };
        assert!(!script.is_finished(), "it has kept its keys");
        let ended = script.join().expect("no panic");
        assert!(error(&ended).contains("script-time-max"), "{ended:?}");
        drop(held);
    });
    while engine.is_watched() {
        yield_now();
    }
}

#[test]
fn a_script_is_not_charged_with_what_another_one_has_come_to() {
    let mut server = TestServer::new();
    let took = Duration::from_secs(3_600);
    for refused in ["NOSUCH", "EVALSHA 0000000000000000000000000000000000000000 0"] {
        server.session.script_runs = Some(EarlierRuns { took, ..EarlierRuns::default() });
        assert!(matches!(server.line(refused), Value::Error(_)));
        let counted = eval(&mut server, "for i = 1, 1e5 do end return 1", &[], &[]);
        assert_eq!(counted, Value::Integer(1), "after {refused}");
    }
}
