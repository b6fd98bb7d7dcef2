//! What the log says is what happened: replayed into a fresh engine, it gives the same keys.

use super::random_commands::{Commands, KEYS};
use crate::harness::{START_MS, TestServer};
use std::sync::mpsc;

const COMMANDS: usize = 1500;

/// What happens between the writes and the crash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checkpoint {
    Never,
    HalfWay,
}

#[test]
fn the_log_alone_gives_the_same_keys() {
    for seed in 10..14 {
        crash_and_compare(seed, Checkpoint::Never);
    }
}

#[test]
fn a_checkpoint_and_the_rest_of_the_log_give_the_same_keys() {
    for seed in 20..24 {
        crash_and_compare(seed, Checkpoint::HalfWay);
    }
}

fn crash_and_compare(seed: u64, checkpoint: Checkpoint) {
    let mut server = TestServer::new();
    // Else LCS of long strings takes most of the time.
    server.configure("proto-max-bulk-len", "1048576");
    let mut commands = Commands::new(seed, START_MS);
    for number in 0..COMMANDS {
        if number == COMMANDS / 2 && checkpoint == Checkpoint::HalfWay {
            wait_for_checkpoint(&server);
            assert!(server.log.records().is_empty(), "seed {seed}: the log has been trimmed");
        }
        // Time passes, so that some keys expire on the way.
        server.clock.advance_ms(100_000);
        commands.now_ms += 100_000;
        server.run_for_bytes(&commands.next());
    }
    let mut reopened = server.reopen();
    for key in KEYS {
        // Brings the key back into memory, where `stored` looks.
        reopened.run(&["GET", key]);
        assert_eq!(reopened.stored(key), server.stored(key), "seed {seed}, key {key}");
    }
    let keys = KEYS.iter().filter(|key| server.stored(key).is_some()).count();
    assert!(keys > 0, "seed {seed}: nothing was compared");
}

fn wait_for_checkpoint(server: &TestServer) {
    let (sender, receiver) = mpsc::channel();
    server.server.engine.request_checkpoint(Box::new(move |result| {
        sender.send(result.map_err(|error| error.to_string())).expect("someone waits");
    }));
    receiver.recv().expect("an answer").expect("a checkpoint");
}
