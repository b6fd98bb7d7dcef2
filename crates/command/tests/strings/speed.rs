//! What a command costs through the dispatch, network and log left out. Not a benchmark to compare
//! with others, but quick to ask while working on a hot path:
//! `SPEED=1 cargo test --release -p basalt-command --test main speed -- --nocapture`

use crate::harness::TestServer;
use basalt_resp::{Limits, Output, Parsed, Parser, encode_request};
use std::time::Instant;

const KEYS: usize = 100_000;
const ROUNDS: usize = 20;

#[test]
fn nanoseconds_per_command() {
    if std::env::var_os("SPEED").is_none() {
        return;
    }
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
        "MGET" => [name.to_owned()].into_iter().chain((0..32).map(|i| key(number + i))).collect(),
        "MSET" => {
            let pairs = (0..32).flat_map(|i| [key(number + i), "v".repeat(32)]);
            [name.to_owned()].into_iter().chain(pairs).collect()
        }
        _ => vec![name.to_owned(), key(number)],
    }
}

#[allow(clippy::print_stderr, reason = "the figure is the purpose")]
fn measure(server: &mut TestServer, name: &str) {
    let count = if name.starts_with('M') { KEYS / 32 } else { KEYS };
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
    eprintln!("{name}: {best_ns} ns");
}
