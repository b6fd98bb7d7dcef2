//! Server-sent events of queues: the client acknowledges by other requests.

use super::push::{events, redis};
use super::{client, start, wait_for_blocked};
use basalt_resp::Value as Reply;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A message that comes as an event.
fn delivery(events: &mut HttpClient) -> Value {
    let event = events.event().unwrap();
    let data = event.strip_prefix("event: json\ndata: ");
    let data = data.unwrap_or_else(|| panic!("{event}"));
    serde_json::from_str(data).unwrap()
}

/// Its body, which is a text.
fn body(events: &mut HttpClient) -> String {
    delivery(events)["body"].as_str().unwrap().to_owned()
}

fn token(delivery: &Value) -> &str {
    delivery["token"].as_str().unwrap()
}

fn put(resp: &mut Connection, bodies: &[&str]) {
    for body in bodies {
        resp.run(&format!("Q.PUT q {body}")).unwrap();
    }
}

/// How many messages are in a state.
fn count(resp: &mut Connection, state: &str) -> usize {
    match resp.run(&format!("Q.PEEK q STATE {state} COUNT 1000")).unwrap() {
        Reply::Array(messages) => messages.len(),
        other => panic!("{other:?}"),
    }
}

fn wait_for_count(resp: &mut Connection, state: &str, wanted: usize) {
    let start = Instant::now();
    while count(resp, state) != wanted {
        assert!(start.elapsed() < Duration::from_secs(60), "{wanted} messages are {state}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The next message comes when one is done with, by any connection, and not before.
#[test]
fn one_message_at_a_time_whoever_acknowledges() {
    let (server, address) = start(&[]);
    let (mut http, mut resp) = (client(address), redis(server.address()));
    put(&mut resp, &["a", "b", "c", "d", "e"]);
    let mut feed = events(address, "/v1/queues/q?lease_ms=3600000&worker=w");
    let first = delivery(&mut feed);
    let expected = json!({ "token": first["token"], "body": "a", "deliveries": 1,
                           "put_ms": first["put_ms"], "priority": 0 });
    assert_eq!(first, expected);
    wait_for_blocked(&mut resp, 1);
    assert_eq!((count(&mut resp, "leased"), count(&mut resp, "ready")), (1, 4));
    // That it is held for longer does not end it.
    let target = format!("/v1/queues/q/messages/{}", token(&first));
    let extended = http.ask(&format!("POST {target}?op=extend&lease_ms=7200000"), "", b"");
    assert_eq!(extended.status, 204, "{}", extended.text());
    assert_eq!(count(&mut resp, "ready"), 4);

    assert_eq!(http.ask(&format!("DELETE {target}"), "", b"").status, 204);
    let second = delivery(&mut feed);
    let target = format!("POST /v1/queues/q/messages/{}?op=nack", token(&second));
    assert_eq!(http.ask(&target, "", b"").status, 204);
    let mut held = delivery(&mut feed);
    assert_eq!((&held["body"], &held["deliveries"]), (&json!("b"), &json!(2)));
    for (line, next) in [("Q.ACK q @", "c"), ("Q.NACK q @ DEAD", "d"), ("Q.REPLY q @ x", "e")] {
        resp.run(&line.replace('@', token(&held))).unwrap();
        held = delivery(&mut feed);
        assert_eq!(held["body"], json!(next), "{line}");
    }
    wait_for_blocked(&mut resp, 1);
    resp.run("Q.PURGE q STATE leased").unwrap();
    put(&mut resp, &["f"]);
    assert_eq!(body(&mut feed), "f");
}

#[test]
fn credit_returns_whichever_message_is_done() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    put(&mut resp, &["0", "1", "2", "3"]);
    let mut feed = events(address, "/v1/queues/q?credit=3&lease_ms=3600000");
    let held: Vec<Value> = (0..3).map(|_| delivery(&mut feed)).collect();
    wait_for_blocked(&mut resp, 1);
    assert_eq!(count(&mut resp, "ready"), 1);
    resp.run(&format!("Q.ACK q {}", token(&held[1]))).unwrap();
    assert_eq!(body(&mut feed), "3");
    wait_for_blocked(&mut resp, 1);
    let two = format!("MULTI;Q.ACK q {};Q.ACK q {};EXEC", token(&held[0]), token(&held[2]));
    two.split(';').for_each(|line| drop(resp.run(line).unwrap()));
    put(&mut resp, &["4", "5", "6"]);
    assert_eq!((body(&mut feed), body(&mut feed)), ("4".to_owned(), "5".to_owned()));
    wait_for_blocked(&mut resp, 1);
    assert_eq!(count(&mut resp, "ready"), 1);
}

/// More than one command names.
#[test]
fn much_credit_returns_too() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let bodies: Vec<String> = (0..700).map(|number| number.to_string()).collect();
    put(&mut resp, &bodies.iter().map(String::as_str).collect::<Vec<_>>());
    let mut feed = events(address, "/v1/queues/q?credit=300&lease_ms=3600000");
    let held: Vec<Value> = (0..300).map(|_| delivery(&mut feed)).collect();
    wait_for_blocked(&mut resp, 1);
    // The last ones first: their room is seen when one of the first is done.
    for some in held.rchunks(100) {
        let tokens: Vec<&str> = some.iter().map(token).collect();
        resp.run(&format!("Q.ACK q {}", tokens.join(" "))).unwrap();
    }
    for number in 300..600 {
        assert_eq!(body(&mut feed), number.to_string());
    }
    wait_for_blocked(&mut resp, 1);
    assert_eq!((count(&mut resp, "leased"), count(&mut resp, "ready")), (300, 100));
}

/// What a client held that goes comes to the next one at once, and to itself if it comes again.
#[test]
fn a_client_that_goes_hands_back() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    put(&mut resp, &["a", "b", "c"]);
    let mut feed = events(address, "/v1/queues/q?credit=2&lease_ms=3600000");
    assert_eq!((body(&mut feed), body(&mut feed)), ("a".to_owned(), "b".to_owned()));
    let mut other = events(address, "/v1/queues/q?lease_ms=3600000");
    let third = delivery(&mut other);
    resp.run(&format!("Q.ACK q {}", token(&third))).unwrap();
    wait_for_blocked(&mut resp, 2);
    drop(feed);
    let first = delivery(&mut other);
    assert_eq!((&first["body"], &first["deliveries"]), (&json!("a"), &json!(2)));
    wait_for_count(&mut resp, "leased", 1);
    drop(other);
    wait_for_count(&mut resp, "leased", 0);
    let mut again = events(address, "/v1/queues/q?credit=9");
    let deliveries =
        [delivery(&mut again), delivery(&mut again)].map(|it| it["deliveries"].clone());
    assert_eq!(deliveries, [json!(3), json!(2)]);
}

#[test]
fn a_lease_that_ends_and_the_end_of_the_queue_give_room() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    put(&mut resp, &["a"]);
    resp.run("Q.CONFIG SET q lease 300").unwrap();
    let mut feed = events(address, "/v1/queues/q");
    for deliveries in 1..=3 {
        assert_eq!(delivery(&mut feed)["deliveries"], json!(deliveries));
    }
    drop(feed);
    wait_for_count(&mut resp, "leased", 0);
    let mut feed = events(address, "/v1/queues/q?lease_ms=3600000");
    assert_eq!(body(&mut feed), "a");
    wait_for_blocked(&mut resp, 1);
    for end in ["DEL q", "RENAME q elsewhere", "FLUSHALL", "SWAPDB 0 1"] {
        resp.run(end).unwrap();
        put(&mut resp, &["next"]);
        assert_eq!(body(&mut feed), "next", "{end}");
        wait_for_blocked(&mut resp, 1);
    }
    resp.run("SET q string").unwrap();
    let event = feed.event().unwrap();
    assert!(event.starts_with("event: problem\n") && event.contains("WRONGTYPE"), "{event}");
    assert_eq!(feed.read_to_end().unwrap(), 0);
}

#[test]
fn two_feeds_share_a_queue() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let target = "/v1/queues/q?lease_ms=3600000";
    let mut feeds = [events(address, target), events(address, target)];
    wait_for_blocked(&mut resp, 2);
    put(&mut resp, &["a", "b"]);
    let [one, two] = &mut feeds;
    let mut held = [delivery(one), delivery(two)];
    let mut first = [held[0]["body"].clone(), held[1]["body"].clone()];
    first.sort_by_key(|body| body.to_string());
    assert_eq!(first, [json!("a"), json!("b")]);
    wait_for_blocked(&mut resp, 2);
    // Each next message is for the one that is done with its own.
    for number in 0..200 {
        let turn = number % 3 / 2;
        put(&mut resp, &[&number.to_string()]);
        resp.run(&format!("Q.ACK q {}", token(&held[turn]))).unwrap();
        held[turn] = delivery(&mut feeds[turn]);
        assert_eq!(held[turn]["body"], json!(number.to_string()));
    }
}

#[test]
fn what_is_taken_needs_no_acknowledgement() {
    let (server, address) = start(&[]);
    let mut resp = redis(server.address());
    let mut feed = events(address, "/v1/queues/q?noack=1");
    for number in 0..50 {
        put(&mut resp, &[&number.to_string()]);
    }
    for number in 0..50 {
        assert_eq!(body(&mut feed), number.to_string());
    }
    assert_eq!(resp.run("Q.LEN q").unwrap(), Reply::Integer(0));
    resp.call(&[&b"Q.PUT"[..], b"q", b"\xff"]).unwrap();
    assert_eq!(delivery(&mut feed)["body"], json!({ "$b64": "/w==" }));
}

#[test]
fn what_cannot_be_is_a_response() {
    let (_server, address) = start(&[]);
    assert_eq!(client(address).ask("PUT /v1/strings/k", "", b"v").status, 201);
    for (target, status) in [
        ("/v1/queues/k", 409),
        ("/v1/queues/q?credit=1001", 400),
        ("/v1/queues/q?credit=x", 400),
        ("/v1/queues/q?lease_ms=0", 400),
        ("/v1/queues/q?after=0", 400),
    ] {
        let head = client(address).ask_for_events(&format!("GET {target}"), "");
        assert_eq!(head.status, status, "{target}");
    }
}
