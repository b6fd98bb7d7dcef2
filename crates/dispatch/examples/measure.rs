//! What a request costs between the socket and the log, in instructions: quick to ask while working
//! on a hot path. `cargo build --release -p basalt-dispatch --example measure`, then `valgrind
//! --tool=callgrind --toggle-collect='*::counted' target/release/examples/measure get`, and divide
//! by the number of requests that it prints.
//!
//! Requests come in as bytes, 50 of one connection in a batch, through the same
//! [`Batch`](basalt_dispatch::Batch) as from a socket. The log is one in memory
//! (`tests/harness/log.rs`): with the word `always` after the first one, replies wait for it, and
//! it acknowledges after every batch. With `monitored`, a client monitors, and what it is told is
//! counted up to its output. With `restricted`, the client's user may use two patterns of keys.
//!
//! The words are those of one command: `get`, `set`, `lpush`, `sadd`, `hset`, `zadd`; or `set-new`,
//! SET of keys that are not there, and `set-binary`, SET of values that are no text. `set-new` and
//! those on collections stand for the long way of commands that change a key. `evalsha` and `fcall`
//! are a script and a function that get their key. `q.put`, `q.get` and `q.ack` are the life of a
//! message: 50 are put, taken and acknowledged, a request for each, and one of the three is
//! counted.
//!
//! It deliberately measures no time and compares with no other server; `basalt-bench` does, over
//! the network.

#[allow(dead_code, reason = "it serves the tests first")]
#[path = "../tests/harness/mod.rs"]
mod harness;

use basalt_env::random::Random;
use basalt_resp::{Output, Value, decode, encode_request};
use harness::{TestServer, bytes_of};

/// Keys: their table and entries take some 20 MB.
const KEYS: usize = 100_000;
/// Collections, each of ten elements in the end.
const COLLECTIONS: usize = 10_000;
const BATCHES: usize = 2_000;
const SCRIPT: &str = "return redis.call('get', KEYS[1])";
const SCRIPT_SHA1: &str = "4e6d8fc8bb01276962cce5371fa795a7763657ae";
const LIBRARY: &str = "#!lua name=lib\n\
    redis.register_function('f', function(keys) return redis.call('get', keys[1]) end)";
/// Requests of a batch.
const PIPELINE: usize = 50;

#[allow(clippy::print_stdout, reason = "the figure is the purpose")]
fn main() {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "get".to_owned()).to_uppercase();
    let words: Vec<String> = words.collect();
    let has = |word: &str| words.iter().any(|given| given == word);
    let mut server = TestServer::new();
    server.log.forget_records();
    if name.starts_with("Q.") {
        measure_messages(&mut server, &name);
    } else {
        if has("restricted") {
            server.line("ACL SETUSER default resetkeys ~key:* ~other:*");
        }
        measure_keys(&mut server, &name, (has("always"), has("monitored")));
    }
    println!("{} requests", BATCHES * PIPELINE);
}

fn measure_keys(server: &mut TestServer, name: &str, (is_gated, is_monitored): (bool, bool)) {
    let filling = (0..KEYS).map(|number| request("SET", number));
    server.serve(filling.flatten().collect(), PIPELINE, &mut Output::new());
    let known = [&["SCRIPT", "LOAD", SCRIPT][..], &["FUNCTION", "LOAD", LIBRARY]];
    for words in known {
        let mut bytes = Vec::new();
        encode_request(words, &mut bytes);
        server.serve(bytes, 1, &mut Output::new());
    }
    if is_gated {
        server.log.stop_acknowledging();
    }
    let inputs: Vec<Vec<u8>> = (0..BATCHES)
        .map(|batch| {
            let numbers = batch * PIPELINE..(batch + 1) * PIPELINE;
            numbers.flat_map(|number| request(name, number)).collect()
        })
        .collect();
    let mut listener = is_monitored.then(|| {
        let mut listener = server.another_connection();
        listener.line("MONITOR");
        listener
    });
    let mut out = Output::new();
    for input in inputs {
        match &mut listener {
            None => counted(server, input, &mut out),
            Some(listener) => counted_told(server, input, (&mut out, listener)),
        }
        server.log.acknowledge();
        server.session.gate.take();
        out.clear();
    }
}

/// The lives of 50 messages after those of 50 others.
fn measure_messages(server: &mut TestServer, name: &str) {
    let body = "m".repeat(100);
    let several = |words: &[&str]| {
        let mut bytes = Vec::new();
        (0..PIPELINE).for_each(|_| encode_request(words, &mut bytes));
        bytes
    };
    let put = several(&["Q.PUT", "q", &body]);
    let get = several(&["Q.GET", "LEASE", "600000", "QUEUES", "q"]);
    for _ in 0..BATCHES {
        let mut run = |of: &str, input: Vec<u8>| {
            let mut out = Output::new();
            if of == name {
                counted(server, input, &mut out);
            } else {
                beside(server, input, &mut out);
            }
            bytes_of(&mut out)
        };
        run("Q.PUT", put.clone());
        let taken = run("Q.GET", get.clone());
        let mut acknowledge = Vec::new();
        for token in tokens(&taken) {
            encode_request(&[&b"Q.ACK"[..], b"q", &token], &mut acknowledge);
        }
        let done = run("Q.ACK", acknowledge);
        assert_eq!(done, b":1\r\n".repeat(PIPELINE), "each token is good");
        server.clock.advance_ms(1);
    }
}

/// The tokens of what these replies to Q.GET deliver.
fn tokens(mut replies: &[u8]) -> Vec<Vec<u8>> {
    let mut tokens = Vec::new();
    while !replies.is_empty() {
        let (reply, len) = decode(replies).expect("a reply").expect("a whole reply");
        replies = &replies[len..];
        let Value::Array(mut deliveries) = reply else { panic!("nothing was delivered") };
        let Value::Array(delivery) = deliveries.remove(0) else { panic!("no delivery") };
        let Value::Bulk(token) = &delivery[1] else { panic!("no token") };
        tokens.push(token.clone());
    }
    tokens
}

/// What callgrind counts.
#[inline(never)]
fn counted(server: &mut TestServer, input: Vec<u8>, out: &mut Output) {
    beside(server, input, out);
}

/// What callgrind counts while a client monitors.
#[inline(never)]
fn counted_told(
    server: &mut TestServer,
    input: Vec<u8>,
    (out, listener): (&mut Output, &mut TestServer),
) {
    beside(server, input, out);
    let mut told = Output::new();
    listener.receive_messages(&mut told);
    assert!(!told.is_empty(), "it is told of every batch");
}

fn beside(server: &mut TestServer, input: Vec<u8>, out: &mut Output) {
    server.worker.begin_turn(&server.server);
    server.serve(input, PIPELINE, out);
    server.worker.hand_over_messages(&server.server);
    server.worker.end_turn(&server.server);
}

/// A value of bytes that are drawn as if at random.
fn binary(number: usize) -> Vec<u8> {
    let mut random = Random::new(number as u64);
    (0..64).map(|_| random.below(256) as u8).collect()
}

/// A request for one of the keys, which are drawn as if at random; commands on collections have
/// fewer keys, of their own.
fn request(name: &str, number: usize) -> Vec<u8> {
    let drawn = number * 7919 % KEYS;
    let key = format!("key:{drawn:012}");
    let collection = format!("{name}:{:06}", drawn % COLLECTIONS);
    let (element, value) = (format!("element:{drawn:012}"), "v".repeat(64));
    let mut bytes = Vec::new();
    match name {
        "SET" => encode_request(&[name, &key, &value], &mut bytes),
        "SET-BINARY" => encode_request(&[b"SET", key.as_bytes(), &binary(number)], &mut bytes),
        "SET-NEW" => encode_request(&["SET", &format!("new:{number:012}"), &value], &mut bytes),
        "LPUSH" | "SADD" => encode_request(&[name, &collection, &element], &mut bytes),
        "HSET" => encode_request(&[name, &collection, &element, &value], &mut bytes),
        "ZADD" => encode_request(&[name, &collection, &drawn.to_string(), &element], &mut bytes),
        "EVALSHA" => encode_request(&[name, SCRIPT_SHA1, "1", &key], &mut bytes),
        "FCALL" => encode_request(&[name, "f", "1", &key], &mut bytes),
        name => encode_request(&[name, &key], &mut bytes),
    }
    bytes
}
