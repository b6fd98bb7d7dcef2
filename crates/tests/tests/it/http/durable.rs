//! `Durable: yes`: what a request changes is on disk before it is answered.
//!
//! That it is not answered before, by whatever way the change comes, is seen over a simulated disk
//! in the tests of `basalt-net`.

use super::{client, start};
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch};

const DURABLE: &str = "Durable: yes\r\n";
const DURABLE_JSON: &str = "Durable: yes\r\nContent-Type: application/json\r\n";

/// A line, fields, a body, and a command that tells whether it was done, with its reply.
type Change = (&'static str, &'static str, &'static str, &'static str, &'static str);

const CHANGES: &[Change] = &[
    ("PUT /v1/strings/s", DURABLE, "v", "GET s", "v"),
    ("POST /v1/strings/s?op=append", DURABLE, "w", "GET s", "vw"),
    ("PUT /v1/strings/c", "Durable: YES\r\nIf-None-Match: *\r\n", "v", "GET c", "v"),
    ("PATCH /v1/hashes/h", DURABLE_JSON, r#"{"f":"v"}"#, "HGET h f", "v"),
    ("POST /v1/queues/q/messages", DURABLE, "m", "Q.LEN q", "1"),
    ("POST /v1/keys/s?op=copy&to=t", DURABLE, "", "GET t", "vw"),
    ("PATCH /v1/keys/t", DURABLE_JSON, r#"{"ttl_ms":null}"#, "GET t", "vw"),
    ("POST /v1/command", DURABLE_JSON, r#"["SET","a","1"]"#, "GET a", "1"),
    ("POST /v1/command", DURABLE_JSON, r#"["SET","a","2"]"#, "GET a", "2"),
    ("POST /v1/batch", DURABLE_JSON, r#"[["SET","b","1"],["GET","b"]]"#, "GET b", "1"),
    ("POST /v1/batch?atomic=1", DURABLE_JSON, r#"[["INCR","b"],["INCR","b"]]"#, "GET b", "3"),
    ("DELETE /v1/keys/a", DURABLE, "", "EXISTS a", "0"),
];

fn told(redis: &mut Connection, line: &str) -> String {
    match redis.run(line).unwrap() {
        Value::Bulk(text) => String::from_utf8_lossy(&text).into_owned(),
        Value::Integer(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn what_was_answered_is_there_after_a_kill() {
    for policy in [("appendfsync", "everysec"), ("appendfsync", "no"), ("appendonly", "no")] {
        let dir = tempfile::tempdir().unwrap();
        let launch = || {
            let launch = Launch::new(Kind::Basalt).with_http().dir(dir.path());
            launch.option(policy.0, policy.1).allow_log("torn tail")
        };
        let mut server = launch().start();
        for (line, fields, body, asked, expected) in CHANGES {
            let mut http = client(server.http_address().unwrap());
            let response = http.ask(line, fields, body.as_bytes());
            server.kill();
            assert!(response.status < 300, "{line}: {}", response.text());
            server = launch().start();
            assert_eq!(told(&mut server.connect(), asked), *expected, "{policy:?}: {line}");
        }
    }
}

/// How often the journal was synced.
pub(super) fn syncs(redis: &mut Connection) -> u64 {
    let Value::Bulk(info) = redis.run("INFO persistence").unwrap() else { panic!("a text") };
    let info = String::from_utf8_lossy(&info).into_owned();
    let line = info.lines().find_map(|line| line.strip_prefix("journal_fsyncs:"));
    line.and_then(|count| count.trim().parse().ok()).expect("a number")
}

#[test]
fn only_changes_that_say_so_wait_for_the_disk() {
    let (server, address) = start(&[("appendfsync", "no")]);
    let (mut http, mut redis) = (client(address), server.connect());
    let before = syncs(&mut redis);
    for _ in 0..100 {
        assert!(http.ask("PUT /v1/strings/k", "", b"v").status < 300);
        assert_eq!(http.ask("GET /v1/strings/k", DURABLE, b"").status, 200);
        assert_eq!(http.ask("DELETE /v1/strings/none", DURABLE, b"").status, 404);
    }
    assert_eq!(syncs(&mut redis), before);
    assert_eq!(http.ask("PUT /v1/strings/k", DURABLE, b"v").status, 204);
    assert!(syncs(&mut redis) > before);
}

#[test]
fn another_value_is_refused() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    for value in ["no", "", "1", "yes, yes", "yes yes"] {
        let field = format!("Durable: {value}\r\n");
        let refused = http.ask("PUT /v1/strings/k", &field, b"v");
        assert_eq!((refused.status, refused.text().contains("Durable")), (400, true), "{value}");
    }
    assert_eq!(http.ask("GET /v1/strings/k", "", b"").status, 404);
}
