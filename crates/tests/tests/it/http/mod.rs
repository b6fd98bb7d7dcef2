//! HTTP, from outside.

mod batch;
mod bodies;
mod collections;
mod command;
mod console;
mod contract;
mod databases;
mod durable;
mod elements;
mod equality;
mod examples;
mod groups;
mod guard;
mod hostile;
mod hust;
mod limits;
mod metrics;
mod monitoring;
mod push;
mod queue_events;
mod queues;
mod refusals;
mod strings;
mod tags;
mod watched;
mod websocket;

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use basalt_tests::server::{Kind, Launch, Server};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A server that also speaks HTTP, and where.
fn start(options: &[(&str, &str)]) -> (Server, SocketAddr) {
    let launch = Launch::new(Kind::Basalt).with_http();
    let launch = options.iter().fold(launch, |launch, (name, value)| launch.option(name, value));
    let server = launch.start();
    let address = server.http_address().expect("it was told a port");
    (server, address)
}

fn client(address: SocketAddr) -> HttpClient {
    HttpClient::open(address).expect("it listens")
}

/// Waits until this many clients wait for a key.
fn wait_for_blocked(redis: &mut Connection, count: usize) {
    let line = format!("blocked_clients:{count}\r\n");
    let is_blocked = |info: &Value| match info {
        Value::Bulk(text) => String::from_utf8_lossy(text).contains(&line),
        other => panic!("{other:?}"),
    };
    let start = Instant::now();
    while !is_blocked(&redis.run("INFO clients").unwrap()) {
        assert!(start.elapsed() < Duration::from_secs(30), "{line}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
