//! Handshakes, and what is said after them.

use crate::authority::{Authority, server};
use crate::pipe::Pipe;
use basalt_tls::{Channel, Handshake, ReadBytes, ServerTls};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::sync::Arc;

/// A client of rustls, a server's channel, and the socket between them.
pub(crate) struct Both {
    pub(crate) client: ClientConnection,
    pub(crate) channel: Channel,
    pub(crate) pipe: Pipe,
    /// What the client has got.
    pub(crate) got: Vec<u8>,
}

impl Both {
    pub(crate) fn new(server: &ServerTls, client: ClientConfig) -> Both {
        let name = "localhost".try_into().unwrap();
        let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
        client.set_buffer_limit(None);
        let channel = Channel::new(server).unwrap();
        Both { client, channel, pipe: Pipe::default(), got: Vec::new() }
    }

    /// Lets the client send and receive what it can.
    pub(crate) fn client_turn(&mut self) -> Result<(), rustls::Error> {
        while self.client.wants_write() {
            self.client.write_tls(&mut self.pipe.to_server).unwrap();
        }
        while !self.pipe.to_client.is_empty() {
            self.client.read_tls(&mut self.pipe.to_client).unwrap();
            self.client.process_new_packets()?;
            let mut bytes = [0; 65536];
            while let Ok(count @ 1..) = self.client.reader().read(&mut bytes) {
                self.got.extend_from_slice(&bytes[..count]);
            }
        }
        Ok(())
    }

    /// Shakes hands until both are through.
    pub(crate) fn shake_hands(&mut self) -> io::Result<()> {
        for _ in 0..100_000 {
            self.client_turn().map_err(io::Error::other)?;
            let is_done = self.channel.shake_hands(&mut self.pipe)? == Handshake::Done;
            if is_done && !self.client.is_handshaking() {
                return Ok(());
            }
        }
        panic!("it does not end");
    }

    /// Reads what is there for the server, into buffers of this size.
    pub(crate) fn read_all(&mut self, buffer_bytes: usize) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let mut buffer = vec![0; buffer_bytes];
        loop {
            match self.channel.read(&mut self.pipe, &mut buffer) {
                Ok(ReadBytes { count: 0, .. }) => return Ok(all),
                Ok(ReadBytes { count, .. }) => all.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.pipe.to_server.is_empty() {
                        return Ok(all);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Has the server say something, and the client take it.
    pub(crate) fn say(&mut self, slices: &[&[u8]]) {
        let whole = slices.concat();
        let mut sent = 0;
        while sent < whole.len() {
            let mut rest = sent;
            let mut left = Vec::new();
            for slice in slices {
                left.push(IoSlice::new(&slice[rest.min(slice.len())..]));
                rest -= rest.min(slice.len());
            }
            left.retain(|slice| !slice.is_empty());
            match self.channel.write(&mut self.pipe, &left) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.client_turn().unwrap(),
                Err(error) => panic!("{error}"),
            }
        }
        self.client_turn().unwrap();
    }
}

fn letters(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 31 + at / 251) as u8).collect()
}

#[test]
fn bytes_come_through_whatever_the_socket_gives_at_once() {
    let authority = Authority::new();
    let server = server(&authority.settings());
    for version in [&TLS12, &TLS13] {
        for step in [1, 2, 3, 5, 17, 1000, usize::MAX] {
            let mut client = authority.client(None);
            client.enable_early_data = false;
            let provider = Arc::clone(client.crypto_provider());
            let client = ClientConfig::builder_with_provider(provider)
                .with_protocol_versions(&[version])
                .unwrap()
                .with_root_certificates(authority.roots())
                .with_no_client_auth();
            let mut both = Both::new(&server, client);
            both.pipe.step = step;
            both.shake_hands().unwrap();
            let request = letters(40_000);
            both.client.writer().write_all(&request[..5]).unwrap();
            both.client.writer().write_all(&request[5..]).unwrap();
            both.client_turn().unwrap();
            assert!(both.read_all(16 << 10).unwrap() == request, "{step}");
            both.say(&[b"+OK\r\n", &request, b"\r\n"]);
            assert!(both.got == [b"+OK\r\n", &request[..], b"\r\n"].concat(), "{step}");
        }
    }
}

#[test]
fn one_record_is_written_plainly_and_several_together() {
    let authority = Authority::new();
    let mut both = Both::new(&server(&authority.settings()), authority.client(None));
    both.shake_hands().unwrap();
    both.pipe.lists_written = 0;
    both.say(&[b"$5\r\n", b"hello", b"\r\n"]);
    assert_eq!(both.pipe.lists_written, 0);
    both.say(&[&letters(40_000)]);
    assert!(both.pipe.lists_written > 0);
}

#[test]
fn a_record_that_is_cut_anywhere_is_read_whole() {
    let authority = Authority::new();
    let mut both = Both::new(&server(&authority.settings()), authority.client(None));
    both.shake_hands().unwrap();
    let mut expected = Vec::new();
    for cut in 0..120 {
        let request = letters(60 + cut % 7);
        both.client.writer().write_all(&request).unwrap();
        expected.extend_from_slice(&request);
        let mut records = Vec::new();
        both.client.write_tls(&mut records).unwrap();
        let at = cut.min(records.len());
        both.pipe.to_server.extend(&records[..at]);
        let mut got = both.read_all(16 << 10).unwrap();
        both.pipe.to_server.extend(&records[at..]);
        got.extend(both.read_all(16 << 10).unwrap());
        assert_eq!(got, request, "{cut}");
    }
}

/// Plaintext that finds no room in the buffer that its record came with stays, and is not lost.
#[test]
fn small_buffers_lose_nothing_and_say_that_there_is_more() {
    let authority = Authority::new();
    let mut both = Both::new(&server(&authority.settings()), authority.client(None));
    both.shake_hands().unwrap();
    let request = letters(16 << 10);
    for buffer_bytes in [1, 7, 100, 4096, 16 << 10, 20_000] {
        for _ in 0..3 {
            both.client.writer().write_all(&request).unwrap();
            both.client.writer().write_all(b"tail").unwrap();
        }
        both.client_turn().unwrap();
        let mut buffer = vec![0; buffer_bytes];
        let mut all = Vec::new();
        // As a connection does it: a drained stream is not read before the poll reports it.
        loop {
            match both.channel.read(&mut both.pipe, &mut buffer) {
                Ok(ReadBytes { count, drained }) => {
                    all.extend_from_slice(&buffer[..count]);
                    if drained {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        let expected = [&request[..], b"tail"].concat().repeat(3);
        assert!(all == expected, "{buffer_bytes}: {} of {}", all.len(), expected.len());
    }
}

#[test]
fn sixteen_megabytes_go_both_ways_with_little_memory_between() {
    let authority = Authority::new();
    let mut both = Both::new(&server(&authority.settings()), authority.client(None));
    both.shake_hands().unwrap();
    let big = letters(16 << 20);
    let mut got = Vec::new();
    for part in big.chunks(1 << 20) {
        both.client.writer().write_all(part).unwrap();
        both.client_turn().unwrap();
        got.extend(both.read_all(256 << 10).unwrap());
    }
    assert!(got == big);
    both.pipe.room = 50_000;
    both.say(&[b"$16777216\r\n", &big, b"\r\n"]);
    assert!(both.got == [b"$16777216\r\n", &big[..], b"\r\n"].concat());
}

/// What the socket took in part is not said to be sent before all of it is, and is sent once.
#[test]
fn a_write_that_blocks_is_taken_up_again() {
    let authority = Authority::new();
    let mut both = Both::new(&server(&authority.settings()), authority.client(None));
    both.shake_hands().unwrap();
    both.client_turn().unwrap();
    both.pipe.room = 10;
    let reply = letters(1000);
    let error = both.channel.write(&mut both.pipe, &[IoSlice::new(&reply)]).unwrap_err();
    assert_eq!((error.kind(), both.pipe.to_client.len()), (ErrorKind::WouldBlock, 10));
    both.pipe.room = usize::MAX;
    // More has come behind it meanwhile.
    let slices = [IoSlice::new(&reply), IoSlice::new(b"more")];
    assert_eq!(both.channel.write(&mut both.pipe, &slices).unwrap(), 1000);
    both.client_turn().unwrap();
    assert_eq!(both.got, reply);
    both.pipe.room = 0;
    let _ = both.channel.write(&mut both.pipe, &[IoSlice::new(b"lost")]).unwrap_err();
    both.channel.forget_accepted();
    both.pipe.room = usize::MAX;
    assert_eq!(both.channel.write(&mut both.pipe, &[IoSlice::new(b"-ERR\r\n")]).unwrap(), 6);
    both.client_turn().unwrap();
    assert!(both.got.ends_with(b"lost-ERR\r\n"));
}

#[test]
fn both_sides_say_that_they_end() {
    let authority = Authority::new();
    let server = server(&authority.settings());
    let mut both = Both::new(&server, authority.client(None));
    both.shake_hands().unwrap();
    both.channel.close(&mut both.pipe);
    both.client_turn().unwrap();
    let mut byte = [0];
    assert_eq!(both.client.reader().read(&mut byte).unwrap(), 0, "an end, and no break");

    let mut both = Both::new(&server, authority.client(None));
    both.shake_hands().unwrap();
    both.client.writer().write_all(b"QUIT").unwrap();
    both.client.send_close_notify();
    both.client_turn().unwrap();
    let mut buffer = [0; 100];
    let read = both.channel.read(&mut both.pipe, &mut buffer).unwrap();
    assert_eq!(read, ReadBytes { count: 4, drained: false }, "the end is still to be read");
    assert_eq!(both.channel.read(&mut both.pipe, &mut buffer).unwrap().count, 0);
    both.pipe.has_ended = true;
    assert_eq!(both.channel.read(&mut both.pipe, &mut buffer).unwrap().count, 0);
}

#[test]
fn sessions_are_resumed_where_they_are_kept() {
    let authority = Authority::new();
    for (is_kept, version) in [(true, &TLS12), (true, &TLS13), (false, &TLS12), (false, &TLS13)] {
        let mut settings = authority.settings();
        if !is_kept {
            settings.sessions_max = None;
        }
        let server = server(&settings);
        let provider = Arc::clone(authority.client(None).crypto_provider());
        let client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(authority.roots())
            .with_no_client_auth();
        let mut kinds = Vec::new();
        for _ in 0..2 {
            let mut both = Both::new(&server, client.clone());
            both.shake_hands().unwrap();
            both.client_turn().unwrap();
            kinds.push(both.client.handshake_kind().unwrap());
        }
        let is_resumed = kinds[1] == rustls::HandshakeKind::Resumed;
        assert_eq!(is_resumed, is_kept, "{kinds:?} {version:?}");
    }
}
