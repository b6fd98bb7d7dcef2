//! What a request costs a network thread by HTTP, and by Redis' protocol, in instructions: from its
//! poll to the write of the response, with one request a turn, as clients send it that are not
//! enough to keep the thread busy. `cargo xtask instructions` counts all of these with callgrind;
//! by hand it is `valgrind --tool=callgrind --toggle-collect='*run_turn*'
//! target/release/examples/measure_turns get`, divided by the number of requests that it prints.
//!
//! The word says what is sent: `get` and `put` by HTTP, `resp-get` and `resp-set` by Redis'
//! protocol; with `changing` behind it, no head of HTTP has the fields of the one before. Values
//! have 1 KiB, and the sockets are those of TCP: one of Unix says each time when there is room to
//! write again, which may be a turn of its own. The log is one in memory, and what the kernel does
//! is not counted. To adopt the connections takes some instructions a request.

#[allow(dead_code, reason = "it serves the tests first")]
#[path = "../../dispatch/tests/harness/mod.rs"]
mod harness;

use basalt_http::{HttpFront, Logins};
use basalt_net::{Acceptor, Front, Listening, NetThreads, STOP_GRACE};
use basalt_resp::{Output, encode_request};
use harness::TestServer;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

const KEYS: usize = 10_000;
const CONNECTIONS: usize = 50;
const REQUESTS: usize = 20_000;
const VALUE_BYTES: usize = 1024;
/// Requests of a batch of those that put the values.
const PIPELINE: usize = 50;

/// What is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Get { is_changing: bool },
    Put { is_changing: bool },
    RespGet,
    RespSet,
}

impl Kind {
    fn of(word: &str, is_changing: bool) -> Option<Kind> {
        match word {
            "get" => Some(Kind::Get { is_changing }),
            "put" => Some(Kind::Put { is_changing }),
            "resp-get" => Some(Kind::RespGet),
            "resp-set" => Some(Kind::RespSet),
            _ => None,
        }
    }

    fn is_http(self) -> bool {
        matches!(self, Kind::Get { .. } | Kind::Put { .. })
    }

    /// What each response begins with.
    fn start(self) -> &'static [u8] {
        match self {
            Kind::Get { .. } => b"HTTP/1.1 200 OK\r\n",
            Kind::Put { .. } => b"HTTP/1.1 204 No Content\r\n",
            Kind::RespGet => b"$1024\r\n",
            Kind::RespSet => b"+OK\r\n",
        }
    }

    fn request(self, number: usize) -> Vec<u8> {
        let (key, value) = (key(number), "v".repeat(VALUE_BYTES));
        let other =
            |is_changing| if is_changing { format!("X: {number:08}\r\n") } else { String::new() };
        let mut bytes = Vec::new();
        match self {
            Kind::Get { is_changing } => bytes.extend_from_slice(
                format!(
                    "GET /v1/strings/{key} HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
                    other(is_changing)
                )
                .as_bytes(),
            ),
            Kind::Put { is_changing } => bytes.extend_from_slice(
                format!(
                    "PUT /v1/strings/{key} HTTP/1.1\r\nHost: localhost\r\n{}\
                     Content-Length: {VALUE_BYTES}\r\n\r\n{value}",
                    other(is_changing)
                )
                .as_bytes(),
            ),
            Kind::RespGet => encode_request(&["GET", &key], &mut bytes),
            Kind::RespSet => encode_request(&["SET", &key, &value], &mut bytes),
        }
        bytes
    }
}

/// One of the keys, which are drawn as if at random.
fn key(number: usize) -> String {
    format!("key:{:012}", number * 7919 % KEYS)
}

#[allow(clippy::print_stdout, reason = "the figure is the purpose")]
fn main() {
    let mut words = std::env::args().skip(1);
    let word = words.next().unwrap_or_else(|| "get".to_owned());
    let is_changing = words.next().is_some_and(|word| word == "changing");
    let kind = Kind::of(&word, is_changing).expect("get, put, resp-get or resp-set");
    let mut server = TestServer::new();
    server.log.forget_records();
    let filling = (0..KEYS).map(|number| Kind::RespSet.request(number));
    server.serve(filling.flatten().collect(), PIPELINE, &mut Output::new());
    let (resp_port, http_port) = (free_port(), free_port());
    let (acceptor, net) = listen(&server, resp_port, http_port);
    send_all(kind, if kind.is_http() { http_port } else { resp_port });
    acceptor.stop();
    net.stop(STOP_GRACE);
    println!("{REQUESTS} requests");
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is one");
    listener.local_addr().expect("it has one").port()
}

/// Serves both protocols, each at a port of its own.
fn listen(server: &TestServer, resp_port: u16, http_port: u16) -> (Acceptor, NetThreads) {
    let net = NetThreads::start(&server.server).expect("threads");
    let mut network = server.server.config.settings().network.clone();
    (network.port, network.unixsocket) = (resp_port, None);
    let listening = Listening::open(&network).expect("a socket");
    network.port = http_port;
    let (dispatcher, logins) = (Arc::clone(&server.server), Arc::<Logins>::default());
    let front = move || {
        Box::new(HttpFront::new(Arc::clone(&dispatcher), Arc::clone(&logins))) as Box<dyn Front>
    };
    listening.add(&network, front).expect("a socket");
    let acceptor = Acceptor::start(&Arc::new(listening), &server.server, &net).expect("a thread");
    (acceptor, net)
}

/// Sends the requests one after the other, each by the next connection.
fn send_all(kind: Kind, port: u16) {
    let connect = |_| TcpStream::connect(("127.0.0.1", port)).expect("it accepts connections");
    let mut streams: Vec<TcpStream> = (0..CONNECTIONS).map(connect).collect();
    let mut buffer = vec![0; 4 * VALUE_BYTES];
    for number in 0..REQUESTS {
        let stream = &mut streams[number % CONNECTIONS];
        stream.write_all(&kind.request(number)).expect("it is read");
        // A response is written at once.
        let len = stream.read(&mut buffer).expect("a response");
        let response = &buffer[..len];
        assert!(response.starts_with(kind.start()), "{}", response.escape_ascii());
        assert!(kind != Kind::RespGet || response.ends_with(b"v\r\n"));
    }
}
