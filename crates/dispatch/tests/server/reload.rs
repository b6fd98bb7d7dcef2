//! DEBUG RELOAD: memory is forgotten, and nobody can tell.

use super::text;
use crate::harness::TestServer;
use basalt_env::random::Random;
use basalt_resp::Value;
use std::collections::BTreeMap;

fn digest(server: &mut TestServer) -> String {
    text(&server.line("DEBUG DIGEST"))
}

#[test]
fn digests_are_equal_when_the_data_is() {
    let mut server = TestServer::new();
    assert_eq!(digest(&mut server), "0".repeat(40));
    server.line("MSET a 1 b 2");
    let both = digest(&mut server);
    assert_eq!(both.len(), 40);
    server.line("MSET a 2 b 1");
    assert_ne!(digest(&mut server), both);
    server.line("MSET b 2 a 1");
    assert_eq!(digest(&mut server), both);
    server.line("EXPIRE a 100");
    assert_ne!(digest(&mut server), both);
    let [a, none] = ["a", "none"].map(|key| server.run(&["DEBUG", "DIGEST-VALUE", key]));
    assert_ne!(a, none);
    server.line("SELECT 1");
    server.line("SET c 1");
    server.line("SELECT 0");
    server.line("PERSIST a");
    assert_ne!(digest(&mut server), both, "all databases count");
}

#[test]
fn everything_is_read_back_and_goes_on_from_there() {
    let mut server = TestServer::new();
    server.configure("warm-up", "no");
    let mut model: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut random = Random::new(7);
    for round in 0..20 {
        for _ in 0..200 {
            let key = format!("key:{}", random.below(300));
            // Some values are stored apart from their entries.
            let len = if random.chance(1, 20) { 20_000 } else { random.below(100) };
            let value = vec![b'a' + random.below(26) as u8; len as usize];
            match random.below(4) {
                0 => {
                    let was_there = Value::Integer(i64::from(model.remove(&key).is_some()));
                    assert_eq!(server.run(&["DEL", &key]), was_there, "round {round}");
                }
                1 => {
                    let whole = model.entry(key.clone()).or_default();
                    whole.extend_from_slice(&value);
                    let len = Value::Integer(whole.len() as i64);
                    // Appending nothing still makes the key.
                    assert_eq!(server.run(&[b"APPEND", key.as_bytes(), &value]), len);
                    if value.is_empty() && whole.is_empty() {
                        server.run(&[b"SET", key.as_bytes(), b""]);
                    }
                }
                2 => {
                    let expected = model.get(&key).map_or(Value::Null, |v| Value::Bulk(v.clone()));
                    assert_eq!(server.run(&["GET", &key]), expected, "round {round}, {key}");
                }
                _ => {
                    server.run(&[b"SET", key.as_bytes(), &value]);
                    model.insert(key, value);
                }
            }
        }
        if random.chance(1, 2) {
            let before = digest(&mut server);
            assert_eq!(server.line("DEBUG RELOAD"), Value::Simple(b"OK".to_vec()));
            assert_eq!(server.line("DBSIZE"), Value::Integer(model.len() as i64));
            if random.chance(1, 2) {
                assert_eq!(digest(&mut server), before, "round {round}");
            }
        } else if random.chance(1, 2) {
            server = server.reopen();
            server.configure("warm-up", "no");
        }
    }
    for (key, value) in &model {
        assert_eq!(server.run(&["GET", key]), Value::Bulk(value.clone()), "{key}");
    }
}

#[test]
fn memory_is_really_forgotten_and_what_expires_still_does() {
    let mut server = TestServer::new();
    server.configure("warm-up", "no");
    server.line("MSET a 1 b 2");
    server.line("SET c 3 EX 10");
    server.line("DEBUG LOADAOF");
    let totals = server.server.engine.totals(0);
    assert_eq!((totals.keys, totals.keys_cold_only), (3, 3));
    assert_eq!(server.line("TTL c"), Value::Integer(10));
    server.clock.advance_ms(10_000);
    assert_eq!(server.line("MGET a b c").clone(), server.line("MGET a b none"));
}

#[test]
fn no_change_is_lost_while_others_write() {
    const KEYS: usize = 50;
    const ROUNDS: usize = 100;
    let mut server = TestServer::new();
    let mut other = server.another_connection();
    let writer = std::thread::spawn(move || {
        for _ in 0..ROUNDS {
            for key in 0..KEYS {
                other.run(&["INCR", &format!("n{key}")]);
            }
        }
    });
    let mut reloads = 0;
    while !writer.is_finished() {
        server.line("DEBUG RELOAD");
        reloads += 1;
    }
    writer.join().expect("no increment failed");
    assert!(reloads > 0);
    for key in 0..KEYS {
        let value = server.run(&["GET", &format!("n{key}")]);
        assert_eq!(value, Value::Bulk(ROUNDS.to_string().into_bytes()), "n{key}");
    }
}

/// Neither rows nor the log know when a key was used: it counts from when it is in memory.
#[test]
fn what_comes_back_into_memory_has_not_been_idle_for_years() {
    let mut server = TestServer::new();
    server.line("SET k v");
    server.line("RPUSH l a");
    server.clock.advance_ms(100_000);
    assert_eq!(server.line("OBJECT IDLETIME k"), Value::Integer(100));
    let mut reopened = server.reopen();
    reopened.clock.advance_ms(7_000);
    for key in ["k", "l"] {
        let idle = reopened.line(&format!("OBJECT IDLETIME {key}"));
        assert_eq!(idle, Value::Integer(7), "{key}, of the log");
    }
    server.line("DEBUG RELOAD");
    for key in ["k", "l"] {
        let idle = server.line(&format!("OBJECT IDLETIME {key}"));
        assert!(matches!(idle, Value::Integer(0..=7)), "{key}, of the cold tier: {idle:?}");
    }
}
