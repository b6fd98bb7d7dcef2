//! Scripts that take long, and what everybody else is told meanwhile.
//!
//! Nothing is timed. The scripts do not end by themselves and are ended by nobody but the test, so
//! a reply to somebody else that comes at all has come in the midst of one.

use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch, Server};

/// Longer than anything here takes on a loaded machine.
const LONG: Duration = Duration::from_secs(60);

/// Scripts that would run for ever, or for hours, and change nothing.
const NASTY: &[&str] = &[
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "while true do xpcall(function() error('x') end, function() while true do end end) end",
    "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
    "while true do redis.pcall('GET', KEYS[1]) end",
    "while true do tostring({}) end",
    "local t = {} for i = 1, 1000 do t[i] = i end while true do table.sort(t, function() return false end) end",
    "while true do cjson.decode(cjson.encode({1, 2, 3})) end",
    "setmetatable(ARGV, {__index = function(t, k) while true do end end}) return ARGV[99]",
];

fn launch(io_threads: &str) -> Launch {
    Launch::new(Kind::Basalt)
        .option("io-threads", io_threads)
        .option("busy-reply-threshold", "300")
        .option("script-time-max", "0")
}

fn text(value: Value) -> String {
    match value {
        Value::Simple(text) | Value::Error(text) | Value::Bulk(text) => {
            String::from_utf8_lossy(&text).into_owned()
        }
        other => format!("{other:?}"),
    }
}

/// Asks until the answer begins with this.
fn ask_until(client: &mut Connection, line: &str, beginning: &str) {
    loop {
        let answer = text(client.run(line).expect("an answer"));
        if answer.starts_with(beginning) {
            return;
        }
        std::thread::yield_now();
    }
}

fn end_by_sigterm(server: &mut Server) {
    server.signal("TERM");
    let status = server.wait(LONG).expect("the server ends");
    assert!(status.success(), "{status}");
}

#[test]
fn a_script_that_takes_long_stops_nobody() {
    for io_threads in ["1", "2"] {
        let server = launch(io_threads).start();
        let mut other = server.connect();
        let mut third = server.connect();
        other.run("SET k v").expect("an answer");
        for script in NASTY {
            let mut caller = server.connect();
            // What follows it waits for it.
            caller.send(&["EVAL", script, "1", "k"]).expect("sent");
            caller.send(&["PING"]).expect("sent");
            third.send(&["GET", "k"]).expect("sent");
            assert_eq!(text(other.run("PING").expect("an answer")), "PONG", "{script}");
            ask_until(&mut other, "GET k", "BUSY");
            ask_until(&mut other, "DBSIZE", "BUSY");
            ask_until(&mut other, "INFO", "BUSY");
            // Sent before anything was known of the script.
            let answer = text(third.receive().expect("an answer"));
            assert!(answer == "v" || answer.starts_with("BUSY"), "{script}: {answer}");
            // A newcomer is let in.
            let mut newcomer = server.connect();
            assert_eq!(text(newcomer.run("ECHO hi").expect("an answer")), "hi");
            assert_eq!(text(newcomer.run("SCRIPT KILL").expect("an answer")), "OK", "{script}");
            let answer = text(caller.receive().expect("an answer"));
            assert!(answer.starts_with("ERR Script killed by user"), "{script}: {answer}");
            assert_eq!(text(caller.receive().expect("an answer")), "PONG");
            assert_eq!(text(other.run("GET k").expect("an answer")), "v");
        }
    }
}

/// A library that does not end is ended after half a second; others are served meanwhile. In a
/// transaction those wait whose keys it holds, but for no longer however many libraries it loads.
/// In one of three tries, as the machine may stand still for as long.
#[test]
fn a_library_that_takes_long_stops_nobody() {
    const LOAD: &[&str] = &["FUNCTION", "LOAD", "#!lua name=endless\nwhile true do end"];
    for io_threads in ["1", "2"] {
        let server = launch(io_threads).start();
        let longest = (0..3).map(|_| longest_wait_beside(&server, &[LOAD], "SET k v"));
        let shortest = longest.min().expect("three tries");
        assert!(shortest < Duration::from_millis(400), "{io_threads}: {shortest:?}");
        let several = [&["MULTI"], LOAD, LOAD, LOAD, LOAD, LOAD, &["EXEC"]];
        let longest = (0..3).map(|_| longest_wait_beside(&server, &several, "PING"));
        let shortest = longest.min().expect("three tries");
        assert!(shortest < Duration::from_millis(400), "{io_threads}: {shortest:?}");
        let longest = (0..3).map(|_| longest_wait_beside(&server, &several, "SET k v"));
        let shortest = longest.min().expect("three tries");
        assert!(shortest < Duration::from_millis(1_500), "{io_threads}: {shortest:?}");
    }
}

/// The longest that another client waits for `question` while these are called.
fn longest_wait_beside(server: &Server, calls: &[&[&str]], question: &str) -> Duration {
    let (mut caller, mut other) = (server.connect(), server.connect());
    let mut longest = Duration::ZERO;
    std::thread::scope(|scope| {
        let caller = scope.spawn(move || {
            let mut answer = Value::Null;
            for call in calls {
                answer = caller.call(call).expect("an answer");
            }
            match answer {
                Value::Array(within) => within.into_iter().map(text).collect(),
                alone => vec![text(alone)],
            }
        });
        while !caller.is_finished() {
            let before = Instant::now();
            other.run(question).expect("an answer");
            longest = longest.max(before.elapsed());
        }
        let answers: Vec<String> = caller.join().expect("no panic");
        assert!(answers.iter().all(|answer| answer.contains("LOAD timeout")), "{answers:?}");
    });
    longest
}

/// Messages for the client of a script come when the script has ended.
/// As in Redis, where it is not even read before.
#[test]
fn script_kill_waits_until_a_script_is_busy_or_has_ended() {
    const BEGUN: Duration = Duration::from_millis(50);
    for (kind, io_threads) in [(Kind::Redis, "1"), (Kind::Basalt, "1"), (Kind::Basalt, "2")] {
        let server = Launch::new(kind)
            .option("io-threads", io_threads)
            .option("busy-reply-threshold", "500")
            .start();
        let (mut caller, mut other) = (server.connect(), server.connect());
        let library =
            "#!lua name=l\nredis.register_function('f', function() while true do end end)";
        caller.call(&["FUNCTION", "LOAD", library]).expect("an answer");
        let calls: [(&[&str], &str); 2] = [
            (&["EVAL", "while true do end", "0"], "SCRIPT KILL"),
            (&["FCALL", "f", "0"], "FUNCTION KILL"),
        ];
        for (call, kill) in calls {
            caller.send(call).expect("it goes");
            std::thread::sleep(BEGUN);
            assert_eq!(text(other.run(kill).expect("an answer")), "OK", "{call:?}");
            let answer = text(caller.receive().expect("an answer"));
            assert!(answer.contains("Script killed by user"), "{answer}");
        }
        caller.send(&["EVAL", "for i = 1, 1000000 do end return 1", "0"]).expect("it goes");
        let answer = text(other.run("SCRIPT KILL").expect("an answer"));
        assert_eq!(answer, "NOTBUSY No scripts in execution right now.");
        assert_eq!(caller.receive().expect("an answer"), Value::Integer(1));
    }
}

#[test]
fn a_client_in_a_script_misses_no_message() {
    let server = launch("2").start();
    let mut caller = server.connect();
    caller.run("HELLO 3").expect("an answer");
    caller.run("SUBSCRIBE news").expect("an answer");
    caller.send(&["EVAL", "while true do end", "1", "k"]).expect("sent");
    // One of two newcomers is on the other thread, which publishes.
    let mut others = [server.connect(), server.connect()];
    ask_until(&mut others[0], "GET k", "BUSY");
    let answers = others.each_mut().map(|other| other.run("PUBLISH news x").expect("an answer"));
    let published = answers.iter().filter(|answer| **answer == Value::Integer(1)).count();
    assert!(published > 0, "{answers:?}");
    assert_eq!(text(others[0].run("SCRIPT KILL").expect("an answer")), "OK");
    assert!(text(caller.receive().expect("an answer")).starts_with("ERR Script killed"));
    for _ in 0..published {
        let words = ["message", "news", "x"].map(|word| Value::Bulk(word.as_bytes().to_vec()));
        assert_eq!(caller.receive().expect("a message"), Value::Push(words.to_vec()));
    }
}

#[test]
fn the_server_ends_in_the_midst_of_a_script() {
    for script in ["while true do end", "redis.call('SET', 'half', 1) while true do end"] {
        for io_threads in ["1", "2"] {
            let dir = tempfile::tempdir().expect("a folder");
            let launch = || launch(io_threads).dir(dir.path()).allow_log("did not end in time");
            let mut server = launch().start();
            let mut other = server.connect();
            other.run("SET before 1").expect("an answer");
            let mut caller = server.connect();
            caller.send(&["EVAL", script, "1", "k"]).expect("sent");
            ask_until(&mut other, "GET k", "BUSY");
            end_by_sigterm(&mut server);
            drop(server);
            // Whole or not at all: it has not ended.
            let server = launch().start();
            let keys = server.connect().run("MGET before half").expect("an answer");
            let one = Value::Bulk(b"1".to_vec());
            assert_eq!(keys, Value::Array(vec![one, Value::Null]), "{script}");
        }
    }
}

#[test]
fn shutdown_nosave_ends_the_server_in_the_midst_of_a_script() {
    let mut server = launch("1").allow_log("did not end in time").start();
    let (mut other, mut caller) = (server.connect(), server.connect());
    let script = "while true do redis.call('SET', KEYS[1], 1) end";
    caller.send(&["EVAL", script, "1", "k"]).expect("sent");
    ask_until(&mut other, "SCRIPT KILL", "UNKILLABLE");
    other.send(&["SHUTDOWN", "NOSAVE"]).expect("sent");
    let status = server.wait(LONG).expect("the server ends");
    assert!(status.success(), "{status}");
}
