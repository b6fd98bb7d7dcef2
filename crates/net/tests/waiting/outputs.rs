//! What clients are owed that do not read.

use crate::harness::{Client, STUCK, TestServer, ok};
use basalt_config::SetOrigin;
use basalt_resp::{Value, encode_request};
use std::time::Instant;

/// The number in a field of a client's line in CLIENT LIST.
fn field(list: &Value, id: i64, name: &str) -> Option<u64> {
    let Value::Bulk(text) = list else { panic!("a text: {list:?}") };
    let text = String::from_utf8_lossy(text);
    let line = text.lines().find(|line| line.starts_with(&format!("id={id} ")))?;
    let field = line.split(' ').find_map(|field| field.strip_prefix(&format!("{name}=")))?;
    field.parse().ok()
}

/// Asks for CLIENT LIST until it shows something; returns that.
fn until(client: &mut Client, shows: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let list = client.line("CLIENT LIST");
        if shows(&list) {
            return list;
        }
        assert!(start.elapsed() < STUCK, "it is never shown: {list:?}");
    }
}

/// As in Redis, what is queued counts, also what the socket would have taken.
#[test]
fn a_client_that_is_owed_more_than_its_limit_is_disconnected_before_anything_is_sent() {
    let server = TestServer::start(1);
    let pair = [&b"client-output-buffer-limit"[..], b"normal 100kb 0 0"];
    server.server.config.prepare_set(&pair, SetOrigin::Server).expect("an option").commit();
    let mut client = server.connect();
    assert_eq!(client.line(&format!("SET k {}", "v".repeat(15_000))), ok());
    let mut input = Vec::new();
    (0..10).for_each(|_| encode_request(&["GET", "k"], &mut input));
    client.send_bytes(&input);
    assert!(client.is_closed(), "not a byte came");
}

#[test]
fn the_memory_of_buffers_is_shown() {
    let server = TestServer::start(1);
    let mut greedy = server.connect();
    let mut other = server.connect();
    assert_eq!(greedy.line(&format!("SET k {}", "v".repeat(1_000_000))), ok());
    let mut input = Vec::new();
    (0..15).for_each(|_| encode_request(&["GET", "k"], &mut input));
    greedy.send_bytes(&input);
    // The socket takes less than two of them.
    let list = until(&mut other, |list| {
        field(list, greedy.id, "omem").is_some_and(|bytes| bytes > 13_000_000)
    });
    let total = field(&list, greedy.id, "tot-mem").expect("a number");
    assert!(total > field(&list, greedy.id, "omem").expect("a number"));
    greedy.send_bytes(b"*2\r\n$3\r\nGET\r\n$100000\r\nhalf of a request");
    let list = until(&mut other, |list| field(list, greedy.id, "qbuf") == Some(39));
    assert!(field(&list, greedy.id, "qbuf-free").is_some_and(|bytes| bytes > 0));
}
