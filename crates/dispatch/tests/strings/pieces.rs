//! Long strings, of which each piece has a row of its own.

use crate::harness::{LogBounds, Stored, TestServer};
use basalt_change::element::{ElementsOf, of_row};
use basalt_change::place::Slot;
use basalt_cold::{CheckpointWriter, ColdTier};
use basalt_engine::EngineError;
use basalt_model::stage::{Cue, Point, Stage, StagedTier};
use basalt_resp::Value;
use basalt_service::wait::Wait;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, mpsc};

/// Three and a half pieces, in the first life of a server.
const LONG: usize = 7 << 19;
const PIECES: usize = 4;

/// Bytes of which no two pieces are the same.
fn long(seed: u8) -> Vec<u8> {
    (0..LONG).map(|at| (at >> 20) as u8 ^ (at >> 10) as u8 ^ at as u8 ^ seed).collect()
}

fn checkpoint(server: &TestServer) {
    server.server.engine.checkpoint().expect("the tier is in memory");
}

/// What is under a key, which is read if it has to be.
fn read(server: &mut TestServer, key: &str) -> Option<Stored> {
    server.run(&["GET", key]);
    server.stored(key)
}

/// A server with a long string in the cold tier, under `{k}a`.
fn with_string() -> TestServer {
    let mut server = TestServer::new();
    server.run(&[b"SET", &b"{k}a"[..], &long(1)]);
    checkpoint(&server);
    server
}

/// The number of objects, and how many pieces there are under each id.
fn rows(server: &TestServer) -> (usize, Vec<usize>) {
    const OBJECT: u8 = 1;
    let (mut objects, mut pieces) = (0, BTreeMap::new());
    let visited = server.tier().scan(&[], &[0xFF; 3], &mut |key, _| {
        match of_row(key) {
            Some(of) => *pieces.entry((of.generation, of.id)).or_default() += 1,
            None => objects += usize::from(key[2] == OBJECT && key[0] != 0xFF),
        }
        ControlFlow::Continue(())
    });
    visited.expect("the tier is in memory");
    (objects, pieces.into_values().collect())
}

fn change_tier(server: &TestServer, change: impl FnOnce(&mut (dyn CheckpointWriter<'_> + '_))) {
    let tier = server.tier();
    let mut writer = tier.checkpoint_writer().expect("it is open");
    change(&mut *writer);
    writer.prepare().expect("there is room").commit().expect("there is room");
}

/// The key of a piece of the `id`th string of the partition.
fn piece_key(id: u64, number: u32) -> Vec<u8> {
    let partition = Slot::of(b"{k}a").partition();
    let mut key = Vec::new();
    ElementsOf { partition, generation: 0, id }.piece_key(number, &mut key);
    key
}

#[test]
fn a_long_string_is_written_in_pieces_and_read_back() {
    let mut server = with_string();
    assert_eq!(rows(&server), (1, vec![PIECES]));
    let (value, dump) = (Value::Bulk(long(1)), server.line("DUMP {k}a"));
    server.run(&["DEBUG", "RELOAD"]);
    assert_eq!(server.line("GET {k}a"), value);
    assert_eq!(server.line("STRLEN {k}a"), Value::Integer(LONG as i64));
    let mut reopened = server.reopen();
    assert_eq!(reopened.line("DBSIZE"), Value::Integer(1));
    assert_eq!(reopened.line("DUMP {k}a"), dump, "read by a command");
    let mut reopened = server.reopen();
    assert_eq!(reopened.line("KEYS *"), Value::Array(vec![Value::Bulk(b"{k}a".to_vec())]));
    assert_eq!(reopened.line("GET {k}a"), value, "read with its partition");
}

#[test]
fn what_is_beside_a_long_string_comes_back_with_it() {
    let mut server = with_string();
    server.line("APPEND {k}a end");
    server.line("PEXPIREAT {k}a 4102444800000");
    checkpoint(&server);
    assert_eq!(rows(&server), (1, vec![PIECES]));
    let mut reopened = server.reopen();
    assert_eq!(reopened.line("PEXPIRETIME {k}a"), Value::Integer(4_102_444_800_000));
    assert_eq!(reopened.line("GETRANGE {k}a -4 -1"), server.line("GETRANGE {k}a -4 -1"));
    assert_eq!(read(&mut reopened, "{k}a"), read(&mut server, "{k}a"), "edited, with an expiry");
}

#[test]
fn no_pieces_are_left_of_a_string_that_has_changed_or_is_gone() {
    type Change = (&'static str, fn(&mut TestServer), (usize, Vec<usize>));
    let whole = || vec![PIECES];
    let changes: [Change; 17] = [
        ("deleted", |server| drop(server.line("DEL {k}a")), (0, vec![])),
        ("flushed", |server| drop(server.line("FLUSHALL")), (0, vec![])),
        ("taken", |server| drop(server.line("GETDEL {k}a")), (0, vec![])),
        ("expired", |server| drop(server.line("PEXPIREAT {k}a 1")), (0, vec![])),
        ("shorter", |server| drop(server.line("SET {k}a short")), (1, vec![])),
        (
            "one piece",
            |server| drop(server.run(&[b"SET", &b"{k}a"[..], &long(2)[..1 << 20]])),
            (1, vec![]),
        ),
        (
            "another kind",
            |server| {
                server.line("RPUSH {k}l value");
                server.line("RENAME {k}l {k}a");
            },
            (1, vec![]),
        ),
        (
            "a copy",
            |server| {
                server.line("SET {k}s short");
                server.line("COPY {k}s {k}a REPLACE");
            },
            (2, vec![]),
        ),
        ("replaced", |server| drop(server.run(&[b"SET", &b"{k}a"[..], &long(2)])), (1, whole())),
        ("appended to", |server| drop(server.line("APPEND {k}a end")), (1, whole())),
        ("a bit", |server| drop(server.line("SETBIT {k}a 9000 1")), (1, whole())),
        ("renamed", |server| drop(server.line("RENAME {k}a {k}b")), (1, whole())),
        ("renamed far away", |server| drop(server.line("RENAME {k}a other")), (1, whole())),
        ("moved", |server| drop(server.line("MOVE {k}a 1")), (1, whole())),
        ("swapped", |server| drop(server.line("SWAPDB 0 3")), (1, whole())),
        ("copied", |server| drop(server.line("COPY {k}a {k}b")), (2, vec![PIECES; 2])),
        (
            "swapped and flushed",
            |server| {
                server.line("SWAPDB 0 3");
                server.line("SELECT 3");
                server.line("FLUSHDB");
            },
            (0, vec![]),
        ),
    ];
    for (what, change, expected) in changes {
        let mut server = with_string();
        change(&mut server);
        checkpoint(&server);
        assert_eq!(rows(&server), expected, "{what}");
    }
}

#[test]
fn no_pieces_are_left_of_a_string_that_nobody_has_read() {
    for (line, objects) in
        [("DEL {k}a", 0), ("SET {k}a short", 1), ("FLUSHALL", 0), ("RENAME {k}s {k}a", 1)]
    {
        let mut server = with_string();
        server.line("SET {k}s short");
        checkpoint(&server);
        server.line(line);
        // The log's replay finds a key that is not in memory.
        let mut reopened = server.reopen();
        checkpoint(&reopened);
        let (found, pieces) = rows(&reopened);
        let others = usize::from(reopened.line("EXISTS {k}s") == Value::Integer(1));
        assert_eq!((found, pieces), (objects + others, vec![]), "{line}");
        assert_eq!(reopened.line("GET {k}a"), server.line("GET {k}a"));
    }
}

#[test]
fn a_log_changes_a_string_in_pieces() {
    for line in [
        "APPEND {k}a end",
        "SETRANGE {k}a 1048570 across-two-pieces",
        "SETBIT {k}a 30000000 1",
        "PEXPIREAT {k}a 4102444800000",
        "RENAME {k}a {k}b",
    ] {
        let mut server = with_string();
        server.line(line);
        let mut reopened = server.reopen();
        for _ in 0..2 {
            for key in ["{k}a", "{k}b"] {
                assert_eq!(read(&mut reopened, key), read(&mut server, key), "{line}");
            }
            checkpoint(&reopened);
            let (objects, pieces) = rows(&reopened);
            assert_eq!((objects, pieces.len()), (1, 1), "{line}");
            reopened = reopened.reopen();
        }
    }
}

/// Pieces have another length in another life of a test's server.
#[test]
fn a_string_of_hundreds_of_pieces_is_read_in_their_order() {
    let mut server = with_string();
    // A life whose strings have short pieces.
    while server.log.records().len() % 3 != 1 {
        server.line("SET other 1");
    }
    let mut server = server.reopen();
    server.run(&[b"SET", &b"{k}b"[..], &long(3)[..200_000]]);
    checkpoint(&server);
    let (objects, mut pieces) = rows(&server);
    pieces.sort_unstable();
    assert_eq!((objects, pieces), (3, vec![PIECES, 400]));
    server.run(&["DEBUG", "RELOAD"]);
    assert_eq!(server.line("GET {k}b"), Value::Bulk(long(3)[..200_000].to_vec()));
    assert_eq!(server.line("GET {k}a"), Value::Bulk(long(1)), "pieces of another length");
}

#[test]
fn what_a_crash_left_under_an_id_is_no_part_of_the_string_that_gets_it() {
    let mut server = TestServer::new();
    change_tier(&server, |writer| {
        for number in [1, 9] {
            writer.put(&piece_key(0, number), b"of a collection that became spread").expect("put");
        }
    });
    server.run(&[b"SET", &b"{k}a"[..], &long(1)]);
    checkpoint(&server);
    assert_eq!(rows(&server), (1, vec![PIECES]));
    server.run(&["DEBUG", "RELOAD"]);
    assert_eq!(server.line("GET {k}a"), Value::Bulk(long(1)));
}

#[test]
fn a_string_without_one_of_its_pieces_is_an_error_and_no_other_string() {
    let piece = |number: u32| long(1)[number as usize * (1 << 20)..][..1 << 19].to_vec();
    type Damage = fn(&mut (dyn CheckpointWriter<'_> + '_), &[u8]);
    let damages: [Damage; 5] = [
        |writer, _| writer.delete(&piece_key(0, 0)).expect("deleted"),
        |writer, _| writer.delete(&piece_key(0, 2)).expect("deleted"),
        |writer, _| writer.delete(&piece_key(0, 3)).expect("deleted"),
        |writer, _| writer.put(&piece_key(0, 4), b"too many").expect("put"),
        |writer, short| writer.put(&piece_key(0, 1), short).expect("put"),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let mut server = with_string();
        server.line("SET {k}b fine");
        checkpoint(&server);
        change_tier(&server, |writer| damage(writer, &piece(1)));
        let mut reopened = server.reopen();
        let (sender, read) = mpsc::channel();
        let done = Box::new(move |result| sender.send(result).expect("someone waits"));
        reopened.server.engine.fetch_partitions(vec![Slot::of(b"{k}a").partition()], done);
        let read: Result<(), EngineError> = read.recv().expect("an answer");
        assert!(matches!(read, Err(EngineError::Row(_))), "damage {number}: {read:?}");
        assert_eq!(reopened.line("GET {k}b"), Value::Bulk(b"fine".to_vec()));
    }
}

/// Commands that would have another string in the place of the one that a checkpoint holds, and
/// others, which do not wait.
const WAITING: [&str; 5] = [
    "BITOP NOT {k}a {k}a",
    "APPEND {k}a x",
    "SETRANGE {k}a 5 x",
    "SETBIT {k}a 9 1",
    "BITFIELD {k}a SET u8 0 1",
];
const GOING_ON: [&str; 5] =
    ["GET {k}a", "BITOP NOT {k}b {k}a", "SETBIT {k}b 9 1", "GETBIT {k}a 9", "COPY {k}a {k}c"];

#[test]
fn what_a_checkpoint_holds_of_a_very_long_string_is_not_copied_beside_it() {
    for line in WAITING {
        let stage = Arc::new(Stage::default());
        let bounds = LogBounds { single_string_bytes_min: LONG, ..LogBounds::default() };
        let staged = |tier| Arc::new(StagedTier::new(tier, &stage)) as Arc<dyn ColdTier>;
        let mut server = TestServer::on_tier(bounds, staged);
        server.run(&[b"SET", &b"{k}a"[..], &long(1)]);
        let mut expected = TestServer::new();
        expected.run(&[b"SET", &b"{k}a"[..], &long(1)]);
        stage.arm(Point::Element);
        let engine = Arc::clone(&server.server.engine);
        let checkpoint = std::thread::spawn(move || engine.checkpoint());
        assert_eq!(stage.wait(&[Point::Element], &|| false), Some(Point::Element));
        let mut other = server.another_connection();
        assert!(matches!(other.run_once(line), Some(Wait::Held)), "{line}");
        assert_eq!(server.stored("{k}a").expect("it is there").value, long(1), "{line}");
        // Nobody else is held up, nor is a transaction, which copies it.
        for line in GOING_ON {
            assert!(!matches!(server.line(line), Value::Error(_)), "{line}");
        }
        server.line("MULTI");
        server.line("SETBIT {k}d 1 1");
        server.line(line);
        assert!(matches!(server.line("EXEC"), Value::Array(replies) if replies.len() == 2));
        // What it has put there is another string, which the checkpoint does not hold.
        expected.line(line);
        let changed = expected.stored("{k}a").expect("it is there").value;
        assert!(server.stored("{k}a").expect("it is there").value == changed, "{line}");
        server.run(&[b"SET", &b"{k}a"[..], &long(1)]);
        assert!(other.run_once(line).is_none(), "{line}");
        stage.cue(Point::Element, Cue::GoOn);
        checkpoint.join().expect("no panic").expect("the tier is in memory");
        let stored = server.stored("{k}a").expect("it is there").value;
        assert!(stored == changed, "{line}");
        let found = read(&mut server.reopen(), "{k}a").expect("it is there");
        assert!(found.value == changed, "{line}");
    }
}
