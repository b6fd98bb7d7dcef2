//! What the log says is what happened: replayed into a fresh engine, with a checkpoint half-way or
//! not, it makes the same queues, with the same messages in the same states.

use super::random_commands::{Commands, KEYS};
use crate::harness::TestServer;

const COMMANDS: usize = 3_000;

#[test]
fn queues_survive_a_crash() {
    for seed in 20..23 {
        for checkpoint_at in [None, Some(COMMANDS / 2), Some(COMMANDS - 1)] {
            crash_and_compare(seed, checkpoint_at);
        }
    }
}

fn crash_and_compare(seed: u64, checkpoint_at: Option<usize>) {
    let mut server = TestServer::new();
    let mut commands = Commands::new(seed);
    for number in 0..COMMANDS {
        if Some(number) == checkpoint_at {
            server.server.engine.checkpoint().expect("the tier is in memory");
        }
        server.clock.advance_ms(40);
        let command = commands.next();
        let reply = server.run(&command);
        commands.note(&command, &reply);
    }
    let mut reopened = server.reopen();
    for settled in [&mut server, &mut reopened] {
        // A change does what time has done. The housekeeping, a thread of each, does it at some
        // time, and figures such as `dedup-names` show whether it has.
        for key in KEYS {
            settled.run(&["Q.CONFIG", "SET", key, "inflight-max", "77"]);
        }
    }
    let mut bytes = 0;
    for key in KEYS {
        for state in ["ready", "delayed", "leased", "dead"] {
            let peek = ["Q.PEEK", key, "STATE", state, "COUNT", "1000"];
            let before = server.run_for_bytes(&peek);
            assert_eq!(reopened.run_for_bytes(&peek), before, "seed {seed}, {state} of {key}");
            bytes += before.len();
        }
        for command in [["Q.STAT", key].as_slice(), &["Q.CONFIG", "GET", key], &["TYPE", key]] {
            let before = server.run_for_bytes(command);
            assert_eq!(reopened.run_for_bytes(command), before, "seed {seed}, {command:?}");
        }
    }
    assert!(bytes > 2_000, "seed {seed}: only {bytes} bytes were compared");
}

/// What is made by one command with settings, or with a time at which it ends, has them afterwards.
#[test]
fn what_is_made_with_settings_or_an_end_keeps_them() {
    let mut server = TestServer::new();
    for line in [
        "Q.PUT q1 a INIT max 2 lease 1000",
        "Q.PUT q1 b INIT max 9",
        "Q.PUT q1 c INIT max 9",
        "Q.PUT q2 long INIT max-bytes 3",
        "COPYEX q1 other PX 900000",
        "Q.PUT q1 d",
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        server.run(&words);
    }
    let mut reopened = server.reopen();
    for line in [
        "Q.CONFIG GET q1",
        "Q.LEN q1",
        "EXISTS q2",
        "Q.CONFIG GET other",
        "PTTL other",
        "Q.LEN other",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(reopened.run_for_bytes(&words), server.run_for_bytes(&words), "{line}");
    }
    assert_eq!(server.run_for_bytes(&["PTTL", "other"]), b":900000\r\n");
    assert_eq!(server.run_for_bytes(&["EXISTS", "q2"]), b":0\r\n");
}
