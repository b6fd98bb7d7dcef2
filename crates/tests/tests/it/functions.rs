//! Libraries of functions in whole servers: across kill -9, and on every network thread.
//!
//! `BASALT_CRASH_ROUNDS` sets the number of kills, `BASALT_SEED` reproduces the choices.

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Launch, Server};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const ROUNDS: u64 = 6;
const LIBRARIES: u64 = 12;
/// Changes before the server is killed, at most.
const CHANGES_MAX: u64 = 60;

fn launch(dir: &Path) -> Server {
    let launch = Launch::new(Kind::Basalt).dir(dir).allow_log("torn tail");
    // Short enough that checkpoints run meanwhile.
    let launch = launch.option("checkpoint-log-size", "1mb").option("io-threads", "2");
    launch.option("appendonly", "yes").option("appendfsync", "always").start()
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// What was acknowledged of each library: what its function returns.
type Known = BTreeMap<u64, u64>;

fn library(name: u64, returns: u64) -> String {
    let padding = "x".repeat(2000);
    format!(
        "#!lua name=lib{name}\n-- {padding}\n\
         redis.register_function('f{name}', function() return {returns} end)"
    )
}

/// One change that is acknowledged.
fn change(connection: &mut Connection, random: &mut Random, known: &mut Known) {
    let name = random.below(LIBRARIES);
    match random.below(12) {
        0 => drop(connection.run("FLUSHALL").expect("an answer")),
        1 => drop(connection.run("BGSAVE").expect("an answer")),
        2 => {
            assert_eq!(connection.run("FUNCTION FLUSH").expect("an answer"), ok());
            known.clear();
        }
        3..=5 => {
            let reply = connection.run(&format!("FUNCTION DELETE lib{name}")).expect("an answer");
            assert_eq!(reply == ok(), known.remove(&name).is_some(), "{reply:?}");
        }
        _ => {
            let returns = random.below(1 << 30);
            let load = ["FUNCTION", "LOAD", "REPLACE", &library(name, returns)];
            let reply = connection.call(&load).expect("an answer");
            assert_eq!(reply, Value::Bulk(format!("lib{name}").into_bytes()));
            known.insert(name, returns);
            drop(connection.run(&format!("SET k{name} {returns}")).expect("an answer"));
        }
    }
}

fn ok() -> Value {
    Value::Simple(b"OK".to_vec())
}

/// Asks several connections, which different threads serve.
fn verify(server: &Server, known: &Known) {
    for _ in 0..4 {
        let mut connection = server.connect();
        for name in 0..LIBRARIES {
            let reply = connection.run(&format!("FCALL f{name} 0")).expect("an answer");
            match known.get(&name) {
                Some(&returns) => assert_eq!(reply, Value::Integer(returns as i64), "f{name}"),
                None => assert!(matches!(reply, Value::Error(_)), "f{name}: {reply:?}"),
            }
        }
    }
}

#[test]
fn functions_that_were_acknowledged_survive_kills() {
    let dir = tempfile::tempdir().expect("a directory");
    let seed = number("BASALT_SEED", 1);
    let (mut random, mut known) = (Random::new(seed), Known::new());
    for round in 0..number("BASALT_CRASH_ROUNDS", ROUNDS) {
        let mut server = launch(dir.path());
        verify(&server, &known);
        let mut connection = server.connect();
        for _ in 0..1 + random.below(CHANGES_MAX) {
            change(&mut connection, &mut random, &mut known);
        }
        verify(&server, &known);
        eprintln!("seed {seed}, round {round}: {} libraries", known.len());
        server.kill();
    }
    let mut server = launch(dir.path());
    verify(&server, &known);
    server.signal("TERM");
    server.wait(Duration::from_secs(60)).expect("the server ends");
    verify(&launch(dir.path()), &known);
}
