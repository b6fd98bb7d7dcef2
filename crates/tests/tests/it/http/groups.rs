//! Consumer groups of streams, by paths.

use super::{client, start, wait_for_blocked};
use basalt_tests::http::HttpClient;
use serde_json::{Value, json};

const JSON: &str = "Content-Type: application/json\r\n";
const GROUP: &str = "/v1/streams/s/groups/g";

/// What a request answers that succeeds.
fn shown(http: &mut HttpClient, line: &str, body: &str) -> Value {
    let response = http.ask(line, JSON, body.as_bytes());
    assert_eq!(response.status, 200, "{line}: {}", response.text());
    serde_json::from_slice(&response.body).expect("JSON")
}

fn status(http: &mut HttpClient, line: &str, body: &str) -> u16 {
    http.ask(line, JSON, body.as_bytes()).status
}

fn read(consumer: &str, more: &str) -> String {
    format!("POST {GROUP}?op=read&consumer={consumer}{more}")
}

fn ids(entries: &Value) -> Vec<&str> {
    let entries = entries["entries"].as_array().expect("entries");
    entries.iter().map(|entry| entry["id"].as_str().expect("an ID")).collect()
}

#[test]
fn entries_go_to_one_consumer_each_and_are_acknowledged() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    // The group makes the stream.
    assert_eq!(status(&mut http, &format!("PUT {GROUP}"), ""), 201);
    let again = http.ask(&format!("PUT {GROUP}?from=0"), "", b"");
    assert_eq!((again.status, again.text().contains("BUSYGROUP")), (409, true));
    assert_eq!(status(&mut http, &read("a", ""), ""), 204);
    for id in 1..=4 {
        redis.run(&format!("XADD s {id}-0 f v{id}")).unwrap();
    }
    let first = shown(&mut http, &read("a", "&count=2"), "");
    assert_eq!(first["entries"][0], json!({"id": "1-0", "fields": {"f": "v1"}}));
    assert_eq!(ids(&first), ["1-0", "2-0"]);
    assert_eq!(ids(&shown(&mut http, &read("b", "&count=1"), "")), ["3-0"]);
    assert_eq!(ids(&shown(&mut http, &read("b", "&noack=1"), "")), ["4-0"]);
    let pending =
        json!({"pending": 3, "first": "1-0", "last": "3-0", "consumers": {"a": 2, "b": 1}});
    assert_eq!(shown(&mut http, &format!("GET {GROUP}"), ""), pending);
    // Acknowledged one by one, and several.
    for expected in [204, 404] {
        assert_eq!(status(&mut http, &format!("DELETE {GROUP}/pending/1-0"), ""), expected);
    }
    let acknowledged = shown(&mut http, &format!("POST {GROUP}?op=ack"), r#"["2-0","2-0","9-0"]"#);
    assert_eq!(acknowledged, json!({"acknowledged": 1}));
    let left = shown(&mut http, &format!("GET {GROUP}/pending"), "");
    assert_eq!(left["pending"].as_array().map(Vec::len), Some(1));
    let entry = &left["pending"][0];
    assert_eq!((&entry["id"], &entry["consumer"]), (&json!("3-0"), &json!("b")));
    assert!(entry["idle_ms"].is_number() && entry["deliveries"] == json!(1), "{entry}");
    for (query, count) in
        [("consumer=a", 0), ("consumer=b", 1), ("from=4", 0), ("to=2", 0), ("idle_ms=100000", 0)]
    {
        let some = shown(&mut http, &format!("GET {GROUP}/pending?{query}"), "");
        assert_eq!(some["pending"].as_array().map(Vec::len), Some(count), "{query}");
    }
    // What a consumer has got is there when it comes again, even if the entry is gone.
    redis.run("XDEL s 3-0").unwrap();
    let own = shown(&mut http, &read("b", "&after=0"), "");
    assert_eq!(own, json!({"entries": [{"id": "3-0", "fields": null}]}));
}

#[test]
fn a_read_waits_for_an_entry() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    assert_eq!(status(&mut http, &format!("PUT {GROUP}"), ""), 201);
    http.request(&read("a", "&wait=100"), "", b"").unwrap();
    wait_for_blocked(&mut redis, 1);
    redis.run("XADD s 7-0 f v").unwrap();
    let response = http.response().unwrap();
    assert_eq!(response.text(), r#"{"entries":[{"id":"7-0","fields":{"f":"v"}}]}"#);
    assert_eq!(status(&mut http, &read("a", "&wait=0.05"), ""), 204);
    // A group that goes ends the wait.
    http.request(&read("a", "&wait=100"), "", b"").unwrap();
    wait_for_blocked(&mut redis, 1);
    redis.run("XGROUP DESTROY s g").unwrap();
    assert_eq!(http.response().unwrap().status, 404);
}

#[test]
fn consumers_take_over_from_others() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    for id in 1..=5 {
        redis.run(&format!("XADD s {id}-0 f v")).unwrap();
    }
    assert_eq!(status(&mut http, &format!("PUT {GROUP}?from=0"), ""), 201);
    assert_eq!(ids(&shown(&mut http, &read("a", ""), "")).len(), 5);
    let claim =
        |consumer: &str, more: &str| format!("POST {GROUP}?op=claim&consumer={consumer}{more}");
    let claimed = shown(&mut http, &claim("b", ""), r#"["1-0","9-0"]"#);
    assert_eq!(claimed, json!({"entries": [{"id": "1-0", "fields": {"f": "v"}}]}));
    assert_eq!(ids(&shown(&mut http, &claim("b", "&idle_ms=100000"), r#"["2-0"]"#)).len(), 0);
    redis.run("XDEL s 2-0").unwrap();
    let auto = |more: &str| format!("POST {GROUP}?op=autoclaim&consumer=c{more}");
    let part = shown(&mut http, &auto("&count=2"), "");
    assert_eq!((ids(&part), &part["deleted"]), (vec!["1-0"], &json!(["2-0"])));
    let cursor = part["cursor"].as_str().expect("a cursor").to_owned();
    let rest = shown(&mut http, &auto(&format!("&cursor={cursor}")), "");
    assert_eq!((ids(&rest), &rest["cursor"]), (vec!["3-0", "4-0", "5-0"], &json!("0-0")));
    let groups = shown(&mut http, "GET /v1/streams/s/groups", "");
    assert_eq!(groups["groups"][0]["name"], json!("g"));
    assert_eq!(groups["groups"][0]["pending"], json!(4));
    let consumers = shown(&mut http, &format!("GET {GROUP}/consumers"), "");
    assert_eq!(consumers["consumers"].as_array().map(Vec::len), Some(3));
    let forgotten = shown(&mut http, &format!("DELETE {GROUP}/consumers/c"), "");
    assert_eq!(forgotten, json!({"forgotten": 4}));
    for expected in [204, 404] {
        assert_eq!(status(&mut http, &format!("DELETE {GROUP}"), ""), expected);
    }
}

#[test]
fn what_is_not_there_is_told_apart() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    redis.run("SET string x").unwrap();
    redis.run("XADD s 1-0 f v").unwrap();
    for (line, body, expected) in [
        ("GET /v1/streams/none/groups", "", 404),
        ("GET /v1/streams/string/groups", "", 409),
        ("PUT /v1/streams/string/groups/g", "", 409),
        ("PUT /v1/streams/s/groups/g?from=x", "", 400),
        ("GET /v1/streams/s/groups/none", "", 404),
        ("GET /v1/streams/s/groups/none/pending", "", 404),
        ("GET /v1/streams/s/groups/none/consumers", "", 404),
        ("DELETE /v1/streams/s/groups/none", "", 404),
        ("DELETE /v1/streams/none/groups/g", "", 404),
        ("DELETE /v1/streams/none/groups/g/consumers/c", "", 404),
        ("DELETE /v1/streams/s/groups/none/consumers/c", "", 404),
        ("DELETE /v1/streams/s/groups/none/pending/1-0", "", 404),
        ("POST /v1/streams/s/groups/none?op=read&consumer=c", "", 404),
        ("POST /v1/streams/s/groups/none?op=claim&consumer=c", r#"["1-0"]"#, 404),
        ("POST /v1/streams/s/groups/none?op=autoclaim&consumer=c", "", 404),
        ("POST /v1/streams/s/groups/g?op=read", "", 400),
        ("POST /v1/streams/s/groups/g", "", 400),
        ("POST /v1/streams/s/groups/g?op=ack", "[]", 400),
        ("POST /v1/streams/s/groups/g?op=ack", "{}", 400),
        ("GET /v1/streams/s/groups/g/pending/1-0", "", 405),
    ] {
        assert_eq!(status(&mut http, line, body), expected, "{line} {body}");
    }
    // Any bytes are names, percent-encoded or in base64.
    assert_eq!(status(&mut http, "PUT /v1/streams/s/groups/a%2Fb?from=0", ""), 201);
    let read = "POST /v1/streams/cw/groups/YS9i?b64=1&op=read&consumer=YyA";
    assert_eq!(status(&mut http, read, ""), 200);
    let consumers = shown(&mut http, "GET /v1/streams/s/groups/a%2Fb/consumers", "");
    assert_eq!(consumers["consumers"][0]["name"], json!("c "));
    let delete = "DELETE /v1/streams/s/groups/a%2Fb/consumers/c%20";
    assert_eq!(shown(&mut http, delete, ""), json!({"forgotten": 1}));
}
