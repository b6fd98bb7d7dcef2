//! Transactions of several threads over several partitions: none sees another half-done, and those
//! that watch never overwrite what they have not seen.

use super::transaction;
use crate::harness::TestServer;
use basalt_resp::Value;

const THREADS: usize = 4;
const ROUNDS: usize = 300;
/// In different partitions.
const ACCOUNTS: [&str; 4] = ["a", "b", "c", "d"];

fn integers(reply: &Value) -> Vec<i64> {
    let Value::Array(values) = reply else { panic!("no array: {reply:?}") };
    let number = |value: &Value| match value {
        Value::Bulk(digits) => std::str::from_utf8(digits).expect("digits").parse().expect("one"),
        other => panic!("{other:?}"),
    };
    values.iter().map(number).collect()
}

#[test]
fn transfers_keep_the_sum_whoever_looks() {
    let server = TestServer::new();
    let mut bank = server.another_connection();
    bank.line("MSET a 100 b 100 c 100 d 100");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let mut own = server.another_connection();
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let (from, to) = (ACCOUNTS[round % 4], ACCOUNTS[(round + thread + 1) % 4]);
                    let lines = [format!("DECR {from}"), format!("INCR {to}")];
                    transaction(&mut own, &[&lines[0], &lines[1]]);
                }
            });
        }
        let mut auditor = server.another_connection();
        scope.spawn(move || {
            for _ in 0..ROUNDS {
                let sum: i64 = integers(&auditor.line("MGET a b c d")).iter().sum();
                assert_eq!(sum, 400);
                let replies = transaction(&mut auditor, &["GET a", "GET b", "GET c", "GET d"]);
                assert_eq!(integers(&replies).iter().sum::<i64>(), 400);
            }
        });
    });
    let mut restarted = server.reopen();
    assert_eq!(integers(&restarted.line("MGET a b c d")).iter().sum::<i64>(), 400);
}

#[test]
fn watched_increments_are_never_lost() {
    let server = TestServer::new();
    server.another_connection().line("SET n 0");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let mut own = server.another_connection();
            scope.spawn(move || {
                let mut done = 0;
                while done < ROUNDS {
                    own.line("WATCH n");
                    let n = &integers(&own.line("MGET n"))[0] + 1;
                    // The watched key is in another partition than a key that is written, too.
                    let line = format!("SET n {n}");
                    if let Value::Array(_) = transaction(&mut own, &[&line, "INCR commits"]) {
                        done += 1;
                    }
                }
            });
        }
    });
    let total = (THREADS * ROUNDS) as i64;
    let mut own = server.another_connection();
    assert_eq!(integers(&own.line("MGET n commits")), [total, total]);
    assert!(!server.server.engine.is_watched());
}
