//! What a client or the data may take, and what happens beyond it.

use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch, Server};

/// How long something may take that is awaited.
const PATIENCE: Duration = Duration::from_secs(60);

fn info(connection: &mut Connection, field: &str) -> u64 {
    let Ok(Value::Bulk(text)) = connection.run("INFO everything") else { panic!("a text") };
    let text = String::from_utf8(text).expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.expect("INFO has the field").parse().expect("a number")
}

/// A client that the server knows already: the kernel lets it in before.
fn known_client(server: &Server) -> Connection {
    let mut connection = server.connect();
    connection.run("PING").expect("a reply");
    connection
}

/// Waits until the server has let go of all other clients.
fn await_solitude(connection: &mut Connection) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let Ok(Value::Bulk(list)) = connection.run("CLIENT LIST") else { panic!("a list") };
        if list.iter().filter(|&&byte| byte == b'\n').count() == 1 {
            return;
        }
        assert!(Instant::now() < deadline, "the others are still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many were let go; redis-server 7.0 does not say.
fn assert_counted(server: &Server, connection: &mut Connection, field: &str) {
    if !server.is_redis() {
        assert_eq!(info(connection, field), 1, "{field}");
    }
}

#[test]
fn a_client_over_its_output_limit_is_let_go() {
    const LIMIT_BYTES: usize = 4 << 20;
    let limits = format!("normal {LIMIT_BYTES} 0 0");
    let server =
        Launch::new(Kind::Basalt).unwatched().option("client-output-buffer-limit", &limits).start();
    let mut other = server.connect();
    other.call(&["SET", "k", &"v".repeat(1 << 20)]).expect("a reply");
    let mut greedy = known_client(&server);
    // What the sockets hold is not the server's, so more is asked for than the limit.
    const REPLIES: usize = 64;
    for _ in 0..REPLIES {
        if greedy.send(&["GET", "k"]).is_err() {
            break; // It has been let go already.
        }
    }
    await_solitude(&mut other);
    assert_counted(&server, &mut other, "client_output_buffer_limit_disconnections");
    // What had been sent may still arrive, or the reset may have thrown it away.
    let received = greedy.receive_to_end().map_or(0, |bytes| bytes.len());
    assert!(received < REPLIES << 20, "everything was sent");
    assert_eq!(other.run("STRLEN k").expect("a reply"), Value::Integer(1 << 20));
}

#[test]
fn a_client_over_its_query_limit_is_let_go() {
    let server =
        Launch::new(Kind::Basalt).unwatched().option("client-query-buffer-limit", "1mb").start();
    let mut other = server.connect();
    let mut greedy = known_client(&server);
    greedy.send_raw(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4000000\r\n").expect("sent");
    // It may be let go before all is sent.
    let _ = greedy.send_raw(&vec![b'v'; 3_000_000]);
    await_solitude(&mut other);
    assert_counted(&server, &mut other, "client_query_buffer_limit_disconnections");
    assert_eq!(other.run("EXISTS k").expect("a reply"), Value::Integer(0));
}

#[test]
fn beyond_maxmemory_nothing_grows_and_all_else_goes_on() {
    const ROOM_BYTES: u64 = 128 << 20;
    const OOM: &[u8] = b"OOM command not allowed when used memory > 'maxmemory'.";
    let server = Server::start(Kind::Basalt);
    if server.is_redis() {
        return; // It has no queues.
    }
    let mut connection = server.connect();
    // The whole process counts, which is to stay below all of it.
    let maxmemory = (info(&mut connection, "used_memory_rss") + ROOM_BYTES) / 97 * 100;
    connection.run(&format!("CONFIG SET maxmemory {maxmemory}")).expect("a reply");
    let value = "v".repeat(10_000);
    let ok = Value::Simple(b"OK".to_vec());
    // Messages do not leave memory, as other values do.
    let set = |connection: &mut Connection, number: usize| {
        let key = format!("key:{number}");
        match connection.call(&["Q.PUT", &key, &value]).expect("a reply") {
            Value::Bulk(_) => Value::Simple(b"OK".to_vec()),
            reply => reply,
        }
    };
    let most = ROOM_BYTES as usize / value.len();
    let written = (0..4 * most).take_while(|&number| set(&mut connection, number) == ok).count();
    assert!(written > most / 4, "refused after {written} values");
    assert!(written < 2 * most, "refused only after {written} values");
    assert_eq!(set(&mut connection, written), Value::Error(OOM.to_vec()));
    // Reading and deleting go on, and make room. Memory is added up ten times a second, so there
    // may be more than there should.
    assert_eq!(connection.run("Q.LEN key:0").expect("a reply"), Value::Integer(1));
    for number in most / 4..written {
        let reply = connection.run(&format!("DEL key:{number}")).expect("a reply");
        assert_eq!(reply, Value::Integer(1));
    }
    let deadline = Instant::now() + PATIENCE;
    while set(&mut connection, 0) != ok {
        assert!(Instant::now() < deadline, "what was deleted makes no room");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn without_memory_it_says_what_can_be_done() {
    const ADDRESS_SPACE_BYTES: u64 = 3 << 30;
    let launch = Launch::new(Kind::Basalt).address_space_max(ADDRESS_SPACE_BYTES);
    let mut server = launch.option("maxmemory", "0").option("io-threads", "1").start();
    if server.is_redis() {
        return; // It says something else.
    }
    let mut connection = server.connect();
    let offset = (256 << 20).to_string();
    let taken = (0..20).take_while(|number| {
        connection.call(&["SETRANGE", &format!("k{number}"), &offset, "x"]).is_ok()
    });
    assert!(taken.count() < 20, "more than the limit");
    assert!(server.wait(PATIENCE).is_some_and(|status| !status.success()));
    let log = server.log();
    for words in ["no more memory", "ulimit -v", "maxmemory", "vm.overcommit_memory"] {
        assert!(log.contains(words), "{log}");
    }
}
