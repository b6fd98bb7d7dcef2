//! How much a client can be owed.

use crate::harness::TestServer;
use basalt_dispatch::ReplyBounds;
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

/// Bounds that a few replies of [`LARGE_BYTES`] pass.
const SMALL_BOUNDS: ReplyBounds =
    ReplyBounds { reply_bytes_max: 4 * LARGE_BYTES, transaction_bytes_max: 2 * LARGE_BYTES };

fn is_error(value: &Value, text: &str) -> bool {
    matches!(value, Value::Error(error) if error.starts_with(text.as_bytes()))
}

#[test]
fn a_transaction_reads_no_more_when_its_replies_are_large_but_writes_all() {
    for last in ["PING", "CONFIG GET port"] {
        let mut server = server();
        server.worker.reply_bounds = SMALL_BOUNDS;
        server.line("MULTI");
        (0..60).for_each(|_| drop(server.run(&LARGE)));
        server.line("INCR n");
        server.line(last);
        let Value::Array(replies) = server.line("EXEC") else { panic!("the client is answered") };
        assert_eq!(replies.len(), 62);
        assert!(
            replies[..2]
                .iter()
                .all(|reply| matches!(reply, Value::Array(all) if all.len() == 1000))
        );
        assert!(
            replies[3..60]
                .iter()
                .all(|reply| is_error(reply, "ERR the replies of this transaction"))
        );
        assert_eq!(replies[60], Value::Integer(1));
        assert_eq!(server.line("GET n"), Value::Bulk(b"1".to_vec()));
    }
}

#[test]
fn a_read_with_too_large_a_reply_is_an_error_and_a_write_ends_its_connection() {
    let mut server = server();
    server.worker.reply_bounds = SMALL_BOUNDS;
    let value = "v".repeat(10_000);
    server.run(&["SET", "k", &value]);
    server.run(&["HSET", "h", "f", &value]);
    let words = ["MGET"].into_iter().chain(std::iter::repeat_n("k", 1000)).collect::<Vec<_>>();
    let reads: [&[&str]; 2] = [&words, &["HRANDFIELD", "h", "-1000", "WITHVALUES"]];
    for read in reads {
        let mut input = Vec::new();
        encode_request(&["GET", "k"], &mut input);
        encode_request(read, &mut input);
        encode_request(&["GET", "k"], &mut input);
        let bytes = server.run_bytes(input, 3);
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            text.len() < 30_000 && text.contains("-ERR the reply is too large"),
            "{}",
            text.len()
        );
        server.line("MULTI");
        server.line("INCR n");
        server.run(read);
        let Value::Array(replies) = server.line("EXEC") else { panic!("the client is answered") };
        assert!(is_error(&replies[1], "ERR the reply is too large"), "{replies:?}");
    }
    assert!(!server.is_closed());
    // Elements that are popped must not be gone without a word.
    let elements =
        ["RPUSH", "list"].into_iter().chain(std::iter::repeat_n(&*value, 500)).collect::<Vec<_>>();
    server.run(&elements);
    let bytes = server.run_for_bytes(&["RPOP", "list", "500"]);
    assert!(server.is_closed() && bytes.is_empty(), "{} bytes", bytes.len());
}
