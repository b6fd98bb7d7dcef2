//! Large collections, of which every element has a row of its own.

use super::differential::contents;
use crate::harness::TestServer;
use basalt_env::Random;
use basalt_resp::Value;
use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

/// Several times what is gathered under one lock.
const MANY: usize = 5_000;
/// Two or three times what is gathered under one lock, for a test that shall take less time.
const FEWER: usize = 2_500;

/// One of each kind, and the command that adds an element to it.
const KINDS: [(&str, &str); 5] = [
    ("list", "RPUSH list value:{}:so-that-it-is-long"),
    ("set", "SADD set member:{}"),
    ("zset", "ZADD zset {} member:{}"),
    ("hash", "HSET hash field:{} value:{}"),
    ("stream", "XADD stream 1-{} field value:{}:long"),
];

fn checkpoint(server: &TestServer) -> u64 {
    server.server.engine.checkpoint().expect("the tier is in memory");
    server.server.engine.checkpoint_stats().last_rows
}

/// Adds elements to all, other ones in another round.
fn fill(server: &mut TestServer, round: usize, count: usize) {
    for number in 1..=count {
        for (_, command) in KINDS {
            let command = command.replace("1-{}", &format!("{round}-{{}}"));
            let command = command.replace("value", &format!("value:{round}"));
            server.line(&command.replace("{}", &number.to_string()));
        }
    }
}

/// Rows of objects and of elements.
fn rows(server: &TestServer) -> (usize, usize) {
    const KIND_AT: usize = 2;
    let mut kinds = Vec::new();
    let cold = server.server.engine.cold();
    let visited = cold.scan(&[], &[0xFF; 3], &mut |key, _| {
        kinds.push(key[KIND_AT]);
        ControlFlow::Continue(())
    });
    visited.expect("the tier is in memory");
    let count = |wanted| kinds.iter().filter(|&&kind| kind == wanted).count();
    (count(1), count(2))
}

fn all(server: &mut TestServer) -> Vec<(Value, Value)> {
    KINDS.map(|(key, _)| contents(key, |words| server.run_for_bytes(words))).to_vec()
}

#[test]
fn a_checkpoint_writes_the_elements_that_have_changed() {
    let mut server = TestServer::new();
    fill(&mut server, 1, MANY);
    checkpoint(&server);
    let (objects, elements) = rows(&server);
    assert_eq!(objects, KINDS.len());
    // Two for each member of the sorted set; lists and streams have rows of many elements.
    assert!((4 * MANY..5 * MANY).contains(&elements), "{elements} rows of elements");
    for (line, rows_max) in [
        ("HSET hash field:17 other", 2),
        ("HDEL hash field:18", 2),
        ("SADD set another", 2),
        ("ZADD zset 17.5 member:18", 4),
        ("ZREM zset member:19", 3),
        ("LPUSH list another", 2),
        ("LSET list 2500 another", 2),
        ("XADD stream 2-1 field value", 3),
        ("XDEL stream 1-2500", 2),
        ("XGROUP CREATE stream group 0", 2),
        ("XREADGROUP GROUP group consumer COUNT 1 STREAMS stream >", 3),
        ("PEXPIRE hash 100000", 1),
    ] {
        server.line(line);
        let rows = checkpoint(&server);
        assert!((1..=rows_max).contains(&rows), "{line}: {rows} rows");
    }
    let before = all(&mut server);
    assert_eq!(all(&mut server.reopen()), before, "as it is read back");
    server.run(&["DEBUG", "RELOAD"]);
    assert_eq!(all(&mut server), before);
}

#[test]
fn what_is_gone_leaves_no_rows_behind() {
    type End = (&'static str, fn(&mut TestServer), usize);
    let ends: [End; 6] = [
        ("deleted", |server| drop(server.line("DEL list set zset hash stream")), 0),
        ("flushed", |server| drop(server.line("FLUSHALL")), 0),
        ("replaced", |server| drop(server.line("MSET list a set b zset c hash d stream e")), 5),
        (
            "expired",
            |server| {
                KINDS.iter().for_each(|(key, _)| drop(server.run(&["PEXPIREAT", key, "1"])));
            },
            0,
        ),
        (
            "swapped and flushed",
            |server| {
                server.line("SWAPDB 0 3");
                server.line("SELECT 3");
                server.line("FLUSHDB");
            },
            0,
        ),
        (
            "deleted after a restart, unread",
            |server| {
                *server = server.reopen();
                server.line("DEL list set zset hash stream");
            },
            0,
        ),
    ];
    for (what, end, objects) in ends {
        let mut server = TestServer::new();
        fill(&mut server, 1, MANY);
        checkpoint(&server);
        end(&mut server);
        checkpoint(&server);
        assert_eq!(rows(&server), (objects, 0), "{what}");
    }
}

#[test]
fn what_the_log_takes_away_leaves_no_rows_behind() {
    let mut server = TestServer::new();
    fill(&mut server, 1, MANY);
    checkpoint(&server);
    server.line("DEL set hash");
    server.line("SET list value");
    server.line("RENAME zset stream");
    // The log's replay finds keys that are not in memory.
    let mut reopened = server.reopen();
    let before = all(&mut server);
    checkpoint(&reopened);
    assert_eq!(all(&mut reopened), before);
    let (objects, elements) = rows(&reopened);
    assert_eq!(objects, 2);
    assert_eq!(elements, 2 * MANY, "the sorted set's, under its other name");
}

/// One change of each kind, and what only the log has after it.
const CHANGES: [&str; 9] = [
    "HSET hash field:17 other",
    "PEXPIRE hash 100000",
    "HDEL hash field:18",
    "SADD set another",
    "ZADD zset 17.5 member:18",
    "LPUSH list another",
    "PEXPIRE list 100000",
    "PERSIST list",
    "XADD stream 2-1 field value",
];

/// Keys that nobody has read.
fn unread(server: &TestServer) -> u64 {
    server.server.engine.totals(0).keys_cold_only
}

#[test]
fn a_start_reads_no_large_collection_that_the_log_changes() {
    let mut server = TestServer::new();
    fill(&mut server, 1, MANY);
    checkpoint(&server);
    CHANGES.iter().for_each(|line| drop(server.line(line)));
    let before = all(&mut server);
    let times =
        |server: &mut TestServer| KINDS.map(|(key, _)| server.run(&["PEXPIRETIME", key])).to_vec();
    let times_before = times(&mut server);
    let mut reopened = server.reopen();
    assert_eq!(unread(&reopened), KINDS.len() as u64);
    assert_eq!(reopened.line("DBSIZE"), Value::Integer(KINDS.len() as i64));
    // Ended before anybody has read them; then read by commands.
    let mut again = reopened.reopen();
    assert_eq!(unread(&again), KINDS.len() as u64);
    assert_eq!(times(&mut again), times_before);
    assert_eq!(all(&mut again), before, "read by commands");
    assert_eq!(unread(&again), 0);
    // Read by a checkpoint, whose rows are what is read from now on.
    checkpoint(&reopened);
    assert_eq!(unread(&reopened), 0);
    assert_eq!(all(&mut reopened), before, "read by a checkpoint");
    let mut rows_alone = reopened.reopen();
    assert_eq!(times(&mut rows_alone), times_before);
    assert_eq!(all(&mut rows_alone), before, "written by a checkpoint");
}

#[test]
fn changes_that_wait_go_with_their_collection() {
    type End = (&'static str, &'static [&'static str]);
    let ends: [End; 4] = [
        ("deleted", &["DEL list set zset hash stream"]),
        ("replaced", &["MSET list a set b zset c hash d stream e"]),
        ("made again", &["DEL hash set", "HSET hash a 1", "SADD set a", "HSET hash b 2"]),
        ("flushed", &["SWAPDB 0 1", "FLUSHALL", "HSET hash a 1"]),
    ];
    for (what, lines) in ends {
        for unread_before in [false, true] {
            let mut server = TestServer::new();
            fill(&mut server, 1, MANY);
            checkpoint(&server);
            CHANGES.iter().for_each(|line| drop(server.line(line)));
            // In one case the log says it, in the other a command.
            if unread_before {
                server = server.reopen();
            }
            lines.iter().for_each(|line| drop(server.line(line)));
            let before = all(&mut server);
            let mut reopened = server.reopen();
            checkpoint(&reopened);
            assert_eq!(all(&mut reopened), before, "{what}");
            assert_eq!(all(&mut reopened.reopen()), before, "{what}, rows alone");
        }
    }
}

#[test]
fn what_has_shrunk_is_one_row_again() {
    let mut server = TestServer::new();
    fill(&mut server, 1, MANY);
    checkpoint(&server);
    server.line("LTRIM list 0 9");
    server.line("SPOP set 4990");
    server.line("ZREMRANGEBYRANK zset 10 -1");
    for number in 11..=MANY {
        server.line(&format!("HDEL hash field:{number}"));
    }
    server.line("XTRIM stream MAXLEN 10");
    let before = all(&mut server);
    checkpoint(&server);
    assert_eq!(rows(&server), (KINDS.len(), 0));
    assert_eq!(all(&mut server.reopen()), before);
}

/// Threads change large collections, take them away and put them back, while a checkpoint gathers
/// all of their elements, and then those that have changed, in slices; each time the process ends
/// right after, and what log and rows give is compared with what was there.
#[test]
fn large_collections_change_while_they_are_written() {
    for seed in 0..3 {
        let mut server = TestServer::new();
        for (what, round) in [("all elements", 1), ("elements that have changed", 2)] {
            fill(&mut server, round, FEWER);
            change_during(&server, seed, || {
                checkpoint(&server);
            });
            let before = all(&mut server);
            assert_eq!(all(&mut server.reopen()), before, "seed {seed}, {what}");
        }
        let before = all(&mut server);
        checkpoint(&server);
        assert_eq!(all(&mut server.reopen()), before, "seed {seed}, rows alone");
    }
}

/// Has threads change large collections while something is done.
fn change_during(server: &TestServer, seed: u64, act: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    let begun = Barrier::new(3);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let mut connection = server.another_connection();
            let (stop, begun) = (&stop, &begun);
            scope.spawn(move || {
                let mut random = Random::new(seed * 10 + writer);
                begun.wait();
                while !stop.load(Ordering::Relaxed) {
                    connection.line(&change(&mut random));
                }
            });
        }
        begun.wait();
        act();
        stop.store(true, Ordering::Relaxed);
    });
}

/// Mostly a change of an element, now and then of a whole collection.
fn change(random: &mut Random) -> String {
    let number = random.below(2 * FEWER as u64);
    let (key, add) = KINDS[random.below(KINDS.len() as u64) as usize];
    match random.below(400) {
        0 => format!("RENAME {key} {key}"),
        1 => format!("COPY {key} {key}:copy REPLACE"),
        2 => format!("COPY {key}:copy {key} REPLACE"),
        3 => format!("DEL {key}"),
        4..100 => match key {
            "list" => "LPOP list".to_owned(),
            "set" => format!("SREM set member:{number}"),
            "zset" => format!("ZREM zset member:{number}"),
            "hash" => format!("HDEL hash field:{number}"),
            _ => format!("XDEL stream 1-{number}"),
        },
        _ if key == "stream" => "XADD stream * field value".to_owned(),
        100..150 if key == "list" => format!("LSET list {} other", number % FEWER as u64),
        _ => add.replace("{}", &number.to_string()),
    }
}
