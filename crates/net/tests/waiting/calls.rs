//! Clients that wait for the answer to their message: answers, time, workers and callers that go.

use crate::harness::{Client, TestServer, bulk};
use basalt_journal::FsyncPolicy;
use basalt_resp::Value;

/// Token and body of the next message of `q`.
fn take(worker: &mut Client, lease_ms: u64) -> (String, String) {
    let reply = worker.line(&format!("Q.GET BLOCK 5000 LEASE {lease_ms} QUEUES q"));
    let Value::Array(deliveries) = &reply else { panic!("{reply:?}") };
    let Some(Value::Array(fields)) = deliveries.first() else { panic!("{reply:?}") };
    let [_, Value::Bulk(token), Value::Bulk(body), ..] = &fields[..] else { panic!("{fields:?}") };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(token), text(body))
}

fn call(server: &TestServer, line: &str) -> Client {
    let (mut client, before) = (server.connect(), server.waiting());
    client.send(line);
    server.until_waiting(before + 1);
    client
}

#[test]
fn each_caller_gets_its_own_answer() {
    for policy in [FsyncPolicy::EverySecond, FsyncPolicy::Always] {
        let server = TestServer::start_with(3, policy);
        let mut worker = server.connect();
        let mut callers: Vec<Client> =
            (0..20).map(|number| call(&server, &format!("Q.CALL q {number}"))).collect();
        let mut taken: Vec<_> = (0..20).map(|_| take(&mut worker, 60_000)).collect();
        taken.reverse();
        for (token, body) in &taken {
            let line = format!("Q.REPLY q {token} answer-{body}");
            assert_eq!(worker.line(&line), Value::Integer(1));
            // The message is done.
            assert_eq!(worker.line(&line), Value::Integer(0));
        }
        for (number, caller) in callers.iter_mut().enumerate() {
            assert_eq!(caller.receive(), bulk(&format!("answer-{number}")));
        }
        assert_eq!(worker.line("Q.LEN q"), Value::Integer(0));
        assert_eq!(server.waiting(), 0);
    }
}

#[test]
fn a_worker_that_dies_is_followed_by_another() {
    let server = TestServer::start(2);
    let mut caller = call(&server, "Q.CALL q question TIMEOUT 20000");
    let (old, _) = take(&mut server.connect(), 50);
    let mut worker = server.connect();
    let (token, body) = take(&mut worker, 60_000);
    assert_eq!(body, "question");
    assert_eq!(worker.line(&format!("Q.REPLY q {old} late")), Value::Integer(0));
    assert_eq!(worker.line(&format!("Q.REPLY q {token} answer")), Value::Integer(1));
    assert_eq!(caller.receive(), bulk("answer"));
}

#[test]
fn a_caller_that_goes_takes_back_what_nobody_holds() {
    let server = TestServer::start(2);
    let mut other = server.connect();
    for end in ["UNBLOCK", "UNBLOCK-ERROR", "KILL", "close"] {
        let mut caller = server.connect();
        let Value::Integer(id) = caller.line("CLIENT ID") else { panic!("a number") };
        caller.send("Q.CALL q question TIMEOUT 3600000");
        server.until_waiting(1);
        assert_eq!(other.line("Q.LEN q"), Value::Integer(1));
        match end {
            "UNBLOCK" => {
                other.line(&format!("CLIENT UNBLOCK {id}"));
                assert_eq!(caller.receive(), Value::Null);
            }
            "UNBLOCK-ERROR" => drop(other.line(&format!("CLIENT UNBLOCK {id} ERROR"))),
            "KILL" => drop(other.line(&format!("CLIENT KILL ID {id}"))),
            _ => drop(caller),
        }
        server.until(|server| server.waiting() == 0);
        server.until(|server| server.connect().line("Q.LEN q") == Value::Integer(0));
    }
    // One that is held stays with its worker, whose answer nobody waits for.
    let caller = call(&server, "Q.CALL q question TIMEOUT 3600000");
    let (token, _) = take(&mut other, 60_000);
    drop(caller);
    server.until(|server| server.waiting() == 0);
    assert_eq!(other.line("Q.LEN q"), Value::Integer(1));
    assert_eq!(other.line(&format!("Q.REPLY q {token} answer")), Value::Integer(0));
    assert_eq!(other.line("Q.LEN q"), Value::Integer(0));
}

#[test]
fn time_and_the_end_of_the_queue_end_a_call() {
    let server = TestServer::start(2);
    let mut other = server.connect();
    assert_eq!(server.connect().line("Q.CALL q question TIMEOUT 30"), Value::Null);
    assert_eq!(other.line("Q.LEN q"), Value::Integer(0));
    for end in ["DEL q", "SET q value", "FLUSHALL"] {
        let mut caller = call(&server, "Q.CALL q question");
        other.line(end);
        assert_eq!(caller.receive(), Value::Null, "{end}");
        other.line("DEL q");
    }
    // A lease outlasts the call: the message expires when it returns.
    let mut caller = call(&server, "Q.CALL q question TIMEOUT 40");
    take(&mut other, 120);
    assert_eq!(caller.receive(), Value::Null);
    assert_eq!(other.line("Q.LEN q"), Value::Integer(1));
    server.until(|server| server.connect().line("Q.LEN q") == Value::Integer(0));
}

/// As BLPOP: nobody is there who could wait, so nothing is asked.
#[test]
fn a_call_does_not_wait_in_a_transaction_or_a_script() {
    let server = TestServer::start(2);
    let mut client = server.connect();
    client.line("MULTI");
    client.line("Q.CALL q question");
    assert_eq!(client.line("EXEC"), Value::Array(vec![Value::Null]));
    assert_eq!(client.line("EXISTS q"), Value::Integer(0));
    // An answer in a transaction reaches the caller.
    let mut caller = call(&server, "Q.CALL q question");
    let (token, _) = take(&mut client, 60_000);
    client.line("MULTI");
    client.line(&format!("Q.REPLY q {token} answer"));
    assert_eq!(client.line("EXEC"), Value::Array(vec![Value::Integer(1)]));
    assert_eq!(caller.receive(), bulk("answer"));
}

/// Each answer finds its caller, whatever thread both are on, while workers come and go.
#[test]
fn no_answer_is_lost() {
    let server = TestServer::start(3);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut worker = server.connect();
                loop {
                    let (token, body) = take(&mut worker, 60_000);
                    if body == "end" {
                        return;
                    }
                    let line = format!("Q.REPLY q {token} {body}");
                    assert_eq!(worker.line(&line), Value::Integer(1));
                }
            });
        }
        let callers: Vec<_> = (0..8)
            .map(|caller| {
                let server = &server;
                scope.spawn(move || {
                    let mut client = server.connect();
                    for number in 0..100 {
                        let asked = format!("{caller}-{number}");
                        assert_eq!(client.line(&format!("Q.CALL q {asked}")), bulk(&asked));
                    }
                })
            })
            .collect();
        callers.into_iter().for_each(|caller| caller.join().expect("no panic"));
        let mut end = server.connect();
        (0..3).for_each(|_| drop(end.line("Q.PUT q end")));
    });
    assert_eq!((server.waiting(), server.keys_waited_for()), (0, 0));
}
