//! Running it: where it listens, how it ends, what it says when it cannot start, changes while it
//! runs.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch, Server, free_port, is_redis, own_args, program};

const END_TIMEOUT: Duration = Duration::from_secs(120);

fn ok() -> Value {
    Value::Simple(b"OK".to_vec())
}

/// Runs a server that is to fail at once.
fn fail_to_start(args: &[&str]) -> Output {
    Command::new(program(Kind::Basalt))
        .args(args)
        .args(own_args(Kind::Basalt))
        .stdin(Stdio::null())
        .output()
        .expect("the program can be run")
}

#[track_caller]
fn assert_refused(args: &[&str], reasons: &[&str]) {
    if is_redis(Kind::Basalt) {
        return; // Its texts are its own.
    }
    let output = fail_to_start(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    for reason in reasons {
        assert!(text.contains(reason), "{text:?} does not say {reason:?}");
    }
    assert_eq!(text.lines().count(), 1, "one line says it all: {text:?}");
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it has an address").port().to_string();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let dir = folder.path().to_str().expect("UTF-8");
    assert_refused(&["--dir", dir, "--port", &port], &["127.0.0.1", &port, "in use"]);
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file can be written");
    let file = file.to_str().expect("UTF-8");
    let socket = format!("{dir}/socket");
    let door = ["--port", "0", "--unixsocket", &socket];
    assert_refused(&[&["--dir", file], &door[..]].concat(), &["data directory", file]);
    let none = ["--dir", "/proc/none"];
    assert_refused(&[&none, &door[..]].concat(), &["data directory", "/proc/none"]);
    let log = ["--dir", dir, "--logfile", "/proc/none/log"];
    assert_refused(&[&log, &door[..]].concat(), &["/proc/none/log"]);
    assert_refused(&["--dir", dir, "--port", "0"], &["--port", "--unixsocket"]);
    assert_refused(&["--port", "many"], &["port", "0 to 65535"]);
    assert_refused(&["/none.conf"], &["/none.conf"]);
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let _first = Launch::new(Kind::Basalt).dir(folder.path()).start();
    let dir = folder.path().to_str().expect("UTF-8");
    assert_refused(
        &["--dir", dir, "--port", "0", "--unixsocket", &format!("{dir}/s")],
        &[dir, "in use"],
    );
}

/// Writes until the server goes, and counts how many writes it acknowledges.
fn write_until_the_end(mut connection: Connection, name: &str, acknowledged: &AtomicU64) {
    loop {
        // Relaxed, here and below: joining the thread orders what is compared in the end.
        let value = acknowledged.load(Ordering::Relaxed).to_string();
        match connection.call(&["SET", name, &value]) {
            Ok(reply) => assert_eq!(reply, ok()),
            Err(_) => return,
        }
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
}

/// Waits for something that is told by nothing but a look.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < END_TIMEOUT, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn terminate_under_load(fsync: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let launch = |dir: &Path| {
        let launch = Launch::new(Kind::Basalt).dir(dir).option("appendonly", "yes");
        launch.option("appendfsync", fsync).start()
    };
    let mut server = launch(folder.path());
    let counts: [AtomicU64; 6] = std::array::from_fn(|_| AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (writer, count) in counts.iter().enumerate() {
            let connection = server.connect();
            scope.spawn(move || write_until_the_end(connection, &format!("key{writer}"), count));
        }
        let is_busy = || counts.iter().all(|count| count.load(Ordering::Relaxed) >= 20);
        wait_until("that everybody writes", is_busy);
        server.signal("TERM");
        let status = server.wait(END_TIMEOUT).expect("it ends in time");
        assert!(status.success(), "{status}: {}", server.log());
    });
    let again = launch(folder.path());
    let mut connection = again.connect();
    for (writer, count) in counts.into_iter().map(AtomicU64::into_inner).enumerate() {
        let found = connection.run(&format!("GET key{writer}")).expect("a reply");
        let Value::Bulk(found) = found else { panic!("key{writer} is gone: {found:?}") };
        let found: u64 = String::from_utf8_lossy(&found).parse().expect("a number");
        assert!(found >= count - 1, "{count} writes acknowledged, the last kept is {found}");
    }
}

#[test]
fn sigterm_under_load_loses_nothing() {
    terminate_under_load("everysec");
    terminate_under_load("always");
}

#[test]
fn a_hangup_ends_nothing_and_shutdown_ends_it() {
    let mut server = Server::start(Kind::Basalt);
    server.signal("HUP");
    let mut connection = server.connect();
    assert_eq!(connection.run("SET k v").expect("a reply"), ok());
    connection.send(&["SHUTDOWN", "NOSAVE"]).expect("it is sent");
    assert!(connection.receive().is_err(), "a shutdown has no reply");
    assert!(server.wait(END_TIMEOUT).is_some_and(|status| status.success()));
}

/// A client that does not read its replies holds the end up; a second signal does not wait.
#[test]
fn a_second_signal_ends_it_at_once() {
    if is_redis(Kind::Basalt) {
        return;
    }
    let mut server = Launch::new(Kind::Basalt).allow_log("second signal").start();
    let mut lazy = server.connect();
    let value = "v".repeat(8 << 20);
    assert_eq!(lazy.call(&["SET", "k", &value]).expect("a reply"), ok());
    lazy.send_raw(b"GET k\r\n".repeat(8).as_slice()).expect("it is sent");
    // All eight have been read when the first is answered: more is owed than a socket takes.
    assert!(matches!(lazy.receive(), Ok(Value::Bulk(_))));
    server.signal("TERM");
    wait_until("the end's beginning", || server.log().contains("signal received"));
    server.signal("TERM");
    // Its client is waited for some seconds, and then the end is an orderly one.
    let status = server.wait(END_TIMEOUT).expect("it ends");
    assert_eq!(status.code(), Some(1), "{}", server.log());
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

#[test]
fn too_many_clients_are_told_so() {
    let server = Launch::new(Kind::Basalt).unwatched().option("maxclients", "3").start();
    let mut clients = vec![server.connect()];
    // The one that looked whether the server is there has gone, but perhaps not from its list.
    while !matches!(clients[0].run("CLIENT LIST"), Ok(Value::Bulk(list)) if lines(&list) == 1) {
        std::thread::yield_now();
    }
    clients.extend((1..3).map(|_| server.connect()));
    for client in &mut clients {
        assert!(matches!(client.run("PING"), Ok(Value::Simple(_))));
    }
    let refusal = server.connect().receive().expect("a refusal");
    assert_eq!(refusal, Value::Error(b"ERR max number of clients reached".to_vec()));
    assert_eq!(clients[0].run("CONFIG SET maxclients 4").expect("a reply"), ok());
    assert!(matches!(server.connect().run("PING"), Ok(Value::Simple(_))));
}

#[test]
fn an_idle_client_is_disconnected_after_its_time() {
    let server = Server::start(Kind::Basalt);
    let mut idle = server.connect();
    let started = Instant::now();
    assert_eq!(idle.run("CONFIG SET timeout 1").expect("a reply"), ok());
    assert_eq!(idle.receive_to_end().expect("an end"), b"");
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(900), "{took:?}");
}

#[test]
fn several_addresses_are_listened_on() {
    // The last of several `--bind` wins; both of its addresses are served.
    let server = Launch::new(Kind::Basalt).option("bind", "127.0.0.1 127.0.0.2").start();
    let port = server.address().port();
    for host in [[127, 0, 0, 1], [127, 0, 0, 2]] {
        let mut connection = Connection::open((host, port).into()).expect("it listens there");
        assert!(matches!(connection.run("PING"), Ok(Value::Simple(_))));
    }
}

#[test]
fn port_and_addresses_change_at_run_time() {
    // An address and ports that nobody else uses: whether one is closed could not be told
    // otherwise.
    let launch = Launch::new(Kind::Basalt).host(Ipv4Addr::new(127, 80, 1, 1));
    let server = launch.allow_log("the listeners stay as they are").start();
    let mut connection = server.connect();
    let mut set = |option: &str, value: &str| {
        connection.call(&["CONFIG", "SET", option, value]).expect("a reply")
    };
    let host = server.address().ip();
    let port = free_port().expect("a port");
    let taken = TcpListener::bind((host, port)).expect("it is free");
    let refused = |option: &str, reason: &str| {
        let what =
            format!("CONFIG SET failed (possibly related to argument '{option}') - {reason}");
        Value::Error(format!("ERR {what}").into_bytes())
    };
    let reason = "Unable to listen on this port. Check server logs.";
    assert_eq!(set("port", &port.to_string()), refused("port", reason));
    let reason = "Failed to bind to specified addresses.";
    // An address for documentation (RFC 5737), which no machine has.
    assert_eq!(set("bind", &format!("{host} 192.0.2.1")), refused("bind", reason));
    server.connect().run("PING").expect("it listens where it did");
    drop(taken);
    assert_eq!(set("port", &port.to_string()), ok());
    Connection::open((host, port).into()).expect("the new port").run("PING").expect("a reply");
    assert!(Connection::open(server.address()).is_err(), "the old port is closed");
    // `*` and the address exclude each other on one port: the one goes for the other.
    assert_eq!(set("bind", "*"), ok());
    assert_eq!(set("bind", &format!("{host} 192.0.2.1")), refused("bind", reason));
    assert_eq!(set("bind", &host.to_string()), ok());
    Connection::open((host, port).into()).expect("the address").run("PING").expect("a reply");
    assert_eq!(set("port", "0"), ok());
    assert!(Connection::open((host, port).into()).is_err(), "no port is open");
    assert_eq!(
        connection.run("PING").expect("who is there stays"),
        Value::Simple(b"PONG".to_vec())
    );
}

/// Under `always`, what is acknowledged after the switch survives a kill.
#[test]
fn the_fsync_policy_may_change_under_load() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let start = || {
        let launch = Launch::new(Kind::Basalt).dir(folder.path()).option("appendonly", "yes");
        launch.option("appendfsync", "no").allow_log("torn tail").start()
    };
    let mut server = start();
    let over = AtomicBool::new(false);
    let mut kept = 0;
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (mut connection, over) = (server.connect(), &over);
            scope.spawn(move || {
                // Relaxed: it only ends the loop.
                while !over.load(Ordering::Relaxed)
                    && connection.run(&format!("INCR noise{writer}")).is_ok()
                {}
            });
        }
        let mut connection = server.connect();
        for policy in ["always", "everysec", "no", "always", "no", "always"] {
            let set = connection.run(&format!("CONFIG SET appendfsync {policy}"));
            assert_eq!(set.expect("a reply"), ok());
            for _ in 0..50 {
                kept += 1;
                let set = connection.run(&format!("SET kept {kept}")).expect("a reply");
                assert_eq!(set, ok(), "under {policy}");
            }
        }
        server.kill();
        over.store(true, Ordering::Relaxed);
    });
    drop(server);
    server = start();
    let found = server.connect().run("GET kept").expect("a reply");
    assert_eq!(found, Value::Bulk(kept.to_string().into_bytes()));
}

/// The file that Debian installs, with its paths in a folder of ours and no daemon's fate.
#[test]
fn a_stock_redis_conf_starts_a_server() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let text = include_str!("../../../config/tests/data/stock-redis.conf")
        .replace("/run/redis/redis-server.pid", &at("redis-server.pid"))
        .replace("/var/log/redis/redis-server.log", "\"\"")
        .replace("/var/lib/redis", &at(""));
    let file = folder.path().join("redis.conf");
    std::fs::write(&file, text).expect("a file can be written");
    let server = Launch::new(Kind::Basalt).file(&file).allow_log("is accepted").start();
    let mut connection = server.connect();
    assert_eq!(connection.run("SET k v").expect("a reply"), ok());
    let fsync = connection.run("CONFIG GET appendfsync").expect("a reply");
    assert!(matches!(&fsync, Value::Array(pair) if pair[1] == Value::Bulk(b"everysec".to_vec())));
}

/// What is not changed stays as it was written, also what has no effect here.
#[test]
fn a_redis_conf_is_understood_and_rewritten() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("redis.conf");
    let text =
        "# my server\nbind 127.0.0.1 -::1\ntimeout 7\nrdbcompression no\nappendfsync always\n";
    std::fs::write(&file, text).expect("a file can be written");
    let launch = Launch::new(Kind::Basalt).file(&file).allow_log("is accepted");
    let server = launch.start();
    let mut connection = server.connect();
    let answered = connection.run("CONFIG GET timeout").expect("a reply");
    assert_eq!(
        answered,
        Value::Array(vec![Value::Bulk(b"timeout".to_vec()), Value::Bulk(b"7".to_vec()),])
    );
    assert_eq!(connection.run("CONFIG SET timeout 9").expect("a reply"), ok());
    assert_eq!(connection.run("CONFIG REWRITE").expect("a reply"), ok());
    let rewritten = std::fs::read_to_string(&file).expect("it is there");
    for line in ["# my server", "timeout 9", "rdbcompression no", "appendfsync always"] {
        assert!(rewritten.lines().any(|found| found == line), "{line:?} is not in\n{rewritten}");
    }
}
