//! A client that waits is served before the writer's next command sees the key.

use crate::harness::{Client, TestServer, bulk, ok, taken};
use basalt_journal::FsyncPolicy;
use basalt_resp::Value;

const ROUNDS: usize = 200;

fn integer(number: i64) -> Value {
    Value::Integer(number)
}

fn answers(client: &mut Client, lines: &[&str]) -> Vec<Value> {
    client.send_all(lines);
    lines.iter().map(|_| client.receive()).collect()
}

#[test]
fn the_writers_next_command_does_not_find_what_was_handed_over() {
    for policy in [FsyncPolicy::Never, FsyncPolicy::Always] {
        let server = TestServer::start_with(2, policy);
        let (mut writer, mut waiter) = (server.connect(), server.connect());
        for _ in 0..ROUNDS {
            waiter.send("BLPOP other l 0");
            server.until_waiting(1);
            let found = answers(&mut writer, &["RPUSH l x", "LLEN l", "LPOP l"]);
            assert_eq!(found, [integer(1), integer(0), Value::Null]);
            assert_eq!(waiter.receive(), taken("l", "x"));
        }
        assert_eq!(server.keys_waited_for(), 0);
    }
}

/// Though pushes that stand together share the lock of their list.
#[test]
fn a_client_that_waits_is_served_before_the_next_push_of_a_pipeline() {
    for policy in [FsyncPolicy::Never, FsyncPolicy::Always] {
        let server = TestServer::start_with(2, policy);
        let (mut writer, mut waiter) = (server.connect(), server.connect());
        for _ in 0..ROUNDS {
            waiter.send("BLPOP l 0");
            server.until_waiting(1);
            let lines = ["LPUSH l a", "LPUSH l b", "LPUSH l c", "LPOP l", "LPOP l", "LPOP l"];
            let found = answers(&mut writer, &lines);
            let [one, two] = [integer(1), integer(2)];
            assert_eq!(found, [one.clone(), one, two, bulk("c"), bulk("b"), Value::Null]);
            assert_eq!(waiter.receive(), taken("l", "a"));
        }
    }
}

#[test]
fn a_chain_of_moves_is_finished() {
    let server = TestServer::start(3);
    let mut writer = server.connect();
    let mut movers: Vec<Client> = (0..4).map(|_| server.connect()).collect();
    for _ in 0..ROUNDS {
        for (number, (mover, [from, to])) in
            movers.iter_mut().zip([["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"]]).enumerate()
        {
            mover.send(&format!("BLMOVE {from} {to} LEFT RIGHT 0"));
            server.until_waiting(number + 1);
        }
        let found = answers(&mut writer, &["RPUSH a x", "EXISTS a b c d", "LPOP e"]);
        assert_eq!(found, [integer(1), integer(0), bulk("x")]);
        movers.iter_mut().for_each(|mover| assert_eq!(mover.receive(), bulk("x")));
    }
}

#[test]
fn those_who_wait_are_served_after_the_whole_of_a_transaction_or_a_script() {
    let server = TestServer::start(2);
    let (mut writer, mut waiter) = (server.connect(), server.connect());
    for _ in 0..ROUNDS {
        waiter.send("BZPOPMIN z 0");
        server.until_waiting(1);
        let lines = ["MULTI", "ZADD z 1 a", "ZCARD z", "EXEC", "ZCARD z"];
        let found = answers(&mut writer, &lines);
        assert_eq!(found[3], Value::Array(vec![integer(1), integer(1)]));
        assert_eq!(found[4], integer(0));
        waiter.receive();
        waiter.send("BLMPOP 0 1 l LEFT");
        server.until_waiting(1);
        writer.send_words(&[
            "EVAL",
            "redis.call('rpush', 'l', 'x') return redis.call('llen', 'l')",
            "0",
        ]);
        assert_eq!(writer.receive(), integer(1));
        assert_eq!(writer.line("LLEN l"), integer(0));
        waiter.receive();
    }
}

#[test]
fn a_killed_client_takes_nothing() {
    let server = TestServer::start(3);
    let mut writer = server.connect();
    for _ in 0..ROUNDS {
        let (mut first, mut second) = (server.connect(), server.connect());
        for (count, waiter) in (1..).zip([&mut first, &mut second]) {
            waiter.send("BLPOP l 0");
            server.until_waiting(count);
        }
        let kill = format!("CLIENT KILL ID {}", first.id);
        let found = answers(&mut writer, &[&kill, "RPUSH l x", "LLEN l"]);
        assert_eq!(found, [integer(1), integer(1), integer(0)]);
        assert_eq!(second.receive(), taken("l", "x"));
        first.until_closed();
        server.until(|server| server.keys_waited_for() == 0);
    }
}

#[test]
fn those_who_read_a_stream_get_what_is_deleted_next() {
    let server = TestServer::start(3);
    let mut writer = server.connect();
    writer.line("XGROUP CREATE s g $ MKSTREAM");
    let mut readers: Vec<Client> = (0..2).map(|_| server.connect()).collect();
    for round in 1..=ROUNDS {
        readers[0].send("XREAD BLOCK 0 STREAMS s $");
        readers[1].send("XREADGROUP GROUP g c NOACK BLOCK 0 STREAMS s >");
        server.until_waiting(2);
        let (add, delete) = (format!("XADD s {round}-1 f v"), format!("XDEL s {round}-1"));
        assert_eq!(answers(&mut writer, &[&add, &delete])[1], integer(1));
        let id = format!("{:?}", bulk(&format!("{round}-1")));
        for reader in &mut readers {
            assert!(format!("{:?}", reader.receive()).contains(&id));
        }
    }
}

#[test]
fn who_asked_for_silence_is_served_in_silence() {
    let server = TestServer::start(2);
    let (mut writer, mut waiter) = (server.connect(), server.connect());
    waiter.send("CLIENT REPLY SKIP");
    waiter.send("BLPOP l 0");
    server.until_waiting(1);
    assert_eq!(answers(&mut writer, &["RPUSH l x", "LLEN l"]), [integer(1), integer(0)]);
    assert_eq!(waiter.line("SET k v"), ok());
    waiter.send("CLIENT REPLY OFF");
    waiter.send("BLPOP l 0");
    server.until_waiting(1);
    assert_eq!(answers(&mut writer, &["RPUSH l x", "LLEN l"]), [integer(1), integer(0)]);
    assert_eq!(waiter.line("CLIENT REPLY ON"), ok());
}
