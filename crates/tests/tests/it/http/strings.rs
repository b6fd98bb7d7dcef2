//! `/v1/strings/{key}`.

use super::{client, start};
use basalt_resp::Value;

const LARGE: usize = 300_000;

#[test]
fn values_go_in_and_come_out() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let created = http.ask("PUT /v1/strings/a%20b%2Fc%00%ff", "", b"hello");
    assert_eq!(created.status, 201);
    assert_eq!(http.ask("PUT /v1/strings/a%20b%2Fc%00%ff", "", b"hello!").status, 204);
    let got = http.ask("GET /v1/strings/a%20b%2Fc%00%ff", "", b"");
    assert_eq!((got.status, got.text()), (200, "hello!".to_owned()));
    assert_eq!(got.field("content-type"), Some("application/octet-stream"));
    assert_eq!(got.field("x-content-type-options"), Some("nosniff"));
    // The same by Redis' protocol, and by the key as a parameter.
    let mut redis = server.connect();
    let value = redis.call(&[&b"GET"[..], b"a b/c\0\xff"]).unwrap();
    assert_eq!(value, Value::Bulk(b"hello!".to_vec()));
    assert_eq!(http.ask("GET /v1/strings?key=a+b/c%00%ff", "", b"").text(), "hello!");
    let head = http.ask("HEAD /v1/strings/a%20b%2Fc%00%ff", "", b"");
    assert_eq!((head.status, head.field("content-length")), (200, Some("6")));
    assert_eq!(http.ask("DELETE /v1/strings/a%20b%2Fc%00%ff", "", b"").status, 204);
    assert_eq!(http.ask("DELETE /v1/strings/a%20b%2Fc%00%ff", "", b"").status, 404);
    let missing = http.ask("GET /v1/strings/a%20b%2Fc%00%ff", "", b"");
    assert_eq!(missing.status, 404);
    assert_eq!(missing.field("content-type"), Some("application/problem+json"));
    assert!(missing.text().contains(r#""code":"NOKEY""#), "{}", missing.text());
    assert_eq!(http.ask("HEAD /v1/strings/none", "", b"").status, 404);
    assert_eq!(http.ask("PUT /v1/strings/empty", "", b"").status, 201);
    let empty = http.ask("GET /v1/strings/empty", "", b"");
    assert_eq!((empty.status, empty.body), (200, vec![]));
}

#[test]
fn parts_of_values_are_read_and_written() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    for len in [10usize, 5_000, LARGE] {
        let value: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        http.ask("PUT /v1/strings/k", "", &value);
        assert_eq!(http.ask("GET /v1/strings/k", "", b"").body, value);
        for (range, part) in [
            ("bytes=0-0", 0..1),
            ("bytes=2-5", 2..6),
            ("bytes=-3", len - 3..len),
            ("bytes=4-", 4..len),
            ("bytes=5-99999999", 5..len),
        ] {
            let got = http.ask("GET /v1/strings/k", &format!("Range: {range}\r\n"), b"");
            assert_eq!(
                (got.status, &got.body[..]),
                (206, &value[part.clone()]),
                "{range} of {len}"
            );
            let expected = format!("bytes {}-{}/{len}", part.start, part.end - 1);
            assert_eq!(got.field("content-range"), Some(&expected[..]));
        }
        let whole = http.ask("GET /v1/strings/k", "Range: bytes=0-1,3-4\r\n", b"");
        assert_eq!((whole.status, whole.body.len()), (200, len));
        let range = format!("Range: bytes={len}-\r\n");
        let behind = http.ask("GET /v1/strings/k", &range, b"");
        assert_eq!(behind.status, 416);
        assert_eq!(behind.field("content-range"), Some(&format!("bytes */{len}")[..]));
    }
    let changed = http.ask("PATCH /v1/strings/p?offset=3", "", b"xyz");
    assert_eq!((changed.status, changed.text()), (200, r#"{"length":6}"#.to_owned()));
    assert_eq!(http.ask("GET /v1/strings/p", "", b"").body, b"\0\0\0xyz");
    let appended = http.ask("POST /v1/strings/p?op=append", "", b"!");
    assert_eq!(appended.text(), r#"{"length":7}"#);
}

#[test]
fn numbers_conditions_and_times() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    assert_eq!(http.ask("POST /v1/strings/n?op=increment", "", b"").text(), r#"{"value":1}"#);
    let by = http.ask("POST /v1/strings/n?op=increment&by=-3", "", b"");
    assert_eq!(by.text(), r#"{"value":-2}"#);
    let by = http.ask("POST /v1/strings/n?op=increment&by=0.5", "", b"");
    assert_eq!(by.text(), r#"{"value":-1.5}"#);
    let large = http.ask("POST /v1/strings/m?op=increment&by=9223372036854775807", "", b"");
    assert_eq!(large.text(), r#"{"value":"9223372036854775807"}"#);

    let missing = "If-None-Match: *\r\n";
    let there = "If-Match: *\r\n";
    assert_eq!(http.ask("PUT /v1/strings/c", there, b"v").status, 412);
    assert_eq!(http.ask("PUT /v1/strings/c", missing, b"v").status, 201);
    assert_eq!(http.ask("PUT /v1/strings/c", missing, b"w").status, 412);
    assert_eq!(http.ask("PUT /v1/strings/c", there, b"x").status, 204);
    assert_eq!(http.ask("PUT /v1/strings/c", "If-Match: \"v7\"\r\n", b"y").status, 412);
    assert_eq!(http.ask("GET /v1/strings/c", "", b"").text(), "x");
    assert_eq!(http.ask("GET /v1/strings/c", missing, b"").status, 304);

    let mut redis = server.connect();
    let mut ttl = |key: &str| match redis.run(&format!("PTTL {key}")).unwrap() {
        Value::Integer(ttl) => ttl,
        other => panic!("{other:?}"),
    };
    http.ask("PUT /v1/strings/t?ttl=100", "", b"v");
    assert!((90_000..=100_000).contains(&ttl("t")));
    http.ask("PUT /v1/strings/t?keep_ttl=1", "", b"v");
    assert!((80_000..=100_000).contains(&ttl("t")));
    http.ask("PUT /v1/strings/t?ttl_ms=5000000", "", b"v");
    assert!((4_900_000..=5_000_000).contains(&ttl("t")));
    http.ask("PUT /v1/strings/t", "", b"v");
    assert_eq!(ttl("t"), -1);
    for wrong in ["ttl=0", "ttl=x", "tll=5", "ttl=1&keep_ttl=1", "ttl=1&ttl=2", "ttl=%"] {
        let refused = http.ask(&format!("PUT /v1/strings/t?{wrong}"), "", b"v");
        assert_eq!(refused.status, 400, "{wrong}: {}", refused.text());
    }
}

#[test]
fn another_type_is_a_conflict() {
    let (server, address) = start(&[]);
    server.connect().run("RPUSH list a").unwrap();
    let mut http = client(address);
    for line in [
        "GET /v1/strings/list",
        "DELETE /v1/strings/list",
        "PUT /v1/strings/list",
        "POST /v1/strings/list?op=append",
        "PATCH /v1/strings/list?offset=1",
    ] {
        let refused = http.ask(line, "", if line.starts_with("GET") { b"" } else { b"x" });
        assert_eq!(refused.status, 409, "{line}");
        assert!(refused.text().contains(r#""code":"WRONGTYPE""#), "{}", refused.text());
    }
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    let mut bytes = Vec::new();
    for number in 0..500 {
        let body = "v".repeat(number * 7 % 900);
        let line = match number % 5 {
            0 | 1 => {
                format!("PUT /v1/strings/k{number} HTTP/1.1\r\nContent-Length: {}", body.len())
            }
            2 => format!("GET /v1/strings/k{} HTTP/1.1", number - 1),
            3 => "GET /v1/nothing HTTP/1.1".to_owned(),
            _ => "GET /health/live HTTP/1.1".to_owned(),
        };
        let body = if number % 5 < 2 { body } else { String::new() };
        bytes.extend(format!("{line}\r\nHost: localhost\r\n\r\n{body}").bytes());
    }
    // In pieces of many lengths.
    let mut rest = &bytes[..];
    let mut length = 1;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        http.send(piece).unwrap();
        rest = behind;
        length = length * 7 % 4_000 + 1;
    }
    for number in 0..500 {
        let response = http.response().unwrap();
        let expected = match number % 5 {
            0 | 1 => (201, String::new()),
            2 => (200, "v".repeat((number - 1) * 7 % 900)),
            3 => (404, response.text()),
            _ => (200, "ok\n".to_owned()),
        };
        assert_eq!((response.status, response.text()), expected, "response {number}");
    }
}
