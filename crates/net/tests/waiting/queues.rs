//! Clients that wait for messages: puts, delays, leases that end, clients that vanish.

use crate::harness::{Client, TestServer};
use basalt_env::{Fault, FaultKind, Operation};
use basalt_journal::FsyncPolicy;
use basalt_resp::Value;
use std::time::{Duration, Instant};

/// Much later than a message may come, and much sooner than a lease that nobody watches.
const LATE: Duration = Duration::from_secs(5);

fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

fn body(reply: Value) -> String {
    field(&reply, 2)
}

/// A field of the first delivery.
fn field(reply: &Value, number: usize) -> String {
    let Value::Array(deliveries) = reply else { panic!("{reply:?}") };
    let Some(Value::Array(fields)) = deliveries.first() else { panic!("{reply:?}") };
    let Value::Bulk(field) = &fields[number] else { panic!("{reply:?}") };
    String::from_utf8_lossy(field).into_owned()
}

#[test]
fn the_longest_waiting_gets_the_message() {
    let server = TestServer::start(3);
    let mut producer = server.connect();
    let mut consumers: Vec<Client> = (0..10).map(|_| server.connect()).collect();
    for (count, consumer) in (1..).zip(&mut consumers) {
        consumer.send("Q.GET BLOCK 0 QUEUES other q");
        server.until_waiting(count);
    }
    for (number, consumer) in consumers.iter_mut().enumerate() {
        producer.line(&format!("Q.PUT q {number}"));
        assert_eq!(body(consumer.receive()), number.to_string());
    }
    assert_eq!(server.keys_waited_for(), 0);
}

/// Though puts that stand together share the lock of their queue.
#[test]
fn a_consumer_that_waits_is_served_before_the_next_put_of_a_pipeline() {
    let server = TestServer::start(2);
    let (mut producer, mut consumer) = (server.connect(), server.connect());
    consumer.send("Q.GET BLOCK 0 NOACK QUEUES q");
    server.until_waiting(1);
    producer.send_all(&["Q.PUT q a PRIORITY 0", "Q.PUT q b PRIORITY 9", "Q.LEN q"]);
    assert_eq!(body(consumer.receive()), "a");
    for wanted in [bulk("0-1"), bulk("9-1"), Value::Integer(1)] {
        assert_eq!(producer.receive(), wanted);
    }
}

/// Though requests that stand together share the lock of their queue.
#[test]
fn a_pipeline_of_consumers_takes_what_there_is_and_waits() {
    let server = TestServer::start(2);
    let (mut producer, mut consumer) = (server.connect(), server.connect());
    producer.line("Q.PUT q a");
    producer.line("Q.PUT q b");
    consumer.send_all(&["Q.GET BLOCK 0 NOACK QUEUES q"; 4]);
    server.until_waiting(1);
    producer.line("Q.PUT q c");
    producer.line("Q.PUT q d");
    for wanted in ["a", "b", "c", "d"] {
        assert_eq!(body(consumer.receive()), wanted);
    }
    assert_eq!(producer.line("Q.LEN q"), Value::Integer(0));
}

/// A consumer that has begun to wait before its queue was made is one of the queue's when it has
/// got something there.
#[test]
fn a_consumer_that_waited_for_its_queue_is_known_when_it_gets_something() {
    let server = TestServer::start(2);
    let (mut producer, mut consumer) = (server.connect(), server.connect());
    consumer.send("Q.GET BLOCK 0 NOACK WORKER w QUEUES q");
    server.until_waiting(1);
    assert_eq!(producer.line("Q.WORKERS q"), Value::Array(Vec::new()));
    producer.line("Q.PUT q a");
    assert_eq!(body(consumer.receive()), "a");
    let workers = producer.line("Q.WORKERS q");
    assert!(matches!(&workers, Value::Array(all) if all.len() == 1), "{workers:?}");
}

/// How long a client waits for what this does.
fn waits(server: &TestServer, before: &[&str], meanwhile: &[&str]) -> Duration {
    let (mut other, mut waiter) = (server.connect(), server.connect());
    for line in before {
        other.line(line);
    }
    let start = Instant::now();
    waiter.send("Q.GET BLOCK 20000 QUEUES q");
    server.until_waiting(1);
    for line in meanwhile {
        other.line(line);
    }
    assert_eq!(body(waiter.receive()), "a");
    other.line("DEL q");
    start.elapsed()
}

/// The housekeeping rests: what wakes is the queue's own timer.
#[test]
fn a_lease_that_ends_and_a_delay_that_ends_wake() {
    let server = TestServer::start(2);
    server.connect().line("DEBUG SET-ACTIVE-EXPIRE 0");
    for before in [
        &["Q.PUT q a", "Q.GET LEASE 150 QUEUES q"][..],
        &["Q.PUT q a DELAY 150"],
        &["Q.PUT q b", "Q.GET LEASE 9000 QUEUES q", "Q.PUT q a DELAY 150"],
    ] {
        let waited = waits(&server, before, &[]);
        assert!(waited >= Duration::from_millis(100) && waited < LATE, "{before:?}: {waited:?}");
    }
}

#[test]
fn a_time_that_comes_nearer_wakes() {
    let server = TestServer::start(2);
    let far = &["Q.PUT q b DELAY 15000"][..];
    let waited = waits(&server, far, &["Q.PUT q a DELAY 150"]);
    assert!(waited < LATE, "{waited:?}");
    let paused = &["Q.PUT q a", "Q.CONFIG SET q paused get"][..];
    let waited = waits(&server, paused, &["Q.CONFIG SET q paused no"]);
    assert!(waited < LATE, "{waited:?}");
}

/// The place of a client that goes is taken by the next one, which the end of the lease finds.
#[test]
fn the_first_may_vanish() {
    let server = TestServer::start(3);
    let mut other = server.connect();
    for round in 0..20 {
        other.line("Q.PUT q a");
        let token = field(&other.line("Q.GET LEASE 60000 QUEUES q"), 1);
        let (mut first, mut second) = (server.connect(), server.connect());
        first.send("Q.GET BLOCK 0 QUEUES q");
        server.until_waiting(1);
        second.send("Q.GET BLOCK 20000 NOACK QUEUES q");
        server.until_waiting(2);
        drop(first);
        let start = Instant::now();
        // It ends when both wait, however slow this machine is.
        assert_eq!(other.line(&format!("Q.EXTEND q {token} 30")), Value::Integer(1));
        assert_eq!(body(second.receive()), "a");
        assert!(start.elapsed() < LATE, "round {round}");
    }
    assert_eq!(other.line("Q.LEN q"), Value::Integer(0));
}

/// Each message goes to one of many, and all of them go.
#[test]
fn no_message_is_left_lying() {
    const MESSAGES: usize = 600;
    const CONSUMERS: usize = 12;
    let server = TestServer::start(3);
    let taken: Vec<String> = std::thread::scope(|scope| {
        let consume = || {
            let mut client = server.connect();
            let mut taken = Vec::new();
            for number in 0.. {
                let reply = client.line("Q.GET BLOCK 3000 LEASE 30 QUEUES a b");
                let Value::Array(deliveries) = &reply else { return taken };
                let Some(Value::Array(fields)) = deliveries.first() else { panic!("{reply:?}") };
                let [Value::Bulk(queue), Value::Bulk(token), Value::Bulk(body), ..] = &fields[..]
                else {
                    panic!("{fields:?}")
                };
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                // Some hold it for too long; not all of them for ever, or it would never be done.
                if number % 17 == 3 {
                    std::thread::sleep(Duration::from_millis(40));
                }
                let line = format!("Q.ACK {} {}", text(queue), text(token));
                if client.line(&line) == Value::Integer(1) {
                    taken.push(text(body));
                }
            }
            taken
        };
        let consumers: Vec<_> = (0..CONSUMERS).map(|_| scope.spawn(consume)).collect();
        let mut producer = server.connect();
        for number in 0..MESSAGES {
            let key = if number % 2 == 0 { "a" } else { "b" };
            let delay = if number % 10 == 0 { " DELAY 20" } else { "" };
            let reply = producer.line(&format!("Q.PUT {key} {number}{delay}"));
            assert!(matches!(reply, Value::Bulk(_)), "{reply:?}");
        }
        consumers.into_iter().flat_map(|consumer| consumer.join().expect("no panic")).collect()
    });
    let mut numbers: Vec<usize> =
        taken.iter().map(|body| body.parse().expect("a number")).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..MESSAGES).collect::<Vec<_>>());
}

#[test]
fn what_a_durable_queue_answers_is_on_disk_whatever_the_policy() {
    for policy in [FsyncPolicy::Never, FsyncPolicy::EverySecond] {
        let server = TestServer::start_with(2, policy);
        let (mut producer, mut other) = (server.connect(), server.connect());
        other.line("Q.CONFIG SET q durable yes");
        other.line("SET before x");
        server.disk.hold_syncs();
        producer.send("Q.PUT q body");
        server.until(|server| server.disk.syncs_waiting() > 0);
        assert!(producer.hears_nothing(), "it is not on disk yet");
        // Nobody else waits for it, not even for the message.
        let Value::Bulk(_) = other.line("Q.PUT another body") else { panic!("it was put") };
        assert_eq!(other.line("Q.LEN q"), Value::Integer(1));
        server.disk.release_syncs();
        let Value::Bulk(_) = producer.receive() else { panic!("it was put") };
        // So does a change of which it is a part, and only a change.
        server.disk.hold_syncs();
        producer.send("Q.GET QUEUES none");
        assert_eq!(producer.receive(), Value::NullArray);
        for line in ["MULTI", "SET row x", "Q.PUT q next"] {
            producer.line(line);
        }
        producer.send("EXEC");
        server.until(|server| server.disk.syncs_waiting() > 0);
        assert!(producer.hears_nothing(), "it is not on disk yet");
        server.disk.release_syncs();
        assert!(matches!(producer.receive(), Value::Array(replies) if replies.len() == 2));
        // The next one waits for no disk.
        other.line("Q.CONFIG SET q durable no");
        server.disk.hold_syncs();
        let Value::Bulk(_) = producer.line("Q.PUT q last") else { panic!("it was put") };
        server.disk.release_syncs();
    }
}

#[test]
fn a_durable_queue_says_when_nobody_knows() {
    let server = TestServer::start_with(1, FsyncPolicy::EverySecond);
    let mut producer = server.connect();
    producer.line("Q.CONFIG SET q durable yes");
    server.disk.hold_syncs();
    producer.send("Q.PUT q body");
    server.until(|server| server.disk.syncs_waiting() > 0);
    let (operation, kind) = (Operation::Sync, FaultKind::Broken);
    server.disk.inject(Fault { operation, kind, skip: 0, times: u32::MAX });
    server.disk.release_syncs();
    let answer = producer.receive();
    let is_unknown = matches!(&answer, Value::Error(text) if text.starts_with(b"OUTCOMEUNKNOWN "));
    assert!(is_unknown, "{answer:?}");
}
