//! Clients that send too much, too slowly, or no HTTP.

use super::{client, start};
use basalt_tests::http::HttpClient;
use std::time::{Duration, Instant};

#[test]
fn what_is_malformed_gets_one_clear_answer_and_the_end() {
    let (_server, address) = start(&[]);
    for (bytes, status) in [
        ("GET /v1/strings/k HTTP/1.1\r\n\r\n", 400),
        ("GET /v1/strings/k HTTP/1.1\nHost: a\n\n", 400),
        ("GET /v1/strings/k HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
        ("GET /v1/strings/k HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET k HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("PUT /v1/strings/k HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400),
        (
            "PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\
             Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        ("PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        (
            "PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz",
            400,
        ),
        ("CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        ("TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
        ("BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("*1\r\n$4\r\nPING\r\n\r\n", 400),
    ] {
        let mut http = client(address);
        http.send(bytes).unwrap();
        let response = http.response().unwrap_or_else(|error| panic!("{bytes:?}: {error}"));
        assert_eq!(response.status, status, "{bytes:?}: {}", response.text());
        assert_eq!(response.field("connection"), Some("close"), "{bytes:?}");
        assert_eq!(http.read_to_end().unwrap(), 0);
    }
    // The end of these is known, so the connection goes on.
    let mut http = client(address);
    for (line, status) in [
        ("GET /v1/strings/%zz", 400),
        ("PATCH /v1/command", 405),
        ("GET /", 404),
        ("OPTIONS /v1/strings/k", 204),
    ] {
        assert_eq!(http.ask(line, "", b"").status, status, "{line}");
    }
}

#[test]
fn what_is_too_large_is_refused_before_it_is_read() {
    let (server, address) = start(&[("http-body-max", "1mb"), ("http-head-max", "4kb")]);
    let before = server.resident_bytes();
    for (bytes, status) in [
        (format!("GET /v1/strings/{} HTTP/1.1\r\n", "k".repeat(8_300)), 431),
        (format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(5_000)), 431),
        (format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(65)), 431),
        (
            "PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n"
                .to_owned(),
            413,
        ),
        (
            "PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\n\
             Content-Length: 99999999999999999999\r\n\r\n"
                .to_owned(),
            413,
        ),
        (
            "PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n\
             100001\r\n"
                .to_owned(),
            413,
        ),
    ] {
        let mut http = client(address);
        http.send(&bytes).unwrap();
        let shown = &bytes[..bytes.len().min(60)];
        let response = http.response().unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(response.status, status, "{shown}");
    }
    assert!(server.resident_bytes() < before + (16 << 20));
}

#[test]
fn slow_clients_are_told_and_let_go() {
    let (_server, address) = start(&[
        ("http-head-timeout", "1"),
        ("http-idle-timeout", "3"),
        ("http-body-rate-min", "1000"),
    ]);
    let begun = Instant::now();
    let mut slow_head = client(address);
    slow_head.send("GET /v1/strings/k HT").unwrap();
    let mut slow_body = client(address);
    slow_body.request("PUT /v1/strings/k", "Content-Length: 50000\r\n", b"").unwrap();
    let mut idle = client(address);
    assert_eq!(idle.ask("GET /health/live", "", b"").status, 200);
    for slow in [&mut slow_head, &mut slow_body] {
        assert_eq!(slow.response().unwrap().status, 408);
        assert_eq!(slow.read_to_end().unwrap(), 0);
    }
    assert_eq!(idle.read_to_end().unwrap(), 0);
    assert!(begun.elapsed() < Duration::from_secs(60));
    // One that is quick enough is served, however long it takes.
    let mut steady = client(address);
    steady.request("PUT /v1/strings/k", "Content-Length: 30000\r\n", b"").unwrap();
    for _ in 0..10 {
        steady.send([b'x'; 3_000]).unwrap();
        std::thread::sleep(Duration::from_millis(400));
    }
    assert!(matches!(steady.response().unwrap().status, 201 | 204));
}

/// Heads that never end, of many clients, while others are served.
#[test]
fn many_half_requests_take_little() {
    let (server, address) = start(&[]);
    let before = server.resident_bytes();
    let clients: Vec<HttpClient> = (0..400)
        .map(|number| {
            let mut http = client(address);
            let line = format!("PUT /v1/strings/k{number}");
            http.request(&line, "Content-Length: 50000000\r\n", b"").unwrap();
            http.send(vec![b'x'; 2_000]).unwrap();
            http
        })
        .collect();
    let mut http = client(address);
    for _ in 0..200 {
        assert_eq!(http.ask("PUT /v1/strings/k", "", b"v").status / 100, 2);
    }
    let grown = server.resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes for {} clients", clients.len());
}
