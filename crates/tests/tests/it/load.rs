//! Much of everything: connections, bytes in a value, replies that nobody reads.

use std::io::Write;
use std::time::{Duration, Instant};

use basalt_resp::{Value, encode_request};
use basalt_tests::client::Connection;
use basalt_tests::descriptors::Thousands;
use basalt_tests::server::{Kind, Launch, Server};

const IDLE_CONNECTIONS: u64 = 10_000;
/// What an idle connection may cost: its state, no buffers.
const IDLE_CONNECTION_BYTES_MAX: u64 = 4096;
/// How long the server may take to give back what they do not need any more.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Descriptors that are not for connections: the server's own, and this process's.
const OTHER_DESCRIPTORS: u64 = 4096;
/// The longest value that Redis takes: 512 MiB.
const VALUE_BYTES_MAX: usize = 512 << 20;

fn integer(value: usize) -> Value {
    Value::Integer(i64::try_from(value).expect("a small number"))
}

#[test]
fn idle_connections_cost_little() {
    let Some(_turn) = Thousands::open(IDLE_CONNECTIONS + OTHER_DESCRIPTORS) else { return };
    let clients = (IDLE_CONNECTIONS + 100).to_string();
    let server = Launch::new(Kind::Basalt).option("maxclients", &clients).start();
    let before = server.resident_bytes();
    let mut connections: Vec<Connection> = Vec::new();
    for _ in 0..IDLE_CONNECTIONS {
        let mut connection = server.connect();
        assert_eq!(connection.run("PING").expect("a reply"), Value::Simple(b"PONG".to_vec()));
        connections.push(connection);
    }
    // Buffers that lie idle are given back after two seconds, and by the allocator a little later.
    let bytes_each = || server.resident_bytes().saturating_sub(before) / IDLE_CONNECTIONS;
    let started = Instant::now();
    let too_many = || !server.is_redis() && bytes_each() >= IDLE_CONNECTION_BYTES_MAX;
    while too_many() && started.elapsed() < IDLE_TIMEOUT {
        std::thread::sleep(Duration::from_millis(100));
    }
    let each = bytes_each();
    eprintln!("{IDLE_CONNECTIONS} idle connections: {each} bytes each");
    let last = connections.last_mut().expect("there are many");
    assert_eq!(last.run("PING").expect("a reply"), Value::Simple(b"PONG".to_vec()));
    if !server.is_redis() {
        assert!(each < IDLE_CONNECTION_BYTES_MAX, "{each} bytes for an idle connection");
    }
}

#[test]
fn the_largest_value_is_set_read_and_no_further_extended() {
    let server = Launch::new(Kind::Basalt).option("appendfsync", "no").start();
    let mut connection = server.connect();
    let mut value: Vec<u8> = (0..VALUE_BYTES_MAX - 1).map(|at| (at % 251) as u8).collect();
    let set = connection.call(&[&b"SET"[..], b"k", &value]).expect("a reply");
    assert_eq!(set, Value::Simple(b"OK".to_vec()));
    value.push(b'!');
    assert_eq!(connection.run("APPEND k !").expect("a reply"), integer(VALUE_BYTES_MAX));
    let too_long =
        Value::Error(b"ERR string exceeds maximum allowed size (proto-max-bulk-len)".to_vec());
    assert_eq!(connection.run("APPEND k !").expect("a reply"), too_long);
    assert_eq!(connection.run("STRLEN k").expect("a reply"), integer(VALUE_BYTES_MAX));
    let tail = connection.run("GETRANGE k -3 -1").expect("a reply");
    assert_eq!(tail, Value::Bulk(value[VALUE_BYTES_MAX - 3..].to_vec()));
    assert!(connection.run("GET k").expect("a reply") == Value::Bulk(value), "another value");
    assert_eq!(connection.run("DEL k").expect("a reply"), integer(1));
}

/// It sends until the server takes no more; the server must neither keep all replies nor stop for
/// others.
#[test]
fn a_client_that_sends_for_ever_without_reading_is_held_back() {
    const REPLIES_BYTES_MAX: u64 = 256 << 20;
    const GREED: Duration = Duration::from_secs(5);
    const PING_TIMEOUT: Duration = Duration::from_secs(20);
    let server = Server::start(Kind::Basalt);
    let value = "v".repeat(100_000);
    server.connect().call(&["SET", "k", &value]).expect("a reply");
    let before = server.resident_bytes();
    let mut requests = Vec::new();
    for _ in 0..1000 {
        encode_request(&["GETRANGE", "k", "0", "9999"], &mut requests);
    }
    let greedy = server.connect();
    let mut sender = greedy.sender().expect("the socket can be shared");
    let started = Instant::now();
    std::thread::scope(|scope| {
        let sending = scope.spawn(move || {
            while started.elapsed() < GREED {
                if let Err(error) = sender.write_all(&requests) {
                    assert!(started.elapsed() >= GREED, "the server hung up: {error}");
                }
            }
        });
        while started.elapsed() < GREED && !sending.is_finished() {
            let asked = Instant::now();
            let pong = server.connect().run("PING").expect("a reply");
            assert_eq!(pong, Value::Simple(b"PONG".to_vec()));
            let took = asked.elapsed();
            assert!(took < PING_TIMEOUT, "others wait: {took:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
        let grown = server.resident_bytes().saturating_sub(before);
        eprintln!("{grown} bytes for a client that does not read");
        if !server.is_redis() {
            assert!(grown < REPLIES_BYTES_MAX, "{grown} bytes for a client that does not read");
        }
        // The sender may be stuck in a write; this ends it.
        greedy.finish_sending().expect("the socket is open");
    });
}
