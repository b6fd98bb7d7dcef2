//! What metrics are told of queues.

use crate::harness::TestServer;
use basalt_engine::{LockWait, QueueCensus};

fn census(server: &TestServer, largest_max: usize) -> QueueCensus {
    let census = server.server.engine.queue_census(largest_max, LockWait::Endless);
    census.expect("nobody holds a partition")
}

fn names(census: &QueueCensus) -> Vec<(u8, &str, u64)> {
    let name = |it: &basalt_engine::NamedQueue| it.figures.ready + it.figures.leased;
    census.largest.iter().map(|it| (it.db, &*it.name, name(it))).collect()
}

#[test]
fn the_largest_queues_have_their_names_and_the_others_are_one() {
    let mut server = TestServer::new();
    // One partition has more of them than are counted under one lock.
    for number in 0..300 {
        server.run(&["Q.PUT", &format!("{{tag}}{number:03}"), "a"]);
    }
    server.run(&["Q.MPUT", "{tag}007", "3", "a", "b", "c"]);
    server.run(&["Q.GET", "LEASE", "60000", "QUEUES", "{tag}007"]);
    server.run(&["Q.MPUT", "other", "2", "a", "b"]);
    server.run(&["SELECT", "3"]);
    server.run(&["Q.MPUT", "third", "3", "a", "b", "c"]);
    server.run(&["Q.MPUT", &"x".repeat(200), "9", "a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    server.clock.advance_ms(2_000);
    let seen = census(&server, 3);
    assert_eq!(names(&seen), [(0, "{tag}007", 4), (3, "third", 3), (0, "other", 2)]);
    let first = &seen.largest[0].figures;
    assert_eq!((first.leased, first.totals.put, first.oldest_ready_ms), (1, 4, 2_000));
    assert_eq!((seen.count, seen.others.ready), (303, 299 + 9));
    // What is no queue any more is not one here.
    server.run(&["SET", "third", "value"]);
    server.run(&["SELECT", "0"]);
    server.run(&["RENAME", "other", "renamed"]);
    server.run(&["DEL", "{tag}007"]);
    let seen = census(&server, 1);
    assert_eq!((seen.count, names(&seen)), (301, vec![(0, "renamed", 2)]));
    server.run(&["FLUSHALL"]);
    assert_eq!(census(&server, 3), QueueCensus::default());
}
