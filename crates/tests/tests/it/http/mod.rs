//! HTTP, from outside.

mod bodies;
mod command;
mod equality;
mod guard;
mod limits;
mod strings;

use basalt_tests::http::HttpClient;
use basalt_tests::server::{Kind, Launch, Server, free_port};
use std::net::{Ipv4Addr, SocketAddr};

/// A server that also speaks HTTP, and where.
fn start(options: &[(&str, &str)]) -> (Server, SocketAddr) {
    // Another process may take the port first.
    for _ in 0..20 {
        let port = free_port().expect("a free port");
        let mut launch = Launch::new(Kind::Basalt).option("http-port", &port.to_string());
        for (name, value) in options {
            launch = launch.option(name, value);
        }
        let server = launch.start();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if HttpClient::open(address).is_ok() {
            return (server, address);
        }
    }
    panic!("no port for HTTP");
}

fn client(address: SocketAddr) -> HttpClient {
    HttpClient::open(address).expect("it listens")
}
