//! What a queue asks of a server beside its messages: others are served, calls outlive no restart.

use super::{deliveries, number};
use basalt_resp::Value;
use basalt_tests::server::{Kind, Launch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A purge of many messages stops nobody who does not need the queue.
#[test]
fn others_are_served_beside_a_purge_of_many_messages() {
    let messages = number("BASALT_QUEUE_MESSAGES", 200_000);
    let server = Launch::new(Kind::Basalt).option("io-threads", "1").start();
    let mut producer = server.connect();
    let bodies = vec!["x"; 1_000].join(" ");
    for _ in 0..messages / 1_000 {
        producer.run(&format!("Q.MPUT q 1000 {bodies}")).expect("it runs");
    }
    let over = AtomicBool::new(false);
    let worst = std::thread::scope(|scope| {
        let pings = scope.spawn(|| {
            let mut other = server.connect();
            let mut worst = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let start = Instant::now();
                other.run("PING").expect("it runs");
                worst = worst.max(start.elapsed());
            }
            worst
        });
        let start = Instant::now();
        let purged = producer.run("Q.PURGE q").expect("it runs");
        assert_eq!(purged, Value::Integer(messages as i64));
        eprintln!("a purge of {messages} messages took {:?}", start.elapsed());
        over.store(true, Ordering::Relaxed);
        pings.join().expect("no panic")
    });
    assert!(worst < Duration::from_secs(1), "{worst:?}");
}

/// The caller of a message has gone with the server: the message stays until the caller's time is
/// over, and a worker that answers it is told that nobody waits.
#[test]
fn a_call_that_a_restart_has_ended_is_dropped_with_its_time() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let launch = || {
        let launch = Launch::new(Kind::Basalt).dir(dir.path()).allow_log("torn tail");
        launch.option("appendonly", "yes").option("appendfsync", "always").start()
    };
    let mut server = launch();
    let mut callers = [server.connect(), server.connect()];
    for (caller, time) in callers.iter_mut().zip(["20000", "1500"]) {
        caller.send(&["Q.CALL", "q", time, "TIMEOUT", time]).expect("it is sent");
    }
    let mut other = server.connect();
    let until = |connection: &mut basalt_tests::client::Connection, left: i64| {
        let start = Instant::now();
        while connection.run("Q.LEN q").expect("it runs") != Value::Integer(left) {
            assert!(start.elapsed() < Duration::from_secs(20), "{left} are never left");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    until(&mut other, 2);
    server.kill();
    let server = launch();
    let mut worker = server.connect();
    until(&mut worker, 1);
    let taken = deliveries(worker.run("Q.GET QUEUES q").expect("it runs"));
    assert_eq!((taken.len(), &*taken[0].body), (1, "20000"));
    let answered = worker.run(&format!("Q.REPLY q {} answer", taken[0].token));
    assert_eq!(answered.expect("it runs"), Value::Integer(0));
    assert_eq!(worker.run("Q.LEN q").expect("it runs"), Value::Integer(0));
}
