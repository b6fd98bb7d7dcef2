//! Queues across kill -9: producers and consumers over sockets, under `appendfsync always`.
//!
//! What was put is delivered until it is acknowledged, what was acknowledged never comes back, the
//! first deliveries of a lane come in the order of its puts, and a message that comes again says so
//! by its deliveries. `BASALT_CRASH_ROUNDS` sets the number of rounds, `BASALT_QUEUE_MESSAGES` that
//! of messages a round.

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Launch, Server};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PRODUCERS: u64 = 4;
const CONSUMERS: u64 = 8;
/// Two lanes; a producer puts into one of them.
const LANES: u64 = 2;
const LEASE_MS: u64 = 200;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

fn launch(dir: &Path) -> Server {
    let launch = Launch::new(Kind::Basalt).dir(dir).allow_log("torn tail");
    launch.option("appendonly", "yes").option("appendfsync", "always").start()
}

/// A message that came.
struct Delivery {
    token: String,
    body: String,
    deliveries: i64,
    sequence: u64,
    lane: i64,
}

fn deliveries(reply: Value) -> Vec<Delivery> {
    let Value::Array(all) = reply else { return Vec::new() };
    let delivery = |it: Value| {
        let Value::Array(fields) = it else { panic!("{it:?}") };
        let [
            _,
            Value::Bulk(token),
            Value::Bulk(body),
            Value::Integer(deliveries),
            _,
            Value::Integer(lane),
        ] = &fields[..]
        else {
            panic!("{fields:?}")
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let token = text(token);
        let sequence = token.split('-').nth(1).and_then(|number| number.parse().ok());
        let sequence = sequence.expect("a token has a sequence");
        Delivery { body: text(body), deliveries: *deliveries, lane: *lane, token, sequence }
    };
    all.into_iter().map(delivery).collect()
}

/// What is known of all messages.
#[derive(Default)]
struct Ledger {
    /// Those with an answered put.
    put: BTreeSet<String>,
    /// Those with an acknowledgement that was answered with 1.
    done: BTreeSet<String>,
    /// How often each came as a first delivery.
    first: BTreeMap<String, u64>,
    /// Acknowledgements that were sent and not answered: they count or not.
    unsure: BTreeSet<String>,
    redelivered: u64,
    wrong: Vec<String>,
}

impl Ledger {
    fn came(&mut self, delivery: &Delivery) {
        let body = &delivery.body;
        if self.done.contains(body) {
            self.wrong.push(format!("{body} came back after its acknowledgement"));
        }
        if delivery.deliveries == 1 {
            *self.first.entry(body.clone()).or_default() += 1;
        } else {
            self.redelivered += 1;
        }
    }
}

/// What the threads of a round share.
struct Round<'a> {
    ledger: &'a Mutex<Ledger>,
    sent: &'a AtomicU64,
    over: AtomicBool,
}

fn produce(mut connection: Connection, producer: u64, messages: u64, round: &Round<'_>) {
    for _ in 0..messages {
        let body = format!("{producer}:{}", round.sent.fetch_add(1, Ordering::Relaxed));
        let lane = producer % LANES;
        match connection.run(&format!("Q.PUT q {body} PRIORITY {lane}")) {
            Ok(Value::Bulk(_)) => drop(round.ledger.lock().expect("no panic").put.insert(body)),
            Ok(other) => panic!("{other:?}"),
            Err(_) => return,
        }
    }
}

fn consume(mut connection: Connection, consumer: u64, mut random: Random, round: &Round<'_>) {
    let get = format!("Q.GET COUNT 4 LEASE {LEASE_MS} BLOCK 20 WORKER w{consumer} QUEUES q");
    let mut last = [0; LANES as usize];
    while !round.over.load(Ordering::Relaxed) {
        let Ok(reply) = connection.run(&get) else { return };
        for delivery in deliveries(reply) {
            let mut ledger = round.ledger.lock().expect("no panic");
            ledger.came(&delivery);
            if delivery.deliveries == 1 {
                let last = &mut last[delivery.lane as usize];
                if delivery.sequence <= *last {
                    ledger.wrong.push(format!("{} came out of turn", delivery.body));
                }
                *last = delivery.sequence;
            }
            drop(ledger);
            // Some are forgotten, some are handed back.
            let done = match random.below(20) {
                0 => continue,
                1 => connection.run(&format!("Q.NACK q {}", delivery.token)).map(|_| 0),
                _ => acknowledge(&mut connection, &delivery, round.ledger),
            };
            if done.is_err() {
                return;
            }
        }
    }
}

fn acknowledge(
    connection: &mut Connection,
    delivery: &Delivery,
    ledger: &Mutex<Ledger>,
) -> io::Result<i64> {
    let reply = connection.run(&format!("Q.ACK q {}", delivery.token));
    let mut ledger = ledger.lock().expect("no panic");
    match reply {
        Ok(Value::Integer(done)) => {
            if done == 1 {
                ledger.done.insert(delivery.body.clone());
            }
            Ok(done)
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            ledger.unsure.insert(delivery.body.clone());
            Err(error)
        }
    }
}

/// A round: some work, then the end by kill -9, at any moment.
fn work(server: &mut Server, round: &Round<'_>, messages: u64, random: &mut Random) {
    let pause = Duration::from_micros(100_000 + random.below(150_000));
    std::thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let connection = server.connect();
            scope.spawn(move || produce(connection, producer, messages, round));
        }
        for consumer in 0..CONSUMERS {
            let (connection, seed) = (server.connect(), random.below(u64::MAX));
            scope.spawn(move || consume(connection, consumer, Random::new(seed), round));
        }
        std::thread::sleep(pause);
        server.kill();
        round.over.store(true, Ordering::Relaxed);
    });
}

/// Takes what is left, when all leases have ended.
fn drain(server: &Server, ledger: &Mutex<Ledger>) {
    let mut connection = server.connect();
    let start = Instant::now();
    loop {
        let reply = connection.run("Q.GET COUNT 100 NOACK BLOCK 50 QUEUES q").expect("it runs");
        for delivery in deliveries(reply) {
            let mut ledger = ledger.lock().expect("no panic");
            ledger.came(&delivery);
            ledger.done.insert(delivery.body);
        }
        match connection.run("Q.LEN q") {
            Ok(Value::Integer(0)) => return,
            other => assert!(start.elapsed() < Duration::from_secs(60), "left: {other:?}"),
        }
    }
}

#[test]
fn always_keeps_every_message_until_its_acknowledgement() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let mut random = Random::from_environment();
    let messages = number("BASALT_QUEUE_MESSAGES", 100_000) / PRODUCERS;
    let (ledger, sent) = (Mutex::new(Ledger::default()), AtomicU64::new(0));
    let seed = random.seed();
    let mut server = launch(dir.path());
    for _ in 0..number("BASALT_CRASH_ROUNDS", 3) {
        let round = Round { ledger: &ledger, sent: &sent, over: AtomicBool::new(false) };
        work(&mut server, &round, messages, &mut random);
        drop(server);
        server = launch(dir.path());
    }
    drain(&server, &ledger);
    let ledger = ledger.into_inner().expect("no panic");
    let lost: Vec<_> = ledger
        .put
        .iter()
        .filter(|body| !ledger.done.contains(*body) && !ledger.unsure.contains(*body))
        .collect();
    eprintln!(
        "{} put, {} done, {} redelivered (BASALT_SEED={})",
        ledger.put.len(),
        ledger.done.len(),
        ledger.redelivered,
        seed
    );
    assert!(lost.is_empty(), "{} lost, {:?} for one", lost.len(), lost[0]);
    assert!(ledger.wrong.is_empty(), "{:?}", &ledger.wrong[..ledger.wrong.len().min(5)]);
    let twice = ledger.first.iter().find(|(_, count)| **count > 1);
    assert!(twice.is_none(), "{twice:?} first deliveries");
    assert!(ledger.put.len() > 100 && ledger.done.len() > 50, "nothing was done");
}

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
