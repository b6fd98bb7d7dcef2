//! Users in whole servers: where they come from at a start, and where they are written to.

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use basalt_tests::server::{Kind, Launch, Server};
use std::path::Path;

/// SHA-256 of `pw`.
const HASH: &str = "#30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4";

fn text(connection: &mut Connection, line: &str) -> String {
    match connection.run(line).expect("an answer") {
        Value::Bulk(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Value::Simple(text) | Value::Error(text) => String::from_utf8_lossy(&text).into_owned(),
        other => format!("{other:?}"),
    }
}

fn names(connection: &mut Connection) -> Vec<String> {
    let Value::Array(names) = connection.run("ACL USERS").expect("an answer") else {
        panic!("no list of users");
    };
    let name = |value: &Value| match value {
        Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => panic!("{other:?}"),
    };
    names.iter().map(name).collect()
}

fn start(folder: &Path, config: &str) -> Server {
    let file = folder.join("redis.conf");
    std::fs::write(&file, config).expect("write");
    Launch::new(Kind::Basalt).dir(folder).file(&file).allow_log("is accepted").start()
}

#[test]
fn directives_define_users_and_rewriting_keeps_them() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let server = start(folder.path(), "user bob on >pw ~* +@all\nuser default off\n");
    let mut connection = server.connect();
    assert!(text(&mut connection, "PING").starts_with("NOAUTH"));
    assert!(text(&mut connection, "AUTH bob wrong").starts_with("WRONGPASS"));
    assert_eq!(text(&mut connection, "AUTH bob pw"), "OK");
    assert_eq!(text(&mut connection, "ACL SETUSER carl on nopass ~x +get"), "OK");
    assert_eq!(text(&mut connection, "CONFIG REWRITE"), "OK");
    drop(server);
    let written = std::fs::read_to_string(folder.path().join("redis.conf")).expect("read");
    assert!(written.contains(HASH) && !written.contains(">pw"), "{written}");

    let server = start(folder.path(), &written);
    let mut connection = server.connect();
    assert!(text(&mut connection, "PING").starts_with("NOAUTH"));
    assert_eq!(text(&mut connection, "AUTH carl whatever"), "OK");
    assert_eq!(text(&mut connection, "GET x"), "Null");
    assert!(text(&mut connection, "GET y").starts_with("NOPERM"));
    assert_eq!(text(&mut connection, "AUTH bob pw"), "OK");
    assert_eq!(names(&mut connection), ["bob", "carl", "default"]);
}

#[test]
fn a_file_of_users_is_read_written_and_refused_as_a_whole() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("users.acl");
    let users = "user default on nopass ~* &* +@all\nuser dora on nopass ~* &* +@all\n";
    std::fs::write(&file, users).expect("write");
    let server = start(folder.path(), &format!("aclfile {}\n", file.display()));
    let mut connection = server.connect();
    assert_eq!(names(&mut connection), ["default", "dora"]);
    assert_eq!(text(&mut connection, "ACL SETUSER e on"), "OK");
    assert_eq!(text(&mut connection, "ACL SAVE"), "OK");
    let saved = std::fs::read_to_string(&file).expect("read");
    assert!(saved.contains("\nuser e on"), "{saved}");

    std::fs::write(&file, format!("{saved}user bad +nosuch\n")).expect("write");
    let refused = text(&mut connection, "ACL LOAD");
    assert!(refused.contains("users.acl:4: Unknown command or category name in ACL"), "{refused}");
    assert_eq!(names(&mut connection), ["default", "dora", "e"]);

    std::fs::write(&file, users).expect("write");
    assert_eq!(text(&mut connection, "ACL LOAD"), "OK");
    assert_eq!(names(&mut connection), ["default", "dora"]);
}

#[test]
fn requests_by_http_have_the_rights_of_their_user() {
    let server = Launch::new(Kind::Basalt).with_http().start();
    let mut connection = server.connect();
    assert_eq!(text(&mut connection, "ACL SETUSER alice on >pw ~a* +@read"), "OK");
    assert_eq!(text(&mut connection, "MSET a 1 b 2"), "OK");
    let mut client = HttpClient::open(server.http_address().expect("a port")).expect("connect");
    // In turns on one connection: the rights of one request are not the next one's.
    for (user, path, status) in [
        (Some("YWxpY2U6cHc="), "a", 200),
        (Some("YWxpY2U6cHc="), "b", 403),
        (None, "b", 200),
        (Some("YWxpY2U6cHc="), "b", 403),
        (Some("YWxpY2U6bm8="), "a", 401),
        (None, "b", 200),
    ] {
        let user = user.map_or(String::new(), |user| format!("Authorization: Basic {user}\r\n"));
        let request = format!("GET /v1/strings/{path} HTTP/1.1\r\nHost: localhost\r\n{user}\r\n");
        client.send(&request).expect("send");
        assert_eq!(client.response().expect("a response").status, status, "{request}");
    }
}
