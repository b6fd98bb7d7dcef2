//! Copies that clients keep (`CLIENT TRACKING`): nobody keeps one that is out of date, and what
//! clients are told is what Redis tells them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::missing::is_redis_missing;
use basalt_tests::random::Random;
use basalt_tests::server::{Kind, Launch, Server};

const KEYS: u64 = 40;
const WRITERS: u64 = 3;
const STRESS: Duration = Duration::from_secs(3);
/// What has expired may stay until the server comes across it.
const QUIESCENCE: Duration = Duration::from_secs(20);

/// Whether a client heeds what it is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hearing {
    /// Always.
    Good,
    /// It misses some of it: the canary.
    Hard,
}

/// A client with copies of what it has read.
struct Caching {
    connection: Connection,
    copies: BTreeMap<String, Value>,
    hearing: Hearing,
    heard: u64,
}

impl Caching {
    fn new(server: &Server, options: &str, hearing: Hearing) -> Caching {
        let mut connection = server.connect();
        connection.run("HELLO 3").expect("a greeting");
        let answer = connection.run(&format!("CLIENT TRACKING ON{options}")).expect("an answer");
        assert_eq!(answer, Value::Simple(b"OK".to_vec()), "CLIENT TRACKING ON{options}");
        Caching { connection, copies: BTreeMap::new(), hearing, heard: 0 }
    }

    /// The next reply; what is told before it has been heeded.
    fn reply(&mut self) -> Value {
        loop {
            match self.connection.receive().expect("a reply") {
                Value::Push(parts) => self.heed(&parts),
                reply => return reply,
            }
        }
    }

    fn heed(&mut self, parts: &[Value]) {
        self.heard += 1;
        if self.hearing == Hearing::Hard && self.heard.is_multiple_of(5) {
            return;
        }
        match &parts[1] {
            Value::Array(keys) => keys.iter().for_each(|key| {
                self.copies.remove(&text(key));
            }),
            _ => self.copies.clear(),
        }
    }

    fn call(&mut self, line: &str) -> Value {
        self.connection.send(&line.split(' ').collect::<Vec<_>>()).expect("a request is sent");
        self.reply()
    }

    /// Reads a key, unless there is a copy of it.
    fn read(&mut self, key: &str, way: u64) {
        if self.copies.contains_key(key) {
            return;
        }
        let value = match way {
            0 => {
                let script = "return redis.call('GET', KEYS[1])";
                self.connection.send(&["EVAL", script, "1", key]).expect("a request is sent");
                self.reply()
            }
            1 => {
                for line in ["MULTI", &format!("GET {key}")] {
                    self.call(line);
                }
                let Value::Array(mut replies) = self.call("EXEC") else { panic!("no array") };
                replies.pop().expect("one reply")
            }
            2 => {
                let Value::Array(mut replies) = self.call(&format!("MGET {key}")) else {
                    panic!("no array");
                };
                replies.pop().expect("one reply")
            }
            _ => self.call(&format!("GET {key}")),
        };
        self.copies.insert(key.to_owned(), value);
    }
}

fn text(value: &Value) -> String {
    let Value::Bulk(bytes) = value else { panic!("a key, not {value:?}") };
    String::from_utf8_lossy(bytes).into_owned()
}

/// One change, of some key.
fn write(connection: &mut Connection, random: &mut Random, number: u64) {
    let key = format!("k{}", random.below(KEYS));
    let lines = match random.below(40) {
        0 => vec!["FLUSHDB".to_owned()],
        1..=3 => vec![format!("DEL {key}")],
        4..=6 => vec![format!("SET {key} {number} PX {}", 1 + random.below(20))],
        7..=9 => vec!["MULTI".to_owned(), format!("SET {key} {number}"), "EXEC".to_owned()],
        10..=12 => vec![format!("MSET {key} {number} k{} {number}", random.below(KEYS))],
        13..=15 => vec![format!("RENAME {key} k{}", random.below(KEYS))],
        16..=18 => vec![format!("APPEND {key} x")],
        19..=20 => vec![format!("COPY {key} k{} REPLACE", random.below(KEYS))],
        _ => vec![format!("SET {key} {number}")],
    };
    for line in lines {
        connection.run(&line).expect("an answer");
    }
}

/// Clients keep copies while others change keys. Returns copies that remain out of date.
fn stale_copies(options: &str, hearing: Hearing) -> Vec<String> {
    stale_copies_of(Launch::new(Kind::Basalt), options, hearing)
}

fn stale_copies_of(launch: Launch, options: &str, hearing: Hearing) -> Vec<String> {
    let server = launch.option("io-threads", "3").start();
    let random = Random::from_environment();
    eprintln!("BASALT_SEED={}", random.seed());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4)
            .map(|number| {
                let (mut random, stop) = (Random::new(random.seed() + number), &stop);
                let mut caching = Caching::new(&server, options, hearing);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        caching.read(&format!("k{}", random.below(KEYS)), random.below(8));
                        if caching.copies.len() > KEYS as usize / 2 {
                            caching.call("PING");
                        }
                    }
                    caching
                })
            })
            .collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let mut random = Random::new(random.seed() + 100 + writer);
                let (mut connection, stop) = (server.connect(), &stop);
                scope.spawn(move || {
                    for number in 0.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        write(&mut connection, &mut random, number * WRITERS + writer);
                    }
                })
            })
            .collect();
        std::thread::sleep(STRESS);
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().for_each(|writer| writer.join().expect("a writer ends well"));
        let readers = readers.into_iter().map(|reader| reader.join().expect("a reader ends well"));
        settle(&server, readers.collect())
    })
}

/// Waits until all copies are as the keys are, and returns those that are not in the end.
fn settle(server: &Server, mut readers: Vec<Caching>) -> Vec<String> {
    let heard: u64 = readers.iter().map(|reader| reader.heard).sum();
    assert!(heard > 100, "only {heard} messages: nothing has been tried");
    let mut connection = server.connect();
    let started = Instant::now();
    loop {
        let mut stale = Vec::new();
        for reader in &mut readers {
            // The thread that answers the second has taken what was told before the first.
            reader.call("PING");
            reader.call("PING");
            for (key, copy) in &reader.copies {
                let value = connection.call(&["GET", key]).expect("an answer");
                if *copy != value {
                    stale.push(format!("{key} is {value:?}, and the copy {copy:?}"));
                }
            }
        }
        let patience = if readers[0].hearing == Hearing::Good { QUIESCENCE } else { STRESS };
        if stale.is_empty() || started.elapsed() > patience {
            return stale;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn no_copy_remains_out_of_date() {
    assert_eq!(stale_copies("", Hearing::Good), [""; 0]);
}

#[test]
fn no_copy_remains_out_of_date_where_changes_wait_for_the_disk() {
    let launch = || Launch::new(Kind::Basalt).option("appendfsync", "always");
    assert_eq!(stale_copies_of(launch(), "", Hearing::Good), [""; 0]);
    assert_eq!(stale_copies_of(launch(), " BCAST PREFIX k", Hearing::Good), [""; 0]);
}

/// A client is told of a change of another once that has its answer, and reads the new value then;
/// of its own change it is told once.
#[test]
fn what_waits_for_the_disk_is_told_in_order_with_replies() {
    let server =
        Launch::new(Kind::Basalt).option("appendfsync", "always").option("io-threads", "2").start();
    let mut writer = server.connect();
    for round in 0..100 {
        let mut caching = Caching::new(&server, "", Hearing::Good);
        caching.read("k", 8);
        let answer = writer.run(&format!("SET k {round}")).expect("an answer");
        assert_eq!(answer, Value::Simple(b"OK".to_vec()));
        let told = caching.connection.receive().expect("a message");
        assert!(matches!(&told, Value::Push(parts) if parts[1] != Value::Null), "{told:?}");
        caching.copies.clear();
        caching.read("k", 8);
        assert_eq!(caching.copies["k"], Value::Bulk(round.to_string().into_bytes()));
        // Its own, once its thread has looked at its messages.
        let heard = caching.heard;
        for line in [&format!("SET k own{round}"), "PING", "PING"] {
            caching.call(line);
        }
        assert_eq!(caching.heard, heard + 1, "round {round}");
    }
}

#[test]
fn no_copy_of_a_client_that_hears_of_all_remains_out_of_date() {
    assert_eq!(stale_copies(" BCAST PREFIX k", Hearing::Good), [""; 0]);
}

/// The canary: messages that are not heeded leave copies behind, and that is found. On a busy
/// machine the clients may happen to read everything again in the end, so it has several tries.
#[test]
fn copies_that_remain_out_of_date_are_found() {
    assert!((0..5).any(|_| !stale_copies("", Hearing::Hard).is_empty()));
}

/// More readers than the table has room for: it stays within its limit, and who is forgotten is
/// told.
#[test]
fn the_table_keeps_to_its_limit() {
    let server = Launch::new(Kind::Basalt).option("tracking-table-max-keys", "100").start();
    let mut caching = Caching::new(&server, "", Hearing::Good);
    for number in 0..5_000 {
        caching.read(&format!("key:{number}"), 8);
    }
    caching.call("PING");
    caching.call("PING");
    let Value::Verbatim { text, .. } = caching.call("INFO stats") else { panic!("no text") };
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("tracking_total_keys:100\r\n"), "{text}");
    assert!(text.contains("tracking_total_items:100\r\n"), "{text}");
    assert_eq!(caching.copies.len(), 100);
    drop(caching);
    let mut other = server.connect();
    let started = Instant::now();
    loop {
        let Value::Bulk(text) = other.run("INFO stats").expect("figures") else {
            panic!("no text")
        };
        if String::from_utf8_lossy(&text).contains("tracking_total_keys:0\r\n") {
            break;
        }
        assert!(started.elapsed() < QUIESCENCE, "a client that has gone leaves keys behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a client that blocks is told comes behind what it reads.
#[test]
fn a_stream_that_is_awaited_is_tracked() {
    let server = Launch::new(Kind::Basalt).option("io-threads", "2").start();
    let mut writer = server.connect();
    for round in 0..200 {
        let mut caching = Caching::new(&server, "", Hearing::Good);
        caching.connection.send(&["XREAD", "BLOCK", "0", "STREAMS", "s", "$"]).expect("sent");
        await_blocked(&mut writer);
        let add = format!("XADD s * f {round}");
        for _ in 0..2 {
            writer.run(&add).expect("an entry");
        }
        // Whatever comes first: behind the reply the client is told of what it has not read.
        let mut pushes_behind_reply = 0;
        let mut has_reply = false;
        caching.connection.send(&["PING"]).expect("sent");
        let mut read = 0;
        loop {
            match caching.connection.receive().expect("something") {
                Value::Push(_) => pushes_behind_reply += u64::from(has_reply),
                Value::Simple(_) => break,
                reply => {
                    has_reply = true;
                    read = format!("{reply:?}").matches("Bulk").count();
                }
            }
        }
        caching.connection.send(&["PING"]).expect("sent");
        while let Value::Push(_) = caching.connection.receive().expect("something") {
            pushes_behind_reply += 1;
        }
        // The stream's name and two or four words of entries, with their ids.
        let has_both = read > 5;
        assert!(has_both || pushes_behind_reply > 0, "round {round}: {read} words");
    }
}

fn await_blocked(connection: &mut Connection) {
    let started = Instant::now();
    loop {
        let Value::Bulk(text) = connection.run("INFO clients").expect("figures") else {
            panic!("no text");
        };
        if String::from_utf8_lossy(&text).contains("blocked_clients:1\r\n") {
            return;
        }
        assert!(started.elapsed() < QUIESCENCE, "it does not wait");
    }
}

/// How a client of the comparison with Redis is tracked.
const WAYS: [&str; 8] = [
    "ON",
    "ON",
    "ON NOLOOP",
    "ON OPTIN",
    "ON OPTOUT",
    "ON BCAST",
    "ON BCAST PREFIX a PREFIX b",
    "ON BCAST NOLOOP PREFIX a",
];

/// A random command over a few keys of all types.
fn command(random: &mut Random) -> String {
    let mut key = || format!("{}{}", ["a", "b", "c"][random.below(3) as usize], random.below(3));
    let (one, other) = (key(), key());
    let number = random.below(100);
    let templates = [
        "GET @1",
        "GET @1",
        "MGET @1 @2",
        "STRLEN @1",
        "EXISTS @1 @2",
        "TTL @1",
        "TYPE @1",
        "GETRANGE @1 0 3",
        "LRANGE l@1 0 -1",
        "SMEMBERS s@1",
        "HGETALL h@1",
        "HGET h@1 f",
        "ZRANGE z@1 0 -1",
        "SINTER s@1 s@2",
        "XRANGE x@1 - +",
        "PFCOUNT p@1 p@2",
        "DUMP @1",
        "SET @1 #",
        "SET @1 #",
        "SET @1 # NX",
        "SETNX @1 #",
        "APPEND @1 #",
        "INCR n@1",
        "DEL @1 @2",
        "UNLINK @1",
        "GETDEL @1",
        "GETSET @1 #",
        "MSET @1 # @2 #",
        "SETRANGE @1 1 #",
        "SETBIT @1 7 1",
        "RENAME @1 @2",
        "COPY @1 @2 REPLACE",
        "EXPIRE @1 1000",
        "PERSIST @1",
        "GETEX @1 PERSIST",
        "RPUSH l@1 #",
        "LPOP l@1",
        "LMOVE l@1 l@2 LEFT RIGHT",
        "BLPOP l@1 l@2 0.001",
        "SADD s@1 #",
        "SREM s@1 #",
        "SMOVE s@1 s@2 #",
        "SUNIONSTORE s@1 s@1 s@2",
        "HSET h@1 f #",
        "HDEL h@1 f",
        "ZADD z@1 # m",
        "ZINCRBY z@1 # m",
        "ZPOPMIN z@1",
        "PFADD p@1 #",
        "PFMERGE p@1 p@2",
        "XADD x@1 * f #",
        "XTRIM x@1 MAXLEN 2",
        "FLUSHDB",
        "CLIENT CACHING YES",
        "CLIENT CACHING NO",
        "SORT l@1 STORE l@2",
        "BITOP NOT @1 @2",
        "GEOADD g@1 1 1 #",
        "TOUCH @1",
        "OBJECT ENCODING @1",
    ];
    let template = templates[random.below(templates.len() as u64) as usize];
    template.replace("@1", &one).replace("@2", &other).replace('#', &number.to_string())
}

/// What a client is told until it has two answers to PING: the keys, `*` for all.
fn told(connection: &mut Connection) -> BTreeSet<String> {
    let mut told = BTreeSet::new();
    for _ in 0..2 {
        connection.send(&["PING"]).expect("sent");
        while let Value::Push(parts) = connection.receive().expect("something") {
            match &parts[1] {
                Value::Array(keys) => told.extend(keys.iter().map(text)),
                _ => {
                    told.insert("*".to_owned());
                }
            }
        }
    }
    told
}

/// The reply to a command; what is told before it goes to `told`.
fn answer(connection: &mut Connection, line: &str, told: &mut BTreeSet<String>) {
    connection.send(&line.split(' ').collect::<Vec<_>>()).expect("sent");
    while let Value::Push(parts) = connection.receive().expect("something") {
        match &parts[1] {
            Value::Array(keys) => told.extend(keys.iter().map(text)),
            _ => {
                told.insert("*".to_owned());
            }
        }
    }
}

fn play(servers: &[Server], random: &mut Random, commands: usize) {
    let mut clients: Vec<Vec<Connection>> =
        servers.iter().map(|server| (0..3).map(|_| server.connect()).collect()).collect();
    let ways: Vec<&str> = (0..3).map(|_| WAYS[random.below(WAYS.len() as u64) as usize]).collect();
    for clients in &mut clients {
        clients[0].run("FLUSHALL").expect("an answer");
        for (client, way) in clients.iter_mut().zip(&ways) {
            client.run("HELLO 3").expect("a greeting");
            client.run(&format!("CLIENT TRACKING {way}")).expect("an answer");
        }
    }
    let mut history = Vec::new();
    let mut transaction: Option<usize> = None;
    for _ in 0..commands {
        // A transaction is that of one client, and the others wait.
        let (client, line) = match (transaction, random.below(12)) {
            (None, 0) => {
                let client = random.below(3) as usize;
                transaction = Some(client);
                (client, "MULTI".to_owned())
            }
            (Some(client), 0..=3) => {
                transaction = None;
                (client, "EXEC".to_owned())
            }
            (Some(client), _) => (client, command(random)),
            (None, _) => (random.below(3) as usize, command(random)),
        };
        history.push(format!("{client}: {line}"));
        let results: Vec<Vec<BTreeSet<String>>> = clients
            .iter_mut()
            .map(|clients| {
                let mut before = vec![BTreeSet::new(); 3];
                answer(&mut clients[client], &line, &mut before[client]);
                // A PING would be queued.
                let others = (0..3).filter(|other| transaction != Some(*other));
                others.for_each(|other| before[other].extend(told(&mut clients[other])));
                before
            })
            .collect();
        assert_eq!(results[0], results[1], "{ways:?}\n{}", history.join("\n"));
    }
}

#[test]
fn clients_are_told_what_redis_tells_them() {
    if is_redis_missing() {
        return;
    }
    let servers = [Server::start(Kind::Basalt), Server::start(Kind::Redis)];
    let mut random = Random::from_environment();
    for _ in 0..60 {
        eprintln!("BASALT_SEED={}", random.seed());
        play(&servers, &mut random, 80);
    }
}
