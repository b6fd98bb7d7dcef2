//! TLS: which clients come in, what becomes of those that misbehave, and certificates that are
//! exchanged.

mod certificates;
mod hostile;
mod http;
mod stock;
mod traffic;

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch, Server};
use rustls::ClientConfig;
use std::io;
use std::sync::Arc;

fn start() -> Server {
    Launch::new(Kind::Basalt).tls().start()
}

/// Connects by TLS as a client, and has it say something: a client that is refused for its
/// certificate hears of that only then, by TLS 1.3.
fn greet(server: &Server, client: &Arc<ClientConfig>) -> io::Result<Connection> {
    let mut connection = Connection::open_tls(server.tls_address(), client)?;
    match connection.call(&["PING"])? {
        Value::Error(text) => Err(io::Error::other(String::from_utf8_lossy(&text).into_owned())),
        _ => Ok(connection),
    }
}

/// CONFIG SET over a plain connection; returns the error, if it is one.
fn config_set(server: &Server, pairs: &[(&str, &str)]) -> Option<String> {
    let mut connection = Connection::open(server.address()).expect("it accepts connections");
    let mut words = vec!["CONFIG", "SET"];
    words.extend(pairs.iter().flat_map(|&(name, value)| [name, value]));
    match connection.call(&words).expect("an answer") {
        Value::Error(text) => Some(String::from_utf8_lossy(&text).into_owned()),
        _ => None,
    }
}

/// A figure of INFO.
fn info(connection: &mut Connection, name: &str) -> String {
    let Ok(Value::Bulk(text)) = connection.call(&["INFO", "everything"]) else {
        panic!("INFO answers with text")
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {name} in INFO")).trim().to_owned()
}
