//! Commands over several keys from many connections at once, while checkpoints run: nothing is lost
//! or doubled, nobody is stuck.
//!
//! Tokens lie in sets and in lists, each in exactly one of either kind; clients move them about,
//! one by one, by renaming whole lists and by copying and deleting in transactions. Counters in
//! hashes and sorted sets are transferred and keep their sums; groups of strings are set all
//! together or not at all. An auditor looks at all of it in transactions. `BASALT_STRESS_SECONDS`
//! says how long (3 by default).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Launch, Server};

const TOKENS: u64 = 200;
/// Sets, lists, hashes and sorted sets; few, so that clients meet.
const PLACES: u64 = 12;
/// Keys of one group of strings, and groups.
const GROUP: u64 = 5;
const GROUPS: u64 = 3;
const CLIENTS: usize = 8;
/// Requests that a client sends before it waits for the replies.
const PIPELINE: usize = 6;
/// A client that completes no command for this long is stuck.
const STUCK: Duration = Duration::from_secs(60);
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

fn seconds() -> u64 {
    std::env::var("BASALT_STRESS_SECONDS").map_or(3, |text| text.parse().expect("a number"))
}

/// Tokens of both sorts: numbers, and strings too long for the packed forms.
fn token(number: u64) -> String {
    if number.is_multiple_of(10) { format!("{number:070}") } else { number.to_string() }
}

/// How tokens go from set to set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Move {
    /// As one command.
    Whole,
    /// As two, and without a look whether it was there: broken on purpose.
    InSteps,
}

/// What all threads share.
struct Shared {
    stop: AtomicBool,
    /// Replies that each client has received.
    replies: Vec<AtomicU64>,
    audits: AtomicU64,
}

/// The requests of one step.
fn step(random: &mut Random, how: Move) -> Vec<String> {
    let mut place = |name: &str| format!("{name}:{}", random.below(PLACES));
    let (set, other_set) = (place("set"), place("set"));
    let (list, other_list, third) = (place("list"), place("list"), place("list"));
    let (hash, other_hash) = (place("hash"), place("hash"));
    let (scores, other_scores) = (place("scores"), place("scores"));
    let token = token(random.below(TOKENS));
    let sides = ["LEFT", "RIGHT"];
    let [from, to] = [sides[random.below(2) as usize], sides[random.below(2) as usize]];
    let group = random.below(GROUPS);
    let amount = 1 + random.below(9);
    let transaction = |commands: &[String]| {
        let mut all = vec!["MULTI".to_owned()];
        all.extend_from_slice(commands);
        all.push("EXEC".to_owned());
        all
    };
    match random.below(13) {
        0..=2 if how == Move::Whole => vec![format!("SMOVE {set} {other_set} {token}")],
        0..=2 => vec![format!("SREM {set} {token}"), format!("SADD {other_set} {token}")],
        3 | 4 => vec![format!("LMOVE {list} {other_list} {from} {to}")],
        5 => vec![format!("BLMOVE {list} {other_list} {from} {to} 0.02")],
        6 => vec![format!("RENAMENX {list} {other_list}")],
        7 => transaction(&[
            format!("LMOVE {list} {other_list} {from} {to}"),
            format!("RPOPLPUSH {other_list} {third}"),
            format!("SMOVE {set} {other_set} {token}"),
        ]),
        // Back to where it was, if it was anywhere; meanwhile there are two.
        8 => transaction(&[
            format!("COPY {list} copy:{list} REPLACE"),
            format!("DEL {list}"),
            format!("RENAME copy:{list} {list}"),
        ]),
        9 => transaction(&[
            format!("HINCRBY {hash} count -{amount}"),
            format!("HINCRBY {other_hash} count {amount}"),
            format!("ZINCRBY {scores} -{amount} sum"),
            format!("ZINCRBY {other_scores} {amount} sum"),
        ]),
        10 => vec![format!("MSETNX {}", pairs(group, random.below(1_000)))],
        11 => vec![format!("DEL {}", keys(group).join(" "))],
        _ => vec![format!("MSET {}", pairs(group, random.below(1_000)))],
    }
}

fn keys(group: u64) -> Vec<String> {
    (0..GROUP).map(|key| format!("string:{group}:{key}")).collect()
}

fn pairs(group: u64, value: u64) -> String {
    let pairs: Vec<String> = keys(group).into_iter().map(|key| format!("{key} {value}")).collect();
    pairs.join(" ")
}

fn send(connection: &mut Connection, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    connection.send(&words).expect("the server takes requests");
}

/// One client: steps in pipelines until it is told to stop.
fn work(mut connection: Connection, number: usize, how: Move, shared: &Shared) {
    let mut random = Random::new(number as u64 + 1);
    while !shared.stop.load(Ordering::Relaxed) {
        let requests: Vec<String> = (0..PIPELINE).flat_map(|_| step(&mut random, how)).collect();
        requests.iter().for_each(|line| send(&mut connection, line));
        for request in &requests {
            let reply = connection.receive().expect("the server answers");
            check(request, &reply);
            // Relaxed: the watchdog looks again and again.
            shared.replies[number].fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// No command may fail but a renaming of what is not there.
fn check(request: &str, reply: &Value) {
    let is_error =
        |reply: &Value| matches!(reply, Value::Error(text) if text != b"ERR no such key");
    let is_bad = match reply {
        Value::Array(replies) if request == "EXEC" => replies.iter().any(is_error),
        _ if request == "EXEC" => true,
        reply => is_error(reply),
    };
    assert!(!is_bad, "{request}: {reply:?}");
}

/// Everything, in one look; what is wrong with it.
fn audit(connection: &mut Connection) -> Option<String> {
    let places = |command: &str, name: &str, rest: &str| -> Vec<String> {
        (0..PLACES).map(|place| format!("{command} {name}:{place}{rest}")).collect()
    };
    let mut requests = places("SMEMBERS", "set", "");
    requests.extend(places("LRANGE", "list", " 0 -1"));
    requests.extend(places("HGET", "hash", " count"));
    requests.extend(places("ZSCORE", "scores", " sum"));
    requests.extend((0..GROUPS).map(|group| format!("MGET {}", keys(group).join(" "))));
    send(connection, "MULTI");
    requests.iter().for_each(|line| send(connection, line));
    send(connection, "EXEC");
    let replies = (0..requests.len() + 2).map(|_| connection.receive().expect("it answers")).last();
    let Some(Value::Array(replies)) = replies else { return Some(format!("EXEC: {replies:?}")) };
    let mut found = replies.into_iter();
    for kind in ["set", "list"] {
        let mut counts: BTreeMap<String, u64> = (0..TOKENS).map(|it| (token(it), 0)).collect();
        let words = found.by_ref().take(PLACES as usize).flat_map(elements).map(text);
        words.for_each(|word| *counts.entry(word).or_default() += 1);
        if let Some((token, count)) = counts.into_iter().find(|&(_, count)| count != 1) {
            return Some(format!("token {token} is in {count} {kind}s"));
        }
    }
    for kind in ["hashes", "sorted sets"] {
        let numbers = found.by_ref().take(PLACES as usize).map(|it| match it {
            Value::Null => 0,
            number => text(number).parse::<i64>().expect("a number"),
        });
        let sum: i64 = numbers.sum();
        if sum != 0 {
            return Some(format!("the counts of {kind} make {sum}"));
        }
    }
    found.map(elements).find_map(|group| {
        let is_whole = group.iter().all(|value| *value == group[0]);
        (!is_whole).then(|| format!("strings that are set together differ: {group:?}"))
    })
}

fn elements(reply: Value) -> Vec<Value> {
    match reply {
        Value::Array(elements) => elements,
        other => panic!("no array: {other:?}"),
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Bulk(bytes) => String::from_utf8(bytes).expect("the test writes text"),
        other => panic!("no string: {other:?}"),
    }
}

/// Audits, checkpoints and watches until the time is over or something is wrong.
fn watch(server: &Server, shared: &Shared, time: Duration) -> Option<String> {
    let (mut auditor, mut saver) = (server.connect(), server.connect());
    let start = Instant::now();
    let (mut saved, mut told) = (start, start);
    let mut seen: Vec<(u64, Instant)> = vec![(0, start); CLIENTS];
    while start.elapsed() < time {
        if let Some(violation) = audit(&mut auditor) {
            return Some(violation);
        }
        shared.audits.fetch_add(1, Ordering::Relaxed);
        if saved.elapsed() > CHECKPOINT_EVERY {
            saved = Instant::now();
            // One may still be under way, which is as good.
            saver.run("BGSAVE").expect("the server answers");
        }
        for (client, seen) in seen.iter_mut().enumerate() {
            let replies = shared.replies[client].load(Ordering::Relaxed);
            if replies != seen.0 {
                *seen = (replies, Instant::now());
            }
            if seen.1.elapsed() > STUCK {
                return Some(format!("client {client} is stuck after {replies} replies"));
            }
        }
        if told.elapsed() > PROGRESS_EVERY {
            told = Instant::now();
            report(shared, start.elapsed());
        }
    }
    None
}

fn report(shared: &Shared, elapsed: Duration) {
    let replies: u64 = shared.replies.iter().map(|it| it.load(Ordering::Relaxed)).sum();
    let audits = shared.audits.load(Ordering::Relaxed);
    eprintln!("{} s: {replies} replies, {audits} audits", elapsed.as_secs());
}

fn fill(server: &Server) {
    let mut connection = server.connect();
    for number in 0..TOKENS {
        let (token, place) = (token(number), number % PLACES);
        for command in [format!("SADD set:{place} {token}"), format!("LPUSH list:{place} {token}")]
        {
            let reply = connection.run(&command);
            assert!(matches!(reply, Ok(Value::Integer(_))), "{command}: {reply:?}");
        }
    }
    assert_eq!(audit(&mut connection), None, "nothing has happened yet");
}

/// Has all clients work for this long; says what went wrong.
fn stress(server: &Server, how: Move, time: Duration) -> Option<String> {
    fill(server);
    let shared = Shared {
        stop: AtomicBool::new(false),
        replies: (0..CLIENTS).map(|_| AtomicU64::new(0)).collect(),
        audits: AtomicU64::new(0),
    };
    let start = Instant::now();
    let violation = std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (connection, shared) = (server.connect(), &shared);
            scope.spawn(move || work(connection, number, how, shared));
        }
        let violation = watch(server, &shared, time);
        shared.stop.store(true, Ordering::Relaxed);
        violation
    });
    report(&shared, start.elapsed());
    violation
}

#[test]
fn commands_over_several_keys_lose_and_double_nothing() {
    let server = Server::start(Kind::Basalt);
    let violation = stress(&server, Move::Whole, Duration::from_secs(seconds()));
    assert_eq!(violation, None);
    assert_eq!(audit(&mut server.connect()), None, "after the last command");
}

/// Short, however long the others are: a cold tier in memory has all changes replayed.
#[test]
fn what_was_moved_about_is_there_after_a_restart() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let launch = || Launch::new(Kind::Basalt).dir(dir.path()).option("appendonly", "yes").start();
    let mut server = launch();
    assert_eq!(stress(&server, Move::Whole, Duration::from_secs(1)), None);
    server.signal("TERM");
    assert!(server.wait(STUCK).is_some_and(|it| it.success()), "it ends well");
    drop(server);
    assert_eq!(audit(&mut launch().connect()), None);
}

/// The canary: an auditor that does not notice this proves nothing.
#[test]
fn a_move_in_two_steps_is_noticed() {
    let server = Server::start(Kind::Basalt);
    assert!(stress(&server, Move::InSteps, STUCK * 2).is_some());
}
