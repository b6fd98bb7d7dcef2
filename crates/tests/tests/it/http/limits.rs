//! Clients that send too much, too slowly, or no HTTP.

use super::{client, start};
use basalt_tests::http::HttpClient;
use basalt_tests::random::Random;
use std::sync::Barrier;
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
        ("GET /v2", 404),
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

/// Each could hold a part of the room for all, and wait for the others. Later ones have the buffers
/// of those before them, which are long from the beginning.
#[test]
fn bodies_that_are_larger_together_than_the_room_for_all_arrive() {
    const CLIENTS: usize = 12;
    const ROUNDS: usize = 20;
    const BYTES: usize = 900_000;
    let (_server, address) = start(&[("http-body-max", "1mb"), ("http-buffers-max", "2mb")]);
    let begun = Barrier::new(CLIENTS);
    let statuses: Vec<Vec<u16>> = std::thread::scope(|scope| {
        let put = |number: usize| {
            let begun = &begun;
            scope.spawn(move || {
                let mut http = client(address);
                let field = format!("Content-Length: {BYTES}\r\n");
                let line = format!("PUT /v1/strings/k{number}");
                let put = |round| {
                    http.request(&line, &field, b"").unwrap();
                    http.send(vec![b'x'; 200_000]).unwrap();
                    if round == 0 {
                        begun.wait();
                    }
                    http.send(vec![b'y'; BYTES - 200_000]).unwrap();
                    http.response().unwrap().status
                };
                (0..ROUNDS).map(put).collect()
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(put).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    for statuses in statuses {
        assert_eq!(statuses, [&[201][..], &[204; ROUNDS - 1]].concat());
    }
    let mut http = client(address);
    for number in 0..CLIENTS {
        let body = http.ask(&format!("GET /v1/strings/k{number}"), "", b"").body;
        assert_eq!(body.len(), BYTES);
        assert_eq!((body[199_999], body[200_000]), (b'x', b'y'));
    }
}

/// Bytes that are nearly requests, in pieces, on connections of which some are never read.
#[test]
fn mutated_requests_harm_nobody() {
    let (server, address) = start(&[]);
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    let requests: [&[u8]; 6] = [
        b"PUT /v1/strings/a%20b?ttl=60 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
        b"GET /v1/strings/a%20b HTTP/1.1\r\nHost: localhost\r\nRange: bytes=1-\r\n\r\n",
        b"PUT /v1/strings/c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\n\r\n",
        b"POST /v1/command HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
          Content-Length: 24\r\n\r\n[\"LPUSH\",\"l\",1,\"\\u00e9\" ]",
        b"PUT /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n0123456789",
        b"GET /health/live HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\r\n",
    ];
    for _ in 0..600 {
        let mut bytes = Vec::new();
        for _ in 0..=random.below(8) {
            bytes.extend_from_slice(requests[random.below(requests.len() as u64) as usize]);
        }
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(3) {
                0 => bytes[at] = random.next_u64() as u8,
                1 => drop(bytes.drain(at..(at + 5).min(bytes.len()))),
                _ => bytes.splice(at..at, *b"\r\n").for_each(drop),
            }
        }
        let mut http = client(address);
        for piece in bytes.chunks(1 + random.below(200) as usize) {
            // The server may hang up at any moment.
            if http.send(piece).is_err() {
                break;
            }
        }
        if random.below(2) == 0 {
            while http.response().is_ok_and(|response| response.field("connection").is_none()) {
                if http.send("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n").is_err() {
                    break;
                }
                if random.below(3) == 0 {
                    break;
                }
            }
        }
    }
    assert_eq!(client(address).ask("GET /health/ready", "", b"").status, 200);
    assert!(server.connect().run("PING").is_ok());
}
