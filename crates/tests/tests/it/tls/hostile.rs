//! Those who begin handshakes and do not end them, and those who speak something else.

use super::{config_set, greet, info, start};
use basalt_tests::client::Connection;
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Launch};
use rustls::ClientConnection;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it accepts connections");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("an option of sockets");
    stream
}

/// A client's first message.
fn hello(server: &basalt_tests::server::Server) -> Vec<u8> {
    let name = "localhost".try_into().expect("a name");
    let config = server.authority().client();
    let mut client = ClientConnection::new(config, name).expect("a client");
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).expect("memory takes it");
    bytes
}

#[test]
fn plain_clients_on_the_port_of_tls_get_a_clean_end() {
    let server = start();
    let requests: [&[u8]; 4] =
        [b"PING\r\n", b"*1\r\n$4\r\nPING\r\n", b"GET / HTTP/1.1\r\n\r\n", &[0; 20_000]];
    for request in requests {
        let mut stream = connect(server.tls_address());
        stream.write_all(request).unwrap();
        let mut got = Vec::new();
        stream.read_to_end(&mut got).expect("an end, and no reset");
        assert!(got.is_empty(), "{got:?}");
    }
    greet(&server, &server.authority().client()).unwrap();
}

/// Garbage before, in and after handshakes. Whatever it is, the server serves others.
#[test]
fn garbage_ends_the_connection_that_it_comes_by() {
    let server = start();
    let hello = hello(&server);
    let mut random = Random::new(11);
    for round in 0..400 {
        let mut stream = connect(server.tls_address());
        let mut bytes = hello.clone();
        match round % 4 {
            0 => bytes = (0..random.below(2000)).map(|_| random.next_u64() as u8).collect(),
            1 => {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << random.below(8);
            }
            2 => bytes.truncate(random.below(bytes.len() as u64) as usize),
            _ => bytes.extend((0..random.below(500)).map(|_| random.next_u64() as u8)),
        }
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let ended = stream.read_to_end(&mut Vec::new());
        assert!(!matches!(ended, Err(error) if error.kind() == ErrorKind::WouldBlock), "{round}");
    }
    greet(&server, &server.authority().client()).unwrap();
}

/// Garbage behind a good handshake ends that connection only.
#[test]
fn broken_records_end_the_connection() {
    let server = start();
    let name = "localhost".try_into().unwrap();
    let mut client = ClientConnection::new(server.authority().client(), name).unwrap();
    let mut stream = connect(server.tls_address());
    while client.is_handshaking() {
        client.complete_io(&mut stream).unwrap();
    }
    client.writer().write_all(b"SET a 1\r\n").unwrap();
    client.complete_io(&mut stream).unwrap();
    stream.write_all(&[23, 3, 3, 0, 40]).unwrap();
    stream.write_all(&[9; 40]).unwrap();
    // The answer, an alert, and the end.
    let _ = stream.read_to_end(&mut Vec::new());
    let mut connection = server.connect();
    assert_eq!(connection.run("GET a").unwrap(), basalt_resp::Value::Bulk(b"1".to_vec()));
}

/// They have a time, they count as clients, and they keep nobody out who comes without TLS.
#[test]
fn half_a_handshake_has_a_time_and_counts_as_a_client() {
    let launch = Launch::new(Kind::Basalt).tls().unwatched();
    let server = launch.option("maxclients", "100").option("tls-handshake-timeout", "3").start();
    let mut plain = Connection::open(server.address()).unwrap();
    let hello = hello(&server);
    let before = server.resident_bytes();
    let mut halves: Vec<TcpStream> = (0..80)
        .map(|number| {
            let mut stream = connect(server.tls_address());
            // Nothing, a part, or all of the first message.
            let _ = stream.write_all(&hello[..[0, 100, hello.len()][number % 3]]);
            stream
        })
        .collect();
    let began = Instant::now();
    while info(&mut plain, "rejected_connections") != "30" {
        assert!(began.elapsed() < Duration::from_secs(2), "half of maxclients, and no more");
        std::thread::sleep(Duration::from_millis(10));
    }
    let grown = server.resident_bytes().saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes for 50 of them");
    let others: Vec<Connection> =
        (0..40).map(|_| Connection::open(server.address()).unwrap()).collect();
    plain.run("PING").unwrap();
    drop(others);
    for stream in &mut halves {
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert!(began.elapsed() < Duration::from_secs(30));
    greet(&server, &server.authority().client()).unwrap();
}

/// A client that goes away at any point of its handshake leaves nothing behind.
#[test]
fn clients_that_go_in_the_midst_of_a_handshake_leave_nothing() {
    let server = Launch::new(Kind::Basalt).tls().unwatched().option("maxclients", "40").start();
    let hello = hello(&server);
    for round in 0..300 {
        let mut stream = connect(server.tls_address());
        let _ = stream.write_all(&hello[..round * 7 % hello.len()]);
    }
    let began = Instant::now();
    // Every place is free again.
    let mut open: Vec<Connection> = Vec::new();
    while open.len() < 30 {
        match greet(&server, &server.authority().client()) {
            Ok(connection) => open.push(connection),
            Err(error) => {
                assert!(began.elapsed() < Duration::from_secs(30), "{error}");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// Bytes of a handshake that come one by one take no more of anybody's time than those of another.
#[test]
fn a_slow_client_is_let_in_and_holds_up_nobody() {
    let server = start();
    let name = "localhost".try_into().unwrap();
    let config = Arc::clone(&server.authority().client());
    let mut client = ClientConnection::new(config, name).unwrap();
    let mut stream = connect(server.tls_address());
    stream.set_nodelay(true).unwrap();
    while client.is_handshaking() {
        let mut records = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut records).unwrap();
        }
        for byte in records {
            stream.write_all(&[byte]).unwrap();
        }
        if client.is_handshaking() {
            client.read_tls(&mut stream).unwrap();
            client.process_new_packets().unwrap();
        }
    }
    client.writer().write_all(b"PING\r\n").unwrap();
    while client.reader().read(&mut [0; 7]).is_err() {
        client.complete_io(&mut stream).unwrap();
    }
}

#[test]
fn whoever_is_refused_is_told_so_over_tls() {
    let server = Launch::new(Kind::Basalt).tls().unwatched().start();
    let client = server.authority().client();
    let open: Vec<Connection> = (0..5).map(|_| greet(&server, &client).unwrap()).collect();
    assert_eq!(config_set(&server, &[("maxclients", "5")]), None);
    assert!(greet(&server, &client).is_err(), "there are too many");
    drop(open);
}
