//! What time it is for a command.

use crate::harness::{TestServer, requests};
use basalt_resp::Value;

const LONG_MS: u64 = 5_000;

/// A key that lives for a second is not born expired because the command before it in its batch
/// took five.
#[test]
fn time_goes_on_within_a_batch() {
    let mut server = TestServer::new();
    server.host.applying_takes(&server.clock, LONG_MS);
    let input = requests(&["CONFIG SET maxclients 77", "SET k v PX 1000", "GET k", "PTTL k"]);
    let replies = server.run_bytes(input, 64);
    assert_eq!(String::from_utf8_lossy(&replies), "+OK\r\n+OK\r\n$1\r\nv\r\n:1000\r\n");
    assert_eq!(server.line("PTTL k"), Value::Integer(1000));
}

/// All commands of a transaction see one moment, as in Redis: the one at which it began.
#[test]
fn time_stands_still_within_a_transaction() {
    let mut server = TestServer::new();
    server.host.applying_takes(&server.clock, LONG_MS);
    server.line("SET k v PX 1000");
    let queued = ["MULTI", "CONFIG SET maxclients 77", "GET k", "EXEC", "GET k"];
    let replies = server.run_bytes(requests(&queued), 64);
    let expected = "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n$1\r\nv\r\n$-1\r\n";
    assert_eq!(String::from_utf8_lossy(&replies), expected);
}
