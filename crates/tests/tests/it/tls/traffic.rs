//! What is said over TLS: large values, pipelines, messages.

use super::{greet, start};
use basalt_resp::Value;
use basalt_tests::server::{Kind, Launch};

fn letters(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 31 + at / 251) as u8).collect()
}

#[test]
fn sixteen_megabytes_go_both_ways() {
    let server = start();
    let mut connection = server.connect();
    let big = letters(16 << 20);
    connection.call(&[b"SET", &b"big"[..], &big]).unwrap();
    let Value::Bulk(got) = connection.call(&["GET", "big"]).unwrap() else { panic!("a string") };
    assert!(got == big);
    for count in [1, 100, 16_383, 16_384, 16_385, 100_000] {
        connection.call(&[b"SET", &b"k"[..], &big[..count]]).unwrap();
        let got = connection.call(&["GET", "k"]).unwrap();
        assert!(got == Value::Bulk(big[..count].to_vec()), "{count}");
    }
}

#[test]
fn pipelines_are_answered_in_order() {
    let server = start();
    let mut connection = server.connect();
    let mut requests = Vec::new();
    for number in 0..20_000 {
        let (key, value) = (format!("k{}", number % 100), number.to_string());
        requests.extend(format!("SET {key} {value}\r\nGET {key}\r\n").into_bytes());
    }
    for part in requests.chunks(50_000) {
        connection.send_raw(part).unwrap();
    }
    for number in 0..20_000 {
        assert_eq!(connection.receive().unwrap(), Value::Simple(b"OK".to_vec()));
        let expected = Value::Bulk(number.to_string().into_bytes());
        assert_eq!(connection.receive().unwrap(), expected);
    }
}

/// Redis' protocol may be cut at every byte, and each piece comes in a record of its own.
#[test]
fn a_request_may_come_byte_by_byte() {
    let server = start();
    let mut connection = server.connect();
    let request = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\nhello\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
    for byte in request {
        connection.send_raw(&[*byte]).unwrap();
    }
    assert_eq!(connection.receive().unwrap(), Value::Simple(b"OK".to_vec()));
    assert_eq!(connection.receive().unwrap(), Value::Bulk(b"hello".to_vec()));
}

#[test]
fn messages_come_over_tls_and_blocked_clients_are_woken() {
    let server = start();
    let (mut subscriber, mut publisher) = (server.connect(), server.connect());
    subscriber.run("HELLO 3").unwrap();
    subscriber.run("SUBSCRIBE news").unwrap();
    for number in 0..1000 {
        let reply = publisher.run(&format!("PUBLISH news {number}")).unwrap();
        assert_eq!(reply, Value::Integer(1));
    }
    for number in 0..1000 {
        let Value::Push(words) = subscriber.receive().unwrap() else { panic!("a message") };
        assert_eq!(words[2], Value::Bulk(number.to_string().into_bytes()));
    }
    let mut waiting = server.connect();
    waiting.send(&["BLPOP", "list", "0"]).unwrap();
    publisher.run("RPUSH list x").unwrap();
    let Value::Array(words) = waiting.receive().unwrap() else { panic!("a list's element") };
    assert_eq!(words[1], Value::Bulk(b"x".to_vec()));
}

/// Nothing but TLS, `appendfsync always`: replies wait for the log, and come in records all the
/// same.
#[test]
fn replies_that_wait_for_the_log_come_over_tls() {
    let server = Launch::new(Kind::Basalt).tls().option("appendfsync", "always").start();
    let mut connection = greet(&server, &server.authority().client()).unwrap();
    for number in 0..200 {
        assert_eq!(connection.run("INCR n").unwrap(), Value::Integer(number + 1));
    }
}

/// A client that does not read for a while gets all of it when it does.
#[test]
fn a_client_that_reads_late_gets_everything() {
    let server = start();
    let mut connection = server.connect();
    let big = letters(1 << 20);
    connection.call(&[b"SET", &b"big"[..], &big]).unwrap();
    for _ in 0..40 {
        connection.send(&["GET", "big"]).unwrap();
    }
    connection.send(&["PING"]).unwrap();
    for _ in 0..40 {
        assert!(connection.receive().unwrap() == Value::Bulk(big.clone()));
    }
    assert_eq!(connection.receive().unwrap(), Value::Simple(b"PONG".to_vec()));
}
