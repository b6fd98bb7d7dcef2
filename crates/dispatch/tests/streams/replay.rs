//! What the log says is what happened: replayed into a fresh engine, with a checkpoint half-way or
//! not, it gives the same streams, groups and pending entries.

use super::random_commands::{Commands, KEYS};
use crate::harness::TestServer;

const COMMANDS: usize = 3000;

#[test]
fn streams_survive_a_crash() {
    for seed in 10..13 {
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
        server.clock.advance_ms(1000);
        server.run_for_bytes(&commands.next());
    }
    let mut reopened = server.reopen();
    let mut bytes = 0;
    for key in KEYS {
        let full = ["XINFO", "STREAM", key, "FULL", "COUNT", "0"];
        let before = server.run_for_bytes(&full);
        let consumers = ["XINFO", "CONSUMERS", key, "g"];
        assert_eq!(reopened.run_for_bytes(&full), before, "seed {seed}, key {key}");
        assert_eq!(reopened.run_for_bytes(&consumers), server.run_for_bytes(&consumers));
        bytes += before.len();
    }
    assert!(bytes > 10_000, "seed {seed}: only {bytes} bytes were compared");
}
