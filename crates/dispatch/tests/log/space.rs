//! A log that has no room to be synced.

use crate::harness::TestServer;
use basalt_engine::Refusal;

/// What a checkpoint fails for is known, so that the space that is kept back can be given up: also
/// if it is the log that cannot write what it holds.
#[test]
fn a_checkpoint_knows_that_the_log_has_no_space() {
    let mut server = TestServer::new();
    server.line("SET k v");
    let is_out_of_space =
        |server: &TestServer| server.server.engine.checkpoint_stats().is_out_of_space;
    server.log.fail_syncs(true);
    server.server.engine.checkpoint().expect_err("the log cannot be synced");
    assert!(!is_out_of_space(&server), "for another reason");
    server.log.refuse(Some(Refusal::DiskFull));
    server.server.engine.checkpoint().expect_err("the log cannot be synced");
    assert!(is_out_of_space(&server));
    server.log.fail_syncs(false);
    server.server.engine.checkpoint().expect("the log can be synced");
    assert!(!is_out_of_space(&server));
}
