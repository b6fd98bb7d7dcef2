//! HTTP, from outside.

mod bodies;
mod command;
mod equality;
mod guard;
mod limits;
mod strings;

use basalt_tests::http::HttpClient;
use basalt_tests::server::{Kind, Launch, Server};
use std::net::SocketAddr;

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
