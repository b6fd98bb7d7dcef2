//! A real Redis moves its keys to Basalt with MIGRATE, which speaks SELECT, AUTH and RESTORE; what
//! Basalt dumps then is the same value to that Redis. And Basalt moves keys to a Redis in turn.

use super::{call, dump, restore, run, values};
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::server::{Kind, Launch, Server};

const PASSWORD: &str = "open";

/// `MIGRATE`, of one key or of some.
fn migrate(redis: &mut Connection, to: &Server, keys: &[&str], options: &[&str]) -> Value {
    let address = to.address();
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    let (one, several) = match keys {
        [one] => (*one, vec![]),
        several => ("", [&["KEYS"], several].concat()),
    };
    let head = ["MIGRATE", &host, &port, one, "3", "10000", "AUTH", PASSWORD];
    call(redis, &[&head, options, &several].concat())
}

fn integer(value: &Value) -> i64 {
    let Value::Integer(number) = value else { panic!("{value:?}") };
    *number
}

#[test]
fn a_redis_moves_every_type_to_us() {
    let Some(source) = super::start() else { return };
    let launch = Launch::new(Kind::Basalt).option("requirepass", PASSWORD);
    let target = launch.option("databases", "4").start();
    let (mut redis, mut ours) = (source.connect(), target.connect());
    run(&mut ours, &format!("AUTH {PASSWORD}"));
    run(&mut ours, "SELECT 3");
    let keys = values::create(&mut redis);
    assert!(keys.len() > 20, "of each type and encoding one");
    let ok = Value::Simple(b"OK".to_vec());
    for key in &keys {
        let digest = run(&mut redis, &format!("DEBUG DIGEST-VALUE {key}"));
        assert_eq!(migrate(&mut redis, &target, &[key], &["COPY"]), ok, "{key}");
        assert_eq!(run(&mut redis, &format!("TYPE {key}")), run(&mut ours, &format!("TYPE {key}")));
        let payload = dump(&mut ours, key);
        assert_eq!(restore(&mut redis, "back", &payload), ok, "{key}");
        assert_eq!(run(&mut redis, "DEBUG DIGEST-VALUE back"), digest, "{key}");
    }
    // What is there already is replaced only if that is asked for.
    let refused = migrate(&mut redis, &target, &[&keys[0]], &[]);
    let text = format!("{refused:?}");
    assert!(matches!(refused, Value::Error(_)), "{text}");
    assert_eq!(migrate(&mut redis, &target, &[&keys[0]], &["REPLACE"]), ok);
    assert_eq!(run(&mut redis, &format!("EXISTS {}", keys[0])), Value::Integer(0), "it has gone");
}

#[test]
fn a_redis_moves_several_keys_with_their_expiry() {
    let Some(source) = super::start() else { return };
    let target = Launch::new(Kind::Basalt).option("requirepass", PASSWORD).start();
    let (mut redis, mut ours) = (source.connect(), target.connect());
    run(&mut ours, &format!("AUTH {PASSWORD}"));
    run(&mut ours, "SELECT 3");
    run(&mut redis, "SET stays for-ever");
    run(&mut redis, "SET goes soon PX 600000");
    let reply = migrate(&mut redis, &target, &["stays", "goes", "never-was"], &[]);
    assert_eq!(reply, Value::Simple(b"OK".to_vec()));
    assert_eq!(run(&mut redis, "DBSIZE"), Value::Integer(0));
    assert_eq!(run(&mut ours, "GET stays"), Value::Bulk(b"for-ever".to_vec()));
    assert_eq!(integer(&run(&mut ours, "PTTL stays")), -1);
    assert!((1..=600_000).contains(&integer(&run(&mut ours, "PTTL goes"))));
}

#[test]
fn we_move_every_type_to_a_redis_and_keep_what_it_does_not_take() {
    if super::start().is_none() {
        return;
    }
    let target = Launch::new(Kind::Redis).option("requirepass", PASSWORD).start();
    let source = Server::start(Kind::Basalt);
    let (mut ours, mut redis) = (source.connect(), target.connect());
    run(&mut redis, &format!("AUTH {PASSWORD}"));
    run(&mut redis, "SELECT 3");
    let ok = Value::Simple(b"OK".to_vec());
    run(&mut ours, "SET s text PX 600000");
    run(&mut ours, "RPUSH l a b c");
    run(&mut ours, "HSET h f v");
    run(&mut ours, "ZADD z 1 a 2 b");
    run(&mut ours, "XADD x 1-1 f v");
    for (key, read) in [
        ("s", "GET s"),
        ("l", "LRANGE l 0 -1"),
        ("h", "HGETALL h"),
        ("z", "ZRANGE z 0 -1 WITHSCORES"),
        ("x", "XRANGE x - +"),
    ] {
        let value = run(&mut ours, read);
        assert_eq!(migrate(&mut ours, &target, &[key], &["COPY"]), ok, "{key}");
        assert_eq!(run(&mut redis, read), value, "{key}");
        assert_eq!(run(&mut ours, &format!("EXISTS {key}")), Value::Integer(1), "{key}");
    }
    // One is refused, the other one is taken.
    run(&mut ours, "SET new 1");
    let Value::Error(text) = migrate(&mut ours, &target, &["l", "new", "none"], &[]) else {
        panic!("one of them is there already")
    };
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.starts_with("ERR Target instance replied with error: BUSYKEY"), "{text}");
    assert_eq!(run(&mut ours, "EXISTS l new"), Value::Integer(1));
    assert_eq!(migrate(&mut ours, &target, &["s", "l", "h", "z", "x"], &["REPLACE"]), ok);
    assert_eq!(run(&mut ours, "DBSIZE"), Value::Integer(0));
    assert!((1..=600_000).contains(&integer(&run(&mut redis, "PTTL s"))));
    run(&mut ours, "SET k v");
    let address = target.address();
    let line = format!("MIGRATE {} {} k 3 10000 AUTH wrong", address.ip(), address.port());
    assert!(matches!(run(&mut ours, &line), Value::Error(_)));
    assert_eq!(run(&mut ours, "GET k"), Value::Bulk(b"v".to_vec()), "nobody has taken it");
}

/// The source's key has gone, the target's is another one; and neither, if the target has refused.
#[test]
fn what_migrate_changes_aborts_transactions_that_watch_it_on_both_sides() {
    let launch = || Launch::new(Kind::Basalt).option("requirepass", PASSWORD);
    let (source, target) = (launch().start(), launch().start());
    let connect = |server: &Server, db: u8| {
        let mut connection = server.connect();
        run(&mut connection, &format!("AUTH {PASSWORD}"));
        run(&mut connection, &format!("SELECT {db}"));
        connection
    };
    let (mut ours, mut theirs) = (connect(&source, 0), connect(&target, 3));
    let mut other = connect(&source, 0);
    for (options, is_done) in [(&[][..], false), (&["REPLACE"][..], true)] {
        run(&mut ours, "SET k new");
        run(&mut theirs, "SET k old");
        run(&mut ours, "WATCH k");
        run(&mut theirs, "WATCH k");
        let reply = migrate(&mut other, &target, &["k"], options);
        assert_eq!(reply == Value::Simple(b"OK".to_vec()), is_done, "{reply:?}");
        for side in [&mut ours, &mut theirs] {
            run(side, "MULTI");
            run(side, "PING");
            let is_aborted = matches!(run(side, "EXEC"), Value::Null | Value::NullArray);
            assert_eq!(is_aborted, is_done, "{options:?}");
        }
    }
    run(&mut ours, "WATCH none");
    let nokey = Value::Simple(b"NOKEY".to_vec());
    assert_eq!(migrate(&mut other, &target, &["none"], &[]), nokey);
    run(&mut ours, "MULTI");
    assert_eq!(run(&mut ours, "EXEC"), Value::Array(vec![]));
}

#[test]
fn a_target_that_does_not_answer_holds_up_nobody_else() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = silent.local_addr().expect("it is bound").port();
    let source = Launch::new(Kind::Basalt).option("io-threads", "1").start();
    let (mut ours, mut other) = (source.connect(), source.connect());
    run(&mut ours, "SET k v");
    let began = std::time::Instant::now();
    let waiting =
        std::thread::spawn(move || run(&mut ours, &format!("MIGRATE 127.0.0.1 {port} k 0 1500")));
    let mut answered = 0;
    while began.elapsed() < std::time::Duration::from_millis(500) {
        assert_eq!(run(&mut other, "GET k"), Value::Bulk(b"v".to_vec()));
        answered += 1;
    }
    assert!(answered > 10, "only {answered} requests were answered beside");
    let reply = waiting.join().expect("it was answered");
    let text = b"IOERR error or timeout reading from target instance".to_vec();
    assert_eq!(reply, Value::Error(text));
    assert_eq!(run(&mut other, "GET k"), Value::Bulk(b"v".to_vec()));
}
