//! Server-sent events: what happens to streams and channels, as it happens.

use super::collections::JSON;
use super::{client, start, wait_for_blocked};
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub(super) fn redis(address: SocketAddr) -> Connection {
    Connection::open(address).expect("it listens")
}

/// What CLIENT LIST says of the client that came by HTTP.
fn listed(resp: &mut Connection) -> String {
    let list = match resp.run("CLIENT LIST").unwrap() {
        Value::Bulk(text) => String::from_utf8(text).unwrap(),
        other => panic!("{other:?}"),
    };
    let of_http = list.lines().find(|line| line.contains("front=http"));
    of_http.unwrap_or_else(|| panic!("{list}")).to_owned()
}

/// A field of that.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let mut fields = line.split(' ').filter_map(|field| field.split_once('='));
    fields.find(|field| field.0 == name).unwrap_or_else(|| panic!("{name} of {line}")).1
}

/// Asks for events, and waits until they may come.
pub(super) fn events(address: SocketAddr, target: &str) -> HttpClient {
    events_with(address, target, "")
}

fn events_with(address: SocketAddr, target: &str, fields: &str) -> HttpClient {
    let mut http = client(address);
    let head = http.ask_for_events(&format!("GET {target}"), fields);
    // Clients that do not know that events are always UTF-8 are told.
    let kind = "text/event-stream; charset=utf-8";
    assert_eq!((head.status, head.field("content-type")), (200, Some(kind)));
    assert_eq!(http.event().unwrap(), "retry: 1000\n");
    http
}

/// Adds an entry with the field `data`; returns its ID.
fn add(http: &mut HttpClient, target: &str, body: &[u8]) -> String {
    let added = http.ask(&format!("POST {target}"), "", body);
    assert_eq!(added.status, 201, "{}", added.text());
    added.text().split('"').nth(3).unwrap().to_owned()
}

#[test]
fn entries_come_as_they_are_added() {
    let (server, address) = start(&[]);
    let (mut http, mut resp) = (client(address), redis(server.address()));
    add(&mut http, "/v1/streams/s", b"before");
    let mut from_now = events(address, "/v1/streams/s");
    wait_for_blocked(&mut resp, 1);
    let id = add(&mut http, "/v1/streams/s", b"one\ntwo");
    assert_eq!(from_now.event().unwrap(), format!("id: {id}\ndata: one\ndata: two\n"));
    let id = add(&mut http, "/v1/streams/s", b"a\rb");
    assert_eq!(from_now.event().unwrap(), format!("id: {id}\nevent: b64\ndata: YQ1i\n"));
    let id = add(&mut http, "/v1/streams/s", b"a\0b");
    assert_eq!(from_now.event().unwrap(), format!("id: {id}\ndata: a\0b\n"));
    let id = add(&mut http, "/v1/streams/s", b"\xff");
    assert_eq!(from_now.event().unwrap(), format!("id: {id}\nevent: b64\ndata: /w==\n"));
    let fields = http.ask("POST /v1/streams/s", JSON, br#"{"f":"v","data":1}"#).text();
    let id = fields.split('"').nth(3).unwrap();
    let shown = r#"{"f":"v","data":"1"}"#;
    assert_eq!(from_now.event().unwrap(), format!("id: {id}\nevent: fields\ndata: {shown}\n"));

    // Another one, from where the first has come, and from the beginning.
    let mut again =
        events_with(address, "/v1/streams/s?after=0", &format!("Last-Event-ID: {id}\r\n"));
    let last = add(&mut http, "/v1/streams/s", b"last");
    assert_eq!(again.event().unwrap(), format!("id: {last}\ndata: last\n"));
    let mut all = events(address, "/v1/streams/s?after=0");
    let seen: Vec<String> = (0..7).map(|_| all.event().unwrap()).collect();
    assert!(seen[0].ends_with("data: before\n") && seen[6].ends_with("data: last\n"), "{seen:?}");
}

#[test]
fn a_stream_that_is_not_there_yet_and_another_database() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let mut events = events(address, "/v1/streams?key=a%2Fb&db=3");
    wait_for_blocked(&mut redis(server.address()), 1);
    add(&mut http, "/v1/streams/a%2Fb", b"elsewhere");
    for number in 0..200 {
        let body = number.to_string();
        let id = add(&mut http, "/v1/streams/a%2Fb?db=3", body.as_bytes());
        assert_eq!(events.event().unwrap(), format!("id: {id}\ndata: {body}\n"));
    }
}

/// More than is read at once, and entries that are too large together.
#[test]
fn what_was_missed_comes_in_order() {
    let (server, address) = start(&[("http-json-max", "1mb")]);
    let mut resp = redis(server.address());
    let large = vec![b'x'; 300 << 10];
    for number in 1..=400u32 {
        let id = format!("{number}-0");
        let data: &[u8] = if number % 50 < 10 { &large } else { b"small" };
        resp.call(&[&b"XADD"[..], b"s", id.as_bytes(), b"data", data]).unwrap();
    }
    let mut events = events(address, "/v1/streams/s?after=0");
    for number in 1..=400 {
        let event = events.event().unwrap();
        assert!(event.starts_with(&format!("id: {number}-0\ndata: ")), "{number}");
    }
    resp.call(&[&b"XADD"[..], b"s", b"401-0", b"data", &vec![b'x'; 2 << 20]]).unwrap();
    let event = events.event().unwrap();
    assert!(event.starts_with("event: problem\n") && event.contains("REPLYTOOLARGE"), "{event}");
    assert_eq!(events.read_to_end().unwrap(), 0);
}

#[test]
fn messages_come_as_they_are_published() {
    let (server, address) = start(&[]);
    let (mut http, mut resp) = (client(address), redis(server.address()));
    let mut one = events(address, "/v1/channels/news%2Fa");
    let mut all = events(address, "/v1/channels/news*?pattern=1");
    let sent = http.ask("POST /v1/channels/news%2Fa", "", b"hello").text();
    assert_eq!(sent, r#"{"receivers":2}"#);
    assert_eq!(one.event().unwrap(), "data: hello\n");
    let shown = r#"{"channel":"news/a","body":"hello"}"#;
    assert_eq!(all.event().unwrap(), format!("event: json\ndata: {shown}\n"));
    let long = "long ".repeat(20_000);
    resp.call(&[&b"PUBLISH"[..], b"news/a", long.as_bytes()]).unwrap();
    assert_eq!(one.event().unwrap(), format!("data: {long}\n"));
    drop(one);
    let start = Instant::now();
    while http.ask("POST /v1/channels/news%2Fa", "", b"x").text() != r#"{"receivers":1}"# {
        assert!(start.elapsed() < Duration::from_secs(30), "a subscriber that has gone");
    }
}

#[test]
fn what_cannot_be_is_a_response() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    assert_eq!(http.ask("PUT /v1/strings/k", "", b"v").status, 201);
    for (target, fields, status) in [
        ("/v1/streams/k", "", 409),
        ("/v1/streams/s?after=x", "", 400),
        ("/v1/streams/s?wait=1", "", 400),
        ("/v1/streams/s?db=99", "", 400),
        ("/v1/channels/c?pattern=2", "", 400),
        ("/v1/channels/c", "Sec-Fetch-Site: cross-site\r\n", 403),
        ("/v1/streams/s", "Origin: http://elsewhere\r\n", 403),
    ] {
        let head = client(address).ask_for_events(&format!("GET {target}"), fields);
        assert_eq!(head.status, status, "{target} {fields}");
    }
    let accept = "Accept: text/event-stream\r\n";
    assert_eq!(client(address).ask("GET /v1/streams/s", accept, b"abc").status, 400);
    assert_eq!(http.ask("GET /v1/channels/c", "", b"").status, 400);
    // Where there are no events, the wish is passed over.
    let value = http.ask("GET /v1/strings/k", "Accept: text/event-stream\r\n", b"");
    assert_eq!((value.status, value.text().as_str()), (200, "v"));
}

/// Requests before it are answered, and what comes behind it never is.
#[test]
fn a_feed_is_the_last_of_its_connection() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let host = "Host: localhost\r\n";
    let feed =
        format!("GET /v1/streams/s?after=0 HTTP/1.1\r\n{host}Accept: text/event-stream\r\n\r\n");
    let read = format!("GET /v1/strings/k HTTP/1.1\r\n{host}\r\n");
    let pop = format!("POST /v1/lists/l?op=pop&wait=5 HTTP/1.1\r\n{host}\r\n");
    http.send(format!("{read}{pop}{feed}{read}{read}")).unwrap();
    let mut resp = redis(server.address());
    wait_for_blocked(&mut resp, 1);
    resp.run("RPUSH l x").unwrap();
    assert_eq!(http.response().unwrap().status, 404);
    assert_eq!(http.response().unwrap().status, 200);
    assert_eq!(http.head().unwrap().status, 200);
    assert_eq!(http.event().unwrap(), "retry: 1000\n");
    resp.run("XADD s 1-0 data a").unwrap();
    assert_eq!(http.event().unwrap(), "id: 1-0\ndata: a\n");
    http.send(read.repeat(100)).unwrap();
    resp.run("XADD s 2-0 data b").unwrap();
    assert_eq!(http.event().unwrap(), "id: 2-0\ndata: b\n");
}

#[test]
fn silence_is_broken_and_ends_with_the_server() {
    let (mut server, address) = start(&[("http-events-ping", "1"), ("http-idle-timeout", "1")]);
    let mut stream = events(address, "/v1/streams/s");
    let mut channel = events(address, "/v1/channels/c");
    for _ in 0..2 {
        assert_eq!(stream.event().unwrap(), ": ping\n");
        assert_eq!(channel.event().unwrap(), ": ping\n");
    }
    let shown = client(address).ask("GET /metrics", "", b"").text();
    assert!(shown.contains("basalt_streams_open{kind=\"sse\"} 2\n"), "{shown}");
    server.signal("TERM");
    assert!(server.wait(Duration::from_secs(30)).is_some());
    assert!(stream.event().is_err() && channel.event().is_err());
}

#[test]
fn clients_are_listed_killed_and_unblocked() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let mut stream = events(address, "/v1/streams/s");
    wait_for_blocked(&mut resp, 1);
    let line = listed(&mut resp);
    assert_eq!((field(&line, "flags"), field(&line, "cmd")), ("b", "xread"));
    let id = field(&line, "id");
    // As if its time had passed: it stands again.
    resp.run(&format!("CLIENT UNBLOCK {id}")).unwrap();
    wait_for_blocked(&mut resp, 1);
    resp.run("XADD s 1-0 data a").unwrap();
    assert_eq!(stream.event().unwrap(), "id: 1-0\ndata: a\n");
    wait_for_blocked(&mut resp, 1);
    resp.run(&format!("CLIENT UNBLOCK {id} ERROR")).unwrap();
    let event = stream.event().unwrap();
    assert!(event.starts_with("event: problem\n") && event.contains("UNBLOCKED"), "{event}");
    assert_eq!(stream.read_to_end().unwrap(), 0);
    let mut stream = events(address, "/v1/streams/s");
    wait_for_blocked(&mut resp, 1);
    resp.run("CLIENT KILL TYPE normal").unwrap();
    assert!(stream.event().is_err());
}

/// A client that does not know the new password gets nothing more.
#[test]
fn a_feed_ends_with_the_rights_of_its_client() {
    let (server, address) = start(&[("requirepass", "one")]);
    assert_eq!(client(address).ask_for_events("GET /v1/streams/s", "").status, 401);
    let mut resp = redis(server.address());
    resp.run("AUTH one").unwrap();
    // default:one
    let basic = "Authorization: Basic ZGVmYXVsdDpvbmU=\r\n";
    let mut stream = events_with(address, "/v1/streams/s", basic);
    wait_for_blocked(&mut resp, 1);
    resp.run("CONFIG SET http-wait-max 10").unwrap();
    resp.run("XADD s 1-0 data a").unwrap();
    assert_eq!(stream.event().unwrap(), "id: 1-0\ndata: a\n");
    resp.run("CONFIG SET requirepass two").unwrap();
    let event = stream.event().unwrap();
    assert!(event.starts_with("event: problem\n") && event.contains("NOAUTH"), "{event}");
    assert_eq!(stream.read_to_end().unwrap(), 0);
}

/// What a client does not read is not made: the server holds no more of it than a few replies.
#[test]
fn a_client_that_does_not_read_costs_little() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let body = vec![b'x'; 64 << 10];
    for _ in 0..1_000 {
        resp.call(&[&b"XADD"[..], b"s", b"*", b"data", &body]).unwrap();
    }
    let slow = events(address, "/v1/streams/s?after=0");
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        let bytes: u64 = field(&listed(&mut resp), "omem").parse().unwrap();
        assert!(bytes < 16 << 20, "{bytes} bytes");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(slow);
}
