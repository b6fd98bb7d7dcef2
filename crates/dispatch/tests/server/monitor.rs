//! MONITOR: what is told, of whom, and in which order.

use crate::harness::{TestServer, bytes_of, requests};
use basalt_dispatch::ShortWays;
use basalt_engine::Refusal;
use basalt_resp::{Output, Value};

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

/// Whether a command takes a short way makes no difference to what is told, and neither do batches.
#[test]
fn lines_come_in_the_order_in_which_commands_run() {
    const LINES: &[&str] = &[
        "GET none",
        "SET k 1",
        "SET k 2",
        "GET k",
        "GET k",
        "PING",
        "SET new 1",
        "INCR k",
        "LPUSH k x",
        "GET k extra",
        "LPUSH l a",
        "LPUSH l b",
        "GET l",
        "HSET h f v",
        "NOSUCH",
        "AUTH default wrong",
        "MULTI",
        "GET k",
        "SET k 3",
        "EXEC",
        "GET k",
        "MGET k l",
        "GET k",
        "EVAL return(redis.call('get',KEYS[1])) 1 k",
        "GET k",
        "PUBLISH c m",
        "SELECT 1",
        "GET k",
        "SET k v",
        "SELECT 0",
        "SET k 4",
        "LLEN l",
        "GET k",
        "CONFIG GET port",
        "GET last",
    ];
    let told = |short_ways, together| {
        let mut server = TestServer::new();
        server.set_short_ways(short_ways);
        let mut monitor = server.another_connection();
        monitor.line("MONITOR");
        server.run_bytes(requests(LINES), together);
        lines(&mut monitor)
    };
    let expected = told(ShortWays::Closed, 1);
    assert_eq!(expected.len(), LINES.len() - 3 + 1, "three are not shown, and a script calls one");
    for (short_ways, together) in
        [(ShortWays::Open, 1), (ShortWays::Open, 7), (ShortWays::Open, 100)]
    {
        assert_eq!(told(short_ways, together), expected, "{short_ways:?}, by {together}");
    }
}

#[test]
fn of_a_long_pipeline_each_command_is_told() {
    const COMMANDS: usize = 5_000;
    let mut server = TestServer::new();
    let mut monitor = server.another_connection();
    monitor.line("MONITOR");
    let commands: Vec<String> = (0..COMMANDS)
        .map(|number| match number / 100 % 3 {
            0 => format!("GET key:{}", number % 77),
            1 => format!("SET key:{} value:{number}", number % 77),
            _ => format!("RPUSH list:{} {number}", number % 5),
        })
        .collect();
    let words: Vec<&str> = commands.iter().map(String::as_str).collect();
    server.run_bytes(requests(&words), 50);
    let quoted = |line: &String| format!("{CLIENT} \"{}\"", line.replace(' ', "\" \""));
    let expected: Vec<String> = commands.iter().map(quoted).collect();
    assert_eq!(lines(&mut monitor), expected);
}

/// Runs these requests of `client` on the thread of `thread`, which does not hand over what it has
/// published.
fn run_on(thread: &mut TestServer, client: &mut TestServer, lines: &[&str]) {
    std::mem::swap(&mut thread.worker, &mut client.worker);
    client.serve(requests(lines), 100, &mut Output::new());
    std::mem::swap(&mut thread.worker, &mut client.worker);
}

#[test]
fn one_that_comes_between_commands_of_a_thread_is_told_of_those_behind() {
    let mut server = TestServer::new();
    let (mut first, mut second) = (server.another_connection(), server.another_connection());
    let run = |server: &mut TestServer, lines: &[&str]| {
        server.serve(requests(lines), 100, &mut Output::new());
    };
    run(&mut server, &["GET 1", "GET 2"]);
    run_on(&mut server, &mut first, &["MONITOR"]);
    run(&mut server, &["GET 3", "SET 4 x"]);
    run_on(&mut server, &mut second, &["MONITOR"]);
    run(&mut server, &["GET 5"]);
    server.worker.hand_over_messages(&server.server);
    let (to_first, to_second) = (lines(&mut first), lines(&mut second));
    check(&to_first, &[r#"@ "GET" "3""#, r#"@ "SET" "4" "x""#, r#"@ "GET" "5""#]);
    check(&to_second, &[r#"@ "GET" "5""#]);
    // One goes, and the other stays.
    run(&mut server, &["GET 6"]);
    run_on(&mut server, &mut first, &["RESET"]);
    run(&mut server, &["GET 7", "GET 8"]);
    server.worker.hand_over_messages(&server.server);
    let to_second = lines(&mut second);
    let of_others: Vec<&String> = to_second.iter().filter(|it| !it.contains("RESET")).collect();
    assert_eq!(of_others.len(), 3, "{to_second:?}");
    assert!(lines(&mut first).is_empty());
    run_on(&mut server, &mut second, &["RESET"]);
    assert!(!server.server.unusual.any());
}

/// A client that monitors comes and goes among its own commands.
#[test]
fn a_client_may_monitor_itself() {
    let mut server = TestServer::new();
    server.run_bytes(requests(&["GET 1", "MONITOR", "GET 2", "GET 3", "SET 4 x"]), 100);
    let told = lines(&mut server);
    check(&told, &[r#"@ "GET" "2""#, r#"@ "GET" "3""#, r#"@ "SET" "4" "x""#]);
}

/// Changes that the log has no room for begin, wait and run again.
#[test]
fn a_command_that_runs_again_is_told_of_once() {
    let mut server = TestServer::new();
    server.line("SET k v");
    let mut monitor = server.another_connection();
    monitor.line("MONITOR");
    for _ in 0..3 {
        server.log.refuse(Some(Refusal::Busy));
        assert!(server.run_once("SET k 1").is_some(), "it waits");
        assert!(server.run_once("SET k 1").is_some(), "it waits still");
        server.log.refuse(None);
        assert!(server.run_once("SET k 1").is_none());
        assert!(server.run_once("SET k 2").is_none());
        server.worker.hand_over_messages(&server.server);
        check(&lines(&mut monitor), &[r#"@ "SET" "k" "1""#, r#"@ "SET" "k" "2""#]);
    }
}

/// A batch's lines have the time of the batch: it is read again for the next one.
#[test]
fn times_go_on_with_the_clock() {
    let mut server = TestServer::new();
    let mut monitor = server.another_connection();
    monitor.line("MONITOR");
    let mut times = Vec::new();
    for command in ["GET k", "SET k v", "EVAL return(redis.call('get',KEYS[1])) 1 k", "PING"] {
        server.clock.advance_ms(1);
        server.run_bytes(requests(&[command, command]), 2);
        let mut out = Output::new();
        monitor.receive_messages(&mut out);
        let text = String::from_utf8(bytes_of(&mut out)).expect("text");
        let of = |line: &str| line[1..].split_once(' ').expect("a time").0.to_owned();
        times.push(text.lines().map(of).collect::<Vec<String>>());
    }
    for (number, times) in times.iter().enumerate() {
        let expected = format!("1704067200.{:03}000", number + 1);
        assert!(times.iter().all(|time| *time == expected), "{times:?} and not {expected}");
    }
}
