//! The protocol itself: requests in pieces, inline requests, limits and the errors that end a
//! connection.

use basalt_resp::{Value, encode_request};
use basalt_tests::client::Connection;
use basalt_tests::missing::is_redis_missing;
use basalt_tests::server::{Kind, Launch, Server};

fn server() -> Server {
    Server::start(Kind::Basalt)
}

/// Sends bytes and returns everything up to the end of the stream, which the server must cause.
fn last_words(mut connection: Connection, bytes: &[u8]) -> String {
    // The server may hang up before it has read everything.
    let _ = connection.send_raw(bytes);
    let rest = connection.receive_to_end().unwrap_or_else(|error| {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]);
        panic!("the server does not end the connection after {start:?}: {error}")
    });
    String::from_utf8_lossy(&rest).into_owned()
}

fn simple(text: &str) -> Value {
    Value::Simple(text.as_bytes().to_vec())
}

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

#[test]
fn a_request_may_arrive_split_anywhere() {
    let server = server();
    let mut requests = Vec::new();
    encode_request(&["SET", "key", "a\r\nb"], &mut requests);
    requests.extend_from_slice(b"GET key\r\n");
    encode_request(&["STRLEN", "key"], &mut requests);
    for cut in 1..requests.len() {
        let mut connection = server.connect();
        connection.send_raw(&requests[..cut]).expect("the first part is sent");
        // The answer from another connection shows that the server has had its turn with the first
        // part.
        server.connect().run("PING").expect("the server answers");
        connection.send_raw(&requests[cut..]).expect("the second part is sent");
        let replies = [(); 3].map(|()| connection.receive().expect("three replies"));
        assert_eq!(replies, [simple("OK"), bulk("a\r\nb"), Value::Integer(4)], "cut at {cut}");
    }
}

#[test]
fn a_request_may_arrive_byte_by_byte() {
    let server = server();
    let mut connection = server.connect();
    let mut request = Vec::new();
    encode_request(&["ECHO", &"x".repeat(300)], &mut request);
    for byte in request {
        connection.send_raw(&[byte]).expect("a byte is sent");
    }
    assert_eq!(connection.receive().expect("a reply"), bulk(&"x".repeat(300)));
}

#[test]
fn inline_requests_are_understood() {
    let server = server();
    let mut connection = server.connect();
    let cases: [(&str, Value); 7] = [
        ("PING\r\n", simple("PONG")),
        ("PING\n", simple("PONG")),
        ("  ECHO   spaced  \r\n", bulk("spaced")),
        ("\r\n\r\nECHO \"a b\\x41\\n\"\r\n", bulk("a bA\n")),
        ("ECHO 'it\\'s'\r\n", bulk("it's")),
        ("ECHO \"\"\r\n", bulk("")),
        ("*0\r\n*-1\r\nPING\r\n", simple("PONG")),
    ];
    for (line, expected) in cases {
        connection.send_raw(line.as_bytes()).expect("a line is sent");
        assert_eq!(connection.receive().expect("a reply"), expected, "{line:?}");
    }
}

/// While the first command sleeps, the others have been read already; they must be unquoted once
/// only.
#[test]
fn quoted_inline_requests_may_wait_for_a_command() {
    let server = Launch::new(Kind::Basalt).option("enable-debug-command", "yes").start();
    let mut connection = server.connect();
    let lines =
        "DEBUG SLEEP 0.02\r\nECHO \"a b\"\r\nDEBUG SLEEP 0.02\r\nECHO 'a\"b'\r\nECHO \"\\\"\"\r\n";
    connection.send_raw(lines.as_bytes()).expect("the lines are sent");
    for expected in [simple("OK"), bulk("a b"), simple("OK"), bulk("a\"b"), bulk("\"")] {
        assert_eq!(connection.receive().expect("a reply"), expected);
    }
}

/// Requests of one batch of which each changes what holds for the next one.
const TURNING: &str = "\
SET k v;GET k;GET k;MULTI;GET k;STRLEN k;EXEC;GET k;SELECT 1;GET k;SELECT 0;GET k;\
CLIENT REPLY SKIP;GET k;GET k;CLIENT REPLY OFF;GET k;CLIENT REPLY ON;GET k;GET;GET a b;\
LPUSH l 1 2;GET l;LLEN l;LLEN k;HGET k f;PFADD p 1 2 3;PFCOUNT p;PFCOUNT p;PFCOUNT k;PFCOUNT p no;\
WATCH k;SET k w;MULTI;GET k;EXEC;GET k;MULTI;GET;GET k;EXEC;GET k;EXPIRE k 0;GET k;SET k v;\
SUBSCRIBE c;GET k;STRLEN k;UNSUBSCRIBE c;GET k;\
CONFIG SET requirepass x;GET k;RESET;GET k;STRLEN k;AUTH x;GET k;CONFIG SET requirepass \"\";RESET;GET k;\
GET k;FLUSHALL;GET k;QUIT";

#[test]
fn a_pipeline_may_change_what_holds_for_its_next_request() {
    if is_redis_missing() {
        return;
    }
    let requests = TURNING.replace(';', "\r\n") + "\r\n";
    let answers = [Kind::Redis, Kind::Basalt].map(|kind| {
        let server = Server::start(kind);
        last_words(server.connect(), requests.as_bytes())
    });
    assert_eq!(answers[1], answers[0]);
    assert!(answers[0].ends_with("$-1\r\n+OK\r\n"), "{}", answers[0]);
}

/// A SET behind others in its pipeline overwrites in place if that is all there is to do.
#[test]
fn a_pipelined_set_does_what_it_does_alone() {
    const LINES: &str = "SET a 1|SET a 2|SET a 3|GET a|SET a longer-than-before|STRLEN a|EXPIRE a 100|SET a x|TTL a\
        |RPUSH l 1|SET l string|TYPE l|SET l other!|GET l|SET n 5|INCR n|SET n 7|INCR n|OBJECT ENCODING n\
        |APPEND a yy|SET a zzz|OBJECT ENCODING a|SET a 9 XX GET|SET a 8 NX|GET a|SET a|DEL a|SET a 6|GET a|DBSIZE";
    let server = server();
    let mut connection = server.connect();
    let alone: Vec<Value> =
        LINES.split('|').map(|line| connection.run(line).expect("a reply")).collect();
    connection.run("FLUSHALL").expect("a reply");
    let pipeline: String = LINES.split('|').map(|line| format!("{line}\r\n")).collect();
    connection.send_raw(pipeline.as_bytes()).expect("sent");
    for (line, reply) in LINES.split('|').zip(alone) {
        assert_eq!(connection.receive().expect("a reply"), reply, "{line}");
    }
}

#[test]
fn a_pipelined_set_is_seen_by_who_watches_its_key() {
    let server = server();
    let (mut watcher, mut writer) = (server.connect(), server.connect());
    watcher.run("SET k 1").expect("a reply");
    watcher.run("WATCH k").expect("a reply");
    writer.send_raw(b"SET other 1\r\nSET k 2\r\n").expect("sent");
    assert_eq!([(); 2].map(|()| writer.receive().expect("a reply")), [simple("OK"), simple("OK")]);
    for line in ["MULTI", "GET k"] {
        watcher.run(line).expect("a reply");
    }
    assert_eq!(watcher.run("EXEC").expect("a reply"), Value::NullArray);
}

#[test]
fn an_inline_request_keeps_its_quotes_behind_a_command_that_waits() {
    let server = server();
    let mut connection = server.connect();
    // The three arrive together: the second and third have been parsed when the first has to wait.
    let lines = b"DEBUG SLEEP 0.01\r\nSET key \"a b\"\r\nECHO 'it\\'s'\r\nGET key\r\n";
    connection.send_raw(lines).expect("the lines are sent");
    let replies = [(); 4].map(|()| connection.receive().expect("four replies"));
    assert_eq!(replies, [simple("OK"), simple("OK"), bulk("it's"), bulk("a b")]);
}

#[test]
fn a_broken_request_is_answered_and_ends_the_connection() {
    let server = server();
    let long = "x".repeat(70_000);
    let cases: [(String, &str); 13] = [
        ("*x\r\n".into(), "invalid multibulk length"),
        ("*2147483648\r\n".into(), "invalid multibulk length"),
        ("*99999999999999999999\r\n".into(), "invalid multibulk length"),
        ("*1\r\n+PING\r\n".into(), "expected '$', got '+'"),
        ("*1\r\nPING\r\n".into(), "expected '$', got 'P'"),
        ("*1\r\n$x\r\n".into(), "invalid bulk length"),
        ("*1\r\n$-1\r\n".into(), "invalid bulk length"),
        ("*2\r\n$4\r\nECHO\r\n$536870913\r\n".into(), "invalid bulk length"),
        ("ECHO \"a\r\n".into(), "unbalanced quotes in request"),
        ("ECHO 'a'b\r\n".into(), "unbalanced quotes in request"),
        (long.clone(), "too big inline request"),
        (format!("*{long}"), "too big mbulk count string"),
        (format!("*1\r\n${long}"), "too big bulk count string"),
    ];
    for (request, text) in cases {
        let start = &request[..request.len().min(40)];
        let reply = last_words(server.connect(), request.as_bytes());
        assert_eq!(reply, format!("-ERR Protocol error: {text}\r\n"), "{start:?}");
    }
    assert_eq!(server.connect().run("PING").expect("the server lives"), simple("PONG"));
}

#[test]
fn what_came_before_a_broken_request_is_answered() {
    let server = server();
    let reply = last_words(server.connect(), b"PING\r\n*1\r\n$4\r\nPING\r\n*1\r\n!\r\n");
    assert_eq!(reply, "+PONG\r\n+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n");
}

#[test]
fn limits_are_tight_before_authentication() {
    let server = Launch::new(Kind::Basalt).option("requirepass", "secret").start();
    let many = last_words(server.connect(), b"*11\r\n");
    assert_eq!(many, "-ERR Protocol error: unauthenticated multibulk length\r\n");
    let big = last_words(server.connect(), b"*2\r\n$4\r\nECHO\r\n$16385\r\n");
    assert_eq!(big, "-ERR Protocol error: unauthenticated bulk length\r\n");
    let mut connection = server.connect();
    let refused = connection.run("GET k").expect("a reply");
    assert_eq!(refused, Value::Error(b"NOAUTH Authentication required.".to_vec()));
    assert_eq!(connection.run("AUTH secret").expect("a reply"), simple("OK"));
    let mut request: Vec<Vec<u8>> = vec![b"DEL".to_vec()];
    request.extend((0..1_000).map(|index| format!("key{index}").into_bytes()));
    assert_eq!(connection.call(&request).expect("a reply"), Value::Integer(0));
}

#[test]
fn a_request_may_have_very_many_arguments() {
    let server = server();
    let mut connection = server.connect();
    let keys: Vec<String> = (0..200_000).map(|index| format!("key:{index}")).collect();
    let mut set = vec!["MSET"];
    set.extend(keys.iter().flat_map(|key| [key.as_str(), "v"]));
    assert_eq!(connection.call(&set).expect("a reply"), simple("OK"));
    let mut exists = vec!["EXISTS"];
    exists.extend(keys.iter().map(String::as_str));
    assert_eq!(connection.call(&exists).expect("a reply"), Value::Integer(200_000));
}

#[test]
fn a_value_may_be_large() {
    let server = server();
    let mut connection = server.connect();
    let large: Vec<u8> = (0..8 * 1024 * 1024).map(|index: usize| (index % 251) as u8).collect();
    let set = connection.call(&[b"SET".to_vec(), b"k".to_vec(), large.clone()]).expect("a reply");
    assert_eq!(set, simple("OK"));
    assert!(
        connection.run("GET k").expect("a reply") == Value::Bulk(large),
        "another value came back"
    );
}
