//! A real Redis moves its keys to Basalt with MIGRATE, which speaks SELECT, AUTH and RESTORE; what
//! Basalt dumps then is the same value to that Redis.

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
