//! The keys that BY and GET name: on disk, in transactions, changing meanwhile, not yet durable.

use crate::harness::TestServer;
use basalt_resp::Value;
use std::sync::atomic::{AtomicBool, Ordering};

fn bulks(words: &[&str]) -> Value {
    Value::Array(words.iter().map(|word| Value::Bulk(word.as_bytes().to_vec())).collect())
}

/// A list and weights, as the lines have made them, all on disk only.
fn cold() -> TestServer {
    let mut server = TestServer::new();
    server.line("RPUSH l 1 2 3");
    server.line("MSET w_1 30 w_2 20 w_3 10 v_1 a v_2 b v_3 c other x");
    server.server.engine.checkpoint().expect("the tier is in memory");
    let server = server.reopen();
    assert_eq!(server.server.engine.totals(0).keys_cold_only, 8);
    server
}

#[test]
fn only_keys_that_matter_are_fetched() {
    let mut server = cold();
    assert_eq!(server.line("SORT l BY w_* GET v_* LIMIT 0 1"), bulks(&["c"]));
    // The list, three weights and one result.
    assert_eq!(server.server.engine.totals(0).keys_cold_only, 8 - 5);
    let mut server = server.reopen();
    assert_eq!(server.line("SORT_RO l BY nosort GET v_* LIMIT 1 1"), bulks(&["b"]));
    assert_eq!(server.server.engine.totals(0).keys_cold_only, 8 - 2);
}

#[test]
fn what_is_stored_survives_a_restart() {
    let mut server = cold();
    assert_eq!(server.line("SORT l BY w_* GET v_* STORE l"), Value::Integer(3));
    let mut server = server.reopen();
    assert_eq!(server.line("LRANGE l 0 -1"), bulks(&["c", "b", "a"]));
}

#[test]
fn in_a_transaction_every_key_is_there() {
    let mut server = cold();
    for line in ["MULTI", "SET w_2 5", "SORT l BY w_* GET # GET v_*", "SORT_RO l BY w_*"] {
        server.line(line);
    }
    let Value::Array(replies) = server.line("EXEC") else { panic!("an array") };
    assert_eq!(replies[1], bulks(&["2", "b", "3", "c", "1", "a"]));
    assert_eq!(replies[2], bulks(&["2", "3", "1"]));
}

#[test]
fn a_sort_waits_for_what_it_has_read() {
    for line in ["SORT l BY w_*", "SORT_RO l BY nosort GET w_*", "MULTI; SORT l GET w_*; EXEC"] {
        let mut server = TestServer::new();
        server.line("RPUSH l 1 2 3");
        server.line("SET w_1 1");
        server.log.stop_acknowledging();
        server.line("SET w_2 1");
        let mut reader = server.another_connection();
        line.split("; ").for_each(|line| drop(reader.line(line)));
        assert!(!reader.session.gate.is_open(), "{line}");
    }
}

#[test]
fn no_sort_sees_half_of_a_change() {
    let mut server = TestServer::new();
    server.line("RPUSH l 0 1 2 3");
    server.line("MSET w_0 0 w_1 1 w_2 2 w_3 3 w_4 4 w_5 5 w_6 6 w_7 7");
    let ended = AtomicBool::new(false);
    let mut writer = server.another_connection();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The list's elements and their weights change as one.
            for round in 0.. {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (first, sign) = if round % 2 == 0 { (4, "-") } else { (0, "") };
                let [a, b, c, d] = [first, first + 1, first + 2, first + 3];
                for line in [
                    "MULTI".to_owned(),
                    "DEL l".to_owned(),
                    format!("RPUSH l {a} {b} {c} {d}"),
                    format!("MSET w_{a} {sign}{a} w_{b} {sign}{b} w_{c} {sign}{c} w_{d} {sign}{d}"),
                    format!("DEL w_{} w_{}", (a + 4) % 8, (d + 4) % 8),
                    "EXEC".to_owned(),
                ] {
                    writer.line(&line);
                }
            }
        });
        let orders = [bulks(&["0", "1", "2", "3"]), bulks(&["7", "6", "5", "4"])];
        let (mut seen, mut sorted) = ([false; 2], 0);
        while seen != [true; 2] || sorted < 500 {
            let order = server.line("SORT l BY w_*");
            let which = orders.iter().position(|known| *known == order);
            seen[which.unwrap_or_else(|| panic!("{order:?}"))] = true;
            sorted += 1;
        }
        ended.store(true, Ordering::Relaxed);
    });
}
