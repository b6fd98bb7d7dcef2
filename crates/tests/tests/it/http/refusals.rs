//! A client that sends all of its request before it reads gets to read why that was refused.

use super::{client, start};
use basalt_resp::Value;
use basalt_tests::http::HttpClient;
use basalt_tests::server::Server;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// More than the sockets of both sides hold.
const BODY_BYTES: usize = 24 << 20;

/// Sends a head and a long body, which must be taken, then reads the answer and the end.
fn refused(address: SocketAddr, head: &str, body: &[u8]) -> u16 {
    let mut http = client(address);
    http.send(format!("{head}\r\n\r\n")).expect("a head is taken");
    http.send(body).unwrap_or_else(|error| panic!("{head}: the body: {error}"));
    let response = http.response().unwrap_or_else(|error| panic!("{head}: the answer: {error}"));
    assert_eq!(response.field("connection"), Some("close"), "{head}");
    demand_end(http, head);
    response.status
}

/// An end, and no reset.
fn demand_end(http: HttpClient, head: &str) {
    let (mut stream, rest) = http.into_parts();
    assert!(rest.is_empty(), "{head}");
    let more = stream.read_to_end(&mut Vec::new());
    assert_eq!(more.unwrap_or_else(|error| panic!("{head}: {error}")), 0);
}

fn clients(server: &Server) -> usize {
    let Ok(Value::Bulk(list)) = server.connect().run("CLIENT LIST") else { panic!("a list") };
    String::from_utf8_lossy(&list).lines().filter(|line| line.contains("front=http")).count()
}

fn until_alone(server: &Server) {
    let start = Instant::now();
    while clients(server) > 0 {
        assert!(start.elapsed() < Duration::from_secs(120), "it stays");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn all_of_a_body_may_be_sent_before_its_refusal_is_read() {
    let (server, address) = start(&[("http-body-max", "1mb")]);
    let length = format!("Content-Length: {BODY_BYTES}");
    let plain = vec![b'x'; BODY_BYTES];
    let mut chunks = b"100000\r\n".to_vec();
    chunks.extend(&plain[..1 << 20]);
    chunks.extend(b"\r\n");
    let chunked = chunks.repeat(BODY_BYTES >> 20);
    for (head, body, status) in [
        (format!("PUT /v1/strings/k HTTP/1.1\r\nHost: a\r\n{length}"), &plain, 421),
        (format!("PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\n{length}"), &plain, 413),
        (
            "PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked".into(),
            &chunked,
            413,
        ),
        (
            "PUT /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked".into(),
            &chunked,
            404,
        ),
        (
            format!(
                "PUT /v1/strings/k?wrong=1 HTTP/1.1\r\nHost: localhost\r\n\
                 Expect: 100-continue\r\n{length}"
            ),
            &plain,
            400,
        ),
        (format!("PUT /v1/strings/k HTTP/1.1\r\nHost : localhost\r\n{length}"), &plain, 400),
        (
            format!("PUT /{} HTTP/1.1\r\nHost: localhost\r\n{length}", "k".repeat(9_000)),
            &plain,
            414,
        ),
        (format!("BREW / HTTP/1.1\r\nHost: localhost\r\n{length}"), &plain, 501),
    ] {
        assert_eq!(refused(address, &head, body), status, "{head}");
    }
    until_alone(&server);
}

/// Of one that stops in the midst of its body, and would need the room that there is.
#[test]
fn uploads_for_which_there_is_no_room_are_told_so() {
    const CLIENTS: usize = 4;
    const BYTES: usize = 16_000_000;
    let (server, address) = start(&[("http-body-max", "16mb"), ("http-buffers-max", "1mb")]);
    let head = |number: usize| {
        format!("PUT /v1/strings/k{number} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BYTES}")
    };
    let mut holder = client(address);
    holder.send(format!("{}\r\n\r\n", head(CLIENTS))).unwrap();
    holder.send(vec![b'x'; BYTES - 1_000]).unwrap();
    let begun = Barrier::new(CLIENTS);
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (begun, head) = (&begun, &head);
            scope.spawn(move || {
                begun.wait();
                assert_eq!(refused(address, &head(number), &vec![b'y'; BYTES]), 503);
            });
        }
    });
    holder.send(vec![b'x'; 1_000]).unwrap();
    assert_eq!(holder.response().unwrap().status, 201);
    drop(holder);
    until_alone(&server);
}

#[test]
fn one_that_was_too_slow_may_finish() {
    let (server, address) =
        start(&[("http-head-timeout", "1"), ("http-body-rate-min", "1000000000")]);
    let mut http = client(address);
    let length = format!("Content-Length: {BODY_BYTES}\r\n");
    http.request("PUT /v1/strings/k", &length, b"").unwrap();
    let response = http.response().unwrap();
    assert_eq!((response.status, response.field("connection")), (408, Some("close")));
    http.send(vec![b'x'; BODY_BYTES]).unwrap();
    demand_end(http, "a slow one");
    until_alone(&server);
}

#[test]
fn what_follows_a_refusal_has_its_bounds() {
    let length = format!("Content-Length: {BODY_BYTES}\r\n");
    for option in
        [("http-linger-max", "1mb"), ("http-linger-max", "0"), ("http-linger-timeout", "0")]
    {
        let (server, address) = start(&[("http-body-max", "1mb"), option]);
        let mut http = client(address);
        http.request("PUT /v1/strings/k", &length, b"").unwrap();
        assert!(http.send(vec![b'x'; BODY_BYTES]).is_err(), "{option:?}");
        until_alone(&server);
    }
    let (server, address) = start(&[("http-body-max", "1mb"), ("http-linger-timeout", "1")]);
    let mut http = client(address);
    http.request("PUT /v1/strings/k", &length, b"").unwrap();
    assert_eq!(http.response().unwrap().status, 413);
    until_alone(&server);
}

/// It has sent all that it will.
#[test]
fn a_connection_that_ends_as_its_client_wishes_ends_at_once() {
    let (server, address) = start(&[("http-linger-timeout", "3600")]);
    for line in ["GET /health/live", "GET /v1/strings/k", "PUT /v1/nowhere"] {
        let mut http = client(address);
        http.ask(line, "Connection: close\r\n", b"");
        until_alone(&server);
        demand_end(http, line);
    }
}
