//! How much a client can be owed.

use crate::harness::TestServer;
use basalt_resp::{Value, encode_request};

/// Bytes of a reply to [`LARGE`].
const LARGE_BYTES: usize = 1_000_000;
const LARGE: [&str; 4] = ["LRANGE", "list", "0", "-1"];

fn server() -> TestServer {
    let mut server = TestServer::new();
    let element = "x".repeat(1000);
    let words: Vec<&str> =
        ["RPUSH", "list"].into_iter().chain((0..1000).map(|_| element.as_str())).collect();
    server.run(&words);
    server
}

#[test]
fn a_batch_ends_when_a_client_is_owed_too_much() {
    let mut server = server();
    server.owed_bytes_max = 4 * LARGE_BYTES;
    let mut input = Vec::new();
    (0..64).for_each(|_| encode_request(&LARGE, &mut input));
    let replies = server.run_bytes(input, 64);
    assert!(replies.len() > 64 * LARGE_BYTES, "all are answered in the end");
    let most = server.batch_reply_bytes_max;
    assert!(most < 6 * LARGE_BYTES, "{most} bytes were owed at once");
}

/// Nothing can be sent before the last command of a transaction has run.
#[test]
fn a_transaction_whose_replies_are_too_large_disconnects_its_client_and_is_done() {
    // With a command about the server, replies are written aside.
    for last in ["INCR n", "CONFIG GET port"] {
        let mut server = server();
        server.configure("client-output-buffer-limit", "normal 4mb 0 0");
        server.line("MULTI");
        (0..20).for_each(|_| drop(server.run(&LARGE)));
        server.line("INCR n");
        server.line(last);
        let bytes = server.run_for_bytes(&["EXEC"]);
        assert!(server.is_closed() && bytes.is_empty(), "{} bytes", bytes.len());
        let mut other = server.another_connection();
        assert!(matches!(other.line("GET n"), Value::Bulk(_)), "the commands have run");
    }
}
