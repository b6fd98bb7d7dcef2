//! The program, its cold tier included, on a disk that loses its power or fails.
//!
//! Where FUSE cannot be mounted the tests fail; `BASALT_WITHOUT_FUSE=1` has them pass without
//! looking.

use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::crash::{Placement, mixed};
use basalt_tests::faulty_disk::{Failure, Fault, FaultyDisk, Operation};
use basalt_tests::missing::leave_out;
use basalt_tests::server::{Kind, Launch, Server};

use crate::crash::{BUSY_WITH_CHECKPOINTS, plan};

/// How long a server may take to notice that its disk works again.
const HEALING_TIMEOUT: Duration = Duration::from_secs(120);

fn mount() -> Option<FaultyDisk> {
    match FaultyDisk::mount() {
        Ok(disk) => Some(disk),
        Err(error) => {
            leave_out(&format!("cannot mount: {error}"), "BASALT_WITHOUT_FUSE");
            None
        }
    }
}

fn run_with_power_cuts(disk: &FaultyDisk) -> mixed::Outcome {
    let mut plan = plan(Placement::Spread, BUSY_WITH_CHECKPOINTS);
    plan.acknowledged_max = 1_500;
    let outcome = mixed::run(&plan, disk.path(), &|seed| disk.cut_power(seed));
    eprintln!(
        "power cuts: {} rounds, {} starts cut, {} steps acknowledged, {} violations (BASALT_SEED={})",
        plan.rounds,
        outcome.killed_starts,
        outcome.acknowledged,
        outcome.violations.len(),
        plan.seed
    );
    outcome
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let Some(disk) = mount() else { return };
    let outcome = run_with_power_cuts(&disk);
    assert!(outcome.violations.is_empty(), "{:#?}", outcome.violations);
}

fn launch(disk: &FaultyDisk) -> Launch {
    let options = [("appendfsync", "everysec"), ("checkpoint-log-size", "1gb")];
    let launch = Launch::new(Kind::Basalt).dir(disk.path());
    options.into_iter().fold(launch, |launch, (name, value)| launch.option(name, value))
}

fn fill(connection: &mut Connection, count: usize, value: &str) {
    for number in 0..count {
        let reply = connection.call(&["SET", &format!("key:{number}"), value]).expect("a reply");
        assert_eq!(reply, Value::Simple(b"OK".to_vec()));
    }
}

/// As [`fill`], but for as long as a full disk has the server accept removals only.
fn fill_patiently(connection: &mut Connection, count: usize, value: &str) {
    let deadline = Instant::now() + HEALING_TIMEOUT;
    for number in 0..count {
        let key = format!("key:{number}");
        loop {
            let reply = connection.call(&["SET", &key, value]).expect("a reply");
            if reply == Value::Simple(b"OK".to_vec()) {
                break;
            }
            assert!(Instant::now() < deadline, "SET still answers {reply:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

fn assert_filled(server: &Server, count: usize, value: &str) {
    let mut connection = server.connect();
    for number in 0..count {
        let reply = connection.run(&format!("GET key:{number}")).expect("a reply");
        assert_eq!(reply, Value::Bulk(value.as_bytes().to_vec()), "key:{number}");
    }
}

/// Asks for a checkpoint until one succeeds.
fn save(connection: &mut Connection) {
    let deadline = Instant::now() + HEALING_TIMEOUT;
    loop {
        match connection.run("SAVE").expect("a reply") {
            Value::Simple(_) => return,
            reply => assert!(Instant::now() < deadline, "SAVE still answers {reply:?}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A checkpoint that meets the fault fails, everybody else goes on, and the next one makes it good.
fn survives(operation: Operation, failure: Failure) {
    let Some(disk) = mount() else { return };
    // A server that looks in time takes the disk for full.
    let launch_on_faults = launch(&disk).allow_log("checkpoint").allow_log("cold");
    let server = launch_on_faults.allow_log("the disk is full").start();
    let mut connection = server.connect();
    fill(&mut connection, 2_000, "before");
    disk.fail(Fault { path_part: "/cold/".to_owned(), operation, failure, times: 3 });
    let reply = connection.run("SAVE").expect("a reply");
    let failed = disk.heal();
    if failed > 0 && failure != Failure::Short {
        assert!(matches!(reply, Value::Error(_)), "{failed} failures and SAVE answers {reply:?}");
    }
    fill_patiently(&mut connection, 2_000, "after");
    save(&mut connection);
    assert_filled(&server, 2_000, "after");
    drop(connection);
    drop(server);
    let server = launch(&disk).allow_log("torn tail").start();
    assert_filled(&server, 2_000, "after");
}

#[test]
fn failing_writes_under_the_cold_tier_are_survived() {
    survives(Operation::Write, Failure::InputOutput);
}

#[test]
fn a_full_disk_under_the_cold_tier_is_survived() {
    survives(Operation::Write, Failure::NoSpace);
}

#[test]
fn short_writes_under_the_cold_tier_are_survived() {
    survives(Operation::Write, Failure::Short);
}

#[test]
fn failing_syncs_under_the_cold_tier_are_survived() {
    survives(Operation::Sync, Failure::InputOutput);
}

/// The canary: a disk that says that it has synced and has not must be found out.
#[test]
fn a_disk_that_forgets_what_it_has_synced_is_noticed() {
    let Some(disk) = mount() else { return };
    let server = launch(&disk).option("appendfsync", "always").start();
    disk.forget_syncs();
    fill(&mut server.connect(), 500, "value");
    drop(server);
    disk.cut_power(1);
    match launch(&disk).allow_log("torn tail").try_start() {
        Ok(server) => {
            let kept = server.connect().run("DBSIZE").expect("a reply");
            assert_ne!(kept, Value::Integer(500));
        }
        // What it finds of a later group says that an earlier one must have been on the disk.
        Err(refused) => assert!(refused.to_string().contains("journal is corrupt"), "{refused}"),
    }
}
