//! `/v1/batch`, and other requests of several commands.

use super::{client, start, wait_for_blocked};
use basalt_resp::Value;

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn commands_are_answered_in_their_order() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let body =
        br#"[["SET","a",1],["INCR","a"],["LPUSH","a","x"],["NOSUCH"],["GET","a"],["GET","none"]]"#;
    let answer = http.ask("POST /v1/batch", JSON, body);
    let expected = concat!(
        r#"["OK",2,{"$error":"WRONGTYPE Operation against a key holding the wrong kind of value"},"#,
        r#"{"$error":"ERR unknown command 'NOSUCH', with args beginning with: "},"2",null]"#
    );
    assert_eq!((answer.status, answer.text()), (200, expected.to_owned()));
    // In its own database, all of them.
    let answer = http.ask("POST /v1/batch?db=3", JSON, br#"[["GET","a"],["SET","b","3"]]"#);
    assert_eq!(answer.text(), r#"[null,"OK"]"#);
    let mut redis = server.connect();
    assert_eq!(redis.run("EXISTS b").unwrap(), Value::Integer(0));
    for (body, text) in [
        ("[]", "from 1 to 1000 commands"),
        ("{}", "no JSON array"),
        (r#"[["GET","a"],[]]"#, "command 1"),
        (r#"[["GET","a"],"GET"]"#, "command 1"),
        (r#"[["SET","z","1"],["SELECT","1"]]"#, "NOTHTTP"),
        (r#"[["SET","z","1"],["MULTI"]]"#, "NOTHTTP"),
        (r#"[["SET","z","1"]"#, "no JSON array"),
    ] {
        let refused = http.ask("POST /v1/batch", JSON, body.as_bytes());
        assert_eq!(refused.status, 400, "{body}");
        assert!(refused.text().contains(text), "{body}: {}", refused.text());
    }
    assert_eq!(redis.run("EXISTS z").unwrap(), Value::Integer(0), "nothing has run");
    let many = format!("[{}]", vec![r#"["PING"]"#; 1001].join(","));
    assert_eq!(http.ask("POST /v1/batch", JSON, many.as_bytes()).status, 400);
}

/// More commands than a batch of the dispatch and a turn have, several requests at once, and some
/// commands that wait, so that the rest is parsed again.
#[test]
fn long_batches_run_each_command_once() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let commands: Vec<String> = (0..1000)
        .map(|number| match number % 100 {
            50 => r#"["BLPOP","none",10]"#.to_owned(),
            _ => format!(r#"["RPUSH","l","{number}"]"#),
        })
        .collect();
    let body = format!("[{}]", commands.join(","));
    for atomic in ["0", "1", "0"] {
        let line = format!("POST /v1/batch?atomic={atomic}");
        http.request(&line, JSON, body.as_bytes()).unwrap();
    }
    http.request("GET /v1/lists/l/-1", "", b"").unwrap();
    for round in 0..3 {
        let answer = http.response().unwrap();
        let mut length = round * 990;
        let expected: Vec<String> = (0..1000)
            .map(|number| match number % 100 {
                50 => "null".to_owned(),
                _ => {
                    length += 1;
                    length.to_string()
                }
            })
            .collect();
        assert_eq!(answer.text(), format!("[{}]", expected.join(",")), "{round}");
    }
    assert_eq!(http.response().unwrap().text(), "999");
    let mut redis = server.connect();
    assert_eq!(redis.run("LLEN l").unwrap(), Value::Integer(3 * 990));
    // Chunks are taken out of a body, and it is parsed again all the same.
    let head = "POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n";
    let chunks: Vec<String> = body
        .as_bytes()
        .chunks(700)
        .map(|chunk| format!("{:x}\r\n{}\r\n", chunk.len(), String::from_utf8_lossy(chunk)))
        .collect();
    http.send(format!("{head}{JSON}\r\n{}0\r\n\r\n", chunks.concat())).unwrap();
    assert!(http.response().unwrap().text().ends_with(",3960]"));
    assert_eq!(redis.run("LLEN l").unwrap(), Value::Integer(4 * 990));
}

#[test]
fn an_atomic_batch_runs_as_one_or_not_at_all() {
    let (server, address) = start(&[]);
    let mut http = client(address);
    let body = br#"[["SET","a","1"],["LPUSH","a","x"],["GET","a"]]"#;
    let answer = http.ask("POST /v1/batch?atomic=1", JSON, body);
    let expected = r#"["OK",{"$error":"WRONGTYPE Operation against a key holding the wrong kind of value"},"1"]"#;
    assert_eq!((answer.status, answer.text()), (200, expected.to_owned()));
    let refused = http.ask("POST /v1/batch?atomic=1", JSON, br#"[["SET","b","1"],["NOSUCH"]]"#);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("unknown command"), "{}", refused.text());
    let mut redis = server.connect();
    assert_eq!(redis.run("EXISTS b").unwrap(), Value::Integer(0));
    // The connection is between no MULTI and EXEC any more.
    assert_eq!(http.ask("GET /v1/strings/a", "", b"").text(), "1");
    // A client that waits for a key gets it when all has been done.
    let mut waiting = client(address);
    waiting.request("POST /v1/lists/q?op=pop&wait=60", "", b"").unwrap();
    wait_for_blocked(&mut redis, 1);
    let body = br#"[["RPUSH","q","x","y"],["LLEN","q"]]"#;
    assert_eq!(http.ask("POST /v1/batch?atomic=1", JSON, body).text(), "[2,2]");
    assert_eq!(waiting.response().unwrap().text(), r#"{"elements":["x"]}"#);
}

/// Its user may not call MULTI, or EXEC: what stands between them does not run by itself.
#[test]
fn what_cannot_be_a_transaction_does_not_run_at_all() {
    let (server, address) = start(&[]);
    let mut redis = server.connect();
    redis.run("SET a 1 EX 1000").unwrap();
    for (rules, status, closes) in [
        ("ACL SETUSER default -multi", 403, true),
        ("ACL SETUSER default +multi -exec", 400, false),
    ] {
        redis.run(rules).unwrap();
        for (line, fields, body) in [
            (
                "POST /v1/batch?atomic=1",
                JSON,
                &br#"[["INCR","a"],["SET","b","1"],["DEL","a"]]"#[..],
            ),
            ("POST /v1/keys/a?op=copy&to=b", "", b""),
            ("PATCH /v1/keys/a", JSON, br#"{"ttl_ms":null}"#),
        ] {
            let mut http = client(address);
            http.request(line, fields, body).unwrap();
            http.request("GET /v1/strings/a", "", b"").unwrap();
            let refused = http.response().unwrap();
            assert_eq!(refused.status, status, "{rules}: {line}: {}", refused.text());
            assert!(refused.text().contains("NOPERM"), "{}", refused.text());
            assert_eq!(refused.field("connection") == Some("close"), closes);
            // The connection is at its end, or between no MULTI and EXEC.
            let next = http.response().ok().map(|response| response.text());
            assert_eq!(next.as_deref(), (!closes).then_some("1"), "{rules}: {line}");
        }
    }
    let Ok(Value::Integer(1)) = redis.run("EXISTS a b") else { panic!("a copy was made") };
    let Ok(Value::Integer(1..)) = redis.run("TTL a") else { panic!("it was made to stay") };
}

/// The words of MULTI and EXEC stand over the head, which is parsed again when one has waited.
#[test]
fn an_atomic_batch_that_waits_is_parsed_again() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    let commands = vec![r#"["INCR","n"]"#; 1000].join(",");
    redis.run("CLIENT PAUSE 60000 WRITE").unwrap();
    for _ in 0..2 {
        let body = format!("[{commands}]");
        http.request("POST /v1/batch?atomic=1", JSON, body.as_bytes()).unwrap();
    }
    wait_for_blocked(&mut redis, 1);
    redis.run("CLIENT UNPAUSE").unwrap();
    for last in ["1000", "2000"] {
        let answer = http.response().unwrap();
        assert!(answer.text().ends_with(&format!(",{last}]")), "{}", answer.text());
    }
}

#[test]
fn replies_of_a_batch_are_bounded_together() {
    let (server, address) = start(&[("http-json-max", "10kb")]);
    let mut redis = server.connect();
    redis.call(&["SET", "k", &"x".repeat(4000)]).unwrap();
    redis.call(&["SET", "long", &"x".repeat(40_000)]).unwrap();
    let body = br#"[["GET","k"],["GET","long"],["GET","k"],["GET","k"],["INCR","n"]]"#;
    let answer = client(address).ask("POST /v1/batch", JSON, body).text();
    assert_eq!(answer.matches("REPLYTOOLARGE").count(), 2, "{}", answer.len());
    assert!(answer.ends_with(",1]") && answer.len() < 11_000);
}

#[test]
fn copies_and_times_to_live() {
    let (server, address) = start(&[]);
    let (mut http, mut redis) = (client(address), server.connect());
    redis.run("SET k v").unwrap();
    for (line, body, status) in [
        ("POST /v1/keys/none?op=copy&to=c", "", 404),
        ("POST /v1/keys/k?op=copy&to=c", "", 204),
        ("POST /v1/keys/k?op=copy&to=c", "", 409),
        ("POST /v1/keys/k?op=copy&to=c&replace=1", "", 204),
        ("POST /v1/keys/k?op=copy", "", 400),
        ("PATCH /v1/keys/k", r#"{"ttl_ms":50000}"#, 204),
        ("PATCH /v1/keys/none", r#"{"ttl_ms":50000}"#, 404),
        ("PATCH /v1/keys/c", r#"{"ttl_ms":null}"#, 204),
        ("PATCH /v1/keys/none", r#"{"ttl_ms":null}"#, 404),
        ("PATCH /v1/keys/k", "{}", 400),
        ("PATCH /v1/keys/k", r#"{"ttl_ms":0}"#, 400),
        ("PATCH /v1/keys/k", r#"{"ttl_ms":"1"}"#, 400),
        ("PATCH /v1/keys/k", r#"{"ttl":1}"#, 400),
    ] {
        let response = http.ask(line, if body.is_empty() { "" } else { JSON }, body.as_bytes());
        assert_eq!(response.status, status, "{line} {body}: {}", response.text());
    }
    assert!(matches!(redis.run("PTTL k").unwrap(), Value::Integer(40_000..=50_000)));
    assert_eq!(http.ask("PATCH /v1/keys/k", JSON, br#"{"ttl_ms":null}"#).status, 204);
    assert_eq!(redis.run("PTTL k").unwrap(), Value::Integer(-1));
    assert_eq!(redis.run("GET c").unwrap(), Value::Bulk(b"v".to_vec()));
}
