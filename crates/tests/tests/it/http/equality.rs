//! Random requests by Redis' protocol and by HTTP: equal answers, equal data.

use super::{client, start};
use basalt_resp::Value;
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Server};

const REQUESTS: usize = 3_000;
/// Requests that are sent together.
const TOGETHER_MAX: u64 = 40;

/// One request, by both ways, and what HTTP answers to a reply.
struct Both {
    words: Vec<Vec<u8>>,
    line: String,
    fields: &'static str,
    body: Vec<u8>,
}

fn both(random: &mut Random) -> Both {
    let key = format!("k{}", random.below(20));
    let length = [0, 3, 60, 20_000][random.below(4) as usize];
    let value = random.bytes(length);
    let words = |words: &[&[u8]]| words.iter().map(|word| word.to_vec()).collect::<Vec<_>>();
    let path = format!("/v1/strings/{key}");
    let key = key.as_bytes();
    let (words, line, fields, body) = match random.below(8) {
        0 | 1 => (words(&[b"SET", key, &value]), format!("PUT {path}"), "", value),
        2 => (
            words(&[b"SET", key, &value, b"NX"]),
            format!("PUT {path}"),
            "If-None-Match: *\r\n",
            value,
        ),
        3 => (
            words(&[b"SET", key, b"5", b"XX"]),
            format!("PUT {path}"),
            "If-Match: *\r\n",
            vec![b'5'],
        ),
        4 => {
            (words(&[b"APPEND", key, b"ab"]), format!("POST {path}?op=append"), "", b"ab".to_vec())
        }
        5 => (words(&[b"GETDEL", key]), format!("DELETE {path}"), "", vec![]),
        6 => (words(&[b"INCRBY", key, b"7"]), format!("POST {path}?op=increment&by=7"), "", vec![]),
        _ => (words(&[b"GET", key]), format!("GET {path}"), "", vec![]),
    };
    Both { words, line, fields, body }
}

/// What HTTP answers where Redis' protocol answers this.
fn expected(line: &str, existed: bool, reply: &Value) -> (u16, Vec<u8>) {
    match (line.split(' ').next().unwrap(), reply) {
        (_, Value::Error(_)) => (400, vec![]),
        ("GET", Value::Bulk(value)) => (200, value.clone()),
        ("GET" | "DELETE", _) if !existed => (404, vec![]),
        ("DELETE", _) => (204, vec![]),
        ("PUT", Value::Null) => (412, vec![]),
        ("PUT", _) => (if existed { 204 } else { 201 }, vec![]),
        (_, Value::Integer(number)) => {
            let name = if line.ends_with("append") { "length" } else { "value" };
            (200, format!("{{\"{name}\":{number}}}").into_bytes())
        }
        other => panic!("{other:?}"),
    }
}

/// What HTTP answers where Redis' protocol answers this.
type Answer = fn(&Value) -> (u16, String);

/// One request about what is in a collection, by both ways, and what HTTP answers to the reply.
struct InCollection {
    words: Vec<Vec<u8>>,
    line: String,
    body: Vec<u8>,
    answer: Answer,
}

fn added(reply: &Value) -> (u16, String) {
    (if *reply == Value::Integer(1) { 201 } else { 204 }, String::new())
}

fn found(reply: &Value) -> (u16, String) {
    (if *reply == Value::Integer(0) { 404 } else { 204 }, String::new())
}

fn length(reply: &Value) -> (u16, String) {
    let Value::Integer(length) = reply else { panic!("{reply:?}") };
    (200, format!(r#"{{"length":{length}}}"#))
}

fn value(reply: &Value) -> (u16, String) {
    match reply {
        Value::Integer(value) => (200, format!(r#"{{"value":{value}}}"#)),
        Value::Bulk(value) => (200, String::from_utf8_lossy(value).into_owned()),
        _ => (404, String::new()),
    }
}

fn popped(reply: &Value) -> (u16, String) {
    match reply {
        Value::Bulk(element) => {
            (200, format!(r#"{{"elements":["{}"]}}"#, String::from_utf8_lossy(element)))
        }
        _ => (204, String::new()),
    }
}

fn in_collection(random: &mut Random, number: usize) -> InCollection {
    let name = format!("n{}", random.below(8));
    let own = format!("v{number}");
    let key = random.below(4);
    let words = |line: String| -> Vec<Vec<u8>> {
        line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
    };
    let hash = format!("/v1/hashes/h{key}/{name}");
    let counter = format!("/v1/hashes/c{key}/{name}?op=increment&by={number}");
    let score = number.to_string();
    let (words, line, body, answer): (_, _, &str, Answer) = match random.below(10) {
        0 => (words(format!("HSET h{key} {name} {own}")), format!("PUT {hash}"), &own, added),
        1 => (words(format!("HGET h{key} {name}")), format!("GET {hash}"), "", value),
        2 => (words(format!("HDEL h{key} {name}")), format!("DELETE {hash}"), "", found),
        3 => {
            (words(format!("HINCRBY c{key} {name} {number}")), format!("POST {counter}"), "", value)
        }
        4 => {
            (words(format!("SADD s{key} {name}")), format!("PUT /v1/sets/s{key}/{name}"), "", added)
        }
        5 => (
            words(format!("SREM s{key} {name}")),
            format!("DELETE /v1/sets/s{key}/{name}"),
            "",
            found,
        ),
        6 => (
            words(format!("ZADD z{key} {number} {name}")),
            format!("PUT /v1/sorted-sets/z{key}/{name}"),
            &score,
            added,
        ),
        7 => (words(format!("RPUSH l{key} {own}")), format!("POST /v1/lists/l{key}"), &own, length),
        8 => (words(format!("LPOP l{key}")), format!("POST /v1/lists/l{key}?op=pop"), "", popped),
        _ => (words(format!("UNLINK s{key}")), format!("DELETE /v1/keys/s{key}"), "", found),
    };
    InCollection { words, line, body: body.as_bytes().to_vec(), answer }
}

/// Values and lengths differ from request to request, so responses that change places are seen.
#[test]
fn collections_are_the_same_by_both_ways() {
    let (http_server, address) = start(&[]);
    let redis_server = Server::start(Kind::Basalt);
    let (mut http, mut redis) = (client(address), redis_server.connect());
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    let mut done = 0;
    while done < REQUESTS {
        let batch: Vec<InCollection> = (0..=random.below(TOGETHER_MAX) as usize)
            .map(|number| in_collection(&mut random, done + number))
            .collect();
        for InCollection { line, body, .. } in &batch {
            http.request(line, "", body).unwrap();
        }
        for InCollection { words, line, answer, .. } in &batch {
            let reply = redis.call(words).unwrap();
            let (status, text) = answer(&reply);
            let response = http.response().unwrap();
            assert_eq!(response.status, status, "{line}: {reply:?}: {}", response.text());
            assert!(status != 200 || response.text() == text, "{line}: {}", response.text());
        }
        done += batch.len();
    }
    let digest = |server: &Server| server.connect().run("DEBUG DIGEST").unwrap();
    assert_eq!(digest(&http_server), digest(&redis_server));
}

#[test]
fn http_and_redis_protocol_do_the_same() {
    let (http_server, address) = start(&[]);
    let redis_server = Server::start(Kind::Basalt);
    let (mut http, mut redis) = (client(address), redis_server.connect());
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    let mut done = 0;
    while done < REQUESTS {
        let batch: Vec<Both> =
            (0..=random.below(TOGETHER_MAX)).map(|_| both(&mut random)).collect();
        for Both { line, fields, body, .. } in &batch {
            http.request(line, fields, body).unwrap();
        }
        for (number, Both { words, line, .. }) in batch.iter().enumerate() {
            let existed = redis.call(&[&b"EXISTS"[..], &words[1]]).unwrap() == Value::Integer(1);
            let reply = redis.call(words).unwrap();
            let response = http.response().unwrap();
            let (status, body) = expected(line, existed, &reply);
            assert_eq!(response.status, status, "{number} of the batch: {line}: {reply:?}");
            if status == 200 {
                assert!(response.body == body, "{number} of the batch: {line}");
            }
        }
        done += batch.len();
    }
    let digest = |server: &Server| server.connect().run("DEBUG DIGEST").unwrap();
    assert_eq!(digest(&http_server), digest(&redis_server));
}
