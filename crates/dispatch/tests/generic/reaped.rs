//! Keys that have expired on disk and are removed there: what clients see of it.

use crate::harness::TestServer;
use basalt_resp::Value;

fn settle(server: &TestServer) {
    let engine = &server.server.engine;
    while engine.totals(0).keys_unread > 0 {
        engine.settle_soon();
        std::thread::yield_now();
    }
}

/// With keys that are on disk only, of which those have expired that were to.
fn server_with_expired(lines: &[&str]) -> TestServer {
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    lines.iter().for_each(|line| drop(server.line(line)));
    server.leave_memory();
    server.clock.advance_ms(10);
    server
}

#[test]
fn a_watched_key_that_expires_on_disk_has_changed() {
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    server.line("SET k value PX 10");
    server.line("SET other value");
    server.line("WATCH k");
    server.leave_memory();
    server.clock.advance_ms(10);
    server.server.engine.reap_due();
    assert_eq!(server.line("DBSIZE"), Value::Integer(1));
    server.line("MULTI");
    server.line("SET other changed");
    assert_eq!(server.line("EXEC"), Value::NullArray);
}

/// Put without a look at the row that has expired, before and after that is removed.
#[test]
fn keys_that_are_put_again_count_once() {
    for reaps_first in [false, true] {
        let mut server = server_with_expired(&["SET k old PX 10", "SADD set a", "SET other value"]);
        if reaps_first {
            server.server.engine.reap_due();
        }
        assert_eq!(server.line("SET k new"), Value::Simple(b"OK".to_vec()));
        server.server.engine.reap_due();
        settle(&server);
        assert_eq!(server.line("DBSIZE"), Value::Integer(3), "reaps first: {reaps_first}");
        assert_eq!(server.line("GET k"), Value::Bulk(b"new".to_vec()));
        for _ in 0..2 {
            let mut server = server.reopen();
            settle(&server);
            assert_eq!(server.line("DBSIZE"), Value::Integer(3), "reaps first: {reaps_first}");
            server.leave_memory();
        }
    }
}

#[test]
fn a_mark_counts_what_was_removed() {
    let mut server =
        server_with_expired(&["SET k old PX 10", "SET l old PX 10", "SET other value"]);
    server.server.engine.reap_due();
    assert_eq!(server.line("DBSIZE"), Value::Integer(1));
    assert_eq!(server.reopen().line("DBSIZE"), Value::Integer(1), "by the log");
    server.leave_memory();
    assert_eq!(server.reopen().line("DBSIZE"), Value::Integer(1), "by the mark");
    assert_eq!(server.server.engine.expired_keys(), 2);
}

#[test]
fn a_version_does_not_come_back() {
    let server = server_with_expired(&["CAS.SET k value", "PEXPIRE k 10"]);
    server.server.engine.reap_due();
    server.leave_memory();
    let mut server = server.reopen();
    assert_eq!(server.line("EXISTS k"), Value::Integer(0));
    let Value::Array(first) = server.line("CAS.SET k value") else { panic!("a version") };
    let mut before = TestServer::new();
    let Value::Array(again) = before.line("CAS.SET k value") else { panic!("a version") };
    assert_ne!(first, again, "as in the life before");
}

/// Smaller ones come into memory, where active expiry removes them.
#[test]
fn a_large_hash_of_which_all_fields_have_expired_goes_without_being_read() {
    let names: String = (0..20_000).map(|number| format!(" {number}")).collect();
    let pairs: String = (0..20_000).map(|number| format!(" {number} value")).collect();
    let mut server = TestServer::new();
    server.server.engine.set_active_expiry(false);
    for key in ["first", "second", "mixed"] {
        server.line(&format!("HSET {key}{pairs}"));
        server.line(&format!("HPEXPIRE {key} 1000 FIELDS 20000{names}"));
    }
    server.line("HPEXPIRE second 2000 FIELDS 1 77");
    server.line("HSET mixed 77 stays");
    server.leave_memory();
    for (left, fields) in [(3, 0), (2, 20_000), (1, 40_000)] {
        server.server.engine.reap_due();
        assert_eq!(server.line("DBSIZE"), Value::Integer(left));
        let engine = &server.server.engine;
        assert_eq!((engine.miss_stats().keys, engine.expired_fields()), (0, fields));
        assert_eq!(engine.expired_keys(), 0);
        server.clock.advance_ms(1_000);
    }
    assert_eq!(server.line("HLEN mixed"), Value::Integer(1));
}

/// Its row says that it has expired, and what has been changed since is not in it.
#[test]
fn a_collection_that_recovery_has_not_read_stays() {
    let mut server = TestServer::new();
    let members: String = (0..20_000).map(|number| format!(" {number}")).collect();
    server.line(&format!("SADD set{members}"));
    server.line("PEXPIRE set 1000");
    server.server.engine.checkpoint().expect("the tier is in memory");
    server.line("PERSIST set");
    let mut server = server.reopen();
    server.server.engine.set_active_expiry(false);
    server.clock.advance_ms(2_000);
    server.server.engine.reap_due();
    assert_eq!(server.line("DBSIZE"), Value::Integer(1));
    assert_eq!(server.line("SCARD set"), Value::Integer(20_000));
}
