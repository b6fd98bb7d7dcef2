//! Publishing and subscribing over sockets: order, many subscribers, slow ones, ones that go.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::descriptors::Thousands;
use basalt_tests::server::{Kind, Launch, Server};

/// How long something may take that is awaited.
const PATIENCE: Duration = Duration::from_secs(120);

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

/// A new connection that has subscribed to a channel.
fn subscriber(server: &Server, channel: &str) -> Connection {
    let mut connection = server.connect();
    let confirmation = connection.call(&["SUBSCRIBE", channel]).expect("a confirmation");
    let expected = Value::Array(vec![bulk("subscribe"), bulk(channel), Value::Integer(1)]);
    assert_eq!(confirmation, expected);
    connection
}

/// The payload of the next message.
fn payload(connection: &mut Connection) -> Vec<u8> {
    let message = connection.receive().expect("a message");
    let Value::Array(mut parts) = message else { panic!("a message, not {message:?}") };
    let Some(Value::Bulk(payload)) = parts.pop() else { panic!("a message, not {parts:?}") };
    payload
}

/// Asks until the answer is as expected.
fn await_answer(server: &Server, command: &[&str], expected: &Value) {
    let mut connection = server.connect();
    let started = Instant::now();
    loop {
        let answer = connection.call(command).expect("an answer");
        if answer == *expected {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{command:?} still answers {answer:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn each_publisher_is_heard_in_order_by_all() {
    const PUBLISHERS: usize = 4;
    const MESSAGES: usize = 2_000;
    let server = Server::start(Kind::Basalt);
    let mut subscribers: Vec<Connection> = (0..3).map(|_| subscriber(&server, "c")).collect();
    let mut by_pattern = server.connect();
    by_pattern.run("PSUBSCRIBE c*").expect("a confirmation");
    subscribers.push(by_pattern);
    std::thread::scope(|scope| {
        for publisher in 0..PUBLISHERS {
            let mut connection = server.connect();
            scope.spawn(move || {
                for number in 0..MESSAGES {
                    let text = format!("{publisher} {number}");
                    connection.send(&["PUBLISH", "c", &text]).expect("a request");
                }
                for _ in 0..MESSAGES {
                    assert_eq!(connection.receive().expect("a reply"), Value::Integer(4));
                }
            });
        }
        for connection in &mut subscribers {
            scope.spawn(move || {
                let mut next = HashMap::new();
                for _ in 0..PUBLISHERS * MESSAGES {
                    let text = String::from_utf8(payload(connection)).expect("text");
                    let (publisher, number) = text.split_once(' ').expect("two numbers");
                    let expected = next.entry(publisher.to_owned()).or_insert(0);
                    assert_eq!(number, expected.to_string(), "of publisher {publisher}");
                    *expected += 1;
                }
            });
        }
    });
}

#[test]
fn one_message_reaches_thousands() {
    const SUBSCRIBERS: usize = 9_000;
    // The server has a limit of its own; what it and this process need besides is less than the
    // rest.
    let Some(_turn) = Thousands::open(SUBSCRIBERS as u64 + 4_000) else { return };
    let server = Launch::new(Kind::Basalt).option("maxclients", "10000").start();
    let mut subscribers: Vec<Connection> =
        (0..SUBSCRIBERS).map(|_| subscriber(&server, "all")).collect();
    let mut publisher = server.connect();
    let everybody = Value::Integer(SUBSCRIBERS as i64);
    let started = Instant::now();
    for text in ["one", "two", "three"] {
        let reply = publisher.call(&["PUBLISH", "all", text]).expect("a reply");
        assert_eq!(reply, everybody);
    }
    for connection in &mut subscribers {
        for text in ["one", "two", "three"] {
            assert_eq!(payload(connection), text.as_bytes());
        }
    }
    eprintln!("three messages to {SUBSCRIBERS} subscribers in {:?}", started.elapsed());
    drop(subscribers);
    await_answer(&server, &["PUBLISH", "all", "nobody"], &Value::Integer(0));
}

/// Publishes until the only subscriber has been disconnected; returns how many bytes that took.
fn publish_until_gone(publisher: &mut Connection, payload: &str) -> usize {
    let started = Instant::now();
    let mut bytes = 0;
    while publisher.call(&["PUBLISH", "c", payload]).expect("a reply") != Value::Integer(0) {
        bytes += payload.len();
        assert!(started.elapsed() < PATIENCE, "it still gets messages after {bytes} bytes");
    }
    bytes
}

#[test]
fn a_slow_subscriber_is_disconnected_and_its_memory_given_back() {
    let limits = "pubsub 16mb 0 0";
    let server = Launch::new(Kind::Basalt).option("client-output-buffer-limit", limits).start();
    let mut resident_bytes = 0;
    for round in 0..6 {
        let mut slow = subscriber(&server, "c");
        let bytes = publish_until_gone(&mut server.connect(), &"x".repeat(64 << 10));
        // What the sockets hold is not the server's.
        assert!(bytes > 16 << 20, "disconnected after {bytes} bytes");
        assert!(bytes < 64 << 20, "disconnected only after {bytes} bytes");
        await_answer(&server, &["CLIENT", "LIST", "TYPE", "pubsub"], &bulk(""));
        let nobody = Value::Array(vec![bulk("c"), Value::Integer(0)]);
        await_answer(&server, &["PUBSUB", "NUMSUB", "c"], &nobody);
        assert!(slow.receive_to_end().expect("what was sent").len() < bytes);
        if round == 2 {
            resident_bytes = server.resident_bytes();
        }
    }
    // The allocator may keep what the first ones needed, and a little more each time, and gives
    // back only in a while; what three of them were owed is 48 MiB.
    let started = Instant::now();
    while server.resident_bytes() >= resident_bytes + (24 << 20) {
        let now = server.resident_bytes();
        assert!(started.elapsed() < PATIENCE, "{resident_bytes} bytes became {now}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_subscriber_over_the_soft_limit_has_some_time() {
    let limits = "pubsub 0 1mb 1";
    let server = Launch::new(Kind::Basalt).option("client-output-buffer-limit", limits).start();
    let _slow = subscriber(&server, "c");
    let mut publisher = server.connect();
    // Far over the limit at once, and then nothing: time alone ends it.
    for _ in 0..400 {
        publisher.call(&["PUBLISH", "c", &"x".repeat(64 << 10)]).expect("a reply");
    }
    await_answer(&server, &["PUBLISH", "c", "x"], &Value::Integer(0));
}

#[test]
fn a_subscriber_may_be_silent_for_as_long_as_it_likes() {
    let server = Launch::new(Kind::Basalt).option("timeout", "1").start();
    let mut listening = subscriber(&server, "c");
    let mut idle = server.connect();
    idle.run("PING").expect("a reply");
    // The idle connection's end is what is waited for: the subscriber is older.
    assert_eq!(idle.receive_to_end().expect("the end"), b"");
    server.connect().run("PUBLISH c x").expect("a reply");
    assert_eq!(payload(&mut listening), b"x");
}

#[test]
fn many_subscriptions_end_without_a_stall() {
    const CHANNELS: usize = 100_000;
    let server = Server::start(Kind::Basalt);
    let before = server.resident_bytes();
    let mut many = server.connect();
    for first in (0..CHANNELS).step_by(1_000) {
        let names = (first..first + 1_000).map(|number| format!("channel:{number}"));
        let words: Vec<String> = std::iter::once("SUBSCRIBE".to_owned()).chain(names).collect();
        many.send(&words).expect("a request");
        for _ in 0..1_000 {
            many.receive().expect("a confirmation");
        }
    }
    let each = server.resident_bytes().saturating_sub(before) / CHANNELS as u64;
    eprintln!("{each} bytes a channel");
    if !server.is_redis() {
        assert!(each < 600, "{each} bytes for a channel with one subscriber");
    }
    drop(many);
    let mut other = server.connect();
    let (mut longest, started) = (Duration::ZERO, Instant::now());
    loop {
        let asked = Instant::now();
        let channels = other.run("INFO stats").expect("a reply");
        longest = longest.max(asked.elapsed());
        let Value::Bulk(text) = channels else { panic!("text, not {channels:?}") };
        if String::from_utf8_lossy(&text).contains("pubsub_channels:0\r\n") {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "channels are left");
    }
    eprintln!("longest answer meanwhile: {longest:?}");
    assert!(longest < Duration::from_secs(20), "an answer took {longest:?}");
}
