//! A front beside Redis' protocol: its requests come through the batches of all, and its replies go
//! out in its form, whichever way they come to be.

use crate::commands::end_long;
use crate::harness::{SILENCE, STUCK, TestServer, bulk, ok, taken};
use basalt_env::{Fault, FaultKind, Operation};
use basalt_journal::FsyncPolicy;
use basalt_resp::{SHARED_BYTES_MIN, Value};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

type Lines = BufReader<UnixStream>;

fn send(lines: &mut Lines, text: &str) {
    lines.get_mut().write_all(text.as_bytes()).expect("the server is there");
}

fn line(lines: &mut Lines) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).expect("an answer in time");
    assert!(line.ends_with('\n'), "cut: {line:?}");
    line.truncate(line.len() - 1);
    line
}

/// Sends lines in one piece and compares their answers.
fn ask(lines: &mut Lines, asked: &[(&str, &str)]) {
    let requests: String = asked.iter().map(|(request, _)| format!("{request}\n")).collect();
    send(lines, &requests);
    for (request, answer) in asked {
        assert_eq!(line(lines), *answer, "{request}");
    }
}

fn is_at_end(lines: &mut Lines) -> bool {
    lines.read(&mut [0; 1]).expect("the end in time") == 0
}

/// For a while.
fn hears_nothing(lines: &mut Lines) -> bool {
    let wait =
        |lines: &Lines, time| lines.get_ref().set_read_timeout(Some(time)).expect("a socket");
    wait(lines, SILENCE);
    let read = lines.fill_buf().map(<[u8]>::len);
    wait(lines, STUCK);
    read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

#[test]
fn requests_and_replies_of_another_front() {
    let server = TestServer::start(1);
    let (mut lines, mut other) = (server.connect_in_lines(), server.connect());
    let mut pipeline = vec![
        ("a SET k some_words".to_owned(), "a +OK".to_owned()),
        ("b GET k".to_owned(), "b some words".to_owned()),
        ("c ?".to_owned(), "c ready".to_owned()),
        ("d GET none".to_owned(), "d nothing".to_owned()),
        (
            "e NOSUCH".to_owned(),
            "e -ERR unknown command 'NOSUCH', with args beginning with: ".into(),
        ),
        ("f MGET k none".to_owned(), "f [some words nothing]".to_owned()),
    ];
    // More than a batch, with names alike.
    for number in 0..300 {
        pipeline.push((format!("{number} INCR count"), format!("{number} {}", number + 1)));
    }
    let pipeline: Vec<(&str, &str)> =
        pipeline.iter().map(|(request, answer)| (&request[..], &answer[..])).collect();
    ask(&mut lines, &pipeline);
    assert_eq!(other.line("GET k"), bulk("some words"));
    assert_eq!(other.line("GET count"), bulk("300"));
    // A value that is sent from where it lives.
    let long = "x".repeat(SHARED_BYTES_MIN);
    ask(&mut lines, &[(&format!("g SET long {long}")[..], "g +OK"), ("h GET k", "h some words")]);
    let shared = format!("i {SHARED_BYTES_MIN} bytes");
    ask(&mut lines, &[("i GET long", &shared[..]), ("j GET k", "j some words")]);
}

#[test]
fn a_request_of_another_front_comes_in_pieces() {
    let server = TestServer::start(1);
    let mut lines = server.connect_in_lines();
    for piece in ["1 SE", "T k in_p", "ieces", "\n2 GET", " k\n3"] {
        send(&mut lines, piece);
        // It has been read when another client that came later is served.
        assert_eq!(server.connect().line("PING"), Value::Simple(b"PONG".to_vec()));
    }
    assert_eq!((line(&mut lines), line(&mut lines)), ("1 +OK".into(), "2 in pieces".into()));
}

#[test]
fn another_front_closes_after_its_last_reply_and_after_what_it_refuses() {
    let server = TestServer::start(1);
    let mut lines = server.connect_in_lines();
    send(&mut lines, "1 SET k 1\nLAST 2 GET k\n3 DEL k\n");
    assert_eq!((line(&mut lines), line(&mut lines)), ("1 +OK".into(), "2 1".into()));
    assert!(is_at_end(&mut lines));
    let mut lines = server.connect_in_lines();
    send(&mut lines, "4 GET k\nuntagged\n5 DEL k\n");
    assert_eq!(line(&mut lines), "4 1");
    assert_eq!(line(&mut lines), "! a tag and a command");
    assert!(is_at_end(&mut lines));
    // A command that ends its connection.
    let mut lines = server.connect_in_lines();
    send(&mut lines, "6 QUIT\n7 DEL k\n");
    assert_eq!(line(&mut lines), "6 +OK");
    assert!(is_at_end(&mut lines));
    assert_eq!(server.connect().line("GET k"), bulk("1"));
}

/// What waits is parsed again, with all that is behind it.
#[test]
fn waiting_requests_of_another_front_keep_their_tags_and_words() {
    let server = TestServer::start(2);
    let (mut lines, mut other) = (server.connect_in_lines(), server.connect());
    send(&mut lines, "1 TEST.TAKE the_key 0\n2 SET after some_words\n3 GET after\n");
    server.until_waiting(1);
    other.send_words(&["SET", "the key", "v"]);
    assert_eq!(other.receive(), ok());
    assert_eq!(line(&mut lines), "1 [the key v]");
    assert_eq!(line(&mut lines), "2 +OK");
    assert_eq!(line(&mut lines), "3 some words");
    // Unblocked, by time and with an error.
    send(&mut lines, "4 CLIENT ID\n");
    let id = line(&mut lines);
    let id = id.strip_prefix("4 ").expect("the tag");
    for (how, answer) in [("ERROR", "-UNBLOCKED"), ("TIMEOUT", "nothing")] {
        send(&mut lines, "5 TEST.TAKE a_key 0\n6 GET after\n");
        server.until_waiting(1);
        other.line(&format!("CLIENT UNBLOCK {id} {how}"));
        let answered = line(&mut lines);
        assert!(answered.starts_with(&format!("5 {answer}")), "{answered}");
        assert_eq!(line(&mut lines), "6 some words");
    }
    // A client of Redis' protocol is served by one of the other, too.
    other.send("TEST.TAKE key 0");
    server.until_waiting(1);
    ask(&mut lines, &[("7 SET key v", "7 +OK")]);
    assert_eq!(other.receive(), taken("key", "v"));
}

#[test]
fn a_reply_of_another_front_that_comes_later() {
    let server = TestServer::start(1);
    let mut lines = server.connect_in_lines();
    ask(
        &mut lines,
        &[
            ("1 SET k some_words", "1 +OK"),
            ("2 DEBUG SLEEP 0.01", "2 +OK"),
            ("3 SET k other_words", "3 +OK"),
            ("4 SAVE", "4 +OK"),
            ("5 GET k", "5 other words"),
        ],
    );
}

#[test]
fn a_command_of_another_front_takes_long() {
    let server = TestServer::start(1);
    let (mut lines, mut other) = (server.connect_in_lines(), server.connect_in_lines());
    send(&mut lines, "1 SET k some_words\n2 TEST.LONG front\n3 GET k\n");
    ask(&mut other, &[("4 GET k", "4 some words"), ("5 PING", "5 +PONG")]);
    end_long("front");
    assert_eq!(line(&mut lines), "1 +OK");
    assert_eq!((line(&mut lines), line(&mut lines)), ("2 +OK".into(), "3 some words".into()));
}

#[test]
fn messages_go_out_in_the_form_of_another_front() {
    let server = TestServer::start(2);
    let (mut lines, mut other) = (server.connect_in_lines(), server.connect());
    ask(&mut lines, &[("1 SUBSCRIBE news", "1 [subscribe news 1]"), ("2 PING", "2 +PONG")]);
    other.line("PUBLISH news something");
    assert_eq!(line(&mut lines), "* [message news something]");
    ask(&mut lines, &[("3 ECHO x", "3 x")]);
}

#[test]
fn replies_of_another_front_wait_for_the_log_and_are_lost_with_it() {
    let server = TestServer::start_with(1, FsyncPolicy::Always);
    let mut lines = server.connect_in_lines();
    ask(&mut lines, &[("1 SET k v", "1 +OK"), ("2 GET k", "2 v")]);
    server.disk.hold_syncs();
    send(&mut lines, "3 SET k lost\n4 GET k\n");
    server.until(|server| server.disk.syncs_waiting() > 0);
    let (operation, kind) = (Operation::Sync, FaultKind::Broken);
    server.disk.inject(Fault { operation, kind, skip: 0, times: u32::MAX });
    server.disk.release_syncs();
    let told = line(&mut lines);
    assert!(told.starts_with("! OUTCOMEUNKNOWN "), "{told}");
    assert!(is_at_end(&mut lines));
}

#[test]
fn a_client_of_another_front_that_may_not_come_in_is_told_so_in_its_form() {
    let server = TestServer::start(1);
    let mut first = server.connect();
    assert_eq!(first.line("CONFIG SET maxclients 1"), ok());
    let mut lines = server.connect_in_lines();
    assert_eq!(line(&mut lines), "! ERR max number of clients reached");
    assert!(is_at_end(&mut lines));
}

#[test]
fn a_client_of_another_front_whose_reply_is_too_large_gets_no_part_of_it() {
    let server = TestServer::start(1);
    let mut first = server.connect();
    assert_eq!(first.line("SET k 1"), ok());
    first.send_words(&["CONFIG", "SET", "client-output-buffer-limit", "normal 1000000 0 0"]);
    assert_eq!(first.receive(), ok());
    let mut lines = server.connect_in_lines();
    ask(&mut lines, &[(&format!("1 SET k {}", "x".repeat(10_000))[..], "1 +OK")]);
    // The second is long enough to run apart.
    for count in [1_000, 5_000] {
        let mut lines = server.connect_in_lines();
        send(&mut lines, &format!("2 MGET{}\n3 GET k\n", " k".repeat(count)));
        assert!(is_at_end(&mut lines), "{count}");
    }
    assert_eq!(first.line("PING"), basalt_resp::Value::Simple(b"PONG".to_vec()));
}

/// Whatever the policy, and by whatever way the change comes: the short one, several keys, whole
/// databases, scripts, and the thread of another client.
#[test]
fn a_request_of_another_front_waits_for_the_disk_if_it_says_so() {
    for policy in [FsyncPolicy::Never, FsyncPolicy::EverySecond] {
        let server = TestServer::start_with(2, policy);
        let (mut lines, mut other) = (server.connect_in_lines(), server.connect());
        ask(&mut lines, &[("1 SET k one", "1 +OK")]);
        for (asked, expected) in [
            ("D2 SET k two", "D2 +OK"),
            ("D3 APPEND k !", "D3 4"),
            ("D4 MSET a 1 b 2 c 3", "D4 +OK"),
            ("D5 EVAL return_redis.call('incr',KEYS[1]) 1 a", "D5 2"),
            ("D6 FLUSHALL", "D6 +OK"),
        ] {
            server.disk.hold_syncs();
            send(&mut lines, &format!("{asked}\n"));
            server.until(|server| server.disk.syncs_waiting() > 0);
            assert!(hears_nothing(&mut lines), "{asked}: it is not on disk yet");
            // Nobody else waits for it.
            other.line("SET other x");
            server.disk.release_syncs();
            assert_eq!(line(&mut lines), expected);
        }
        // Another client's thread runs it.
        send(&mut lines, "D7 BLPOP list 0\n");
        server.until_waiting(1);
        server.disk.hold_syncs();
        assert_eq!(other.line("RPUSH list x"), Value::Integer(1));
        server.until(|server| server.disk.syncs_waiting() > 0);
        assert!(hears_nothing(&mut lines), "it is not on disk yet");
        server.disk.release_syncs();
        assert_eq!(line(&mut lines), "D7 [list x]");
        // What changes nothing, or does not ask for it, waits for nothing.
        server.disk.hold_syncs();
        ask(
            &mut lines,
            &[("D8 GET k", "D8 nothing"), ("9 SET k x", "9 +OK"), ("10 INCR n", "10 1")],
        );
        server.disk.release_syncs();
    }
}
