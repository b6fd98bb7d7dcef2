//! Rows of the cold tier that cannot be read: what they are part of is left out, and the rest goes
//! on.

use crate::harness::TestServer;
use basalt_change::place::{ShardId, Slot};
use basalt_cold::{CheckpointWriter, ColdTier};
use basalt_engine::{Background, WarmUp};
use basalt_resp::Value;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const MEMBERS: i64 = 2_000;
/// In the third byte of an element's key.
const ELEMENT: u8 = 2;
const OTHERS: usize = 200;

type Row = (Vec<u8>, Vec<u8>);

fn change_tier(server: &TestServer, change: impl FnOnce(&mut (dyn CheckpointWriter<'_> + '_))) {
    let tier = server.tier();
    let mut writer = tier.checkpoint_writer().expect("it is open");
    change(&mut *writer);
    writer.prepare().expect("there is room").commit().expect("there is room");
}

/// The row of some element of a spread collection.
fn element_row(server: &TestServer) -> Row {
    let mut found = None;
    server
        .tier()
        .scan(b"", &[0xFF; 3], &mut |key, value| {
            if key[2] == ELEMENT {
                found = Some((key.to_vec(), value.to_vec()));
            }
            found.as_ref().map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
        })
        .expect("it is open");
    found.expect("the collection is spread")
}

/// A server whose log has a change of a collection that cannot be read, and the row that is
/// missing.
fn damaged() -> (TestServer, Row) {
    let mut server = TestServer::new();
    for number in 0..MEMBERS {
        server.line(&format!("SADD big member-{number:060}"));
    }
    for number in 0..OTHERS {
        server.line(&format!("SET other-{number} 1"));
    }
    server.server.engine.checkpoint().expect("a checkpoint");
    server.line("SADD big late");
    for number in 0..OTHERS {
        server.line(&format!("SET other-{number} 2"));
    }
    let row = element_row(&server);
    change_tier(&server, |writer| writer.delete(&row.0).expect("deleted"));
    (server.reopen(), row)
}

fn shard() -> ShardId {
    Slot::of(b"big").partition().shard()
}

#[test]
fn a_checkpoint_leaves_out_what_it_cannot_read_and_the_log_keeps_it() {
    let (mut server, row) = damaged();
    for _ in 0..2 {
        server.server.engine.checkpoint().expect("the rest is stored");
        let stats = server.server.engine.checkpoint_stats();
        assert_eq!((stats.partitions_left_out, stats.last_error), (1, None));
    }
    let info = server.line("INFO persistence");
    assert!(super::text(&info).contains("checkpoint_partitions_left_out:1"), "{info:?}");
    let records = server.log.records();
    assert!(!records.is_empty() && records.iter().all(|record| record.shard == shard()));

    // The row is put back from a copy.
    change_tier(&server, |writer| writer.put(&row.0, &row.1).expect("put"));
    let mut server = server.reopen();
    assert_eq!(server.line("SCARD big"), Value::Integer(MEMBERS + 1));
    assert_eq!(server.line("SISMEMBER big late"), Value::Integer(1));
    assert_eq!(server.line("GET other-7"), Value::Bulk(b"2".to_vec()));
    server.server.engine.checkpoint().expect("all is stored");
    assert_eq!(server.server.engine.checkpoint_stats().partitions_left_out, 0);
    assert!(server.log.records().is_empty());
}

#[test]
fn warm_up_goes_on_behind_what_it_cannot_read() {
    let (server, _) = damaged();
    let engine = &server.server.engine;
    let background = Background::start(engine, WarmUp::All).expect("threads");
    let start = Instant::now();
    while engine.incomplete(0, basalt_engine::LockWait::Endless).unwrap()
        != [Slot::of(b"big").partition()]
    {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{:?}",
            engine.incomplete(0, basalt_engine::LockWait::Endless).unwrap()
        );
        std::thread::yield_now();
    }
    background.stop();
}
