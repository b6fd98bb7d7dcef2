//! WebSockets: queues, streams and channels, with `tungstenite` as the client.

use super::durable::syncs;
use super::{client, start, wait_for_blocked};
use basalt_resp::Value as Reply;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tungstenite::protocol::{Message, Role, WebSocket};

const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

fn redis(address: SocketAddr) -> Connection {
    Connection::open(address).expect("it listens")
}

/// Asks for a WebSocket.
fn upgraded(address: SocketAddr, target: &str, fields: &str) -> HttpClient {
    let mut http = client(address);
    http.request(&format!("GET {target}"), &format!("{UPGRADE}{fields}"), b"").unwrap();
    let head = http.head().unwrap();
    assert_eq!(head.status, 101, "{target}");
    assert_eq!(head.field("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    http
}

struct Socket(WebSocket<TcpStream>);

impl Socket {
    fn open(address: SocketAddr, target: &str) -> Socket {
        Socket::open_with(address, target, "")
    }

    fn open_with(address: SocketAddr, target: &str, fields: &str) -> Socket {
        let (stream, rest) = upgraded(address, target, fields).into_parts();
        Socket(WebSocket::from_partially_read(stream, rest, Role::Client, None))
    }

    fn say(&mut self, said: Value) {
        self.0.send(Message::text(said.to_string())).unwrap();
    }

    fn message(&mut self) -> Message {
        loop {
            match self.0.read().unwrap() {
                Message::Ping(_) | Message::Pong(_) => {}
                message => return message,
            }
        }
    }

    fn hear(&mut self) -> Value {
        match self.message() {
            Message::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn bytes(&mut self) -> Vec<u8> {
        match self.message() {
            Message::Binary(bytes) => bytes.to_vec(),
            other => panic!("{other:?}"),
        }
    }

    /// Says something and hears the answer.
    fn ask(&mut self, said: Value) -> Value {
        self.say(said);
        self.hear()
    }

    /// The code with which the server ends it, and why.
    fn end(&mut self) -> (u16, String) {
        match self.message() {
            Message::Close(Some(frame)) => (frame.code.into(), frame.reason.to_string()),
            other => panic!("{other:?}"),
        }
    }
}

fn put(resp: &mut Connection, queue: &str, body: &[u8]) {
    resp.call(&[b"Q.PUT", queue.as_bytes(), body]).unwrap();
}

/// How many messages of a queue are in a state.
fn count(http: &mut HttpClient, state: &str) -> usize {
    let text = http.ask(&format!("GET /v1/queues/q/messages?state={state}"), "", b"").text();
    text.matches(r#""id":"#).count()
}

fn wait_for_count(http: &mut HttpClient, state: &str, wanted: usize) {
    let start = Instant::now();
    while count(http, state) != wanted {
        assert!(start.elapsed() < Duration::from_secs(30), "{wanted} messages are {state}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_message_is_put_delivered_and_acknowledged() {
    let (_server, address) = start(&[]);
    let (mut http, mut producer) =
        (client(address), Socket::open(address, "/v1/queues/q?credit=0"));
    let mut consumer = Socket::open(address, "/v1/queues/q?worker=w");
    let answer = producer.ask(json!({ "op": "put", "body": "one", "priority": 5 }));
    assert_eq!(answer, json!({ "op": "put", "id": "5-1" }));
    let message = consumer.hear();
    assert_eq!((&message["op"], &message["body"]), (&json!("message"), &json!("one")));
    assert_eq!((&message["deliveries"], &message["priority"]), (&json!(1), &json!(5)));
    let token = message["token"].clone();
    let extended = consumer.ask(json!({ "op": "extend", "token": token, "lease_ms": 60_000 }));
    assert_eq!(extended, json!({ "op": "extend", "done": true }));
    let acknowledged = consumer.ask(json!({ "op": "ack", "token": token }));
    assert_eq!(acknowledged, json!({ "op": "ack", "done": true }));
    let again = consumer.ask(json!({ "op": "ack", "token": token }));
    assert_eq!(again, json!({ "op": "ack", "done": false }));
    assert_eq!(
        http.ask("GET /v1/queues/q/messages?state=ready", "", b"").text(),
        r#"{"messages":[]}"#
    );
    // Bytes that are no text have a frame of their own, both ways.
    producer.say(json!({ "op": "put", "binary": true }));
    producer.0.send(Message::binary(vec![0xff, 0, 1])).unwrap();
    assert_eq!(producer.hear(), json!({ "op": "put", "id": "0-1" }));
    let message = consumer.hear();
    assert_eq!((&message["binary"], message.get("body")), (&json!(true), None));
    assert_eq!(consumer.bytes(), [0xff, 0, 1]);
    let returned = consumer.ask(json!({ "op": "nack", "token": message["token"] }));
    assert_eq!(returned, json!({ "op": "nack", "done": true }));
    assert_eq!(consumer.hear()["deliveries"], json!(2));
    assert_eq!(consumer.bytes(), [0xff, 0, 1]);
    http.ask("PATCH /v1/queues/q", "Content-Type: application/json\r\n", br#"{"paused":"put"}"#);
    let refused = producer.ask(json!({ "op": "put", "body": "x" }));
    assert_eq!(refused["error"]["code"], json!("QLOCKED"));
}

/// Nothing is held beyond the credit, which begins at 1; what is held returns when the client goes.
#[test]
fn credit_is_the_clients_to_give() {
    let (server, address) = start(&[("http-credit-max", "5")]);
    let (mut http, mut resp) = (client(address), redis(server.address()));
    for number in 0..9 {
        put(&mut resp, "q", number.to_string().as_bytes());
    }
    resp.run("Q.CONFIG SET q lease 3600000").unwrap();
    let mut consumer = Socket::open(address, "/v1/queues/q");
    let first = consumer.hear();
    assert_eq!(first["body"], json!("0"));
    assert_eq!(
        consumer.ask(json!({ "op": "get", "credit": 0 })),
        json!({ "op": "get", "credit": 0 })
    );
    assert_eq!(consumer.ask(json!({ "op": "ack", "token": first["token"] }))["done"], json!(true));
    assert_eq!(consumer.ask(json!({ "op": "ack", "token": "0-1-1" }))["done"], json!(false));
    assert_eq!((count(&mut http, "leased"), count(&mut http, "ready")), (0, 8));
    assert_eq!(consumer.ask(json!({ "op": "get", "credit": 3 }))["credit"], json!(3));
    let bodies: Vec<Value> = (0..3).map(|_| consumer.hear()["body"].clone()).collect();
    assert_eq!(bodies, ["1", "2", "3"]);
    assert_eq!((count(&mut http, "leased"), count(&mut http, "ready")), (3, 5));
    // It goes without a word: what it held has its old place, at once and not when leases end.
    drop(consumer);
    wait_for_count(&mut http, "leased", 0);
    let mut next = Socket::open(address, "/v1/queues/q?credit=5");
    let bodies: Vec<Value> = (0..5).map(|_| next.hear()["body"].clone()).collect();
    assert_eq!(bodies, ["1", "2", "3", "4", "5"]);
    resp.run("CLIENT KILL TYPE normal").unwrap();
    wait_for_count(&mut client(address), "leased", 0);
    let mut greedy = Socket::open(address, "/v1/queues/q?credit=0");
    greedy.say(json!({ "op": "get", "credit": 6 }));
    assert_eq!(greedy.end().0, 1008);
    let head = client(address).ask("GET /v1/queues/q?credit=6", UPGRADE, b"");
    assert_eq!(head.status, 400);
}

/// A message that is not acknowledged in its time makes room for the next one, and may come again.
#[test]
fn a_lease_that_ends_returns_its_credit() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    resp.run("Q.CONFIG SET q lease 300").unwrap();
    put(&mut resp, "q", b"a");
    let mut consumer = Socket::open(address, "/v1/queues/q");
    assert_eq!(consumer.hear()["deliveries"], json!(1));
    assert_eq!(consumer.hear()["deliveries"], json!(2));
}

/// Another connection acknowledges.
#[test]
fn credit_returns_whoever_acknowledges() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    for body in [b"a", b"b", b"c"] {
        put(&mut resp, "q", body);
    }
    let mut consumer = Socket::open(address, "/v1/queues/q?lease_ms=3600000");
    let first = consumer.hear();
    wait_for_blocked(&mut resp, 1);
    // It is heard while it has no room.
    assert_eq!(consumer.ask(json!({ "op": "ack", "token": "0-1-1" }))["done"], json!(false));
    wait_for_blocked(&mut resp, 1);
    resp.run(&format!("Q.ACK q {}", first["token"].as_str().unwrap())).unwrap();
    let second = consumer.hear();
    assert_eq!(second["body"], json!("b"));
    consumer.say(json!({ "op": "ack", "token": second["token"] }));
    assert_eq!(consumer.hear()["done"], json!(true));
    assert_eq!(consumer.hear()["body"], json!("c"));
}

/// What a client says while its Q.GET waits is answered at once, and it waits on.
#[test]
fn a_client_that_waits_is_heard() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let mut consumer = Socket::open(address, "/v1/queues/q?credit=2");
    for number in 0..50 {
        wait_for_blocked(&mut resp, 1);
        consumer.0.send(Message::Ping(vec![b'p'; 125].into())).unwrap();
        match consumer.0.read().unwrap() {
            Message::Pong(payload) => assert_eq!(payload.len(), 125),
            other => panic!("{other:?}"),
        }
        // Its own message comes to itself, in either order with the answer.
        consumer.say(json!({ "op": "put", "body": number.to_string() }));
        let (one, other) = (consumer.hear(), consumer.hear());
        let message = if one["op"] == json!("message") { &one } else { &other };
        assert_eq!(message["body"], json!(number.to_string()), "{one} {other}");
        consumer.say(json!({ "op": "ack", "token": message["token"] }));
        assert_eq!(consumer.hear(), json!({ "op": "ack", "done": true }));
    }
}

/// Puts from elsewhere and orders of the client meet all the time: nothing is lost, and nothing
/// comes twice.
#[test]
fn orders_and_deliveries_meet() {
    const MESSAGES: usize = 2_000;
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let producer = std::thread::spawn(move || {
        for number in 0..MESSAGES {
            put(&mut resp, "q", number.to_string().as_bytes());
            if number % 7 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
        }
    });
    let mut consumer = Socket::open(address, "/v1/queues/q?credit=3");
    let (mut seen, mut answers) = (0, 0);
    while answers < MESSAGES {
        let heard = consumer.hear();
        if heard["op"] == json!("ack") {
            assert_eq!(heard["done"], json!(true));
            answers += 1;
            continue;
        }
        assert_eq!((&heard["body"], &heard["deliveries"]), (&json!(seen.to_string()), &json!(1)));
        seen += 1;
        if seen % 5 == 0 {
            consumer.0.send(Message::Ping(b"p".as_slice().into())).unwrap();
        }
        consumer.say(json!({ "op": "ack", "token": heard["token"] }));
    }
    producer.join().unwrap();
    assert_eq!(seen, MESSAGES);
}

#[test]
fn streams_and_channels_are_heard_over_sockets() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let mut stream = Socket::open(address, "/v1/streams/s?after=0");
    resp.call(&[&b"XADD"[..], b"s", b"1-0", b"f", b"\xff"]).unwrap();
    assert_eq!(
        stream.hear(),
        json!({ "op": "entry", "id": "1-0", "fields": { "f": { "$b64": "/w==" } } })
    );
    let mut one = Socket::open(address, "/v1/channels/news");
    let mut all = Socket::open(address, "/v1/channels/n*?pattern=1");
    let answer = one.ask(json!({ "op": "publish", "body": "hello" }));
    assert_eq!(answer, json!({ "op": "publish", "receivers": 2 }));
    assert_eq!(one.hear(), json!({ "op": "message", "channel": "news", "body": "hello" }));
    let shown = json!({ "op": "message", "channel": "news", "pattern": "n*", "body": "hello" });
    assert_eq!(all.hear(), shown);
    all.say(json!({ "op": "publish", "channel": "news", "binary": true }));
    all.0.send(Message::binary(vec![0xfe])).unwrap();
    let shown = json!({ "op": "message", "channel": "news", "binary": true });
    assert_eq!((one.hear(), one.bytes()), (shown, vec![0xfe]));
    stream.say(json!({ "op": "put", "body": "x" }));
    assert_eq!(stream.end().0, 1008);
}

#[test]
fn what_means_nothing_ends_it() {
    let (_server, address) = start(&[("http-message-max", "1000")]);
    for said in [
        "",
        "[]",
        "{",
        r#"{"op":"fly"}"#,
        r#"{"op":"ack"}"#,
        r#"{"op":"ack","token":"0-1-1","more":1}"#,
        r#"{"op":"put"}"#,
        r#"{"op":"put","body":"x","binary":true}"#,
        r#"{"op":"put","body":"x","colour":"blue"}"#,
        r#"{"op":"nack","token":"0-1-1","delay_ms":1,"dead":true}"#,
        r#"{"op":"get","credit":-1}"#,
        r#"{"op":"publish","body":"x"}"#,
    ] {
        let mut socket = Socket::open(address, "/v1/queues/q?credit=0");
        socket.0.send(Message::text(said)).unwrap();
        let (code, reason) = socket.end();
        assert!(code == 1008 && !reason.is_empty(), "{said}: {code} {reason}");
    }
    let mut socket = Socket::open(address, "/v1/queues/q?credit=0");
    socket.0.send(Message::binary(vec![1])).unwrap();
    assert_eq!(socket.end().0, 1008);
    // A command that fails is no reason to end it.
    let mut socket = Socket::open(address, "/v1/queues/q?credit=0");
    assert_eq!(socket.ask(json!({ "op": "ack", "token": "x" }))["error"]["code"], json!("ERR"));
    let long = "x".repeat(2_000);
    socket.say(json!({ "op": "put", "body": long }));
    assert_eq!(socket.end().0, 1009);
}

/// A frame of a client: its first byte, its payload, and how its length is written.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        len @ 0..=125 => frame.push(0x80 | len as u8),
        len => {
            frame.push(0x80 | 126);
            frame.extend((len as u16).to_be_bytes());
        }
    }
    frame.extend([1, 2, 3, 4]);
    frame.extend(payload.iter().zip([1, 2, 3, 4].iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// Sends bytes behind the request for a WebSocket; returns all that comes back.
fn send_raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let (mut stream, mut back) = upgraded(address, "/v1/queues/q?credit=0", "").into_parts();
    stream.write_all(bytes).unwrap();
    // A server that resets has said what it had to say.
    let _ = stream.read_to_end(&mut back);
    back
}

#[test]
fn frames_that_may_not_be_end_it() {
    let (_server, address) = start(&[]);
    let closes = |code: u16| [&[0x88][..], &[2], &code.to_be_bytes()].concat();
    let unmasked = [0x81, 2, b'{', b'}'].to_vec();
    let many_within: Vec<u8> =
        frame(0x01, b"{").into_iter().chain(frame(0x89, b"").repeat(100)).collect();
    for (name, bytes, code) in [
        ("not masked", unmasked, 1002),
        ("a reserved bit", frame(0xc1, b"{}"), 1002),
        ("a reserved opcode", frame(0x83, b"{}"), 1002),
        ("a continuation of nothing", frame(0x80, b"{}"), 1002),
        ("a ping in parts", frame(0x09, b""), 1002),
        ("a long ping", frame(0x89, &[0; 126]), 1002),
        ("no UTF-8", frame(0x81, b"\xff"), 1007),
        ("longer than may be", [0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0].to_vec(), 1009),
        (
            "longer than there is",
            [0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].to_vec(),
            1002,
        ),
        ("an end with a code that is none", frame(0x88, &[0, 1]), 1002),
        ("an end", frame(0x88, &[3, 0xe8]), 1000),
        ("an end without a reason", frame(0x88, b""), 1000),
    ] {
        assert_eq!(send_raw(address, &bytes), closes(code), "{name}");
    }
    let back = send_raw(address, &many_within);
    assert!(back.ends_with(&closes(1008)), "{back:?}");
}

#[test]
fn messages_in_pieces_are_put_together() {
    let (_server, address) = start(&[]);
    let text = br#"{"op":"put","body":"in pieces"}"#;
    let mut bytes = frame(0x01, &text[..5]);
    bytes.extend(frame(0x89, b"ping"));
    bytes.extend(frame(0x00, &text[5..9]));
    bytes.extend(frame(0x80, &text[9..]));
    bytes.extend(frame(0x81, text).repeat(3));
    bytes.extend(frame(0x88, b""));
    let (mut stream, mut back) = upgraded(address, "/v1/queues/q?credit=0", "").into_parts();
    for byte in bytes {
        stream.write_all(&[byte]).unwrap();
    }
    let _ = stream.read_to_end(&mut back);
    let back = String::from_utf8_lossy(&back);
    assert!(back.contains("\u{4}ping"), "{back}");
    for number in 1..=4 {
        assert!(back.contains(&format!(r#"{{"id":"0-{number}","op":"put"}}"#)), "{back}");
    }
}

/// Pings as fast as they can be sent are answered, not one by one, and keep nobody waiting.
#[test]
fn a_flood_of_pings_keeps_nobody_waiting() {
    let (server, address) = start(&[]);
    let (mut stream, _) = upgraded(address, "/v1/queues/q", "").into_parts();
    let mut resp = redis(server.address());
    wait_for_blocked(&mut resp, 1);
    stream.set_nonblocking(true).unwrap();
    let pings = frame(0x89, b"").repeat(10_000);
    let (start, mut slowest) = (Instant::now(), Duration::ZERO);
    while start.elapsed() < Duration::from_secs(2) {
        let _ = stream.write(&pings);
        let _ = stream.read(&mut [0; 65_536]);
        let asked = Instant::now();
        assert_eq!(resp.run("PING").unwrap(), Reply::Simple(b"PONG".to_vec()));
        slowest = slowest.max(asked.elapsed());
    }
    assert!(slowest < Duration::from_millis(500), "{slowest:?}");
}

#[test]
fn a_client_that_is_not_there_is_let_go() {
    let (server, address) = start(&[("http-socket-ping", "1"), ("http-idle-timeout", "1")]);
    let mut resp = redis(server.address());
    put(&mut resp, "q", b"a");
    resp.run("Q.CONFIG SET q lease 3600000").unwrap();
    let mut there = Socket::open(address, "/v1/queues/other");
    let reading = std::thread::spawn(move || there.hear());
    let (mut silent, mut back) = upgraded(address, "/v1/queues/q", "").into_parts();
    let mut http = client(address);
    wait_for_count(&mut http, "leased", 1);
    // It takes what it is sent, and says nothing.
    silent.read_to_end(&mut back).unwrap();
    wait_for_count(&mut client(address), "leased", 0);
    put(&mut resp, "other", b"still there");
    assert_eq!(reading.join().unwrap()["body"], json!("still there"));
}

#[test]
fn a_socket_ends_with_the_server_and_hands_back() {
    let dir = tempfile::tempdir().unwrap();
    let launch = || {
        let launch = basalt_tests::server::Launch::new(basalt_tests::server::Kind::Basalt);
        launch.with_http().dir(dir.path())
    };
    let mut server = launch().option("appendfsync", "always").start();
    let address = server.http_address().unwrap();
    put(&mut redis(server.address()), "q", b"a");
    let mut socket = Socket::open(address, "/v1/queues/q?lease_ms=3600000");
    assert_eq!(socket.hear()["body"], json!("a"));
    server.signal("TERM");
    assert_eq!(socket.end().0, 1001);
    assert!(server.wait(Duration::from_secs(30)).is_some());
    drop(server);
    let server = launch().start();
    let mut socket = Socket::open(server.http_address().unwrap(), "/v1/queues/q");
    assert_eq!(socket.hear()["deliveries"], json!(2));
}

#[test]
fn who_may_not_gets_no_socket() {
    let (server, address) = start(&[("requirepass", "one")]);
    let basic = "Authorization: Basic ZGVmYXVsdDpvbmU=\r\n";
    for (target, fields, status) in [
        ("/v1/queues/q", String::new(), 401),
        ("/v1/queues/q", format!("{basic}Origin: http://elsewhere\r\n"), 403),
        ("/v1/queues/q", format!("{basic}Sec-Fetch-Site: cross-site\r\n"), 403),
        ("/v1/queues/q?colour=blue", basic.to_owned(), 400),
        ("/v1/queues/q?lease_ms=0", basic.to_owned(), 400),
    ] {
        let response =
            client(address).ask(&format!("GET {target}"), &format!("{UPGRADE}{fields}"), b"");
        assert_eq!(response.status, status, "{target} {fields}");
    }
    let old = UPGRADE.replace("13", "12") + basic;
    assert_eq!(client(address).ask("GET /v1/queues/q", &old, b"").status, 426);
    let keyless = UPGRADE.replace("dGhl", "") + basic;
    assert_eq!(client(address).ask("GET /v1/queues/q", &keyless, b"").status, 400);
    let mut resp = redis(server.address());
    resp.run("AUTH one").unwrap();
    resp.run("SET k v").unwrap();
    let upgrade = format!("{UPGRADE}{basic}");
    assert_eq!(client(address).ask("GET /v1/queues/k", &upgrade, b"").status, 409);
    // Without a WebSocket at the path, it is a request like any other.
    assert_eq!(client(address).ask("GET /v1/strings/k", &upgrade, b"").status, 200);
    let (stream, rest) = upgraded(address, "/v1/queues/q", basic).into_parts();
    let mut socket = Socket(WebSocket::from_partially_read(stream, rest, Role::Client, None));
    resp.run("CONFIG SET requirepass two").unwrap();
    assert_eq!(socket.end().0, 1008);
}

#[test]
fn what_is_said_on_a_durable_socket_is_on_disk_before_it_is_answered() {
    let (server, address) = start(&[("appendfsync", "no")]);
    let mut resp = redis(server.address());
    for (fields, waits) in [("", false), ("Durable: yes\r\n", true)] {
        let mut socket = Socket::open_with(address, "/v1/queues/q?credit=0", fields);
        let before = syncs(&mut resp);
        assert!(socket.ask(json!({"op": "put", "body": "b"}))["id"].is_string());
        assert_eq!(syncs(&mut resp) > before, waits, "{fields}");
    }
}
