//! `?db=`, `?b64=1`, and how long a request may wait.

use super::{client, start, wait_for_blocked};
use basalt_resp::Value;
use std::time::{Duration, Instant};

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn each_request_names_its_database() {
    let (server, address) = start(&[("databases", "4")]);
    let mut http = client(address);
    for db in 0..4 {
        let put =
            http.ask(&format!("PUT /v1/strings/k?db={db}"), "", format!("of {db}").as_bytes());
        assert_eq!(put.status, 201, "{db}");
    }
    assert_eq!(http.ask("GET /v1/strings/k?db=3", "", b"").text(), "of 3");
    // The next request is in its own again.
    assert_eq!(http.ask("GET /v1/strings/k", "", b"").text(), "of 0");
    // Of requests that are sent together, too.
    for db in [2, 0, 3, 1, 0] {
        http.request(&format!("GET /v1/strings/k?db={db}"), "", b"").unwrap();
    }
    for db in [2, 0, 3, 1, 0] {
        assert_eq!(http.response().unwrap().text(), format!("of {db}"));
    }
    let got = http.ask("POST /v1/command?db=2", JSON, br#"["GET","k"]"#);
    assert_eq!(got.text(), r#""of 2""#);
    let mut redis = server.connect();
    redis.run("SELECT 1").unwrap();
    assert_eq!(redis.run("GET k").unwrap(), Value::Bulk(b"of 1".to_vec()));
    for wrong in ["4", "-1", "x", "", "256"] {
        let refused = http.ask(&format!("GET /v1/strings/k?db={wrong}"), "", b"");
        assert_eq!(refused.status, 400, "{wrong}");
        let refused = http.ask(&format!("POST /v1/command?db={wrong}"), JSON, br#"["GET","k"]"#);
        assert_eq!(refused.status, 400, "{wrong}");
    }
}

#[test]
fn a_request_that_waits_stays_in_its_database() {
    let (server, address) = start(&[]);
    let (mut waiting, mut redis) = (client(address), server.connect());
    waiting.request("POST /v1/command?db=5", JSON, br#"["BLPOP","l",0]"#).unwrap();
    wait_for_blocked(&mut redis, 1);
    redis.run("RPUSH l wrong").unwrap();
    redis.run("SELECT 5").unwrap();
    redis.run("RPUSH l right").unwrap();
    assert_eq!(waiting.response().unwrap().text(), r#"["l","right"]"#);
    assert_eq!(waiting.ask("POST /v1/command", JSON, br#"["LLEN","l"]"#).text(), "1");
}

#[test]
fn no_request_waits_for_longer_than_the_option_says() {
    let (_server, address) = start(&[("http-wait-max", "1")]);
    let mut http = client(address);
    let start = Instant::now();
    let over = http.ask("POST /v1/command", JSON, br#"["BLPOP","l",0]"#);
    assert_eq!((over.status, over.text()), (200, "null".to_owned()));
    assert!(start.elapsed() >= Duration::from_secs(1));
    let over = http.ask("POST /v1/command", JSON, br#"["XREAD","BLOCK",100000,"STREAMS","s","$"]"#);
    assert_eq!((over.status, over.text()), (200, "null".to_owned()));
}

#[test]
fn keys_may_be_spelled_in_base64() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let key = b"\0\xff\xfe/?";
    assert_eq!(http.ask("PUT /v1/strings/AP_-Lz8?b64=1", "", b"v").status, 201);
    assert_eq!(http.ask("GET /v1/strings?key=AP_-Lz8&b64=1", "", b"").text(), "v");
    assert_eq!(http.ask("GET /v1/strings/%00%ff%fe%2F%3f", "", b"").text(), "v");
    let value = server.connect().call(&[&b"GET"[..], key]).unwrap();
    assert_eq!(value, Value::Bulk(b"v".to_vec()));
    for wrong in ["AP/-Lz8?b64=1", "A?b64=1", "AP_-Lz8=?b64=1", "AA?b64=2"] {
        let status = http.ask(&format!("GET /v1/strings/{wrong}"), "", b"").status;
        assert!(matches!(status, 400 | 404), "{wrong}: {status}");
    }
}
