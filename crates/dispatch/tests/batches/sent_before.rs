//! Replies of other clients are sent before something that is likely to take long.

use crate::harness::{TestServer, requests};

/// Runs a transaction; how often replies of others were to be sent before it.
fn sent_before(server: &mut TestServer, command: &str) -> usize {
    let before = server.sent_before;
    server.run_bytes(requests(&["MULTI", command, "EXEC"]), 1);
    server.sent_before - before
}

#[test]
fn what_follows_something_that_took_long_has_replies_sent_before() {
    let mut server = TestServer::new();
    let clock = server.clock.clone();
    server.host.applying_takes(&clock, 1);
    let (long, quick) = ("CONFIG SET hz 20", "PING");
    assert_eq!(sent_before(&mut server, long), 0, "nobody knew");
    assert_eq!(sent_before(&mut server, long), 1);
    assert_eq!(sent_before(&mut server, quick), 1, "nobody knew");
    // One that is quick may be interrupted for long.
    while sent_before(&mut server, quick) > 0 {}
}
