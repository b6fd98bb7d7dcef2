//! Clients that misbehave or overload: the server goes on and stays quick for the others.

use std::time::{Duration, Instant};

use basalt_resp::{Value, encode_request};
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Launch, Server};

/// How long another client's PING may take while one client misbehaves: on a busy machine, too.
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// How long something may take that is awaited.
const PATIENCE: Duration = Duration::from_secs(120);

fn assert_alive(server: &Server) {
    let started = Instant::now();
    let reply = server.connect().run("PING").expect("the server answers");
    assert_eq!(reply, Value::Simple(b"PONG".to_vec()));
    let took = started.elapsed();
    assert!(took < PING_TIMEOUT, "PING took {took:?}");
}

#[test]
fn garbage_harms_nobody() {
    let server = Server::start(Kind::Basalt);
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    for round in 0..300 {
        let mut connection = server.connect();
        let length = 1 + random.below(2_000) as usize;
        let mut bytes = random.bytes(length);
        // Half of the rounds look like requests at first, to get further into the parser.
        if round % 2 == 0 {
            let start = format!("*{}\r\n${}\r\n", random.below(5), random.below(20));
            bytes.splice(0..0, start.into_bytes());
        }
        // The server may hang up at any moment; that is its right.
        let _ = connection.send_raw(&bytes);
        let _ = connection.finish_sending();
        let _ = connection.receive_to_end();
    }
    assert_alive(&server);
}

#[test]
fn mutated_requests_harm_nobody() {
    let server = Server::start(Kind::Basalt);
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    for _ in 0..300 {
        let mut bytes = Vec::new();
        encode_request(&["SET", "key", "value", "EX", "100"], &mut bytes);
        encode_request(&["MGET", "key", "other"], &mut bytes);
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next_u64() as u8;
        }
        let mut connection = server.connect();
        let _ = connection.send_raw(&bytes);
        let _ = connection.finish_sending();
        let _ = connection.receive_to_end();
    }
    assert_alive(&server);
}

#[test]
fn half_a_request_and_then_the_end() {
    let server = Server::start(Kind::Basalt);
    let mut request = Vec::new();
    encode_request(&["SET", "half", &"x".repeat(100_000)], &mut request);
    for length in [1, 4, 8, 20, 1_000, request.len() - 1] {
        let mut connection = server.connect();
        connection.send_raw(&request[..length]).expect("half a request is sent");
        connection.finish_sending().expect("the end is sent");
        assert_eq!(connection.receive_to_end().expect("the server ends it too"), b"", "{length}");
    }
    let reply = server.connect().run("EXISTS half").expect("a reply");
    assert_eq!(reply, Value::Integer(0));
}

/// The last bytes and the end may come to the server as one event.
#[test]
fn the_end_right_behind_a_request_is_seen() {
    let server = Server::start(Kind::Basalt);
    for round in 0..50 {
        let mut connection = server.connect();
        connection.send_raw(b"PING\r\n").expect("a request is sent");
        connection.finish_sending().expect("the end is sent");
        let rest = connection.receive_to_end().expect("the server ends it too");
        assert_eq!(rest, b"+PONG\r\n", "round {round}");
    }
}

#[test]
fn a_long_pipeline_is_answered_in_order() {
    let server = Server::start(Kind::Basalt);
    let mut connection = server.connect();
    let count = 10_000;
    let mut requests = Vec::new();
    for index in 0..count {
        let text = index.to_string();
        match index % 3 {
            0 => encode_request(&["ECHO", &text], &mut requests),
            1 => encode_request(&["INCR", "counter"], &mut requests),
            _ => encode_request(&["NOSUCH", &text], &mut requests),
        }
    }
    let mut sender = connection.sender().expect("the socket can be shared");
    std::thread::scope(|scope| {
        scope.spawn(move || std::io::Write::write_all(&mut sender, &requests).expect("it is sent"));
        for index in 0..count {
            match (index % 3, connection.receive().expect("a reply")) {
                (0, Value::Bulk(text)) => assert_eq!(text, index.to_string().into_bytes()),
                (1, Value::Integer(counter)) => assert_eq!(counter, index / 3 + 1),
                (2, Value::Error(text)) => assert!(text.starts_with(b"ERR unknown command")),
                (_, other) => panic!("reply {index} is {other:?}"),
            }
        }
    });
}

#[test]
fn a_slow_reader_holds_nobody_up() {
    let server = Server::start(Kind::Basalt);
    let mut slow = server.connect();
    let value = vec![b'v'; 1024 * 1024];
    slow.call(&[b"SET".to_vec(), b"big".to_vec(), value.clone()]).expect("a reply");
    let replies = 64;
    for _ in 0..replies {
        slow.send(&["GET", "big"]).expect("a request is sent");
    }
    // 64 MiB are asked for now and nobody reads them.
    for _ in 0..20 {
        assert_alive(&server);
    }
    for _ in 0..replies {
        assert!(slow.receive().expect("a reply") == Value::Bulk(value.clone()), "a broken reply");
    }
}

#[test]
fn a_client_that_leaves_without_reading_harms_nobody() {
    let server = Server::start(Kind::Basalt);
    let value = "v".repeat(1024 * 1024);
    server.connect().call(&["SET", "big", &value]).expect("a reply");
    for _ in 0..10 {
        let mut connection = server.connect();
        for _ in 0..20 {
            connection.send(&["GET", "big"]).expect("a request is sent");
        }
    }
    assert_alive(&server);
}

#[test]
fn many_connections_at_once() {
    let server = Server::start(Kind::Basalt);
    let mut connections: Vec<_> = (0..500).map(|_| server.connect()).collect();
    for round in 0..3 {
        for connection in &mut connections {
            connection.send(&["INCR", "counter"]).expect("a request is sent");
        }
        for connection in &mut connections {
            let reply = connection.receive().expect("a reply");
            assert!(matches!(reply, Value::Integer(1..=1_500)), "round {round}: {reply:?}");
        }
    }
    let reply = server.connect().run("GET counter").expect("a reply");
    assert_eq!(reply, Value::Bulk(b"1500".to_vec()));
}

/// Without output limits nothing else ends a connection whose last replies nobody reads.
#[test]
fn a_client_that_ends_without_reading_is_let_go() {
    let server = Launch::new(Kind::Basalt).unwatched().start();
    let mut admin = server.connect();
    let clients = |admin: &mut basalt_tests::client::Connection| {
        let Ok(Value::Bulk(list)) = admin.run("CLIENT LIST") else { panic!("a list") };
        list.iter().filter(|&&byte| byte == b'\n').count()
    };
    let deadline = Instant::now() + PATIENCE;
    // The one that looked whether the server is there has gone, but perhaps not from its list.
    while clients(&mut admin) > 1 {
        assert!(Instant::now() < deadline, "the first one is still there");
    }
    // More than the sockets hold, and less than what is owed to a client whose requests wait: its
    // QUIT would not be read.
    let value = "x".repeat(15 << 20);
    admin.call(&["SET", "large", &value]).expect("set");
    let mut silent = server.connect();
    silent.run("PING").expect("a reply");
    silent.send(&["GET", "large"]).expect("sent");
    silent.send(&["QUIT"]).expect("sent");
    while clients(&mut admin) > 1 {
        assert!(Instant::now() < deadline, "it is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_alive(&server);
}
