//! Random pipelines: runs of like commands and changes of command, database and type between them,
//! with the same replies from Basalt as from redis-server.

use basalt_resp::{Value, encode_request};
use basalt_tests::client::Connection;
use basalt_tests::missing::is_redis_missing;
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Server};

/// Pipelines that are tried, unless `BASALT_PIPELINES` says how many.
const PIPELINES: u64 = 300;
/// Keys and values of every length at which the way of parsing, hashing or writing changes.
const LENGTHS: [usize; 20] =
    [0, 1, 3, 4, 7, 8, 9, 10, 11, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 300];
const KEYS: u64 = 30;

/// `K` stands for a key and `V` for a value. What comes often stands here often.
const COMMANDS: [&str; 34] = [
    "GET K",
    "GET K",
    "get K",
    "GET K",
    "SET K V",
    "SET K V",
    "SET K V",
    "set K V",
    "DEL K",
    "STRLEN K",
    "EXISTS K",
    "TYPE K",
    "APPEND K V",
    "INCR K",
    "SET K V EX 100",
    "SET K V XX GET",
    "GETRANGE K 1 5",
    "MGET K K",
    "RENAME K K",
    "SETNX K V",
    "LPUSH K V",
    "LLEN K",
    "SADD K V",
    "SISMEMBER K V",
    "HSET K f V",
    "HGET K f",
    "GET",
    "SET K",
    "GET K K",
    "PING",
    "nosuch K",
    "SELECT 1",
    "SELECT 0",
    "FLUSHDB",
];

fn key(random: &mut Random) -> Vec<u8> {
    let number = random.below(KEYS);
    let length = LENGTHS[number as usize % LENGTHS.len()];
    let mut key = vec![b'k'; length];
    for (place, digit) in key.iter_mut().rev().zip(format!("{number:02}").bytes().rev()) {
        *place = digit;
    }
    if length > 10 && number.is_multiple_of(5) {
        key[2..5].copy_from_slice(b"{t}");
    }
    key
}

fn value(random: &mut Random) -> Vec<u8> {
    let length = LENGTHS[random.below(LENGTHS.len() as u64) as usize];
    (0..length).map(|_| b"ab1*$\r\n"[random.below(7) as usize]).collect()
}

fn request(random: &mut Random, command: &str, out: &mut Vec<u8>) {
    let words: Vec<Vec<u8>> = command
        .split(' ')
        .map(|word| match word {
            "K" => key(random),
            "V" => value(random),
            word => word.as_bytes().to_vec(),
        })
        .collect();
    encode_request(&words, out);
}

/// A pipeline and how many requests it has.
fn pipeline(random: &mut Random) -> (Vec<u8>, usize) {
    let (mut bytes, mut requests) = (Vec::new(), 0);
    for _ in 0..1 + random.below(20) {
        let command = COMMANDS[random.below(COMMANDS.len() as u64) as usize];
        let run =
            [1, 1, 2, 5, 70][random.below(5) as usize].min(200_usize.saturating_sub(requests));
        for _ in 0..run {
            request(random, command, &mut bytes);
        }
        requests += run;
        if random.below(20) == 0 {
            bytes.extend_from_slice(b"ECHO \"between the others\"\r\n");
            requests += 1;
        }
    }
    (bytes, requests)
}

fn replies(connection: &mut Connection, bytes: &[u8], requests: usize) -> Vec<Value> {
    connection.send_raw(bytes).expect("the pipeline is sent");
    (0..requests).map(|_| connection.receive().expect("a reply for each request")).collect()
}

#[test]
fn random_pipelines_have_the_replies_of_redis() {
    if is_redis_missing() {
        return;
    }
    let given = std::env::var("BASALT_PIPELINES").ok().and_then(|count| count.parse().ok());
    let mut random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    let servers = [Kind::Redis, Kind::Basalt].map(Server::start);
    let [mut redis, mut basalt] = [servers[0].connect(), servers[1].connect()];
    for number in 0..given.unwrap_or(PIPELINES) {
        let (bytes, requests) = pipeline(&mut random);
        let expected = replies(&mut redis, &bytes, requests);
        let got = replies(&mut basalt, &bytes, requests);
        if let Some(at) = (0..requests).find(|&at| got[at] != expected[at]) {
            panic!("pipeline {number}, reply {at}: {:?}, not {:?}", got[at], expected[at]);
        }
    }
}
