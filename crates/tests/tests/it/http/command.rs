//! `/v1/command`.

use super::{client, start};

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn any_command_is_run_and_answered_as_json() {
    let (_server, address) = start(&[]);
    let mut http = client(address);
    for (words, expected) in [
        (r#"["SET","k","v"]"#, r#""OK""#),
        (r#"["GET","k"]"#, r#""v""#),
        (r#"["GET","none"]"#, "null"),
        (r#"["HSET","h","a",1,"b",{"b64":"AP8="}]"#, "2"),
        (r#"["HGETALL","h"]"#, r#"{"a":"1","b":{"$b64":"AP8="}}"#),
        (r#"["ZADD","z",1.5,"m"]"#, "1"),
        (r#"["ZSCORE","z","m"]"#, "1.5"),
        (r#"["LRANGE","none",0,-1]"#, "[]"),
        (r#"["EVAL","return {1,'x',false}",0]"#, r#"[1,"x",null]"#),
        (r#"["BLPOP","none",0.01]"#, "null"),
        (r#"["CLIENT","GETNAME"]"#, "null"),
    ] {
        let response = http.ask("POST /v1/command", JSON, words.as_bytes());
        assert_eq!((response.status, response.text()), (200, expected.to_owned()), "{words}");
    }
    let raw = format!("{JSON}Accept: application/octet-stream\r\n");
    let response = http.ask("POST /v1/command", &raw, br#"["HGET","h","b"]"#);
    assert_eq!((response.status, &response.body[..]), (200, &b"\0\xff"[..]));
    let response = http.ask("POST /v1/command", &raw, br#"["HLEN","h"]"#);
    assert_eq!(response.text(), "2");
    for (words, status, code) in [
        (r#"["NOSUCH"]"#, 400, "ERR"),
        (r#"["GET"]"#, 400, "ERR"),
        (r#"["LPUSH","k","x"]"#, 409, "WRONGTYPE"),
        (r#"["EVALSHA","0000000000000000000000000000000000000000",0]"#, 404, "NOSCRIPT"),
        ("[]", 400, "BADREQUEST"),
        ("{", 400, "BADREQUEST"),
        (r#"["MULTI"]"#, 400, "NOTHTTP"),
        (r#"["select",1]"#, 400, "NOTHTTP"),
        (r#"["SUBSCRIBE","c"]"#, 400, "NOTHTTP"),
        (r#"["CLIENT","REPLY","OFF"]"#, 400, "NOTHTTP"),
        (r#"["HELLO",2]"#, 400, "NOTHTTP"),
    ] {
        let response = http.ask("POST /v1/command", JSON, words.as_bytes());
        let code = format!(r#""code":"{code}""#);
        assert!(response.text().contains(&code), "{words}: {}", response.text());
        assert_eq!(response.status, status, "{words}");
    }
    // A page may send this without being asked first whether it may.
    let response = http.ask("POST /v1/command", "Content-Type: text/plain\r\n", b"[\"PING\"]");
    assert_eq!(response.status, 415);
}

#[test]
fn a_reply_that_is_too_large_for_json_is_refused() {
    let (server, address) = start(&[("http-json-max", "100kb")]);
    let mut redis = server.connect();
    redis.call(&["SET", "k", &"x".repeat(200_000)]).unwrap();
    let mut http = client(address);
    let response = http.ask("POST /v1/command", JSON, br#"["GET","k"]"#);
    assert_eq!(response.status, 400);
    assert!(response.text().contains("REPLYTOOLARGE"), "{}", response.text());
    let body = format!("[\"SET\",\"k\",\"{}\"]", "y".repeat(200_000));
    http.request("POST /v1/command", JSON, body.as_bytes()).unwrap();
    assert_eq!(http.response().unwrap().status, 413);
}
