//! `/v1/keys`, `/v1/hashes`, `/v1/sets`, `/v1/sorted-sets`, `/v1/lists`, `/v1/streams`,
//! `/v1/channels`, `/v1/info`: what each path answers.

use super::{client, start, wait_for_blocked};
use basalt_resp::Value;
use basalt_tests::http::HttpClient;
use std::time::{Duration, Instant};

pub(super) const JSON: &str = "Content-Type: application/json\r\n";

/// Requests in their order: method and target, body, status, and what the response contains. A
/// body that begins as JSON does is called so.
pub(super) type Exchange = (&'static str, &'static str, u16, &'static str);

pub(super) fn play(http: &mut HttpClient, exchanges: &[Exchange]) {
    for &(line, body, status, expected) in exchanges {
        let fields = if body.starts_with(['[', '{']) { JSON } else { "" };
        let response = http.ask(line, fields, body.as_bytes());
        let text = response.text();
        assert_eq!(response.status, status, "{line} {body}: {text}");
        let is_right = if status < 300 { text == expected } else { text.contains(expected) };
        assert!(is_right, "{line} {body}: {text}");
    }
}

#[test]
fn hashes() {
    let (_server, address) = start(&[]);
    play(
        &mut client(address),
        &[
            ("PATCH /v1/hashes/h", r#"{"a":"1","b":2,"c":{"b64":"AP8="}}"#, 200, r#"{"added":3}"#),
            (
                "GET /v1/hashes/h",
                "",
                200,
                r#"{"fields":{"a":"1","b":"2","c":{"$b64":"AP8="}},"cursor":"0"}"#,
            ),
            ("GET /v1/hashes/h?match=b", "", 200, r#"{"fields":{"b":"2"},"cursor":"0"}"#),
            ("GET /v1/hashes/aA?match=b&b64=1", "", 200, r#"{"fields":{"Yg":"2"},"cursor":"0"}"#),
            ("GET /v1/hashes/h?b64=1", "", 400, "Base64"),
            ("GET /v1/hashes/none", "", 200, r#"{"fields":{},"cursor":"0"}"#),
            ("GET /v1/hashes/h/a", "", 200, "1"),
            ("GET /v1/hashes/h/none", "", 404, "NOKEY"),
            ("PUT /v1/hashes/h/x%2F%00", "slash", 201, ""),
            ("PUT /v1/hashes/h/x%2F%00", "again", 204, ""),
            ("GET /v1/hashes/aA/eC8A?b64=1", "", 200, "again"),
            ("DELETE /v1/hashes/h/x%2F%00", "", 204, ""),
            ("DELETE /v1/hashes/h/x%2F%00", "", 404, "NOKEY"),
            ("POST /v1/hashes/h/a?op=increment&by=41", "", 200, r#"{"value":42}"#),
            ("POST /v1/hashes/h/a?op=increment", "", 200, r#"{"value":43}"#),
            ("POST /v1/hashes/h/a?op=increment&by=0.5", "", 200, r#"{"value":43.5}"#),
            ("POST /v1/hashes/h/c?op=increment", "", 400, "ERR"),
            ("PATCH /v1/hashes/h", "[1]", 400, "object"),
            ("PATCH /v1/hashes/h", "{}", 400, "words"),
            ("PATCH /v1/hashes/h", "a=1", 415, "NOTJSON"),
            ("POST /v1/hashes/h", "", 405, "BADMETHOD"),
            ("GET /v1/hashes/h?limit=1", "", 400, "limit"),
            ("GET /v1/hashes/h?count=0", "", 400, "count"),
            ("GET /v1/hashes/h?count=10001", "", 400, "count"),
            ("GET /v1/hashes/h?cursor=x", "", 400, "cursor"),
            ("PUT /v1/strings/s", "text", 201, ""),
            ("GET /v1/hashes/s", "", 409, "WRONGTYPE"),
            ("PUT /v1/hashes/s/f", "v", 409, "WRONGTYPE"),
        ],
    );
}

#[test]
fn sets() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    play(
        &mut http,
        &[
            ("POST /v1/sets/s", r#"["a","b","a"]"#, 200, r#"{"added":2}"#),
            ("GET /v1/sets/s?match=a", "", 200, r#"{"members":["a"],"cursor":"0"}"#),
            ("GET /v1/sets/s/a", "", 204, ""),
            ("HEAD /v1/sets/s/b", "", 204, ""),
            ("GET /v1/sets/s/c", "", 404, "NOKEY"),
            ("PUT /v1/sets/s/c", "", 201, ""),
            ("PUT /v1/sets/s/c", "", 204, ""),
            ("DELETE /v1/sets/s/c", "", 204, ""),
            ("DELETE /v1/sets/s/c", "", 404, "NOKEY"),
            ("DELETE /v1/sets/s/b", "", 204, ""),
            ("POST /v1/sets/s?op=random", "", 200, r#"{"members":["a"]}"#),
            ("POST /v1/sets/s?op=pop&count=5", "", 200, r#"{"members":["a"]}"#),
            ("POST /v1/sets/s?op=pop", "", 204, ""),
            ("POST /v1/sets/s?op=random", "", 204, ""),
            ("POST /v1/sets/s?op=nothing", "", 400, "op=pop"),
            ("GET /v1/sets/s", "", 200, r#"{"members":[],"cursor":"0"}"#),
        ],
    );
    let response = http.ask("POST /v1/sets/s?op=pop", "If-None-Match: *\r\n", b"");
    assert_eq!(response.status, 412, "no condition is passed over");
}

#[test]
fn sorted_sets() {
    let (_server, address) = start(&[]);
    play(
        &mut client(address),
        &[
            ("POST /v1/sorted-sets/z", r#"{"a":1,"b":2.5,"c":"inf"}"#, 200, r#"{"added":3}"#),
            ("GET /v1/sorted-sets/z", "", 200, r#"{"members":[["a",1],["b",2.5],["c","inf"]]}"#),
            (
                "GET /v1/sorted-sets/z?from=0&to=0&reverse=1",
                "",
                200,
                r#"{"members":[["c","inf"]]}"#,
            ),
            ("GET /v1/sorted-sets/z?from=-1", "", 200, r#"{"members":[["c","inf"]]}"#),
            ("GET /v1/sorted-sets/z?by=rank&from=1&to=1", "", 200, r#"{"members":[["b",2.5]]}"#),
            ("GET /v1/sorted-sets/z?by=score&from=(1&to=3", "", 200, r#"{"members":[["b",2.5]]}"#),
            (
                "GET /v1/sorted-sets/z?by=score&reverse=1&limit=1&offset=1",
                "",
                200,
                r#"{"members":[["b",2.5]]}"#,
            ),
            ("GET /v1/sorted-sets/z?by=lex&from=[a&to=[b", "", 200, r#"{"members":["a","b"]}"#),
            ("GET /v1/sorted-sets/z?by=lex&reverse=1", "", 200, r#"{"members":["c","b","a"]}"#),
            ("GET /v1/sorted-sets/z?by=size", "", 400, "by must be one of"),
            ("GET /v1/sorted-sets/z?limit=1", "", 400, "limit"),
            ("GET /v1/sorted-sets/none", "", 200, r#"{"members":[]}"#),
            ("GET /v1/sorted-sets/z/b", "", 200, r#"{"rank":1,"score":2.5}"#),
            ("GET /v1/sorted-sets/z/none", "", 404, "NOKEY"),
            ("PUT /v1/sorted-sets/z/d", "7", 201, ""),
            ("PUT /v1/sorted-sets/z/d", "8", 204, ""),
            ("PUT /v1/sorted-sets/z/d?lt=1", "9", 204, ""),
            ("GET /v1/sorted-sets/z/d", "", 200, r#"{"rank":2,"score":8}"#),
            ("PUT /v1/sorted-sets/z/d", "no number", 400, "ERR"),
            ("POST /v1/sorted-sets/z/d?op=increment&by=0.5", "", 200, r#"{"value":8.5}"#),
            ("POST /v1/sorted-sets/z/d?op=increment", "", 200, r#"{"value":9.5}"#),
            ("POST /v1/sorted-sets/z?op=pop", "", 200, r#"{"members":[["a",1]]}"#),
            ("POST /v1/sorted-sets/z?op=pop&side=max", "", 200, r#"{"members":[["c","inf"]]}"#),
            ("DELETE /v1/sorted-sets/z/d", "", 204, ""),
            ("DELETE /v1/sorted-sets/z/d", "", 404, "NOKEY"),
            ("DELETE /v1/sorted-sets/z/b", "", 204, ""),
            ("POST /v1/sorted-sets/z?op=pop", "", 204, ""),
        ],
    );
}

#[test]
fn lists() {
    let (_server, address) = start(&[]);
    play(
        &mut client(address),
        &[
            ("POST /v1/lists/l", "raw", 200, r#"{"length":1}"#),
            ("POST /v1/lists/l", r#"["a","b"]"#, 200, r#"{"length":3}"#),
            ("POST /v1/lists/l?side=left", "first", 200, r#"{"length":4}"#),
            ("GET /v1/lists/l", "", 200, r#"{"elements":["first","raw","a","b"]}"#),
            ("GET /v1/lists/l?start=-2&stop=-2", "", 200, r#"{"elements":["a"]}"#),
            ("GET /v1/lists/l?start=-2", "", 200, r#"{"elements":["a","b"]}"#),
            ("GET /v1/lists/none", "", 200, r#"{"elements":[]}"#),
            ("GET /v1/lists/l/1", "", 200, "raw"),
            ("GET /v1/lists/l/-1", "", 200, "b"),
            ("GET /v1/lists/l/9", "", 404, "NOKEY"),
            ("GET /v1/lists/l/x", "", 400, "ERR"),
            ("PUT /v1/lists/l/0", "new", 204, ""),
            ("PUT /v1/lists/l/9", "new", 404, "NOKEY"),
            ("PUT /v1/lists/none/0", "new", 404, "NOKEY"),
            ("POST /v1/lists/l?op=pop", "", 200, r#"{"elements":["new"]}"#),
            ("POST /v1/lists/l?op=pop&side=right&count=2", "", 200, r#"{"elements":["b","a"]}"#),
            ("POST /v1/lists/l?op=pop&wait=5", "", 200, r#"{"elements":["raw"]}"#),
            ("POST /v1/lists/l?op=pop", "", 204, ""),
            ("POST /v1/lists/l?op=pop&wait=0", "", 204, ""),
            ("POST /v1/lists/l?op=pop&wait=0.01", "", 204, ""),
            ("POST /v1/lists/l?op=pop&wait=-1", "", 400, "wait"),
            ("POST /v1/lists/l?op=pop&wait=nan", "", 400, "wait"),
        ],
    );
}

#[test]
fn a_pop_waits_for_an_element_and_not_for_ever() {
    let (server, address) = start(&[("http-wait-max", "1")]);
    let (mut http, mut redis) = (client(address), server.connect());
    http.request("POST /v1/lists/l?op=pop&wait=60&side=right", "", b"").unwrap();
    wait_for_blocked(&mut redis, 1);
    redis.run("RPUSH l a b").unwrap();
    let taken = http.response().unwrap();
    assert_eq!((taken.status, taken.text()), (200, r#"{"elements":["b"]}"#.to_owned()));
    let start = Instant::now();
    assert_eq!(http.ask("POST /v1/lists/m?op=pop&wait=1e9", "", b"").status, 204);
    assert!(start.elapsed() >= Duration::from_secs(1));
    // A connection that goes takes nothing along.
    http.request("POST /v1/lists/m?op=pop&wait=60", "", b"").unwrap();
    wait_for_blocked(&mut redis, 1);
    drop(http);
    wait_for_blocked(&mut redis, 0);
    redis.run("RPUSH m a").unwrap();
    assert_eq!(redis.run("LLEN m").unwrap(), Value::Integer(1));
}

#[test]
fn streams_and_channels() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let added = http.ask("POST /v1/streams/a%2Fb?db=2", "", b"raw");
    assert_eq!(added.status, 201, "{}", added.text());
    let place = added.field("location").expect("where the entry is").to_owned();
    assert!(place.starts_with("/v1/streams/a%2Fb/"), "{place}");
    let entry = http.ask(&format!("GET {place}"), "", b"");
    assert!(entry.text().ends_with(r#","fields":{"data":"raw"}}"#), "{}", entry.text());
    assert_eq!(http.ask(&format!("DELETE {place}"), "", b"").status, 204);
    assert_eq!(http.ask(&format!("DELETE {place}"), "", b"").status, 404);
    assert_eq!(http.ask(&format!("GET {place}"), "", b"").status, 404);
    let added = http.ask("POST /v1/streams/s?max=100", JSON, br#"{"f":"v","g":1}"#);
    let id = added.text()[7..added.text().len() - 2].to_owned();
    let read = http.ask("GET /v1/streams/s", "", b"");
    let entry = format!(r#"{{"id":"{id}","fields":{{"f":"v","g":"1"}}}}"#);
    assert_eq!(read.text(), format!(r#"{{"entries":[{entry}]}}"#));
    play(
        &mut http,
        &[
            ("GET /v1/streams/s?after=99999999999999", "", 204, ""),
            ("GET /v1/streams/s?after=$&wait=0.01", "", 204, ""),
            ("GET /v1/streams/s?after=x", "", 400, "ERR"),
            ("POST /v1/streams/s?max=1&ttl=1", "x", 400, "one of"),
            ("POST /v1/channels/c", "hello", 200, r#"{"receivers":0}"#),
        ],
    );
    let mut redis = server.connect();
    http.request("GET /v1/streams/s?after=$&wait=60", "", b"").unwrap();
    wait_for_blocked(&mut redis, 1);
    redis.run("XADD s 99999999999999-1 f w").unwrap();
    let expected = r#"{"entries":[{"id":"99999999999999-1","fields":{"f":"w"}}]}"#;
    assert_eq!(http.response().unwrap().text(), expected);
    // What is older than its time goes with the next one.
    for number in 1..=250 {
        redis.run(&format!("XADD old 1-{number} f v")).unwrap();
    }
    http.ask("POST /v1/streams/old?ttl=1000", "", b"x");
    let Value::Integer(left) = redis.run("XLEN old").unwrap() else { panic!("no length") };
    assert!(left < 150, "{left} entries are left");
    redis.run("SUBSCRIBE c").unwrap();
    assert_eq!(http.ask("POST /v1/channels/c", "", b"hello").text(), r#"{"receivers":1}"#);
}

#[test]
fn keys() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let mut redis = server.connect();
    for number in 0..300 {
        redis.run(&format!("SET key:{number} v")).unwrap();
    }
    redis.run("RPUSH list a b").unwrap();
    let (mut cursor, mut found) = ("0".to_owned(), 0);
    loop {
        let line = format!("GET /v1/keys?match=key:*&type=string&count=50&cursor={cursor}");
        let page = http.ask(&line, "", b"").text();
        found += page.matches("key:").count();
        cursor = page.rsplit('"').nth(1).expect("a cursor").to_owned();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(found, 300);
    let page = http.ask("GET /v1/keys?match=list&b64=1", "", b"").text();
    assert!(page.contains(r#""bGlzdA""#) || page.contains(r#""keys":[]"#), "{page}");
    let described = http.ask("GET /v1/keys/list", "", b"").text();
    assert!(
        described.starts_with(r#"{"type":"list","ttl_ms":null,"encoding":"listpack","bytes":"#)
    );
    assert!(described.ends_with(r#","length":2}"#), "{described}");
    redis.run("SET t abc PX 99999").unwrap();
    let described = http.ask("GET /v1/keys/t", "", b"").text();
    assert!(described.contains(r#""ttl_ms":9"#) && described.ends_with(r#""length":3}"#));
    play(
        &mut http,
        &[
            ("GET /v1/keys/none", "", 404, "NOKEY"),
            ("DELETE /v1/keys/t", "", 204, ""),
            ("DELETE /v1/keys/t", "", 404, "NOKEY"),
            ("GET /v1/keys?key=none", "", 404, "NOKEY"),
            ("POST /v1/keys/list?op=rename&to=other%2Flist", "", 204, ""),
            ("POST /v1/keys/list?op=rename&to=x", "", 404, "NOKEY"),
            ("POST /v1/keys/key:1?op=rename&to=other%2Flist", "", 409, "KEYEXISTS"),
            ("POST /v1/keys/key:1?op=rename&to=other%2Flist&replace=1", "", 204, ""),
            ("GET /v1/strings/other%2Flist", "", 200, "v"),
            ("POST /v1/keys/a2V5OjI?op=rename&to=bmV3&b64=1", "", 204, ""),
            ("GET /v1/strings/new", "", 200, "v"),
            ("POST /v1/keys/key:3?op=rename", "", 400, "to is missing"),
            ("POST /v1/keys/key:3", "", 400, "op=rename"),
        ],
    );
    let info = http.ask("GET /v1/info?section=clients", "", b"").text();
    assert!(info.starts_with(r#"{"clients":{"connected_clients":""#), "{info}");
}
