//! The life of messages, command by command, as clients see it.

use crate::harness::TestServer;
use basalt_engine::Refusal;
use basalt_resp::Value;

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

fn line(server: &mut TestServer, line: &str) -> Value {
    server.run(&line.split_whitespace().collect::<Vec<_>>())
}

/// Token, body and deliveries of what a Q.GET got.
fn get(server: &mut TestServer, command: &str) -> Vec<(String, String, i64)> {
    let Value::Array(deliveries) = line(server, command) else { return Vec::new() };
    let delivery = |delivery: Value| match delivery {
        Value::Array(fields) => match &fields[..] {
            [_, Value::Bulk(token), Value::Bulk(body), Value::Integer(deliveries), ..] => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                (text(token), text(body), *deliveries)
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    deliveries.into_iter().map(delivery).collect()
}

fn bodies(delivered: &[(String, String, i64)]) -> Vec<&str> {
    delivered.iter().map(|(_, body, _)| &**body).collect()
}

#[test]
fn higher_priorities_come_first_and_what_returns_keeps_its_place() {
    let mut server = TestServer::new();
    for put in ["a", "b", "c", "x PRIORITY 9", "d DELAY 50"] {
        line(&mut server, &format!("Q.PUT q {put}"));
    }
    let first = get(&mut server, "Q.GET COUNT 2 QUEUES q");
    assert_eq!(bodies(&first), ["x", "a"]);
    assert_eq!(line(&mut server, &format!("Q.NACK q {}", first[1].0)), Value::Integer(1));
    server.clock.advance_ms(50);
    let second = get(&mut server, "Q.GET COUNT 9 QUEUES none q");
    assert_eq!(bodies(&second), ["a", "b", "c", "d"]);
    assert_eq!(second[0].2, 2);
}

#[test]
fn a_token_is_good_until_the_next_delivery() {
    let mut server = TestServer::new();
    line(&mut server, "Q.PUT q a");
    let first = get(&mut server, "Q.GET LEASE 10 QUEUES q").remove(0).0;
    server.clock.advance_ms(20);
    // The lease has ended, but nobody else has got it.
    assert_eq!(line(&mut server, &format!("Q.EXTEND q {first} 10")), Value::Integer(1));
    server.clock.advance_ms(20);
    let second = get(&mut server, "Q.GET QUEUES q").remove(0).0;
    for late in ["Q.ACK q @", "Q.NACK q @", "Q.EXTEND q @ 5"] {
        assert_eq!(line(&mut server, &late.replace('@', &first)), Value::Integer(0), "{late}");
    }
    assert_eq!(line(&mut server, &format!("Q.ACK q {second} {second}")), Value::Integer(1));
    assert_eq!(line(&mut server, "Q.LEN q"), Value::Integer(0));
}

#[test]
fn the_end_of_a_lease_is_told_while_it_lasts() {
    let mut server = TestServer::new();
    line(&mut server, "Q.MPUT q 2 a b");
    let tokens: Vec<String> =
        get(&mut server, "Q.GET COUNT 2 LEASE 1000 QUEUES q").into_iter().map(|it| it.0).collect();
    let held = format!("Q.HELD q TOKENS {} {} 0-7-1", tokens[0], tokens[1]);
    let ends = |server: &mut TestServer, line: &str| -> Vec<i64> {
        let Value::Array(ends) = server.run(&line.split_whitespace().collect::<Vec<_>>()) else {
            panic!("an array")
        };
        let end = |end| if let Value::Integer(end) = end { end } else { panic!("{end:?}") };
        ends.into_iter().map(end).collect()
    };
    let first = ends(&mut server, &held);
    assert!(first[0] > 0 && first[0] == first[1] && first[2] == 0, "{first:?}");
    // It does not wait if one of them is over, nor within a transaction.
    assert_eq!(ends(&mut server, &held.replace("TOKENS", "BLOCK 0 TOKENS")), first);
    line(&mut server, "MULTI");
    line(&mut server, &format!("Q.HELD q BLOCK 0 TOKENS {}", tokens[0]));
    assert_eq!(
        line(&mut server, "EXEC"),
        Value::Array(vec![Value::Array(vec![Value::Integer(first[0])])])
    );
    line(&mut server, &format!("Q.EXTEND q {} 5000", tokens[1]));
    assert_eq!(ends(&mut server, &held), [first[0], first[0] + 4000, 0]);
    server.clock.advance_ms(1_000);
    assert_eq!(ends(&mut server, &held), [0, first[0] + 4000, 0]);
    let again = get(&mut server, "Q.GET QUEUES q").remove(0).0;
    assert_eq!(ends(&mut server, &held)[0], 0);
    line(&mut server, &format!("Q.NACK q {}", tokens[1]));
    assert_eq!(ends(&mut server, &held), [0, 0, 0]);
    assert!(ends(&mut server, &format!("Q.HELD q TOKENS {again}"))[0] > first[0]);
    assert_eq!(ends(&mut server, "Q.HELD absent TOKENS 0-1-1"), [0]);
    for wrong in ["Q.HELD q 0-1-1", "Q.HELD q TOKENS", "Q.HELD q BLOCK TOKENS 0-1-1"] {
        assert!(matches!(line(&mut server, wrong), Value::Error(_)), "{wrong}");
    }
    let many = "0-1-1 ".repeat(1001);
    assert!(matches!(line(&mut server, &format!("Q.HELD q TOKENS {many}")), Value::Error(_)));
}

#[test]
fn a_message_that_fails_too_often_is_dead_until_it_is_revived() {
    let mut server = TestServer::new();
    line(&mut server, "Q.CONFIG SET q deliveries-max 2 lease 10");
    line(&mut server, "Q.PUT q a TTL 1000");
    for deliveries in 1..=2 {
        assert_eq!(get(&mut server, "Q.GET QUEUES q")[0].2, deliveries);
        server.clock.advance_ms(10);
    }
    assert_eq!(line(&mut server, "Q.GET QUEUES q"), Value::NullArray);
    // The dead do not expire.
    server.clock.advance_ms(5_000);
    assert_eq!(line(&mut server, "Q.REVIVE q 0-1"), Value::Integer(1));
    assert_eq!(get(&mut server, "Q.GET QUEUES q")[0].2, 3);
}

#[test]
fn an_acknowledgement_and_its_result_are_one_change() {
    let mut server = TestServer::new();
    line(&mut server, "Q.PUT {a}q job");
    let token = get(&mut server, "Q.GET QUEUES {a}q").remove(0).0;
    line(&mut server, "MULTI");
    line(&mut server, &format!("Q.ACK {{a}}q {token}"));
    line(&mut server, "SET {a}result 7");
    line(&mut server, "Q.PUT {a}next job2");
    let all = Value::Array(vec![Value::Integer(1), Value::Simple(b"OK".to_vec()), bulk("0-1")]);
    assert_eq!(line(&mut server, "EXEC"), all);
    let script = "redis.call('q.put', KEYS[1], 'from lua') return redis.call('q.len', KEYS[1])";
    let reply = server.run(&["EVAL", script, "1", "{a}next"]);
    assert_eq!(reply, Value::Integer(2));
}

/// All keys that a scan returns. A call may end before the last of them, where a background thread
/// holds a partition for long.
fn scan(server: &mut TestServer, options: &str) -> Vec<Value> {
    let (mut cursor, mut keys) = ("0".to_owned(), Vec::new());
    loop {
        let reply = line(server, &format!("SCAN {cursor} {options} COUNT 100"));
        let Value::Array(parts) = reply else { panic!("{reply:?}") };
        let [Value::Bulk(next), Value::Array(found)] = &parts[..] else { panic!("{parts:?}") };
        keys.extend(found.iter().cloned());
        cursor = String::from_utf8_lossy(next).into_owned();
        if cursor == "0" {
            return keys;
        }
    }
}

#[test]
fn a_queue_is_a_key_like_others() {
    let mut server = TestServer::new();
    line(&mut server, "Q.PUT q a");
    line(&mut server, "SET s 1");
    assert_eq!(line(&mut server, "TYPE q"), Value::Simple(b"queue".to_vec()));
    assert_eq!(line(&mut server, "OBJECT ENCODING q"), bulk("queue"));
    let wrong =
        |reply: Value| matches!(reply, Value::Error(text) if text.starts_with(b"WRONGTYPE"));
    for command in [
        "Q.PUT s a",
        "Q.GET QUEUES s",
        "Q.ACK s 0-1-1",
        "Q.STAT s",
        "Q.CONFIG GET s",
        "GET q",
        "XADD q * f v",
    ] {
        assert!(wrong(line(&mut server, command)), "{command}");
    }
    assert_eq!(scan(&mut server, "TYPE queue"), [bulk("q")]);
    line(&mut server, "COPY q copy");
    line(&mut server, "RENAME q moved");
    line(&mut server, "EXPIRE copy 1");
    server.clock.advance_ms(1_001);
    assert_eq!(line(&mut server, "EXISTS q copy moved"), Value::Integer(1));
    assert_eq!(bodies(&get(&mut server, "Q.GET NOACK QUEUES moved")), ["a"]);
    // An empty queue stays, with its settings.
    assert_eq!(line(&mut server, "EXISTS moved"), Value::Integer(1));
    let dumped = line(&mut server, "DUMP moved");
    assert!(
        matches!(dumped, Value::Error(text) if text.starts_with(b"ERR a queue cannot be dumped"))
    );
    assert_eq!(line(&mut server, "DEL moved"), Value::Integer(1));
}

/// Looking for a message that is not there writes nothing, and watches nothing away.
#[test]
fn an_empty_poll_changes_nothing() {
    let mut server = TestServer::new();
    line(&mut server, "Q.PUT q a");
    line(&mut server, "Q.GET LEASE 1000 QUEUES q");
    line(&mut server, "WATCH q");
    assert_eq!(line(&mut server, "Q.GET WORKER w QUEUES q absent"), Value::NullArray);
    assert_eq!(line(&mut server, "EXISTS absent"), Value::Integer(0));
    line(&mut server, "MULTI");
    line(&mut server, "PING");
    assert!(matches!(line(&mut server, "EXEC"), Value::Array(_)));
    let workers = line(&mut server, "Q.WORKERS q");
    assert!(matches!(&workers, Value::Array(all) if all.len() == 1), "{workers:?}");
}

#[test]
fn a_queue_that_is_paused_refuses_or_waits() {
    let mut server = TestServer::new();
    line(&mut server, "Q.PUT q a");
    line(&mut server, "Q.CONFIG SET q paused all");
    let refused = line(&mut server, "Q.PUT q b");
    assert!(matches!(refused, Value::Error(text) if text.starts_with(b"QLOCKED")));
    assert_eq!(line(&mut server, "Q.GET QUEUES q"), Value::NullArray);
    line(&mut server, "Q.CONFIG SET q paused no");
    assert_eq!(bodies(&get(&mut server, "Q.GET QUEUES q")), ["a"]);
}

/// Reading settings is no change, whatever stands beside it.
#[test]
fn settings_are_read_where_nothing_may_be_changed() {
    let mut server = TestServer::new();
    line(&mut server, "Q.CONFIG SET q max 7");
    let max = |reply: Value| match reply {
        Value::Array(settings) => settings[5].clone(),
        other => panic!("{other:?}"),
    };
    let script = "return redis.call('q.config', 'get', KEYS[1])";
    assert_eq!(max(server.run(&["EVAL_RO", script, "1", "q"])), Value::Integer(7));
    let script = script.replace("get", "set").replace("[1]", "[1], 'max', 8");
    assert!(matches!(server.run(&["EVAL_RO", &script, "1", "q"]), Value::Error(_)));
    server.log.refuse(Some(Refusal::DiskFull));
    assert_eq!(max(line(&mut server, "Q.CONFIG GET q")), Value::Integer(7));
    line(&mut server, "MULTI");
    line(&mut server, "Q.CONFIG GET q");
    let Value::Array(mut replies) = line(&mut server, "EXEC") else { panic!("it is aborted") };
    assert_eq!(max(replies.remove(0)), Value::Integer(7));
    let refused = line(&mut server, "Q.CONFIG SET q max 8");
    assert!(matches!(refused, Value::Error(text) if text.starts_with(b"MISCONF")));
    let told = server.run_for_bytes(&["COMMAND", "INFO", "q.config|get"]);
    assert!(told.windows(8).any(|word| word == b"readonly"), "{}", told.escape_ascii());
}

/// Names are the client's to choose: what is kept of them is bounded, and counted.
#[test]
fn consumers_take_little_memory_and_count() {
    let mut server = TestServer::new();
    let used = |server: &TestServer| {
        server.server.sample();
        server.server.memory_bytes_used.load(std::sync::atomic::Ordering::Relaxed)
    };
    line(&mut server, "CONFIG SET maxmemory 1gb");
    let ask = |server: &mut TestServer, name: &str| {
        for number in 0..3_000 {
            line(server, &format!("Q.GET WORKER {number:0100} QUEUES {{tag}}{name}{number}"));
        }
    };
    let empty = used(&server);
    ask(&mut server, "absent");
    let added = used(&server) - empty;
    assert!(added < 10_000, "the queues are not there: {added}");
    for number in 0..3_000 {
        line(&mut server, &format!("Q.CONFIG SET {{tag}}there{number} lease 1000"));
    }
    let before = used(&server);
    ask(&mut server, "there");
    let added = used(&server) - before;
    assert!((100 * 1_000..2_000_000).contains(&added), "{added}");
}

/// Asking for messages of what is not there makes nothing, not even a name.
#[test]
fn a_consumer_of_a_queue_that_is_not_there_is_not_remembered() {
    let mut server = TestServer::new();
    let workers = |server: &mut TestServer| match line(server, "Q.WORKERS q") {
        Value::Array(workers) => workers.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(line(&mut server, "Q.GET WORKER early QUEUES q"), Value::NullArray);
    line(&mut server, "Q.PUT q a");
    assert_eq!(workers(&mut server), 0);
    line(&mut server, "Q.GET NOACK WORKER late QUEUES q");
    assert_eq!(workers(&mut server), 1);
    line(&mut server, "DEL q");
    assert_eq!(workers(&mut server), 0);
}
