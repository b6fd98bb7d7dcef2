//! Clients whose connections hold much: subscriptions, watched keys.

use super::attack::{Attack, Scale, Stop, attack};
use crate::client::Connection;
use crate::server::Server;
use basalt_resp::encode_request;
use std::io;

/// What one connection holds.
const HELD: u64 = 200_000;
const PATTERNS: u64 = 100_000;
/// Names in a request. It is none that runs apart for its words.
const NAMES_PER_REQUEST: u64 = 1_000;
/// Requests sent before their replies are read.
const REQUESTS_IN_FLIGHT: u64 = 32;
/// What is published before replies are read.
const MESSAGES: usize = 64;

pub(super) fn held() -> Vec<Attack> {
    vec![
        attack("200,000 channels, subscribed to and left", |server, scale, stop| {
            let _ = hold_and_let_go(server, scale, stop, ("SUBSCRIBE", "UNSUBSCRIBE"));
        }),
        attack("200,000 keys, watched and forgotten", |server, scale, stop| {
            let _ = hold_and_let_go(server, scale, stop, ("WATCH", "UNWATCH"));
        }),
        attack("PUBLISH against 100,000 patterns", |server, scale, stop| {
            let _ = publish_against_patterns(server, scale, stop);
        }),
    ]
}

fn hold_and_let_go(
    server: &Server,
    scale: Scale,
    stop: &Stop,
    (hold, let_go): (&str, &str),
) -> io::Result<()> {
    let held = scale.of(HELD);
    while !stop.is_set() {
        let mut connection = Connection::open(server.address())?;
        add(&mut connection, hold, "held:", held, stop)?;
        connection.call(&[let_go])?;
        // And by closing.
        let mut connection = Connection::open(server.address())?;
        add(&mut connection, hold, "held:", held, stop)?;
    }
    Ok(())
}

fn publish_against_patterns(server: &Server, scale: Scale, stop: &Stop) -> io::Result<()> {
    let mut subscriber = Connection::open(server.address())?;
    add(&mut subscriber, "PSUBSCRIBE", "*a*b*:", scale.of(PATTERNS), stop)?;
    let mut publisher = Connection::open(server.address())?;
    let mut messages = Vec::new();
    (0..MESSAGES).for_each(|_| encode_request(&["PUBLISH", "channel", "message"], &mut messages));
    while !stop.is_set() {
        publisher.send_raw(&messages)?;
        for _ in 0..MESSAGES {
            publisher.receive()?;
        }
    }
    Ok(())
}

/// Has the connection hold `count` names, many requests at once.
fn add(
    connection: &mut Connection,
    verb: &str,
    prefix: &str,
    count: u64,
    stop: &Stop,
) -> io::Result<()> {
    let replies_a_name = if verb == "WATCH" { 0 } else { 1 };
    let mut next = 0;
    while next < count && !stop.is_set() {
        let (mut bytes, mut replies) = (Vec::new(), 0);
        for _ in 0..REQUESTS_IN_FLIGHT {
            let until = count.min(next + NAMES_PER_REQUEST);
            if next == until {
                break;
            }
            let names = (next..until).map(|number| format!("{prefix}{number}"));
            let words: Vec<String> = std::iter::once(verb.to_owned()).chain(names).collect();
            encode_request(&words, &mut bytes);
            replies += ((until - next) * replies_a_name).max(1);
            next = until;
        }
        connection.send_raw(&bytes)?;
        for _ in 0..replies {
            connection.receive()?;
        }
    }
    Ok(())
}
