//! Tags of values, and conditions that name them.

use super::{client, start};
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;

/// Longest value that has a tag without a version.
const DIGESTED_BYTES_MAX: usize = 64 << 10;

#[test]
fn a_value_has_a_tag_that_moves_with_it() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    redis.run("SET k hello").unwrap();
    let plain = http.ask("GET /v1/strings/k", "", b"");
    assert_eq!(plain.field("etag"), Some("\"d9555e8555c62dcfd\""));
    assert_eq!(plain.field("basalt-ttl-ms"), None);
    assert_eq!(http.ask("PUT /v1/strings/k?versioned=1&ttl=100", "", b"hi").status, 204);
    let versioned = http.ask("GET /v1/strings/k", "", b"");
    let tag = versioned.field("etag").unwrap().to_owned();
    assert!(tag.starts_with("\"v"), "{tag}");
    let left_ms: u64 = versioned.field("basalt-ttl-ms").unwrap().parse().unwrap();
    assert!((90_000..=100_000).contains(&left_ms));
    let Value::Array(state) = redis.run("CAS.GET k").unwrap() else { panic!("a state") };
    let Value::Bulk(version) = &state[0] else { panic!("a version") };
    assert_eq!(tag, format!("\"v{}\"", String::from_utf8_lossy(version)));
    redis.run("APPEND k !").unwrap();
    assert_ne!(http.ask("HEAD /v1/strings/k", "", b"").field("etag"), Some(&tag[..]));
    assert_eq!(http.ask("PUT /v1/strings/new?versioned=1", "", b"v").status, 201);
}

#[test]
fn what_a_client_has_is_not_sent_again() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    for len in [5, 20_000, DIGESTED_BYTES_MAX] {
        http.ask("PUT /v1/strings/k", "", &vec![b'x'; len]);
        let tag = http.ask("HEAD /v1/strings/k", "", b"").field("etag").unwrap().to_owned();
        for list in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
            let same = http.ask("GET /v1/strings/k", &format!("If-None-Match: {list}\r\n"), b"");
            assert_eq!((same.status, same.field("etag")), (304, Some(&tag[..])), "{list}");
            assert!(same.body.is_empty());
        }
        let other = http.ask("GET /v1/strings/k", "If-None-Match: \"other\"\r\n", b"");
        assert_eq!((other.status, other.body.len()), (200, len));
        let wanted = http.ask("GET /v1/strings/k", &format!("If-Match: {tag}\r\n"), b"");
        assert_eq!((wanted.status, wanted.body.len()), (200, len));
        let unwanted = http.ask("GET /v1/strings/k", "If-Match: \"v1\"\r\n", b"");
        assert_eq!((unwanted.status, unwanted.field("etag")), (412, Some(&tag[..])));
        let part = format!("Range: bytes=1-2\r\nIf-Range: {tag}\r\n");
        assert_eq!(http.ask("GET /v1/strings/k", &part, b"").status, 206);
        let whole = "Range: bytes=1-2\r\nIf-Range: \"v1\"\r\n";
        assert_eq!(http.ask("GET /v1/strings/k", whole, b"").status, 200);
    }
    http.ask("PUT /v1/strings/k", "", &vec![b'x'; DIGESTED_BYTES_MAX + 1]);
    let long = http.ask("GET /v1/strings/k", "If-None-Match: \"d9555e8555c62dcfd\"\r\n", b"");
    assert_eq!((long.status, long.field("etag")), (200, None));
    assert_eq!(http.ask("GET /v1/strings/none", "If-None-Match: *\r\n", b"").status, 404);
    assert_eq!(http.ask("GET /v1/strings/none", "If-Match: *\r\n", b"").status, 412);
}

#[test]
fn a_write_with_a_tag_is_made_on_that_value_only() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    redis.run("SET k hello").unwrap();
    let if_match = |tag: &str| format!("If-Match: {tag}\r\n");
    let digest = "\"d9555e8555c62dcfd\"";
    let written = http.ask("PUT /v1/strings/k", &if_match(digest), b"one");
    let first = written.field("etag").expect("a tag").to_owned();
    assert_eq!(written.status, 204);
    // As it is again, but that was in between.
    redis.run("SET k hello").unwrap();
    let late = http.ask("PUT /v1/strings/k", &if_match(&first), b"two");
    let current = late.field("etag").expect("the present one").to_owned();
    assert_eq!(late.status, 412);
    assert!(late.text().contains(r#""code":"CONDITION""#), "{}", late.text());
    assert_eq!(http.ask("PUT /v1/strings/k", &if_match(&current), b"three").status, 204);
    assert_eq!(http.ask("DELETE /v1/strings/k", &if_match(&current), b"").status, 412);
    let tag = http.ask("GET /v1/strings/k", "", b"").field("etag").unwrap().to_owned();
    assert_eq!(http.ask("DELETE /v1/strings/k", &if_match(&tag), b"").status, 204);
    assert_eq!(http.ask("PUT /v1/strings/k", &if_match(&tag), b"four").status, 412);
    assert_eq!(http.ask("DELETE /v1/strings/k", &if_match(&tag), b"").status, 412);
    a_key_without_a_version(&mut http, &mut redis);
    for (wrong, status) in [
        ("\"other\"", 412),
        ("W/\"v1\"", 412),
        ("\"v0\"", 412),
        ("\"v99999999999999999999\"", 412),
        ("\"d955\"", 412),
        ("\"v1\", \"v2\"", 400),
        ("v1", 400),
    ] {
        let refused = http.ask("PUT /v1/strings/k", &if_match(wrong), b"x");
        assert_eq!(refused.status, status, "{wrong}: {}", refused.text());
    }
    redis.run("RPUSH list a").unwrap();
    for line in ["PUT /v1/strings/list?versioned=1", "PUT /v1/strings/list"] {
        assert_eq!(http.ask(line, "", b"x").status, 409, "{line}");
    }
    assert_eq!(http.ask("PUT /v1/strings/list", &if_match(digest), b"x").status, 409);
    // What cannot be made under a condition is not made.
    redis.run("SET n 1").unwrap();
    let refused = http.ask("POST /v1/strings/n?op=increment", &if_match(digest), b"");
    assert_eq!(refused.status, 412);
    assert_eq!(http.ask("GET /v1/strings/n", "", b"").text(), "1");
}

/// What has been sent is edited where it stands.
#[test]
fn a_long_value_that_is_edited_has_another_tag() {
    let (server, address) = start(&[("io-threads", "1")]);
    let (mut http, mut redis) = (client(address), server.connect());
    redis.call(&["SET", "k", &"x".repeat(30_000)]).unwrap();
    let mut tags = Vec::new();
    for edit in [
        "SETRANGE k 100 y",
        "APPEND k y",
        "SETBIT k 8 1",
        "BITFIELD k SET u8 0 7",
        "BITOP NOT k k",
        "SET k2 v",
        "COPY k k2 REPLACE",
        "SETRANGE k2 200 z",
        "RENAME k2 k",
        "SETRANGE k 300 z",
    ] {
        redis.run(edit).unwrap();
        let Value::Bulk(digest) = redis.run("DIGEST k").unwrap() else { panic!("a digest") };
        let expected = format!("\"d{}\"", String::from_utf8_lossy(&digest));
        for _ in 0..3 {
            let tag = http.ask("GET /v1/strings/k", "", b"").field("etag").map(str::to_owned);
            assert_eq!(tag.as_deref(), Some(&expected[..]), "{edit}");
        }
        tags.push(expected);
    }
    tags.sort_unstable();
    tags.dedup();
    assert_eq!(tags.len(), 7, "three of them leave k as it was");
}

/// A write that is refused tells the tag that one would need; the key gets no version by it.
fn a_key_without_a_version(http: &mut HttpClient, redis: &mut Connection) {
    for len in [0, 5, 20_000, DIGESTED_BYTES_MAX, DIGESTED_BYTES_MAX + 1] {
        redis.call(&["SET", "plain", &"x".repeat(len)]).unwrap();
        let tag = http.ask("GET /v1/strings/plain", "", b"").field("etag").map(str::to_owned);
        assert_eq!(tag.is_some(), len <= DIGESTED_BYTES_MAX, "{len}");
        for field in ["If-Match: \"v7\"", "If-Match: \"d0000000000000000\"", "If-None-Match: *"] {
            let refused = http.ask("PUT /v1/strings/plain", &format!("{field}\r\n"), b"new");
            let told = (refused.status, refused.field("etag"));
            assert_eq!(told, (412, tag.as_deref()), "{len} {field}");
        }
        let deleted = http.ask("DELETE /v1/strings/plain", "If-Match: \"v7\"\r\n", b"");
        assert_eq!((deleted.status, deleted.field("etag")), (412, None), "{len}");
        assert_eq!(http.ask("HEAD /v1/strings/plain", "", b"").field("etag"), tag.as_deref());
        let named = format!("If-Match: {}\r\n", tag.as_deref().unwrap_or("*"));
        let put = http.ask("PUT /v1/strings/plain", &named, b"new");
        assert_eq!(put.status, 204, "{len}");
        assert!(put.field("etag").is_some_and(|tag| tag.starts_with("\"v")), "{len}");
        redis.run("DEL plain").unwrap();
    }
}
