//! Queues across kill -9: producers and consumers over sockets.
//!
//! What was put is delivered until it is acknowledged, what was acknowledged never comes back, the
//! first deliveries of a priority come in the order of its puts, and a message that comes again
//! says so by its deliveries. Consumers die with what they hold. `BASALT_QUEUE_MESSAGES` sets the
//! number of messages, `BASALT_CRASH_ROUNDS` that of kills, `BASALT_SEED` reproduces the choices.

use super::ledger::{Ledger, Loses};
use super::{Delivery, deliveries, number};
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Launch, Server};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PRODUCERS: u64 = 4;
const CONSUMERS: u64 = 8;
/// Priorities; a producer puts into one of them after the other.
const LANES: u64 = 3;
const LEASE_MS: u64 = 200;
/// A round that takes longer has come to a stop.
const ROUND_TIME_MAX: Duration = Duration::from_secs(600);

fn launch(dir: &Path, policy: &str) -> Server {
    let launch = Launch::new(Kind::Basalt).dir(dir).allow_log("torn tail");
    launch.option("appendonly", "yes").option("appendfsync", policy).start()
}

/// What the threads of a round share.
struct Round<'a> {
    address: SocketAddr,
    ledger: &'a Mutex<Ledger>,
    /// Messages that were sent, in all rounds.
    sent: &'a AtomicU64,
    /// How many may be sent until the end of the round.
    messages: u64,
    over: AtomicBool,
}

impl Round<'_> {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

fn produce(mut random: Random, round: &Round<'_>) -> io::Result<()> {
    let mut connection = Connection::open(round.address)?;
    while !round.is_over() {
        let count = 1 + random.below(20);
        let first = round.sent.fetch_add(count, Ordering::Relaxed);
        if first >= round.messages {
            return Ok(());
        }
        let bodies: Vec<String> = (first..first + count).map(|number| number.to_string()).collect();
        let lane = random.below(LANES);
        let line = format!("Q.MPUT q {count} {} PRIORITY {lane}", bodies.join(" "));
        match connection.run(&line)? {
            Value::Array(ids) => assert_eq!(ids.len() as u64, count),
            other => panic!("{other:?}"),
        }
        let mut ledger = round.ledger.lock().expect("no panic");
        bodies.into_iter().for_each(|body| ledger.put(body));
    }
    Ok(())
}

fn consume(consumer: u64, mut random: Random, round: &Round<'_>) -> io::Result<()> {
    let get = format!("Q.GET COUNT 16 LEASE {LEASE_MS} BLOCK 20 WORKER w{consumer} QUEUES q");
    let mut connection = Connection::open(round.address)?;
    let mut last = [0; LANES as usize];
    while !round.is_over() {
        let taken = deliveries(connection.run(&get)?);
        note(&taken, &mut last, round.ledger);
        match random.below(100) {
            // It dies, and another takes its place.
            0 => connection = Connection::open(round.address)?,
            1 => {
                for delivery in &taken {
                    connection.run(&format!("Q.NACK q {}", delivery.token))?;
                }
            }
            _ => acknowledge(&mut connection, &taken, round.ledger)?,
        }
    }
    Ok(())
}

/// Of what a consumer gets, first deliveries of a priority come in the order of their puts.
fn note(taken: &[Delivery], last: &mut [u64; LANES as usize], ledger: &Mutex<Ledger>) {
    let mut ledger = ledger.lock().expect("no panic");
    for delivery in taken {
        ledger.came(delivery);
        let last = &mut last[delivery.lane as usize];
        if delivery.deliveries == 1 && delivery.sequence <= *last {
            ledger.wrong(format!("{} came out of turn", delivery.body));
        }
        if delivery.deliveries == 1 {
            *last = delivery.sequence;
        }
    }
}

fn acknowledge(
    connection: &mut Connection,
    taken: &[Delivery],
    ledger: &Mutex<Ledger>,
) -> io::Result<()> {
    if taken.is_empty() {
        return Ok(());
    }
    let tokens: Vec<&str> = taken.iter().map(|delivery| &*delivery.token).collect();
    let reply = connection.run(&format!("Q.ACK q {}", tokens.join(" ")));
    let mut ledger = ledger.lock().expect("no panic");
    let all_done = matches!(reply, Ok(Value::Integer(done)) if done == taken.len() as i64);
    for delivery in taken {
        // One lease may have ended and its message be with somebody else: which is not said.
        if all_done { ledger.done(delivery) } else { ledger.unsure(&delivery.body) }
    }
    reply.map(|_| ())
}

/// A round: as many messages, then the end by kill -9, at any moment.
fn work(server: &mut Server, round: &Round<'_>, random: &mut Random) {
    let (start, pause) = (Instant::now(), random.below(50_000));
    std::thread::scope(|scope| {
        for _ in 0..PRODUCERS {
            let random = Random::new(random.below(u64::MAX));
            // What fails, fails because the server is killed.
            scope.spawn(move || drop(produce(random, round)));
        }
        for consumer in 0..CONSUMERS {
            let random = Random::new(random.below(u64::MAX));
            scope.spawn(move || drop(consume(consumer, random, round)));
        }
        while round.sent.load(Ordering::Relaxed) < round.messages {
            assert!(start.elapsed() < ROUND_TIME_MAX, "a round has come to a stop");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(pause));
        round.ledger.lock().expect("no panic").killed();
        server.kill();
        round.over.store(true, Ordering::Relaxed);
    });
}

/// Takes what is left, when all leases have ended.
fn drain(server: &Server, ledger: &Mutex<Ledger>) {
    let mut connection = server.connect();
    let start = Instant::now();
    loop {
        let reply = connection.run("Q.GET COUNT 1000 NOACK BLOCK 50 QUEUES q").expect("it runs");
        for delivery in deliveries(reply) {
            let mut ledger = ledger.lock().expect("no panic");
            ledger.came(&delivery);
            ledger.done(&delivery);
        }
        match connection.run("Q.LEN q") {
            Ok(Value::Integer(0)) => return,
            other => assert!(start.elapsed() < Duration::from_secs(60), "left: {other:?}"),
        }
    }
}

fn messages_survive(policy: &str, loses: Loses) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    let messages = number("BASALT_QUEUE_MESSAGES", 30_000);
    let kills = number("BASALT_CRASH_ROUNDS", 2);
    let (ledger, sent) = (Mutex::new(Ledger::new(loses)), AtomicU64::new(0));
    let mut server = launch(dir.path(), policy);
    for kill in 1..=kills {
        let round = Round {
            address: server.address(),
            ledger: &ledger,
            sent: &sent,
            messages: messages * kill / kills,
            over: AtomicBool::new(false),
        };
        work(&mut server, &round, &mut random);
        drop(server);
        server = launch(dir.path(), policy);
    }
    drain(&server, &ledger);
    ledger.into_inner().expect("no panic").check();
}

#[test]
fn always_keeps_every_message_until_its_acknowledgement() {
    messages_survive("always", Loses::Nothing);
}

#[test]
fn everysec_loses_no_more_than_the_last_milliseconds_with_its_process() {
    messages_survive("everysec", Loses::Last(Duration::from_millis(300)));
}
