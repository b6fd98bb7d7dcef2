//! Connections that end.

use crate::harness::TestServer;
use basalt_journal::FsyncPolicy;
use basalt_resp::Value;

/// What a browser sends for a page that wants it to speak to a server of ours: the headers are the
/// browser's, the body is the page's.
const REQUESTS: [&str; 3] = [
    "POST / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\nContent-Length: 12\r\n\r\nSET pwned 1\r\n",
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\nAccept: */*\r\n\r\nSET pwned 1\r\n",
    "MULTI\r\nhOST: x\r\nSET pwned 1\r\nEXEC\r\n",
];

#[test]
fn a_request_of_http_closes_the_connection_before_what_follows_it_runs() {
    let server = TestServer::start(1);
    let mut other = server.connect();
    for request in REQUESTS {
        let mut client = server.connect();
        client.send_bytes(request.as_bytes());
        client.until_closed();
        assert_eq!(other.line("EXISTS pwned"), Value::Integer(0), "{request}");
    }
    let mut client = server.connect();
    assert_eq!(client.line("ECHO post"), Value::Bulk(b"post".to_vec()));
}

#[test]
fn who_is_killed_is_not_listed_when_the_killer_has_its_answer() {
    let server = TestServer::start_unwatched(2, FsyncPolicy::Never);
    let mut killer = server.connect();
    for _ in 0..200 {
        let victim = server.connect();
        assert_eq!(killer.line(&format!("CLIENT KILL ID {}", victim.id)), Value::Integer(1));
        let Value::Bulk(list) = killer.line("CLIENT LIST") else { panic!("a list") };
        let list = String::from_utf8(list).expect("text");
        assert_eq!(list.lines().count(), 1, "{list}");
        let by_id = killer.line(&format!("CLIENT LIST ID {}", victim.id));
        assert_eq!(by_id, Value::Bulk(Vec::new()));
        assert_eq!(killer.line(&format!("CLIENT KILL ID {}", victim.id)), Value::Integer(0));
        let Value::Bulk(info) = killer.line("INFO clients") else { panic!("INFO") };
        assert!(String::from_utf8_lossy(&info).contains("connected_clients:1\r\n"));
    }
}
