//! Attacks by HTTP.

use super::attack::{Attack, Scale, Stop, attack};
use super::data;
use crate::descriptors::Thousands;
use crate::http::HttpClient;
use crate::server::Server;

const HALF_HEADS: u64 = 5_000;
/// Bodies in JSON that are as large as one may be.
const JSON_BYTES: u64 = 16 << 20;
const DEAF_CLIENTS: usize = 4;
const PIPELINED: usize = 10_000;
/// Clients that ask for more than fits into a response, each again and again.
const GREEDY_CLIENTS: usize = 5;
const COMMANDS_OF_A_BATCH: usize = 1_000;
const VALUE_BYTES: u64 = 200_000;
/// Clients that read none of the events that they have asked for.
const FEEDS: u64 = 200;
const ENTRIES: u64 = 50;
const ENTRY_BYTES: u64 = 1_000_000;

pub(super) fn web() -> Vec<Attack> {
    vec![
        attack("5,000 half heads by HTTP", half_heads),
        attack("endless chunks of one byte by HTTP", |server, _, stop| {
            endless_chunks(server, stop);
        }),
        attack("JSON of 16 MB by HTTP", large_json),
        Attack {
            prepare: |server, _| data::string(server, "key", 10_000),
            ..attack("10,000 unread requests by HTTP", |server, _, stop| {
                let get = b"GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\n\r\n";
                let mut clients: Vec<HttpClient> =
                    (0..DEAF_CLIENTS).filter_map(|_| connect(server)).collect();
                std::thread::scope(|scope| {
                    for client in &mut clients {
                        scope.spawn(|| client.send(get.repeat(PIPELINED)));
                    }
                    stop.wait();
                    // The server has ended: what is not sent yet fails.
                });
            })
        },
        Attack {
            prepare: |server, scale| data::string(server, "key", scale.of(VALUE_BYTES)),
            ..attack("five clients with batches of 1,000 values of 200 kB", |server, _, stop| {
                greedy_batches(server, stop);
            })
        },
        Attack {
            prepare: large_entries,
            ..attack("200 unread feeds of entries of 1 MB", deaf_feeds)
        },
    ]
}

/// A connection, if the server speaks HTTP and takes one.
fn connect(server: &Server) -> Option<HttpClient> {
    HttpClient::open(server.http_address()?).ok()
}

fn half_heads(server: &Server, scale: Scale, stop: &Stop) {
    let count = scale.of(HALF_HEADS);
    let Some(_permission) = Thousands::open(count + 1_000) else { return };
    let mut clients = Vec::new();
    while !stop.is_set() && (clients.len() as u64) < count {
        let Some(mut client) = connect(server) else { break };
        if client.send("PUT /v1/strings/key HTTP/1.1\r\nHost: localhost\r\nX: ").is_ok() {
            clients.push(client);
        }
    }
    // A byte at a time, so that nobody is silent.
    while !stop.is_set() {
        for client in &mut clients {
            let _ = client.send("x");
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

fn endless_chunks(server: &Server, stop: &Stop) {
    let chunks = b"1\r\nx\r\n".repeat(4_000);
    while !stop.is_set() {
        let Some(mut client) = connect(server) else { return };
        let head = "PUT /v1/strings/key HTTP/1.1\r\nHost: localhost\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
        let mut goes_on = client.send(head).is_ok();
        while goes_on && !stop.is_set() {
            goes_on = client.send(&chunks).is_ok();
        }
    }
}

/// As many words as there can be, one that is all escapes, and arrays in arrays.
fn large_json(server: &Server, scale: Scale, stop: &Stop) {
    let bytes = scale.of(JSON_BYTES) as usize - 20;
    let bodies = [
        ["[\"ECHO\"", &",1".repeat(bytes / 2), "]"].concat(),
        ["[\"ECHO\",\"", &"\\u00e9".repeat(bytes / 6), "\"]"].concat(),
        "[".repeat(bytes),
    ];
    let Some(mut client) = connect(server) else { return };
    for body in bodies.iter().cycle() {
        let fields = "Content-Type: application/json\r\n";
        let sent = client.request("POST /v1/command", fields, body.as_bytes());
        if stop.is_set() || sent.is_err() || client.response().is_err() {
            return;
        }
    }
}

fn greedy_batches(server: &Server, stop: &Stop) {
    let body = format!("[{}]", vec!["[\"GET\",\"key\"]"; COMMANDS_OF_A_BATCH].join(","));
    std::thread::scope(|scope| {
        for _ in 0..GREEDY_CLIENTS {
            scope.spawn(|| {
                let Some(mut client) = connect(server) else { return };
                let fields = "Content-Type: application/json\r\n";
                let mut goes_on = true;
                while goes_on && !stop.is_set() {
                    goes_on = client.request("POST /v1/batch", fields, body.as_bytes()).is_ok();
                }
            });
        }
        stop.wait();
        // The server has ended: what is not sent yet fails.
    });
}

fn large_entries(server: &Server, scale: Scale) {
    let value = "x".repeat(scale.of(ENTRY_BYTES) as usize);
    let mut connection = server.connect();
    for _ in 0..ENTRIES {
        let reply = connection.call(&["XADD", "stream", "*", "data", &value]).expect("a reply");
        assert!(matches!(reply, basalt_resp::Value::Bulk(_)), "{reply:?}");
    }
}

fn deaf_feeds(server: &Server, scale: Scale, stop: &Stop) {
    let mut clients: Vec<HttpClient> =
        (0..scale.of(FEEDS)).filter_map(|_| connect(server)).collect();
    for client in &mut clients {
        let accept = "Accept: text/event-stream\r\n";
        let _ = client.request("GET /v1/streams/stream?after=0-0", accept, b"");
    }
    stop.wait();
}
