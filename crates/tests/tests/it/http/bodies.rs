//! Bodies: in chunks, awaited, thrown away.

use super::{client, start};
use basalt_tests::http::HttpClient;

/// A body in chunks of these bytes.
fn chunked(chunks: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in chunks {
        bytes.extend(format!("{:x};name=value\r\n", chunk.len()).bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\nTrailer: dropped\r\n\r\n");
    bytes
}

const PUT_CHUNKED: &str =
    "PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn chunks_become_one_value_however_they_are_cut() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    let body = chunked(&[b"hello", b", ", b"world"]);
    let get = b"GET /v1/strings/k HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // Twice in one piece, with a request behind: what is parsed again must be the same.
    let all = [PUT_CHUNKED.as_bytes(), &body, get].concat();
    http.send([&all[..], &all[..]].concat()).unwrap();
    for expected in [(201, ""), (200, "hello, world"), (204, ""), (200, "hello, world")] {
        let response = http.response().unwrap();
        assert_eq!((response.status, &response.text()[..]), expected);
    }
    for cut in 1..all.len() {
        let (first, second) = all.split_at(cut);
        http.send(first).unwrap();
        if cut % 7 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        http.send(second).unwrap();
        assert_eq!(http.response().unwrap().status, 204, "cut at {cut}");
        assert_eq!(http.response().unwrap().text(), "hello, world", "cut at {cut}");
    }
    let large: Vec<u8> = (0..3_000_000u32).map(|at| at as u8).collect();
    let pieces: Vec<&[u8]> = large.chunks(70_001).collect();
    http.send([PUT_CHUNKED.as_bytes(), &chunked(&pieces)].concat()).unwrap();
    assert_eq!(http.response().unwrap().status, 204);
    assert!(http.ask("GET /v1/strings/k", "", b"").body == large);
}

/// A request with chunks behind one that waits is parsed again when that is answered.
#[test]
fn chunks_behind_a_request_that_waits_are_not_lost() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let pop = br#"["BLPOP","list",0]"#;
    http.request("POST /v1/command", "Content-Type: application/json\r\n", pop).unwrap();
    http.send([PUT_CHUNKED.as_bytes(), &chunked(&[b"one", b"two"])].concat()).unwrap();
    http.request("GET /v1/strings/k", "", b"").unwrap();
    http.request("GET /v1/none", "", b"").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    server.connect().run("RPUSH list x").unwrap();
    assert_eq!(http.response().unwrap().text(), r#"["list","x"]"#);
    assert_eq!(http.response().unwrap().status, 201);
    assert_eq!(http.response().unwrap().text(), "onetwo");
    assert_eq!(http.response().unwrap().status, 404);
}

#[test]
fn a_client_that_waits_for_it_is_told_to_send_its_body() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    let expect = "Expect: 100-continue\r\nContent-Length: 5\r\n";
    http.request("PUT /v1/strings/k", expect, b"").unwrap();
    assert_eq!(http.response().unwrap().status, 100);
    http.send("hello").unwrap();
    assert_eq!(http.response().unwrap().status, 201);
    assert_eq!(http.ask("GET /v1/strings/k", "", b"").text(), "hello");
    // What will not be taken is not asked for.
    http.request("PUT /v1/strings/k?wrong=1", expect, b"").unwrap();
    assert_eq!(http.response().unwrap().status, 400);
    assert_eq!(http.read_to_end().unwrap(), 0);
}

/// It waits behind a request that waits, and is told when that is answered.
#[test]
fn a_client_is_told_to_go_on_when_its_turn_has_come() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let pop = br#"["BLPOP","list",0]"#;
    let head = "POST /v1/command HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let put = "PUT /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n";
    let first = format!("{head}Content-Length: {}\r\n\r\n", pop.len());
    let second = format!("{put}Content-Length: 5\r\n\r\n");
    http.send([first.as_bytes(), pop, second.as_bytes()].concat()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    server.connect().run("RPUSH list x").unwrap();
    assert_eq!(http.response().unwrap().text(), r#"["list","x"]"#);
    assert_eq!(http.response().unwrap().status, 100);
    http.send("hello").unwrap();
    assert_eq!(http.response().unwrap().status, 201);
}

#[test]
fn the_body_of_a_refused_request_is_no_request() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    let smuggled = b"GET /v1/strings/k HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(5_000);
    assert_eq!(http.ask("PUT /v1/nowhere", "", &smuggled).status, 404);
    assert_eq!(http.ask("PUT /v1/strings/k?wrong=1", "", &smuggled).status, 400);
    assert_eq!(http.ask("GET /health/live", "", &smuggled).status, 200);
    assert_eq!(http.ask("GET /v1/strings/k", "", b"").status, 404);
}

#[test]
fn connections_end_when_they_are_to() {
    let (_server, address) = start(&[]);
    let ends = |request: &str| {
        let mut http = HttpClient::open(address).unwrap();
        http.send(request).unwrap();
        let response = http.response().unwrap();
        let connection = response.field("connection").map(str::to_owned);
        if connection.as_deref() == Some("close") {
            assert_eq!(http.read_to_end().unwrap(), 0, "{request}");
            return true;
        }
        http.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        assert_eq!(http.response().unwrap().status, 200, "{request}");
        false
    };
    assert!(!ends("GET /v1/strings/k HTTP/1.1\r\nHost: a.localhost:1\r\n\r\n"), "421, and on");
    assert!(!ends("GET /v1/strings/k HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert!(ends("GET /v1/strings/k HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    assert!(ends("GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
    assert!(ends("GET /v1/strings/k HTTP/1.0\r\n\r\n"));
    assert!(!ends("GET /v1/strings/k HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

/// Also of one in which something is wrong, and of one that a page may read.
#[test]
fn no_response_to_a_head_has_a_body() {
    let options = [("http-cors-origins", "http://listed"), ("http-head-timeout", "1")];
    let (_server, address) = start(&options);
    let mut http = client(address);
    http.ask("PUT /v1/strings/k", "", b"hello");
    http.ask("PUT /v1/strings/large", "", &[b'x'; 100_000]);
    let listed = "Origin: http://listed\r\n";
    for (line, status) in [("k", 200), ("large", 200), ("none", 404)] {
        let head = http.ask(&format!("HEAD /v1/strings/{line}"), listed, b"");
        assert_eq!(head.status, status, "{line}");
        assert_eq!(http.ask("GET /health/live", "", b"").status, 200, "{line}");
    }
    let chunked = "Transfer-Encoding: chunked\r\n\r\n";
    for (rest, status) in [
        (format!("Host: localhost\r\n{chunked}zz\r\n"), 400),
        ("Host: localhost\r\nContent-Length: 9999999999\r\n\r\n".to_owned(), 413),
        ("Host : localhost\r\n\r\n".to_owned(), 400),
        (format!("X: {}", "x".repeat(20_000)), 431),
        ("Host: localhost\r\nContent-Length: 5\r\n\r\n".to_owned(), 408),
        ("Host: ".to_owned(), 408),
    ] {
        let mut http = client(address);
        http.send(format!("\r\nHEAD /v1/strings/k HTTP/1.1\r\n{rest}")).unwrap();
        assert_eq!(http.response_to("HEAD").unwrap().status, status, "{rest}");
        assert_eq!(http.read_to_end().unwrap(), 0, "{rest}");
    }
}
