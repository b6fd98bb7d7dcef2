//! Changes of one key that follow one another share its lock and a record of the log, and are
//! answered and logged as those that have both to themselves.

use crate::harness::TestServer;
use basalt_dispatch::ShortWays;
use basalt_resp::encode_request;

/// More than share a lock.
const REPEATS: usize = 40;

/// `N` is the number of a repetition.
const LINES: [&str; 15] = [
    "LPUSH list N",
    "RPUSH list N N",
    "SADD set mN",
    "HSET hash fN N",
    "HINCRBY hash counter N",
    "ZADD sorted N mN",
    "ZINCRBY sorted 1 m7",
    "XADD stream N-1 field N",
    "PFADD counts mN",
    "INCR number",
    "LPOP list",
    "ZPOPMIN sorted",
    "SREM set mN",
    "HDEL hash fN",
    "XDEL stream N-1",
];

fn pipeline(lines: &[&str]) -> Vec<u8> {
    let mut input = Vec::new();
    for line in lines {
        for number in 1..=REPEATS {
            let line = line.replace('N', &number.to_string());
            let words: Vec<&str> = line.split(' ').collect();
            encode_request(&words, &mut input);
        }
    }
    input
}

/// Runs the same requests on two servers: where they share locks, and one by one. Returns how many
/// appends there were to the log of each.
fn appends_of(lines: &[&str]) -> [u64; 2] {
    let [mut together, mut alone] = [ShortWays::Open, ShortWays::Closed].map(|short_ways| {
        let mut server = TestServer::new();
        server.set_short_ways(short_ways);
        server
    });
    let before = [&together, &alone].map(|server| server.log.appends());
    let input = pipeline(lines);
    let (replies, expected) = (together.run_bytes(input.clone(), 64), alone.run_bytes(input, 1));
    assert_eq!(replies.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(together.log.take_changes(), alone.log.take_changes());
    let [together, alone] = [&together, &alone].map(|server| server.log.appends());
    [together - before[0], alone - before[1]]
}

#[test]
fn changes_of_one_key_share_records() {
    for line in LINES {
        let [together, alone] = appends_of(&[line]);
        assert!(alone == 0 || 10 * together < alone, "{line}: {together} appends, {alone}");
    }
    let [together, alone] = appends_of(&LINES);
    assert!(10 * together < alone, "{together} appends, {alone}");
}

#[test]
fn a_change_that_fails_fails_alone() {
    let wrong = ["INCR number", "LPUSH number x", "INCR number", "SADD set x", "HSET set f v"];
    appends_of(&wrong);
    let mut server = TestServer::new();
    let mut input = Vec::new();
    for words in [&["SET", "number", "9223372036854775806"][..], &["INCR", "number"][..]] {
        encode_request(words, &mut input);
    }
    for _ in 0..REPEATS {
        encode_request(&["INCR", "number"], &mut input);
    }
    let replies = String::from_utf8(server.run_bytes(input, 64)).expect("text");
    let failed = "-ERR increment or decrement would overflow\r\n".repeat(REPEATS);
    assert_eq!(replies, format!("+OK\r\n:9223372036854775807\r\n{failed}"));
}
