//! Tags of fields and members, and conditions on them.

use super::{client, start};
use basalt_tests::http::HttpClient;

/// Of each type: the path of an element, how it is read with its tag, a body, another one.
const ELEMENTS: [(&str, &str, &str, &str); 3] = [
    ("/v1/hashes/h/f", "/v1/hashes/h/f", "one", "two"),
    ("/v1/sets/s/m", "/v1/sets/s/m", "", ""),
    ("/v1/sorted-sets/z/m", "/v1/sorted-sets/z/m?versioned=1", "1", "2"),
];

fn if_match(tag: &str) -> String {
    format!("If-Match: {tag}\r\n")
}

#[test]
fn an_element_is_written_if_it_has_the_tag_that_is_named() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    for (path, read, one, two) in ELEMENTS {
        let (put, delete, get) =
            (format!("PUT {path}"), format!("DELETE {path}"), format!("GET {read}"));
        assert_eq!(http.ask(&put, "If-Match: *\r\n", one.as_bytes()).status, 412, "{path}");
        let made = http.ask(&put, "If-None-Match: *\r\n", one.as_bytes());
        let first = made.field("etag").expect("a tag").to_owned();
        assert_eq!(made.status, 201, "{path}");
        let again = http.ask(&put, "If-None-Match: *\r\n", two.as_bytes());
        assert_eq!((again.status, again.field("etag")), (412, Some(&first[..])), "{path}");
        let seen = http.ask(&get, "", b"");
        assert_eq!(seen.field("etag"), Some(&first[..]), "{path}");
        assert!([200, 204].contains(&seen.status), "{path}");
        let known = http.ask(&get, &format!("If-None-Match: {first}\r\n"), b"");
        assert_eq!((known.status, known.field("etag")), (304, Some(&first[..])), "{path}");
        assert_eq!(http.ask(&get, &if_match("\"v1\""), b"").status, 412, "{path}");
        let written = http.ask(&put, &if_match(&first), two.as_bytes());
        let second = written.field("etag").expect("a tag").to_owned();
        assert_eq!(written.status, 204, "{path}");
        assert_ne!(first, second, "{path}");
        let late = http.ask(&put, &if_match(&first), one.as_bytes());
        assert_eq!((late.status, late.field("etag")), (412, Some(&second[..])), "{path}");
        let any = http.ask(&put, "If-Match: *\r\n", two.as_bytes());
        let third = any.field("etag").expect("a tag").to_owned();
        assert_eq!(any.status, 204, "{path}");
        assert_eq!(http.ask(&delete, &if_match(&second), b"").status, 412, "{path}");
        assert_eq!(http.ask(&delete, "If-None-Match: *\r\n", b"").status, 412, "{path}");
        assert_eq!(http.ask(&delete, &if_match(&third), b"").status, 204, "{path}");
        assert_eq!(http.ask(&get, "", b"").status, 404, "{path}");
        assert_eq!(http.ask(&get, "If-Match: *\r\n", b"").status, 412, "{path}");
        assert_eq!(http.ask(&delete, &if_match(&third), b"").status, 412, "{path}");
    }
}

#[test]
fn elements_without_versions() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    redis.run("HSET h f hello").unwrap();
    let digest = "\"d9555e8555c62dcfd\"";
    assert_eq!(http.ask("GET /v1/hashes/h/f", "", b"").field("etag"), Some(digest));
    let other = "\"d0000000000000000\"";
    assert_eq!(http.ask("DELETE /v1/hashes/h/f", &if_match(other), b"").status, 412);
    let written = http.ask("PUT /v1/hashes/h/f", &if_match(digest), b"other");
    assert!(written.field("etag").is_some_and(|tag| tag.starts_with("\"v")));
    assert_eq!(http.ask("PUT /v1/hashes/h/f", &if_match(digest), b"x").status, 412);
    redis.run("HSET h g hello").unwrap();
    assert_eq!(http.ask("DELETE /v1/hashes/h/g", &if_match(digest), b"").status, 204);
    // A member has nothing of which a digest could be.
    redis.run("SADD s m").unwrap();
    redis.run("ZADD z 1 m").unwrap();
    for path in ["/v1/sets/s/m", "/v1/sorted-sets/z/m"] {
        assert_eq!(http.ask(&format!("HEAD {path}"), "", b"").field("etag"), None, "{path}");
        let put = http.ask(&format!("PUT {path}"), &if_match(digest), b"1");
        assert_eq!(put.status, 412, "{path}");
    }
    assert_eq!(http.ask("GET /v1/sorted-sets/z/m?versioned=1", "", b"").text(), "{\"score\":1}");
    // Without a condition nothing gets a version.
    assert_eq!(http.ask("PUT /v1/hashes/h/new", "", b"v").status, 201);
    let plain = http.ask("GET /v1/hashes/h/new", "", b"");
    assert!(plain.field("etag").is_some_and(|tag| tag.starts_with("\"d")));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    redis.run("SET string x").unwrap();
    redis.run("CAS.SADD s m PX 60000").unwrap();
    for (line, fields, status) in [
        ("PUT /v1/sorted-sets/z/m?nx=1", "If-Match: *\r\n", 400),
        ("PUT /v1/sorted-sets/z/m?versioned=1", "", 400),
        ("PUT /v1/hashes/h/f", "If-Match: \"v1\", \"v2\"\r\n", 400),
        ("PUT /v1/hashes/h/f", "If-Match: \"v0\"\r\n", 412),
        ("PUT /v1/hashes/string/f", "If-None-Match: *\r\n", 409),
        ("GET /v1/hashes/string/f", "", 409),
        ("GET /v1/sets/string/f", "", 409),
        ("PUT /v1/sorted-sets/z/m", "If-None-Match: *\r\n", 400),
    ] {
        assert_eq!(http.ask(line, fields, b"text").status, status, "{line} {fields}");
    }
    let left = http.ask("HEAD /v1/sets/s/m", "", b"");
    let left_ms: u64 = left.field("basalt-ttl-ms").expect("a time").parse().expect("a number");
    assert!((50_000..=60_000).contains(&left_ms));
}

/// The milliseconds that are left, if it expires.
fn left_ms(http: &mut HttpClient, path: &str) -> Option<u64> {
    let got = http.ask(&format!("GET {path}"), "", b"");
    assert!(got.status < 300, "{path}: {}", got.status);
    got.field("basalt-ttl-ms").map(|time| time.parse().expect("a number"))
}

#[test]
fn elements_expire() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    let json = "Content-Type: application/json\r\n";
    redis.run("HSET h f v").unwrap();
    redis.run("SET string x").unwrap();
    let is_about =
        |left: Option<u64>, most: u64| left.is_some_and(|it| it > most / 2 && it <= most);
    // A field, by PATCH.
    assert_eq!(http.ask("PATCH /v1/hashes/h/f", json, br#"{"ttl_ms":60000}"#).status, 204);
    assert!(is_about(left_ms(&mut http, "/v1/hashes/h/f"), 60_000));
    for _ in 0..2 {
        assert_eq!(http.ask("PATCH /v1/hashes/h/f", json, br#"{"ttl_ms":null}"#).status, 204);
        assert_eq!(left_ms(&mut http, "/v1/hashes/h/f"), None);
    }
    for body in [&br#"{"ttl_ms":1000}"#[..], br#"{"ttl_ms":null}"#] {
        for (path, status) in [("h/none", 404), ("none/f", 404), ("string/f", 409)] {
            let answer = http.ask(&format!("PATCH /v1/hashes/{path}"), json, body);
            assert_eq!(answer.status, status, "{path}");
        }
    }
    assert_eq!(http.ask("PATCH /v1/hashes/h/f", json, br#"{"ttl_ms":0}"#).status, 400);
    // Whatever it is, by PUT.
    for path in ["/v1/hashes/h/f", "/v1/sets/s/m", "/v1/sorted-sets/z/m"] {
        let read =
            if path.contains("sorted") { format!("{path}?versioned=1") } else { path.into() };
        for query in ["ttl=100", "ttl_ms=100000", "keep_ttl=1"] {
            assert_eq!(http.ask(&format!("PUT {path}?{query}"), "", b"1").status, 204, "{path}");
            assert!(is_about(left_ms(&mut http, &read), 100_000), "{path} {query}");
        }
        assert_eq!(http.ask(&format!("PUT {path}?expire_at=1"), "", b"1").status, 204, "{path}");
        assert_eq!(http.ask(&format!("GET {read}"), "", b"").status, 404, "{path}");
        let created = http.ask(&format!("PUT {path}?ttl=100"), "If-None-Match: *\r\n", b"1");
        assert_eq!(created.status, 201, "{path}");
        let tag = created.field("etag").expect("a tag").to_owned();
        assert!(is_about(left_ms(&mut http, &read), 100_000), "{path}");
        let kept = format!("PUT {path}?keep_ttl=1");
        assert_eq!(http.ask(&kept, &if_match(&tag), b"2").status, 204, "{path}");
        assert!(is_about(left_ms(&mut http, &read), 100_000), "{path}");
        assert_eq!(http.ask(&kept, &if_match(&tag), b"3").status, 412, "{path}");
        assert_eq!(http.ask(&format!("PUT {path}?ttl=1&ttl_ms=1"), "", b"1").status, 400, "{path}");
        assert_eq!(http.ask(&format!("PUT {path}?ttl=0"), "", b"1").status, 400, "{path}");
    }
    assert_eq!(http.ask("PUT /v1/sorted-sets/z/m?nx=1&ttl=5", "", b"1").status, 400);
}
