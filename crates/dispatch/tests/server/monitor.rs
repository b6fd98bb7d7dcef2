//! MONITOR: what is told, of whom, and in which order.

use crate::harness::TestServer;
use basalt_resp::Value;

/// The lines that have come, without the time and with the sender's number as it is.
fn lines(server: &mut TestServer) -> Vec<String> {
    let messages = server.messages();
    messages
        .iter()
        .map(|message| {
            let Value::Simple(line) = message else { panic!("no line: {message:?}") };
            let line = String::from_utf8_lossy(line).into_owned();
            let (time, rest) = line.split_once(' ').expect("a time and the rest");
            assert_eq!(time.split_once('.').map(|(_, micros)| micros.len()), Some(6), "{line}");
            rest.to_owned()
        })
        .collect()
}

const CLIENT: &str = "[0 127.0.0.1:50000]";

fn check(actual: &[String], expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|line| line.replace('@', CLIENT)).collect();
    assert_eq!(actual, expected);
}

#[test]
fn commands_are_told_once_in_order_and_without_passwords() {
    let mut server = TestServer::new();
    assert_eq!(server.line("SET before 1"), Value::Simple(b"OK".to_vec()));
    let mut monitor = server.another_connection();
    monitor.line("MONITOR");
    server.line("SET k v");
    server.line("SET k v");
    server.run(&[&b"get"[..], b"a\n\"\x01"]);
    server.line("AUTH default secret");
    server.line("CONFIG SET maxmemory 0");
    server.line("NOSUCH x");
    server.line("BLPOP nothing 0.01");
    check(
        &lines(&mut monitor),
        &[
            r#"@ "SET" "k" "v""#,
            r#"@ "SET" "k" "v""#,
            r#"@ "get" "a\n\"\x01""#,
            r#"@ "AUTH" "(redacted)" "(redacted)""#,
            r#"@ "BLPOP" "nothing" "0.01""#,
        ],
    );
    server.line("SELECT 3");
    server.line("PING");
    assert_eq!(lines(&mut monitor)[1], r#"[3 127.0.0.1:50000] "PING""#);
    monitor.line("RESET");
    lines(&mut monitor);
    server.line("PING");
    assert!(lines(&mut monitor).is_empty() && !server.server.unusual.any());
}

#[test]
fn transactions_and_scripts_are_told_with_what_they_run() {
    let mut server = TestServer::new();
    let mut monitor = server.another_connection();
    monitor.line("MONITOR");
    for line in ["MULTI", "SET k 1", "INFO server", "GET k", "EXEC"] {
        server.line(line);
    }
    check(
        &lines(&mut monitor),
        &[
            r#"@ "MULTI""#,
            r#"@ "SET" "k" "1""#,
            r#"@ "GET" "k""#,
            r#"@ "INFO" "server""#,
            r#"@ "EXEC""#,
        ],
    );
    // The first run finds out that the script uses a key that it was not called with.
    server.run(&[
        "EVAL",
        "redis.call('get', 'other') return redis.call('incr', KEYS[1])",
        "1",
        "k",
    ]);
    let told = lines(&mut monitor);
    assert!(told[0].starts_with(&format!("{CLIENT} \"EVAL\"")), "{told:?}");
    check(&told[1..], &[r#"[0 lua] "get" "other""#, r#"[0 lua] "incr" "k""#]);
}

#[test]
fn no_transaction_begins_to_monitor() {
    let mut server = TestServer::new();
    server.line("MULTI");
    server.line("MONITOR");
    let Value::Array(replies) = server.line("EXEC") else { panic!("EXEC has replies") };
    let text = b"ERR MONITOR isn't allowed for DENY BLOCKING client".to_vec();
    assert_eq!(replies, [Value::Error(text)]);
}
