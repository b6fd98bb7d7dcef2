//! `/v1/queues`: a queue from put to acknowledgement.

use super::collections::{JSON, play};
use super::{client, start, wait_for_blocked};
use basalt_resp::Value;

/// What stands between two texts.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("{before} in {text}"));
    rest.split(after).next().unwrap_or(rest)
}

#[test]
fn a_message_is_put_taken_and_acknowledged() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    play(
        &mut http,
        &[
            ("GET /v1/queues/q", "", 404, "NOKEY"),
            ("GET /v1/queues/q/settings", "", 404, "NOKEY"),
            ("POST /v1/queues/q?op=get", "", 204, ""),
            ("POST /v1/queues/q/messages?priority=5", "raw", 201, r#"{"id":"5-1"}"#),
            ("POST /v1/queues/q/messages?dedup=a", "first", 201, r#"{"id":"0-1"}"#),
            ("POST /v1/queues/q/messages?dedup=a&window_ms=9", "x", 201, r#"{"id":"0-1"}"#),
            ("POST /v1/queues/q/messages?delay_ms=60000", "later", 201, r#"{"id":"0-2"}"#),
            ("POST /v1/queues/q/messages?window_ms=9", "x", 400, "ERR"),
            ("POST /v1/queues/q/messages?priority=10", "x", 400, "priority"),
            ("POST /v1/queues/q", "x", 400, "op=get"),
            ("GET /v1/queues", "", 200, r#"{"queues":["q"],"cursor":"0"}"#),
        ],
    );
    let taken = http.ask("POST /v1/queues/q?op=get&lease_ms=60000&worker=w", "", b"");
    let (text, status) = (taken.text(), taken.status);
    assert!(status == 200 && text.contains(r#""body":"raw","deliveries":1"#), "{text}");
    let token = between(&text, r#""token":""#, "\"").to_owned();
    let at = format!("/v1/queues/q/messages/{token}");
    assert_eq!(http.ask(&format!("POST {at}?op=extend&lease_ms=90000"), "", b"").status, 204);
    let workers = http.ask("GET /v1/queues/q/workers", "", b"").text();
    assert!(workers.starts_with(r#"{"workers":[{"worker":"w""#), "{workers}");
    assert_eq!(http.ask(&format!("DELETE {at}"), "", b"").status, 204);
    assert_eq!(http.ask(&format!("DELETE {at}"), "", b"").status, 404);
    assert_eq!(http.ask(&format!("POST {at}?op=nack"), "", b"").status, 404);
    let both = http.ask("POST /v1/queues/q?op=get&count=9&noack=1", "", b"").text();
    assert!(both.contains(r#""body":"first""#) && !both.contains("later"), "{both}");
    let delayed = http.ask("GET /v1/queues/q/messages?state=delayed", "", b"").text();
    assert!(delayed.contains(r#""body":"later""#), "{delayed}");
    let counts = http.ask("GET /v1/queues/q", "", b"").text();
    assert!(counts.contains(r#""messages":1,"ready":0,"delayed":1"#), "{counts}");
}

#[test]
fn messages_die_come_back_and_are_purged() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    let settings = br#"{"deliveries-max":1,"max":2}"#;
    assert_eq!(http.ask("PATCH /v1/queues/q", JSON, settings).status, 204);
    assert_eq!(http.ask("PATCH /v1/queues/q", JSON, br#"{"colour":"blue"}"#).status, 400);
    let shown = http.ask("GET /v1/queues/q/settings", "", b"").text();
    assert!(shown.contains(r#""deliveries-max":1,"max":2"#), "{shown}");
    for body in [b"a", b"b"] {
        assert_eq!(http.ask("POST /v1/queues/q/messages", "", body).status, 201);
    }
    let full = http.ask("POST /v1/queues/q/messages", "", b"c");
    assert!(full.status == 429 && full.text().contains("QFULL"), "{}", full.text());
    let taken = http.ask("POST /v1/queues/q?op=get", "", b"").text();
    let at = format!("/v1/queues/q/messages/{}", between(&taken, r#""token":""#, "\""));
    assert_eq!(http.ask(&format!("POST {at}?op=nack&delay_ms=5"), "", b"").status, 204);
    play(
        &mut http,
        &[
            ("POST /v1/queues/q?op=revive", "", 200, r#"{"revived":1}"#),
            ("POST /v1/queues/q?op=purge&state=dead", "", 200, r#"{"removed":0}"#),
            ("POST /v1/queues/q?op=purge", "", 200, r#"{"removed":2}"#),
            ("POST /v1/queues/q?op=purge&state=gone", "", 400, "ERR"),
        ],
    );
    assert_eq!(http.ask("PATCH /v1/queues/q", JSON, br#"{"paused":"put"}"#).status, 204);
    let locked = http.ask("POST /v1/queues/q/messages", "", b"c");
    assert!(locked.status == 423 && locked.text().contains("QLOCKED"), "{}", locked.text());
    assert_eq!(http.ask("PUT /v1/strings/s", "", b"v").status, 201);
    assert_eq!(http.ask("POST /v1/queues/s/messages", "", b"c").status, 409);
}

/// Messages come by priority and in their order. The lease of one that is not acknowledged ends: it
/// comes again, also to a consumer that waits by then, and the old token stands for nothing.
#[test]
fn messages_come_in_their_order_and_again_when_their_lease_ends() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    for (priority, body) in [(0, "a"), (5, "b"), (0, "c"), (5, "d"), (0, "e")] {
        let put = format!("POST /v1/queues/q/messages?priority={priority}");
        assert_eq!(http.ask(&put, "", body.as_bytes()).status, 201);
    }
    let all = http.ask("POST /v1/queues/q?op=get&count=9&lease_ms=300", "", b"").text();
    let bodies: Vec<&str> =
        all.split(r#""body":""#).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(bodies, ["b", "d", "a", "c", "e"], "{all}");
    let old = between(&all, r#""token":""#, "\"");
    // All leases end at the same time.
    let again = http.ask("POST /v1/queues/q?op=get&wait=20", "", b"").text();
    assert!(again.contains(r#""body":"b","deliveries":2"#), "{again}");
    assert_eq!(http.ask(&format!("DELETE /v1/queues/q/messages/{old}"), "", b"").status, 404);
    let rest = http.ask("POST /v1/queues/q?op=get&count=9&noack=1&wait=20", "", b"").text();
    assert!(rest.find(r#""body":"a""#) < rest.find(r#""body":"e""#), "{rest}");
}

#[test]
fn a_consumer_waits_for_a_message_and_not_for_ever() {
    let (server, address) = start(&[("http-wait-max", "1")]);
    let (mut http, mut redis) = (client(address), server.connect());
    http.request("POST /v1/queues/q?op=get&wait=60", "", b"").unwrap();
    wait_for_blocked(&mut redis, 1);
    redis.run("Q.PUT q hello").unwrap();
    let taken = http.response().unwrap();
    assert!(taken.status == 200 && taken.text().contains("hello"), "{}", taken.text());
    assert_eq!(http.ask("POST /v1/queues/q?op=get&wait=0.01", "", b"").status, 204);
    // A connection that goes takes nothing along.
    http.request("POST /v1/queues/q?op=get&wait=60", "", b"").unwrap();
    wait_for_blocked(&mut redis, 1);
    drop(http);
    wait_for_blocked(&mut redis, 0);
    redis.run("Q.PUT q again").unwrap();
    assert_eq!(redis.run("Q.LEN q").unwrap(), Value::Integer(2));
}

#[test]
fn a_call_is_answered_or_not_in_time() {
    let (server, address) = start(&[("http-wait-max", "2")]);
    let (mut http, mut worker, mut redis) = (client(address), client(address), server.connect());
    http.request("POST /v1/queues/q?op=call&wait=60", "", b"question").unwrap();
    wait_for_blocked(&mut redis, 1);
    let taken = worker.ask("POST /v1/queues/q?op=get", "", b"").text();
    assert!(taken.contains(r#""body":"question""#), "{taken}");
    let reply =
        format!("POST /v1/queues/q/messages/{}?op=reply", between(&taken, r#""token":""#, "\""));
    assert_eq!(worker.ask(&reply, "", b"\xFFanswer").status, 204);
    let answer = http.response().unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &b"\xFFanswer"[..]));
    assert_eq!(worker.ask(&reply, "", b"answer").status, 404);
    assert_eq!(http.ask("POST /v1/queues/q?op=call&wait=0.01", "", b"question").status, 204);
    assert_eq!(redis.run("Q.LEN q").unwrap(), Value::Integer(0));
    assert_eq!(http.ask("PUT /v1/strings/s", "", b"v").status, 201);
    assert_eq!(http.ask("POST /v1/queues/s?op=call&wait=1", "", b"question").status, 409);
}
