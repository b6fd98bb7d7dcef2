//! Libraries of functions: payloads that go to a real Redis and come from one, what is logged and
//! recovered, and functions that take long.

use super::{bulk, error};
use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;
use basalt_resp::Value;

fn library(name: &str, function: &str, returns: &str) -> String {
    format!(
        "#!lua name={name}\nredis.register_function('{function}', function() return {returns} end)"
    )
}

fn ok() -> Value {
    Value::Simple(b"OK".to_vec())
}

fn dump(reply: Value) -> Vec<u8> {
    match reply {
        Value::Bulk(payload) => payload,
        other => panic!("no payload: {other:?}"),
    }
}

#[test]
fn payloads_are_exchanged_with_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let long = format!("'{}'", "long enough to be compressed ".repeat(100));
    for (name, returns) in [("a", "1"), ("b", "'x'"), ("c", &long)] {
        server.run(&["FUNCTION", "LOAD", &library(name, &format!("f_{name}"), returns)]);
    }
    redis.run(&["FUNCTION", "FLUSH"]);
    let ours = dump(server.line("FUNCTION DUMP"));
    assert_eq!(redis.run(&[b"FUNCTION".as_slice(), b"RESTORE", &ours]), ok());
    for name in ["f_a", "f_b", "f_c"] {
        assert_eq!(redis.run(&["FCALL", name, "0"]), server.run(&["FCALL", name, "0"]));
    }
    let theirs = dump(redis.run(&["FUNCTION", "DUMP"]));
    assert_eq!(theirs.len(), ours.len());
    let mut other = TestServer::new();
    assert_eq!(other.run(&[b"FUNCTION".as_slice(), b"RESTORE", &theirs]), ok());
    assert_eq!(dump(other.line("FUNCTION DUMP")), ours);
    redis.run(&["FUNCTION", "FLUSH"]);
}

/// A step of a random history, the same for both.
fn step(random: &mut Random, payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (name, function) =
        (["a", "b", "c"][random.below(3) as usize], ["f", "g", "F"][random.below(3) as usize]);
    let words: Vec<String> = match random.below(9) {
        0 => vec!["FUNCTION".into(), "DELETE".into(), name.into()],
        1 => vec!["FUNCTION".into(), "LOAD".into(), library(name, function, "1")],
        2 => vec!["FUNCTION".into(), "LOAD".into(), "REPLACE".into(), library(name, function, "2")],
        3 if random.chance(1, 4) => vec!["FUNCTION".into(), "FLUSH".into()],
        4 | 5 if !payloads.is_empty() => {
            let payload = &payloads[random.below(payloads.len() as u64) as usize];
            let policy = ["APPEND", "REPLACE", "FLUSH"][random.below(3) as usize];
            let words = [b"FUNCTION".as_slice(), b"RESTORE", payload, policy.as_bytes()];
            return words.iter().map(|word| word.to_vec()).collect();
        }
        6 => vec!["FUNCTION".into(), "STATS".into()],
        _ => vec!["FCALL".into(), function.into(), "0".into()],
    };
    words.into_iter().map(String::into_bytes).collect()
}

#[test]
fn random_histories_are_those_of_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let (mut server, mut random) = (TestServer::new(), Random::new(5));
    let mut payloads = Vec::new();
    redis.run(&["FUNCTION", "FLUSH"]);
    for number in 0..1500 {
        let words = step(&mut random, &payloads);
        let (ours, theirs) = (server.run(&words), redis.run(&words));
        let shown: Vec<_> = words.iter().map(|word| String::from_utf8_lossy(word)).collect();
        // Two names may collide at once, and Redis names the one that it finds first.
        match (&ours, &theirs) {
            (Value::Error(ours), Value::Error(theirs)) if words[1] == b"RESTORE" => {
                let kind = |text: &[u8]| text.ends_with(b"already exists");
                assert_eq!(kind(ours), kind(theirs), "{number}: {shown:?}");
            }
            _ => assert_eq!(ours, theirs, "{number}: {shown:?}"),
        }
        if random.chance(1, 20) && payloads.len() < 10 {
            payloads.push(dump(server.line("FUNCTION DUMP")));
        }
    }
    assert!(!payloads.is_empty());
}

#[test]
fn libraries_are_in_the_log_and_in_checkpoints_and_no_flush_removes_them() {
    let mut server = TestServer::new();
    for (name, function) in [("a", "f"), ("b", "g"), ("c", "h")] {
        server.run(&["FUNCTION", "LOAD", &library(name, function, "1")]);
    }
    server.line("FLUSHALL");
    server.line("FUNCTION DELETE b");
    let mut again = server.reopen();
    assert_eq!(dump(again.line("FUNCTION DUMP")), dump(server.line("FUNCTION DUMP")));
    assert_eq!(again.line("FCALL f 0"), Value::Integer(1));
    assert_eq!(error(&again.line("FCALL g 0")), "ERR Function not found");
    // From the cold tier alone, then with what is behind its mark.
    again.server.engine.checkpoint().expect("the tier is in memory");
    let mut cold = again.reopen();
    assert_eq!(cold.line("FCALL h 0"), Value::Integer(1));
    cold.run(&["FUNCTION", "LOAD", "REPLACE", &library("c", "h", "2")]);
    cold.line("FUNCTION DELETE a");
    let mut last = cold.reopen();
    assert_eq!(last.line("FCALL h 0"), Value::Integer(2));
    assert_eq!(error(&last.line("FCALL f 0")), "ERR Function not found");
    last.server.engine.checkpoint().expect("the tier is in memory");
    let mut last = last.reopen();
    assert_eq!(last.line("FCALL h 0"), Value::Integer(2));
    assert_eq!(error(&last.line("FCALL f 0")), "ERR Function not found");
    last.line("FUNCTION FLUSH");
    last.server.engine.checkpoint().expect("the tier is in memory");
    assert_eq!(last.reopen().line("FUNCTION LIST"), Value::Array(Vec::new()));
}

#[test]
fn a_log_that_takes_nothing_refuses_libraries() {
    let mut server = TestServer::new();
    server.log.refuse(Some(basalt_engine::Refusal::Failed("no disk".to_owned())));
    let load = ["FUNCTION", "LOAD", &library("a", "f", "1")];
    assert!(error(&server.run(&load)).starts_with("MISCONF"));
    assert_eq!(error(&server.line("FCALL f 0")), "ERR Function not found");
    server.log.refuse(None);
    assert_eq!(server.run(&load), bulk("a"));
}

/// They take the lock of a partition that the transaction may hold.
#[test]
fn a_transaction_changes_libraries_and_keys() {
    let mut server = TestServer::new();
    for (round, key) in ["k", "06S"].into_iter().enumerate() {
        let value = round.to_string();
        server.line("MULTI");
        server.line("FUNCTION FLUSH");
        server.run(&["FUNCTION", "LOAD", &library("a", "f", &value)]);
        server.run(&["SET", key, &value]);
        server.line("FUNCTION DELETE nosuch");
        let Value::Array(replies) = server.line("EXEC") else { panic!("it runs") };
        assert_eq!(replies[..3], [ok(), bulk("a"), ok()]);
        assert_eq!(error(&replies[3]), "ERR Library not found");
        assert_eq!(server.run(&["GET", key]), bulk(&value));
        assert_eq!(server.line("FCALL f 0"), Value::Integer(round as i64));
    }
    let mut again = server.reopen();
    assert_eq!(again.line("FCALL f 0"), Value::Integer(1));
}

#[test]
fn what_info_says_of_functions() {
    let mut server = TestServer::new();
    let code = library("a", "f", "1");
    server.run(&["FUNCTION", "LOAD", &code]);
    let Value::Bulk(info) = server.line("INFO memory") else { panic!("it is text") };
    let info = String::from_utf8(info).expect("text");
    for line in [
        "number_of_functions:1".to_owned(),
        "number_of_libraries:1".to_owned(),
        format!("used_memory_functions:{}", code.len()),
    ] {
        assert!(info.lines().any(|found| found == line), "{line}");
    }
    let Value::Array(stats) = server.line("MEMORY STATS") else { panic!("it is a map") };
    let name = stats.iter().position(|word| *word == bulk("functions.caches"));
    assert_eq!(stats[name.expect("there is one") + 1], Value::Integer(code.len() as i64));
}

/// A function that has changed nothing is killed by a thread that does not wait for it; meanwhile
/// that thread refuses what it would have to wait for, and tells of the function.
#[test]
fn a_busy_function_is_shown_and_killed_from_another_thread() {
    let mut server = TestServer::new();
    server.configure("busy-reply-threshold", "1");
    let looping =
        "#!lua name=l\nredis.register_function('loop', function(keys) while true do end end)";
    server.run(&["FUNCTION", "LOAD", looping]);
    let mut other = server.another_connection();
    let busy =
        "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
    std::thread::scope(|scope| {
        let running = scope.spawn(|| server.line("FCALL loop 1 k"));
        while !other.server.scripts.any_is_busy() {
            std::thread::yield_now();
        }
        assert_eq!(error(&other.line("GET k")), busy);
        assert_eq!(error(&other.line("SCRIPT KILL")), busy);
        assert_eq!(error(&other.line("FUNCTION FLUSH")), busy);
        let call = loop {
            let Value::Array(stats) = other.line("FUNCTION STATS") else { panic!("an array") };
            match &stats[1] {
                Value::Array(call) => break call.clone(),
                other => assert_eq!(other, &Value::Null),
            }
            std::thread::yield_now();
        };
        assert_eq!(call[1], bulk("loop"));
        let words = ["FCALL", "loop", "1", "k"].map(bulk).to_vec();
        assert_eq!(call[3], Value::Array(words));
        assert_eq!(other.line("FUNCTION KILL"), ok());
        let reply = running.join().expect("it is answered");
        let killed =
            "ERR Script killed by user with SCRIPT KILL... script: loop, on @user_function:";
        assert!(error(&reply).starts_with(killed), "{reply:?}");
    });
    let idle = "NOTBUSY No scripts in execution right now.";
    assert_eq!(error(&other.line("FUNCTION KILL")), idle);
}

#[test]
fn a_function_ends_with_the_time_of_scripts_and_a_load_with_its_own() {
    let mut server = TestServer::new();
    server.configure("script-time-max", "50");
    let looping = "#!lua name=l\nredis.register_function('loop', function() while true do end end)";
    server.run(&["FUNCTION", "LOAD", looping]);
    let reply = server.line("FCALL loop 0");
    assert!(error(&reply).starts_with("ERR Script ended because"), "{reply:?}");
    let pattern = "#!lua name=p\nredis.register_function('p', function() \
                   return string.find(('a'):rep(100), ('a?'):rep(100) .. ('a'):rep(100)) end)";
    server.run(&["FUNCTION", "LOAD", pattern]);
    assert!(error(&server.line("FCALL p 0")).starts_with("ERR Script ended because"));
    let reply = server.run(&["FUNCTION", "LOAD", "#!lua name=x\nwhile true do end"]);
    assert_eq!(error(&reply), "ERR Error registering functions: ERR FUNCTION LOAD timeout");
    let memory = "#!lua name=m\nlocal t = 'x' while true do t = t .. t end";
    let reply = server.run(&["FUNCTION", "LOAD", memory]);
    assert!(error(&reply).starts_with("ERR Error registering functions: ERR"), "{reply:?}");
}

/// Texts that are cut, joined and bent: none is more than refused.
#[test]
fn any_text_is_a_library_or_refused() {
    let mut server = TestServer::new();
    let good = "#!lua name=lib\nlocal t = {1, 2} redis.register_function{function_name='f', \
                callback=function(keys, args) return t[#args] end, flags={'no-writes'}}";
    let mut random = Random::new(9);
    for _ in 0..3000 {
        let mut text = good.as_bytes().to_vec();
        for _ in 0..random.below(4) {
            let at = random.below(text.len() as u64) as usize;
            match random.below(3) {
                0 => text[at] = random.below(256) as u8,
                1 if text.len() > 1 => drop(text.remove(at)),
                _ => text.truncate(at.max(1)),
            }
        }
        match server.run(&[b"FUNCTION".as_slice(), b"LOAD", b"REPLACE", &text]) {
            Value::Bulk(_) => drop(server.line("FCALL f 0 x")),
            Value::Error(text) => assert!(text.starts_with(b"ERR "), "{text:?}"),
            other => panic!("{other:?}"),
        }
    }
}
