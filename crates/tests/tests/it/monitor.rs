//! MONITOR over sockets: what is told of many clients on several threads, of clients that wait, and
//! to one that does not listen.

use std::time::{Duration, Instant};

use basalt_resp::{Value, encode_request};
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch, Server};

/// How long something may take that is awaited.
const PATIENCE: Duration = Duration::from_secs(120);

/// A new connection that monitors.
fn listener(server: &Server) -> Connection {
    let mut connection = server.connect();
    assert_eq!(connection.run("MONITOR").expect("a reply"), Value::Simple(b"OK".to_vec()));
    connection
}

/// The commands that are told of until `PING end`, without time and sender, but for those that only
/// ask how things are.
fn told(server: &Server, listener: &mut Connection) -> Vec<String> {
    server.connect().run("PING end").expect("a reply");
    let mut lines = Vec::new();
    loop {
        let line = listener.receive().expect("a line");
        let Value::Simple(line) = line else { panic!("no line: {line:?}") };
        let line = String::from_utf8(line).expect("text");
        let (_, command) = line.split_once("] ").expect("a sender");
        let command = command[1..command.len() - 1].replace("\" \"", " ");
        if command == "PING end" {
            return lines;
        }
        if command != "PING" && !command.starts_with("INFO") {
            lines.push(command);
        }
    }
}

fn info(connection: &mut Connection, field: &str) -> u64 {
    let Value::Bulk(text) = connection.run("INFO").expect("a reply") else { panic!("no text") };
    let text = String::from_utf8(text).expect("text");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    lines.next().expect("the field").parse().expect("a number")
}

fn await_info(server: &Server, field: &str, is_enough: impl Fn(u64) -> bool) {
    let mut connection = server.connect();
    let started = Instant::now();
    loop {
        let value = info(&mut connection, field);
        if is_enough(value) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{field} is still {value}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn pipelines_of_several_clients_are_told_in_their_order() {
    const CLIENTS: usize = 4;
    const COMMANDS: usize = 3_000;
    let server = Server::start(Kind::Basalt);
    let mut listening = listener(&server);
    let commands_of = |client: usize| {
        (0..COMMANDS).map(move |number| match number / 70 % 4 {
            0 => format!("GET {client}:key:{number}"),
            1 => format!("SET {client}:key:{} {}", number % 50, "v".repeat(number % 200)),
            2 => format!("INCR {client}:counter:{}", number % 3),
            _ => format!("RPUSH {client}:list {number}"),
        })
    };
    let lines = std::thread::scope(|scope| {
        // Another one comes and goes all the time.
        scope.spawn(|| {
            for _ in 0..20 {
                let mut passing = listener(&server);
                passing.run("PING").expect("a line");
            }
        });
        let senders: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let mut connection = server.connect();
                scope.spawn(move || {
                    let mut bytes = Vec::new();
                    for command in commands_of(client) {
                        let words: Vec<&str> = command.split(' ').collect();
                        encode_request(&words, &mut bytes);
                    }
                    connection.send_raw(&bytes).expect("requests");
                    (0..COMMANDS).for_each(|_| drop(connection.receive().expect("a reply")));
                })
            })
            .collect();
        senders.into_iter().for_each(|sender| sender.join().expect("no panic"));
        told(&server, &mut listening)
    });
    for client in 0..CLIENTS {
        let key = format!(" {client}:");
        let its: Vec<&String> = lines.iter().filter(|line| line.contains(&key)).collect();
        assert_eq!(its.len(), COMMANDS, "of client {client}");
        for (line, command) in its.into_iter().zip(commands_of(client)) {
            assert_eq!(*line, command);
        }
    }
}

#[test]
fn a_command_that_has_waited_is_told_of_once_and_the_next_one_is() {
    let server = Server::start(Kind::Basalt);
    let (mut waiting, mut other) = (server.connect(), server.connect());
    let id = waiting.run("CLIENT ID").expect("a reply");
    let Value::Integer(id) = id else { panic!("no number: {id:?}") };
    let mut listening = listener(&server);
    for end in ["RPUSH l x".to_owned(), format!("CLIENT UNBLOCK {id} ERROR")] {
        waiting.send(&["BLPOP", "l", "0"]).expect("a request");
        await_info(&server, "blocked_clients", |count| count == 1);
        other.run(&end).expect("a reply");
        waiting.receive().expect("a reply");
        waiting.run("GET behind").expect("a reply");
        waiting.run("GET further").expect("a reply");
        let expected = ["BLPOP l 0", &end, "GET behind", "GET further"];
        let lines = told(&server, &mut listening);
        let is_shown = |line: &&str| !line.starts_with("CLIENT");
        let expected: Vec<&str> = expected.into_iter().filter(is_shown).collect();
        assert_eq!(lines, expected);
    }
}

#[test]
fn one_that_does_not_listen_is_let_go_at_its_limit() {
    const LIMIT_BYTES: usize = 8 << 20;
    const PIPELINE: usize = 50;
    let server = Launch::new(Kind::Basalt)
        .option("client-output-buffer-limit", &format!("pubsub {LIMIT_BYTES} 0 0"))
        .start();
    let mut deaf = listener(&server);
    let mut listening = listener(&server);
    let (mut sender, mut watcher) = (server.connect(), server.connect());
    let mut batch = Vec::new();
    let value = "v".repeat(1000);
    (0..PIPELINE).for_each(|_| encode_request(&["SET", "k", &value], &mut batch));
    let (mut sent, started) = (0, Instant::now());
    while info(&mut watcher, "client_output_buffer_limit_disconnections") == 0 {
        for _ in 0..10 {
            sender.send_raw(&batch).expect("requests");
            (0..PIPELINE).for_each(|_| drop(sender.receive().expect("a reply")));
        }
        let lines = told(&server, &mut listening);
        assert_eq!(lines.len(), 10 * PIPELINE);
        sent += 10 * PIPELINE * value.len();
        assert!(started.elapsed() < PATIENCE, "it is still there after {sent} bytes");
    }
    // What the sockets hold is not the server's.
    assert!(sent > LIMIT_BYTES, "let go after {sent} bytes");
    assert!(sent < LIMIT_BYTES + (32 << 20), "let go only after {sent} bytes");
    assert!(deaf.receive_to_end().expect("what was sent").len() < sent);
    // The other one still hears.
    sender.run("GET k").expect("a reply");
    assert_eq!(told(&server, &mut listening), ["GET k"]);
}
