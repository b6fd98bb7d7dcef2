//! Scripts that take too much: time, memory, and what the server refuses them.

use super::{error, eval};
use crate::harness::TestServer;
use basalt_engine::Refusal;
use basalt_resp::Value;

#[test]
fn a_script_that_takes_long_is_ended_and_says_so() {
    let mut server = TestServer::new();
    server.configure("script-time-max", "20");
    for script in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local f = function() while true do end end while true do xpcall(f, function() end) end",
        "local co = coroutine.wrap(function() while true do end end) co()",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "while true do redis.pcall('NOSUCH') end",
        // Half a second each in the functions of Lua itself, which nothing interrupts.
        "return string.find(string.rep('a', 26), string.rep('a?', 26) .. string.rep('a', 26))",
        "return string.gsub(string.rep('a', 26), string.rep('a?', 26) .. string.rep('a', 26), '')",
        "table.insert(ARGV, -30000000, 1)",
    ] {
        let reply = eval(&mut server, script, &[], &[]);
        assert!(
            error(&reply).starts_with("ERR Script ended because it ran for longer"),
            "{script}: {reply:?}"
        );
    }
    assert_eq!(eval(&mut server, "return 1", &[], &[]), Value::Integer(1));
}

#[test]
fn memory_is_limited_and_comes_back() {
    let mut server = TestServer::new();
    server.configure("script-memory-max", "8mb");
    for script in [
        "local t = {} while true do t[#t + 1] = string.rep('x', 100000) .. #t end",
        "return string.rep('x', 100000000)",
        "local t = {} for i = 1, 100000000 do t[i] = i end",
    ] {
        let reply = eval(&mut server, script, &[], &[]);
        assert!(error(&reply).contains("not enough memory"), "{script}: {reply:?}");
    }
    for _ in 0..20 {
        let script = "return #string.rep('x', 2000000)";
        assert_eq!(eval(&mut server, script, &[], &[]), Value::Integer(2_000_000));
    }
}

/// Tables that name one another twice make an answer that doubles with each of them.
#[test]
fn an_answer_is_no_larger_than_the_memory_of_scripts() {
    let mut server = TestServer::new();
    server.configure("script-memory-max", "8mb");
    for script in [
        "local t = {string.rep('x', 1000)} for i = 1, 20 do t = {t, t} end return t",
        "local s, t = string.rep('x', 100000), {} for i = 1, 1000 do t[i] = s end return t",
        // Small as a reply, but long to write: each table stands in two places.
        "local t = {} for i = 1, 18 do t = {t, t} end return t",
    ] {
        let reply = eval(&mut server, script, &[], &[]);
        assert_eq!(error(&reply), "ERR the answer of the script is too large", "{script}");
    }
    let script = "local t = {string.rep('x', 1000)} for i = 1, 10 do t = {t, t} end return t";
    assert!(matches!(eval(&mut server, script, &[], &[]), Value::Array(_)));
}

#[test]
fn deep_recursion_and_deep_answers_are_errors() {
    let mut server = TestServer::new();
    let reply = eval(&mut server, "local function f() return 1 + f() end return f()", &[], &[]);
    assert!(error(&reply).contains("stack overflow"), "{reply:?}");
    let script = "local a = {} a[1] = a return a";
    let bytes = server.run_for_bytes(&["EVAL", script, "0"]);
    assert!(String::from_utf8_lossy(&bytes).ends_with("-ERR reached lua stack limit\r\n"));
}

/// A script that has changed nothing is killed by a thread that does not wait for it; meanwhile
/// that thread refuses what it would have to wait for.
#[test]
fn a_busy_script_is_killed_from_another_thread() {
    let mut server = TestServer::new();
    server.configure("busy-reply-threshold", "1");
    let mut other = server.another_connection();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| eval(&mut server, "while true do end", &[], &[]));
        loop {
            match other.line("SCRIPT KILL") {
                Value::Error(text) => assert!(text.starts_with(b"NOTBUSY"), "{text:?}"),
                reply => break assert_eq!(reply, Value::Simple(b"OK".to_vec())),
            }
            std::thread::yield_now();
        }
        let reply = running.join().expect("it is answered");
        assert!(error(&reply).starts_with("ERR Script killed by user with SCRIPT KILL..."));
    });
    assert_eq!(error(&other.line("SCRIPT KILL")), "NOTBUSY No scripts in execution right now.");
}

#[test]
fn while_a_script_is_busy_others_are_told_so() {
    let mut server = TestServer::new();
    server.configure("busy-reply-threshold", "1");
    let mut other = server.another_connection();
    let busy =
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    std::thread::scope(|scope| {
        let script = "redis.call('SET', KEYS[1], 1) while redis.call('SET', KEYS[1], 1) do end";
        server.configure("script-time-max", "1500");
        let running = scope.spawn(move || eval(&mut server, script, &["k"], &[]));
        while !other.server.scripts.any_is_busy() {
            std::thread::yield_now();
        }
        assert_eq!(error(&other.line("GET k")), busy);
        assert_eq!(error(&other.line("KEYS *")), busy);
        assert_eq!(other.line("PING"), Value::Simple(b"PONG".to_vec()));
        assert!(error(&other.line("SCRIPT KILL")).starts_with("UNKILLABLE"));
        other.line("MULTI");
        assert_eq!(other.line("GET k"), Value::Simple(b"QUEUED".to_vec()));
        assert!(
            error(&other.line("EXEC"))
                .starts_with("EXECABORT Transaction discarded because of: BUSY")
        );
        let reply = running.join().expect("it is answered");
        assert!(error(&reply).starts_with("ERR Script ended because"), "{reply:?}");
    });
    assert_eq!(other.line("GET k"), super::bulk("1"));
}

#[test]
fn full_memory_refuses_what_needs_some() {
    let mut server = TestServer::new();
    server.line("SET big x");
    server.configure("maxmemory", "1");
    server.server.sample();
    let oom = "OOM command not allowed when used memory > 'maxmemory'.";
    let set = "return redis.call('SET', KEYS[1], 1)";
    assert!(error(&eval(&mut server, set, &["k"], &[])).starts_with(oom));
    assert_eq!(eval(&mut server, "return redis.call('GET', KEYS[1])", &["k"], &[]), Value::Null);
    let refused = eval(&mut server, "#!lua\nreturn 1", &[], &[]);
    assert!(
        error(&refused).starts_with("OOM allow-oom flag is not set on the script"),
        "{refused:?}"
    );
    let allowed = "#!lua flags=allow-oom\nreturn redis.call('SET', KEYS[1], 1)";
    assert_eq!(eval(&mut server, allowed, &["k"], &[]), Value::Simple(b"OK".to_vec()));
}

#[test]
fn what_one_script_leaves_the_next_does_not_find() {
    let mut server = TestServer::new();
    for script in [
        "table.insert(_G, 1) table.insert(string, 2) return 1",
        "KEYS.x = 1 ARGV.y = 2 return 1",
        "string.format = nil",
        "collectgarbage('stop') return 1",
    ] {
        eval(&mut server, script, &[], &[]);
    }
    let script = "return {#_G, #string, KEYS.x or 'none', type(string.format)}";
    let reply = eval(&mut server, script, &[], &[]);
    let (none, function) = (super::bulk("none"), super::bulk("function"));
    assert_eq!(reply, Value::Array(vec![Value::Integer(0), Value::Integer(0), none, function]));
}

#[test]
fn a_log_that_takes_nothing_lets_scripts_read() {
    let mut server = TestServer::new();
    server.line("SET k v");
    server.log.refuse(Some(Refusal::Failed("no disk".to_owned())));
    let (get, set) = ("return redis.call('GET', KEYS[1])", "return redis.call('SET', KEYS[1], 1)");
    let misconf = "MISCONF Errors writing to the AOF file";
    assert_eq!(eval(&mut server, get, &["k"], &[]), super::bulk("v"));
    assert!(error(&eval(&mut server, set, &["k"], &[])).starts_with(misconf));
    server.line("MULTI");
    server.run(&["EVAL", get, "1", "k"]);
    server.run(&["EVAL", set, "1", "k"]);
    let Value::Array(replies) = server.line("EXEC") else { panic!("the transaction runs") };
    assert_eq!(replies[0], super::bulk("v"));
    assert!(error(&replies[1]).starts_with(misconf));
    assert_eq!(server.line("GET k"), super::bulk("v"));
}
