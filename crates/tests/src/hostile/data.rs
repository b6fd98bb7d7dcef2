//! Data that attacks need, loaded quickly.

use crate::client::Connection;
use crate::server::Server;
use basalt_resp::encode_request;

/// Words in a request that loads.
const WORDS_PER_REQUEST: u64 = 2_000;
/// Requests sent before their replies are read.
const REQUESTS_IN_FLIGHT: usize = 32;

/// Sends `command key` with the words of `count` items, many to a request.
pub(super) fn load(
    server: &Server,
    head: &[&str],
    count: u64,
    words: impl Fn(u64, &mut Vec<String>),
) {
    let mut connection = server.connect();
    let (mut next, mut waiting) = (0, 0);
    while next < count {
        let mut request: Vec<String> = head.iter().map(|&word| word.to_owned()).collect();
        while next < count && (request.len() as u64) < WORDS_PER_REQUEST {
            words(next, &mut request);
            next += 1;
        }
        let mut bytes = Vec::new();
        encode_request(&request, &mut bytes);
        connection.send_raw(&bytes).expect("the server takes data");
        waiting += 1;
        if waiting == REQUESTS_IN_FLIGHT {
            receive(&mut connection, std::mem::take(&mut waiting));
        }
    }
    receive(&mut connection, waiting);
}

fn receive(connection: &mut Connection, count: usize) {
    for _ in 0..count {
        let reply = connection.receive().expect("a reply");
        assert!(!matches!(reply, basalt_resp::Value::Error(_)), "{reply:?}");
    }
}

/// `count` strings `key:0`, `key:1` …
pub(super) fn strings(server: &Server, count: u64) {
    load(server, &["MSET"], count, |number, words| {
        words.extend([format!("key:{number}"), "v".to_owned()]);
    });
}

/// A set of `count` words.
pub(super) fn set(server: &Server, key: &str, count: u64) {
    load(server, &["SADD", key], count, |number, words| words.push(format!("member:{number}")));
}

/// A hash of `count` fields.
pub(super) fn hash(server: &Server, key: &str, count: u64) {
    load(server, &["HSET", key], count, |number, words| {
        words.extend([format!("field:{number}"), "value".to_owned()]);
    });
}

/// A sorted set of `count` members.
pub(super) fn sorted_set(server: &Server, key: &str, count: u64) {
    load(server, &["ZADD", key], count, |number, words| {
        words.extend([number.to_string(), format!("member:{number}")]);
    });
}

/// A list of `bytes` in elements of 1 kB.
pub(super) fn list(server: &Server, key: &str, bytes: u64) {
    let element = "x".repeat(1_000);
    load(server, &["RPUSH", key], bytes / 1_000, |_, words| words.push(element.clone()));
}

/// A string of `bytes`.
pub(super) fn string(server: &Server, key: &str, bytes: u64) {
    let offset = bytes.saturating_sub(1).to_string();
    let reply = server.connect().call(&["SETRANGE", key, &offset, "x"]).expect("a reply");
    assert!(matches!(reply, basalt_resp::Value::Integer(_)), "{reply:?}");
}
