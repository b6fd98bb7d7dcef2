//! Fields that expire, removed by the engine itself.

use crate::harness::{START_MS, TestServer};
use basalt_resp::Value;

/// Runs lines that must not fail.
fn run_all(server: &mut TestServer, lines: &[&str]) {
    for line in lines {
        assert!(!matches!(server.line(line), Value::Error(_)), "{line}");
    }
}

/// Two hashes: of one a field expires and one stays, of the other all expire.
const TWO_HASHES: &[&str] = &[
    "HSET some a 1 b 2",
    "HPEXPIRE some 100 FIELDS 1 a",
    "HSETEX all PX 100 FIELDS 2 a 1 b 2",
    "HPEXPIRE all 50 FIELDS 1 b",
];

/// A while later, what is due has gone by itself: nobody has asked for these keys.
fn check_that_they_go(server: &mut TestServer) {
    let engine = &server.server.engine;
    server.clock.set_unix_ms(START_MS + 1000);
    engine.expire_due();
    assert_eq!(engine.totals(0).keys, 1, "the key of which all fields have expired is gone");
    while engine.expired_fields() < 3 {
        // The housekeeping thread has removed some, and counts them in a moment.
        std::thread::yield_now();
    }
    let left = Value::Array(vec![Value::Bulk(b"b".to_vec()), Value::Bulk(b"2".to_vec())]);
    assert_eq!(server.line("HGETALL some"), left);
    let mut server = server.reopen();
    assert_eq!(server.line("HGETALL some"), left, "the log has it");
    assert_eq!(server.server.engine.totals(0).keys, 1);
    server.clock.set_unix_ms(START_MS);
    assert_eq!(server.line("HGETALL some"), left, "gone, not merely unseen");
}

#[test]
fn expired_fields_go_by_themselves() {
    let mut server = TestServer::new();
    run_all(&mut server, TWO_HASHES);
    check_that_they_go(&mut server);
}

#[test]
fn they_go_after_a_crash() {
    let mut server = TestServer::new();
    run_all(&mut server, TWO_HASHES);
    check_that_they_go(&mut server.reopen());
}

#[test]
fn they_go_after_they_were_read_from_disk() {
    let mut server = TestServer::new();
    run_all(&mut server, TWO_HASHES);
    server.server.engine.checkpoint().expect("the tier is in memory");
    let mut server = server.reopen();
    run_all(&mut server, &["HLEN some", "HLEN all"]);
    check_that_they_go(&mut server);
}

#[test]
fn they_go_after_a_copy_and_a_rename() {
    let mut server = TestServer::new();
    run_all(&mut server, TWO_HASHES);
    run_all(&mut server, &["RENAME some x", "COPY x some", "DEL x", "COPY all y", "RENAME y all"]);
    check_that_they_go(&mut server);
}

#[test]
fn a_hash_of_many_expired_fields_goes_bit_by_bit() {
    let mut server = TestServer::new();
    run_all(&mut server, &["HSET h stays 1"]);
    for number in 0..2000 {
        let line = format!("HSETEX h PX {} FIELDS 1 field:{number} {number}", 1 + number % 7);
        run_all(&mut server, &[&line]);
    }
    server.clock.set_unix_ms(START_MS + 1000);
    assert_eq!(server.line("HLEN h"), Value::Integer(1));
    // A change takes some of them along, and a field that is still stored counts as new.
    assert_eq!(server.line("HSET h field:1999 again"), Value::Integer(1));
    assert_eq!(server.line("HLEN h"), Value::Integer(2));
    server.server.engine.expire_due();
    server.clock.set_unix_ms(START_MS);
    assert_eq!(server.line("HLEN h"), Value::Integer(2), "gone, not merely unseen");
}
