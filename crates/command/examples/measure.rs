//! What a command costs through the dispatch, network and log left out: quick to ask while working
//! on a hot path. `cargo run --release -p basalt-command --example measure`
//!
//! It deliberately does not compare with other servers; `basalt-bench` does, over the network.

#[allow(dead_code, reason = "it serves the tests first")]
#[path = "../tests/harness/mod.rs"]
mod harness;

use basalt_resp::{Limits, Output, Parsed, Parser, encode_request};
use harness::TestServer;
use std::time::Instant;

/// Keys: few enough that a round ends before the system gives the core to someone else.
const KEYS: usize = 10_000;
/// The best of so many rounds counts.
const ROUNDS: usize = 200;
/// Keys of one MGET or MSET.
const MANY: usize = 32;

fn main() {
    let mut server = TestServer::new();
    server.log.forget_records();
    for name in ["SET", "GET", "INCR", "APPEND", "MGET", "MSET"] {
        measure(&mut server, name);
    }
}

fn words(name: &str, number: usize) -> Vec<String> {
    let key = |number: usize| format!("key:{:012}", number * 7919 % KEYS);
    match name {
        "SET" => vec![name.to_owned(), key(number), "v".repeat(32)],
        "APPEND" => vec![name.to_owned(), key(number), "x".to_owned()],
        "INCR" => vec![name.to_owned(), format!("counter:{}", number % KEYS)],
        "MGET" => [name.to_owned()].into_iter().chain((0..MANY).map(|i| key(number + i))).collect(),
        "MSET" => {
            let pairs = (0..MANY).flat_map(|i| [key(number + i), "v".repeat(32)]);
            [name.to_owned()].into_iter().chain(pairs).collect()
        }
        _ => vec![name.to_owned(), key(number)],
    }
}

#[allow(clippy::print_stdout, reason = "the figure is the purpose")]
fn measure(server: &mut TestServer, name: &str) {
    let count = if name.starts_with('M') { KEYS / MANY } else { KEYS };
    let requests: Vec<_> = (0..count)
        .map(|number| {
            let (mut bytes, mut args) = (Vec::new(), Vec::new());
            encode_request(&words(name, number), &mut bytes);
            let parsed = Parser::default().parse(&mut bytes, 0, &Limits::default(), &mut args);
            assert!(matches!(parsed, Ok(Parsed::Request { .. })));
            (bytes, args)
        })
        .collect();
    let mut out = Output::new();
    let mut best_ns = u128::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for (bytes, args) in &requests {
            server.execute(bytes, args, &mut out);
            out.clear();
        }
        best_ns = best_ns.min(start.elapsed().as_nanos() / count as u128);
    }
    println!("{name}: {best_ns} ns");
}
