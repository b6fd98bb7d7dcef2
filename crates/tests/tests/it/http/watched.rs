//! WATCH by Redis' protocol beside requests by HTTP: what changes the data aborts EXEC, and nothing
//! else does.

use super::{client, start};
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use std::net::SocketAddr;

/// What is there, the database and the key that is watched, and a request, which is answered with
/// this status.
struct Case {
    db: u8,
    before: &'static [&'static str],
    key: &'static str,
    line: &'static str,
    fields: &'static str,
    body: &'static str,
    status: u16,
    changes: bool,
}

/// A request without fields about database 0.
const fn case(
    before: &'static [&'static str],
    key: &'static str,
    request: (&'static str, &'static str),
    status: u16,
    changes: bool,
) -> Case {
    let (line, body) = request;
    Case { db: 0, before, key, line, fields: "", body, status, changes }
}

const fn with(fields: &'static str, case: Case) -> Case {
    Case { fields, ..case }
}

const fn in_db(db: u8, case: Case) -> Case {
    Case { db, ..case }
}

const JSON: &str = "Content-Type: application/json\r\n";
const IF_6: &str = "If-Match: \"v6\"\r\n";
const IF_7: &str = "If-Match: \"v7\"\r\n";
const IF_NONE: &str = "If-None-Match: *\r\n";
const IF_ANY: &str = "If-Match: *\r\n";

/// A string with the version 7.
const STRING: &[&str] = &["CAS.SET k v FORCE 7"];
const NUMBER: &[&str] = &["SET n 1"];

const STRINGS: &[Case] = &[
    case(STRING, "k", ("GET /v1/strings/k", ""), 200, false),
    case(STRING, "k", ("PUT /v1/strings/k", "w"), 204, true),
    case(&[], "k", ("PUT /v1/strings/k", "w"), 201, true),
    with(IF_NONE, case(STRING, "k", ("PUT /v1/strings/k", "w"), 412, false)),
    with(IF_NONE, case(&[], "k", ("PUT /v1/strings/k", "w"), 201, true)),
    with(IF_ANY, case(&[], "k", ("PUT /v1/strings/k", "w"), 412, false)),
    with(IF_6, case(STRING, "k", ("PUT /v1/strings/k", "w"), 412, false)),
    with(IF_7, case(STRING, "k", ("PUT /v1/strings/k", "w"), 204, true)),
    with(IF_6, case(STRING, "k", ("DELETE /v1/strings/k", ""), 412, false)),
    with(IF_7, case(STRING, "k", ("DELETE /v1/strings/k", ""), 204, true)),
    case(STRING, "k", ("DELETE /v1/strings/k", ""), 204, true),
    case(&[], "k", ("DELETE /v1/strings/k", ""), 404, false),
    case(STRING, "k", ("PUT /v1/strings/k?nonsense=1", "w"), 400, false),
    case(STRING, "k", ("PATCH /v1/strings/k?offset=0", "w"), 200, true),
    with(IF_7, case(STRING, "k", ("PATCH /v1/strings/k?offset=0", "w"), 412, false)),
    case(STRING, "k", ("POST /v1/strings/k?op=append", "w"), 200, true),
    case(STRING, "k", ("POST /v1/strings/k?op=increment", ""), 400, false),
    case(NUMBER, "n", ("POST /v1/strings/n?op=increment&by=2", ""), 200, true),
    case(STRING, "k", ("PUT /v1/strings/k?db=1", "w"), 201, false),
    case(STRING, "k", ("PUT /v1/strings/other", "w"), 201, false),
];

const KEYS: &[Case] = &[
    case(STRING, "k", ("GET /v1/keys/k", ""), 200, false),
    case(STRING, "k", ("GET /v1/keys?match=*", ""), 200, false),
    case(STRING, "k", ("DELETE /v1/keys/k", ""), 204, true),
    case(&[], "k", ("DELETE /v1/keys/k", ""), 404, false),
    with(JSON, case(STRING, "k", ("PATCH /v1/keys/k", r#"{"ttl_ms":60000}"#), 204, true)),
    with(JSON, case(&[], "k", ("PATCH /v1/keys/k", r#"{"ttl_ms":60000}"#), 404, false)),
    with(JSON, case(STRING, "k", ("PATCH /v1/keys/k", r#"{"ttl_ms":null}"#), 204, false)),
];

/// Elements with the version 7.
const ELEMENTS: &[&str] = &[
    "CAS.HSET h f v FORCE 7",
    "CAS.SADD s m FORCE 7",
    "CAS.ZADD z 1 m FORCE 7",
    "RPUSH l a b",
    "XADD x 1-0 f v",
    "XGROUP CREATE x g 0",
];

const COLLECTIONS: &[Case] = &[
    case(ELEMENTS, "h", ("GET /v1/hashes/h", ""), 200, false),
    with(JSON, case(ELEMENTS, "h", ("PATCH /v1/hashes/h", r#"{"g":"w"}"#), 200, true)),
    case(ELEMENTS, "h", ("PUT /v1/hashes/h/f", "w"), 204, true),
    with(IF_6, case(ELEMENTS, "h", ("PUT /v1/hashes/h/f", "w"), 412, false)),
    with(IF_NONE, case(ELEMENTS, "h", ("PUT /v1/hashes/h/f", "w"), 412, false)),
    with(IF_7, case(ELEMENTS, "h", ("PUT /v1/hashes/h/f", "w"), 204, true)),
    with(IF_6, case(ELEMENTS, "h", ("DELETE /v1/hashes/h/f", ""), 412, false)),
    case(ELEMENTS, "h", ("DELETE /v1/hashes/h/none", ""), 404, false),
    case(ELEMENTS, "h", ("DELETE /v1/hashes/h/f", ""), 204, true),
    case(ELEMENTS, "h", ("POST /v1/hashes/h/f?op=increment", ""), 400, false),
    with(JSON, case(ELEMENTS, "h", ("PATCH /v1/hashes/h/f", r#"{"ttl_ms":60000}"#), 204, true)),
    with(JSON, case(ELEMENTS, "h", ("PATCH /v1/hashes/h/no", r#"{"ttl_ms":60000}"#), 404, false)),
    case(ELEMENTS, "s", ("PUT /v1/sets/s/m", ""), 204, false),
    case(ELEMENTS, "s", ("PUT /v1/sets/s/new", ""), 201, true),
    with(IF_6, case(ELEMENTS, "s", ("DELETE /v1/sets/s/m", ""), 412, false)),
    case(ELEMENTS, "s", ("DELETE /v1/sets/s/none", ""), 404, false),
    case(ELEMENTS, "s", ("DELETE /v1/sets/s/m", ""), 204, true),
    case(ELEMENTS, "s", ("POST /v1/sets/s?op=random", ""), 200, false),
    case(ELEMENTS, "s", ("POST /v1/sets/s?op=pop", ""), 200, true),
    case(ELEMENTS, "none", ("POST /v1/sets/none?op=pop", ""), 204, false),
    case(ELEMENTS, "z", ("PUT /v1/sorted-sets/z/m?xx=1&lt=1", "2"), 204, false),
    case(ELEMENTS, "z", ("PUT /v1/sorted-sets/z/m", "2"), 204, true),
    with(IF_6, case(ELEMENTS, "z", ("PUT /v1/sorted-sets/z/m", "2"), 412, false)),
    case(ELEMENTS, "z", ("DELETE /v1/sorted-sets/z/none", ""), 404, false),
    case(ELEMENTS, "l", ("POST /v1/lists/l", "c"), 200, true),
    case(ELEMENTS, "l", ("POST /v1/lists/l?op=pop", ""), 200, true),
    case(ELEMENTS, "none", ("POST /v1/lists/none?op=pop", ""), 204, false),
    case(ELEMENTS, "l", ("PUT /v1/lists/l/9", "c"), 404, false),
    case(ELEMENTS, "l", ("PUT /v1/lists/l/0", "c"), 204, true),
    case(ELEMENTS, "x", ("POST /v1/streams/x", "c"), 201, true),
    case(ELEMENTS, "x", ("GET /v1/streams/x", ""), 200, false),
    case(ELEMENTS, "x", ("DELETE /v1/streams/x/9-0", ""), 404, false),
    case(ELEMENTS, "x", ("DELETE /v1/streams/x/1-0", ""), 204, true),
    // As in Redis, what a group knows of a stream is no change of it.
    case(ELEMENTS, "x", ("PUT /v1/streams/x/groups/new?from=0", ""), 201, false),
    case(ELEMENTS, "x", ("PUT /v1/streams/x/groups/g?from=0", ""), 409, false),
    case(ELEMENTS, "x", ("DELETE /v1/streams/x/groups/none", ""), 404, false),
    case(ELEMENTS, "x", ("DELETE /v1/streams/x/groups/g/pending/1-0", ""), 404, false),
    case(ELEMENTS, "x", ("POST /v1/streams/x/groups/g?op=read&consumer=c", ""), 200, false),
];

const READY: &[&str] = &["Q.MPUT q 2 a b"];

const QUEUES: &[Case] = &[
    case(&[], "q", ("POST /v1/queues/q?op=get", ""), 204, false),
    case(&[], "q", ("POST /v1/queues/q/messages", "a"), 201, true),
    case(READY, "q", ("POST /v1/queues/q?op=get", ""), 200, true),
    case(READY, "q", ("GET /v1/queues/q", ""), 200, false),
    case(READY, "q", ("GET /v1/queues/q/messages", ""), 200, false),
    case(READY, "q", ("DELETE /v1/queues/q/messages/0-1-5", ""), 404, false),
    case(READY, "q", ("POST /v1/queues/q?op=revive", ""), 200, false),
    case(READY, "q", ("POST /v1/queues/q?op=purge&state=dead", ""), 200, false),
    case(READY, "q", ("POST /v1/queues/q?op=purge", ""), 200, true),
    with(JSON, case(READY, "q", ("PATCH /v1/queues/q", r#"{"lease":1000}"#), 204, true)),
];

const COMMANDS: &[Case] = &[
    with(JSON, case(STRING, "k", ("POST /v1/command", r#"["GET","k"]"#), 200, false)),
    with(JSON, case(STRING, "k", ("POST /v1/command", r#"["SET","k","w"]"#), 200, true)),
    with(JSON, case(STRING, "k", ("POST /v1/command", r#"["SETNX","k","w"]"#), 200, false)),
    with(JSON, case(STRING, "k", ("POST /v1/command", r#"["FLUSHDB"]"#), 200, true)),
    with(
        JSON,
        case(STRING, "k", ("POST /v1/batch", r#"[["GET","k"],["DEL","none"]]"#), 200, false),
    ),
    with(JSON, case(STRING, "k", ("POST /v1/batch", r#"[["GET","k"],["DEL","k"]]"#), 200, true)),
    with(
        JSON,
        case(STRING, "k", ("POST /v1/batch?atomic=1", r#"[["PING"],["DEL","k"]]"#), 200, true),
    ),
    with(
        JSON,
        case(STRING, "k", ("POST /v1/batch?atomic=1", r#"[["DEL","k"],["NOSUCH"]]"#), 400, false),
    ),
    with(
        JSON,
        case(STRING, "k", ("POST /v1/batch?atomic=1", r#"[["CAS.DEL","k","IF",6]]"#), 200, false),
    ),
];

const ITEM: &[&str] = &["CAS.SET k v FORCE 7"];
const TABLES: &[&str] =
    &["CAS.HSET t f v FORCE 7", "CAS.SADD s m FORCE 7", "CAS.ZADD z 1 m FORCE 7"];

/// Items are in database 0, tables in 1, queues in 2 and the cache in 3.
const HUST: &[Case] = &[
    case(ITEM, "k", ("GET /hustdb/get?key=k", ""), 200, false),
    case(ITEM, "k", ("GET /hustdb/exist?key=k", ""), 200, false),
    case(ITEM, "k", ("GET /hustdb/put?key=k&val=w", ""), 200, true),
    case(ITEM, "k", ("GET /hustdb/put?key=k&val=w&ver=6", ""), 401, false),
    case(ITEM, "k", ("GET /hustdb/put?key=k&val=w&ver=7", ""), 200, true),
    case(ITEM, "k", ("GET /hustdb/put?key=k&val=w&ver=6&is_dup=true", ""), 200, false),
    case(ITEM, "k", ("GET /hustdb/put?key=k&val=w&ver=9&is_dup=true", ""), 200, true),
    case(ITEM, "k", ("GET /hustdb/del?key=k&ver=6", ""), 401, false),
    case(ITEM, "k", ("GET /hustdb/del?key=k&ver=6&is_dup=true", ""), 200, false),
    case(ITEM, "k", ("GET /hustdb/del?key=none", ""), 404, false),
    case(ITEM, "k", ("GET /hustdb/del?key=k", ""), 200, true),
    in_db(1, case(TABLES, "t", ("GET /hustdb/hget?tb=t&key=f", ""), 200, false)),
    in_db(1, case(TABLES, "t", ("GET /hustdb/hkeys?tb=t&offset=0&size=9", ""), 200, false)),
    in_db(1, case(TABLES, "t", ("GET /hustdb/hset?tb=t&key=f&val=w&ver=6", ""), 401, false)),
    in_db(1, case(TABLES, "t", ("GET /hustdb/hset?tb=t&key=f&val=w", ""), 200, true)),
    in_db(1, case(TABLES, "t", ("GET /hustdb/hdel?tb=t&key=none", ""), 404, false)),
    in_db(1, case(TABLES, "t", ("GET /hustdb/hdel?tb=t&key=f", ""), 200, true)),
    in_db(1, case(TABLES, "s", ("GET /hustdb/sadd?tb=s&key=m&ver=6", ""), 401, false)),
    in_db(1, case(TABLES, "s", ("GET /hustdb/srem?tb=s&key=m", ""), 200, true)),
    in_db(1, case(TABLES, "z", ("GET /hustdb/zadd?tb=z&key=m&score=2&ver=6", ""), 401, false)),
    in_db(1, case(TABLES, "z", ("GET /hustdb/zadd?tb=z&key=m&score=2", ""), 200, true)),
    in_db(2, case(&[], "q", ("GET /hustmq/put?queue=q&item=i", ""), 200, true)),
    in_db(2, case(&[], "q", ("GET /hustmq/get?queue=q&worker=worker", ""), 412, false)),
    in_db(2, case(READY, "q", ("GET /hustmq/get?queue=q&worker=worker", ""), 200, true)),
    in_db(2, case(READY, "q", ("GET /hustmq/purge?queue=q&priori=2", ""), 200, false)),
    in_db(2, case(READY, "q", ("GET /hustmq/stat?queue=q", ""), 200, false)),
    in_db(3, case(STRING, "k", ("GET /hustcache/put?key=k&val=w", ""), 200, true)),
    in_db(3, case(STRING, "k", ("GET /hustcache/get?key=k", ""), 200, false)),
    in_db(3, case(STRING, "k", ("GET /hustcache/del?key=none", ""), 404, false)),
    in_db(3, case(STRING, "k", ("GET /hustcache/del?key=k", ""), 200, true)),
];

fn run(redis: &mut Connection, line: &str) -> Value {
    redis.run(line).expect("a reply")
}

/// Whether EXEC finds that the key has changed, and the status of the response.
fn is_change(redis: &mut Connection, http: &mut HttpClient, case: &Case) -> (bool, u16) {
    run(redis, "FLUSHALL");
    run(redis, &format!("SELECT {}", case.db));
    for line in case.before {
        let reply = run(redis, line);
        assert!(!matches!(reply, Value::Error(_)), "{line}: {reply:?}");
    }
    run(redis, &format!("WATCH {}", case.key));
    let status = http.ask(case.line, case.fields, case.body.as_bytes()).status;
    run(redis, "MULTI");
    run(redis, "PING");
    (matches!(run(redis, "EXEC"), Value::Null | Value::NullArray), status)
}

fn check(redis: &mut Connection, address: SocketAddr, cases: &[Case]) {
    let mut wrong = Vec::new();
    let mut http = client(address);
    for case in cases {
        let found = is_change(redis, &mut http, case);
        if found != (case.changes, case.status) {
            let Case { before, key, line, fields, .. } = case;
            wrong.push(format!("{before:?}, then {line} {fields:?}: {key}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn requests_change_a_watched_key_only_if_they_do_something() {
    let (server, address) = start(&[]);
    let mut redis = server.connect();
    for cases in [STRINGS, KEYS, COLLECTIONS, QUEUES, COMMANDS] {
        check(&mut redis, address, cases);
    }
}

#[test]
fn verbs_of_huststore_change_a_watched_key_only_if_they_do_something() {
    let (server, address) = start(&[]);
    check(&mut server.connect(), address, HUST);
}
