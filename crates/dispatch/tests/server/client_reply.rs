//! CLIENT REPLY: the same sequences of commands get the same bytes from Redis and from here.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use basalt_env::random::Random;

const SEQUENCES: u64 = 200;
const COMMANDS_MAX: u64 = 12;

/// What sequences are made of: switches, commands that succeed and commands that fail.
const COMMANDS: &[&str] = &[
    "CLIENT REPLY ON",
    "CLIENT REPLY OFF",
    "CLIENT REPLY SKIP",
    "CLIENT REPLY MAYBE",
    "SET k v",
    "GET k",
    "GET",
    "NOSUCH",
    "ECHO hello",
    "DEBUG SLEEP 0",
    "RESET",
];

#[test]
fn sequences_are_answered_as_by_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    for seed in 0..SEQUENCES {
        let mut random = Random::new(seed);
        let mut lines: Vec<&str> = (0..1 + random.below(COMMANDS_MAX))
            .map(|_| COMMANDS[random.below(COMMANDS.len() as u64) as usize])
            .collect();
        // Whatever came before, the end is answered.
        lines.extend(["CLIENT REPLY ON", "ECHO end"]);
        let requests: Vec<Vec<&str>> = lines.iter().map(|line| line.split(' ').collect()).collect();
        let expected = redis.run_until(&requests, b"$3\r\nend\r\n");
        let actual: Vec<u8> =
            requests.iter().flat_map(|words| server.run_for_bytes(words)).collect();
        assert_eq!(
            String::from_utf8_lossy(&actual),
            String::from_utf8_lossy(&expected),
            "seed {seed}: {lines:?}"
        );
    }
}

#[test]
fn a_command_that_waits_is_skipped_when_it_is_over() {
    let mut server = TestServer::new();
    assert_eq!(server.run_for_bytes(&["CLIENT", "REPLY", "SKIP"]), b"");
    assert_eq!(server.run_for_bytes(&["SAVE"]), b"");
    assert_eq!(server.run_for_bytes(&["SAVE"]), b"+OK\r\n");
    server.run_for_bytes(&["SET", "k", "v"]);
    server.run_for_bytes(&["DEBUG", "RELOAD"]);
    assert_eq!(server.run_for_bytes(&["CLIENT", "REPLY", "SKIP"]), b"");
    // Runs twice, since its key has to be read first, and is still one command.
    assert_eq!(server.run_for_bytes(&["GET", "k"]), b"");
    assert_eq!(server.run_for_bytes(&["GET", "k"]), b"$1\r\nv\r\n");
}
