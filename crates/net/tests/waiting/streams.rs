//! Readers of streams: those that only look are all served by one entry, a group is served once.

use crate::harness::{Client, TestServer, bulk, error};
use basalt_resp::Value;

fn array(items: Vec<Value>) -> Value {
    Value::Array(items)
}

/// The reply to a read of the stream `s` that found entries, each with one field and value.
fn read(entries: &[(&str, &str, &str)]) -> Value {
    let entry = |&(id, field, value): &(&str, &str, &str)| {
        array(vec![bulk(id), array(vec![bulk(field), bulk(value)])])
    };
    array(vec![array(vec![bulk("s"), array(entries.iter().map(entry).collect())])])
}

fn clients(server: &TestServer, count: usize) -> Vec<Client> {
    (0..count).map(|_| server.connect()).collect()
}

#[test]
fn one_entry_wakes_all_readers() {
    let server = TestServer::start(3);
    let mut other = server.connect();
    // A client that waits to take something does not stand in their way, nor they in its.
    let mut taker = server.connect();
    taker.send("BLPOP s 0");
    let mut readers = clients(&server, 6);
    readers.iter_mut().for_each(|reader| reader.send("XREAD BLOCK 0 STREAMS s none $ $"));
    server.until_waiting(7);
    other.line("XADD s 10-0 f v");
    for reader in &mut readers {
        assert_eq!(reader.receive(), read(&[("10-0", "f", "v")]));
    }
    assert!(taker.hears_nothing());
    assert_eq!((server.waiting(), server.keys_waited_for()), (1, 1));
}

#[test]
fn what_came_since_the_first_look_is_read_however_often_it_looks() {
    let server = TestServer::start(2);
    let (mut reader, mut other) = (server.connect(), server.connect());
    reader.send("XREAD BLOCK 0 STREAMS s $");
    server.until_waiting(1);
    // It is woken twice for nothing.
    for event in ["SET s v", "RPUSH s a"] {
        ["MULTI", event, "DEL s", "EXEC"].iter().for_each(|line| drop(other.line(line)));
        assert!(reader.hears_nothing());
    }
    ["MULTI", "XADD s 1-0 f v", "XADD s 2-0 f w", "EXEC"]
        .iter()
        .for_each(|line| drop(other.line(line)));
    assert_eq!(reader.receive(), read(&[("1-0", "f", "v"), ("2-0", "f", "w")]));
}

#[test]
fn an_entry_goes_to_one_consumer_of_each_group() {
    let server = TestServer::start(3);
    let mut other = server.connect();
    ["XGROUP CREATE s g $ MKSTREAM", "XGROUP CREATE s h $"]
        .iter()
        .for_each(|line| drop(other.line(line)));
    let mut consumers = clients(&server, 6);
    for (number, consumer) in consumers.iter_mut().enumerate() {
        let group = ["g", "h"][number % 2];
        consumer.send(&format!("XREADGROUP GROUP {group} c{number} BLOCK 0 STREAMS s >"));
        server.until_waiting(number + 1);
    }
    // A client that has been woken waits no more but may not have looked yet: only its reply says
    // that it took the entry, and one that looks late would find two of them.
    for id in ["1-0", "2-0", "3-0"] {
        other.line(&format!("XADD s {id} f v"));
        for mut consumer in consumers.drain(..2) {
            assert_eq!(consumer.receive(), read(&[(id, "f", "v")]));
        }
    }
    for group in ["g", "h"] {
        let Value::Array(pending) = other.line(&format!("XPENDING s {group}")) else {
            panic!("a summary")
        };
        assert_eq!(pending[0], Value::Integer(3));
    }
}

#[test]
fn of_a_groups_consumers_the_longest_waiting_is_served_first() {
    let server = TestServer::start(4);
    let mut other = server.connect();
    other.line("XGROUP CREATE s g $ MKSTREAM");
    let mut consumers = clients(&server, 12);
    for (count, consumer) in (1..).zip(&mut consumers) {
        consumer.send(&format!("XREADGROUP GROUP g c{count} BLOCK 0 STREAMS s >"));
        server.until_waiting(count);
    }
    // One leaves the middle of the queue.
    drop(consumers.remove(5));
    server.until_waiting(11);
    for (number, consumer) in (1..).zip(&mut consumers) {
        other.line(&format!("XADD s {number}-1 f v"));
        let Value::Array(streams) = consumer.receive() else { panic!("a stream") };
        let text = format!("{streams:?}");
        let id = format!("{:?}", Value::Bulk(format!("{number}-1").into_bytes()));
        assert!(text.contains(&id), "{text}");
    }
    // A client that takes but one of two entries has the next one called.
    for (count, consumer) in (1..).zip(&mut consumers[..2]) {
        consumer.send(&format!("XREADGROUP GROUP g c{count} COUNT 1 BLOCK 0 STREAMS s >"));
        server.until_waiting(count);
    }
    for line in ["MULTI", "XADD s 90-1 f v", "XADD s 90-2 f v", "EXEC"] {
        other.line(line);
    }
    for (consumer, id) in consumers.iter_mut().zip(["90-1", "90-2"]) {
        let id = format!("{:?}", Value::Bulk(id.as_bytes().to_vec()));
        assert!(format!("{:?}", consumer.receive()).contains(&id), "the second is called on");
    }
}

#[test]
fn the_end_of_a_group_is_told_to_its_consumers_alone() {
    let server = TestServer::start(2);
    let mut other = server.connect();
    ["XGROUP CREATE s g $ MKSTREAM", "XGROUP CREATE s h $"]
        .iter()
        .for_each(|line| drop(other.line(line)));
    let mut waiting = clients(&server, 4);
    for (client, group) in waiting.iter_mut().zip(["g", "g", "h", ""]) {
        client.send(&match group {
            "" => "XREAD BLOCK 0 STREAMS s $".to_owned(),
            group => format!("XREADGROUP GROUP {group} c BLOCK 0 STREAMS s >"),
        });
    }
    server.until_waiting(4);
    other.line("XGROUP DESTROY s g");
    let no_group = |group: &str| {
        error(&format!(
            "NOGROUP No such key 's' or consumer group '{group}' in XREADGROUP with GROUP option"
        ))
    };
    for client in &mut waiting[..2] {
        assert_eq!(client.receive(), no_group("g"));
    }
    server.until_waiting(2);
    other.line("DEL s");
    assert_eq!(waiting[2].receive(), no_group("h"));
    assert!(waiting[3].hears_nothing());
}
