//! Clients that send what no client should.

use crate::authority::{Authority, server};
use crate::channel::Both;
use crate::pipe::Pipe;
use basalt_env::Random;
use basalt_tls::{Channel, Handshake};
use std::io::{ErrorKind, Write};

#[test]
fn a_client_without_tls_is_told_nothing_and_one_with_too_old_a_version_is() {
    let authority = Authority::new();
    let server = server(&authority.settings());
    let plain: [&[u8]; 4] =
        [b"PING\r\n", b"*1\r\n$4\r\nPING\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\0"];
    for bytes in plain {
        let mut channel = Channel::new(&server).unwrap();
        let mut pipe = Pipe::default();
        pipe.to_server.extend(bytes);
        pipe.has_ended = true;
        let error = channel.shake_hands(&mut pipe).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof));
        channel.close(&mut pipe);
        assert!(pipe.to_client.is_empty(), "{bytes:?}: {:?}", pipe.to_client);
    }
    let mut channel = Channel::new(&server).unwrap();
    let mut pipe = Pipe::default();
    // A record of a handshake, with a message of a kind that comes later.
    pipe.to_server.extend([22, 3, 1, 0, 4, 20, 0, 0, 0]);
    assert_eq!(channel.shake_hands(&mut pipe).unwrap_err().kind(), ErrorKind::InvalidData);
    assert_eq!(pipe.to_client[0], 21, "an alert");
}

/// Whatever comes, a handshake ends or waits, and takes what it is given.
#[test]
fn no_bytes_panic_a_handshake_or_have_it_hold_much() {
    let authority = Authority::new();
    let server = server(&authority.settings());
    let mut random = Random::new(7);
    let mut hello = Both::new(&server, authority.client(None));
    hello.client_turn().unwrap();
    let hello: Vec<u8> = hello.pipe.to_server.into_iter().collect();
    for round in 0..3000 {
        let mut bytes = hello.clone();
        match round % 3 {
            0 => {
                for _ in 0..=random.below(4) {
                    let at = random.below(bytes.len() as u64) as usize;
                    bytes[at] = random.next_u64() as u8;
                }
            }
            1 => bytes.truncate(random.below(bytes.len() as u64) as usize),
            _ => {
                let count = random.below(300) as usize;
                bytes = (0..count).map(|_| random.next_u64() as u8).collect();
                if let Some(first) = bytes.first_mut() {
                    *first = 22;
                }
            }
        }
        let mut channel = Channel::new(&server).unwrap();
        let mut pipe = Pipe::default();
        pipe.to_server.extend(&bytes);
        match channel.shake_hands(&mut pipe) {
            Ok(Handshake::Waits) => assert!(pipe.to_server.is_empty()),
            Ok(Handshake::Done) => panic!("nobody has signed anything"),
            Err(_) => {}
        }
    }
}

/// A message of a handshake may be 64 KiB long; one that says that it is longer is refused.
#[test]
fn a_handshake_message_without_end_is_refused() {
    let authority = Authority::new();
    let mut channel = Channel::new(&server(&authority.settings())).unwrap();
    let mut pipe = Pipe::default();
    let mut taken = 0;
    let failed = (0..100).any(|round| {
        let body = 16_000;
        pipe.to_server.extend([22, 3, 1, (body >> 8) as u8, body as u8]);
        let start: &[u8] = if round == 0 { &[1, 0xff, 0xff, 0xff] } else { &[0; 4] };
        pipe.to_server.extend(start);
        pipe.to_server.extend(vec![0; body as usize - 4]);
        taken += body as usize;
        channel.shake_hands(&mut pipe).is_err()
    });
    assert!(failed && taken <= 96 << 10, "{taken}");
}

#[test]
fn records_that_say_nothing_for_ever_end_the_connection() {
    let authority = Authority::new();
    let mut both = Both::new(&server(&authority.settings()), authority.client(None));
    both.shake_hands().unwrap();
    let mut records = Vec::new();
    for _ in 0..20_000 {
        // An empty record, as a client may send now and then.
        both.client.writer().write_all(b"").unwrap();
        both.client.refresh_traffic_keys().unwrap();
        both.client.write_tls(&mut records).unwrap();
        if records.len() > 1 << 20 {
            break;
        }
    }
    both.pipe.to_server.extend(&records);
    let mut buffer = vec![0; 16 << 10];
    let error = both.channel.read(&mut both.pipe, &mut buffer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
}

#[test]
fn what_came_before_a_broken_record_is_read_and_then_the_connection_ends() {
    let authority = Authority::new();
    let mut both = Both::new(&server(&authority.settings()), authority.client(None));
    both.shake_hands().unwrap();
    both.client.writer().write_all(b"SET a 1\r\n").unwrap();
    both.client_turn().unwrap();
    both.pipe.to_server.extend([23, 3, 3, 0, 32]);
    both.pipe.to_server.extend([7; 32]);
    let mut buffer = [0; 1000];
    let read = both.channel.read(&mut both.pipe, &mut buffer).unwrap();
    assert_eq!((&buffer[..read.count], read.drained), (&b"SET a 1\r\n"[..], false));
    for _ in 0..2 {
        let error = both.channel.read(&mut both.pipe, &mut buffer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
}
