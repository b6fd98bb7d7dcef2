//! WebSockets: rows of bytes, and `tungstenite` as a judge of both directions.

use basalt_http1::{
    CloseCode, FrameKind, Incoming, MessageKind, MessageReader, Taken, write_close,
    write_frame_head,
};
use proptest::prelude::*;
use std::io::{self, Read, Write};
use tungstenite::protocol::{Role, WebSocket, WebSocketConfig};
use tungstenite::{Error, Message};

const MESSAGE_BYTES_MAX: usize = 300;

/// What a client has said.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Said {
    Text(Vec<u8>),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>, Vec<u8>),
}

/// All that was said before an error or the end, and the error.
type Outcome = (Vec<Said>, Option<CloseCode>);

/// A connection that gets its bytes in pieces.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let (mut reader, mut bytes, mut said) = (MessageReader::new(), Vec::new(), Vec::new());
    for piece in pieces {
        bytes.extend_from_slice(piece);
        loop {
            let taken = reader.take(&mut bytes, MESSAGE_BYTES_MAX);
            let Taken { incoming, payload, spent } = match taken {
                Ok(taken) => taken,
                Err(code) => return (said, Some(code)),
            };
            let payload = bytes[payload].to_vec();
            bytes.drain(spent);
            said.push(match incoming {
                Incoming::Message(MessageKind::Text) => Said::Text(payload),
                Incoming::Message(MessageKind::Binary) => Said::Binary(payload),
                Incoming::Ping => Said::Ping(payload),
                Incoming::Pong => Said::Pong(payload),
                Incoming::Close(code) => {
                    said.push(Said::Close(code.map(CloseCode::code), payload));
                    return (said, None);
                }
                Incoming::Part { wanted } => {
                    assert!(wanted > 0);
                    break;
                }
            });
        }
    }
    (said, None)
}

fn read_all_ways(bytes: &[u8]) -> Outcome {
    let whole = read([bytes]);
    for cut in 0..=bytes.len() {
        let (left, right) = bytes.split_at(cut);
        assert_eq!(read([left, right]), whole, "cut at {cut}: {}", bytes.escape_ascii());
    }
    assert_eq!(read(bytes.chunks(1)), whole, "{}", bytes.escape_ascii());
    whole
}

/// A frame as a client sends it, right or wrong.
#[derive(Clone, Debug)]
struct ClientFrame {
    /// FIN, reserved bits and opcode.
    first: u8,
    is_masked: bool,
    payload: Vec<u8>,
}

impl ClientFrame {
    fn new(first: u8, payload: &[u8]) -> ClientFrame {
        ClientFrame { first, is_masked: true, payload: payload.to_vec() }
    }

    fn bytes(&self) -> Vec<u8> {
        const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
        let (mask_bit, len) = (if self.is_masked { 0x80 } else { 0 }, self.payload.len());
        let mut bytes = vec![self.first];
        match len {
            0..=125 => bytes.push(mask_bit | len as u8),
            126..=0xffff => {
                bytes.push(mask_bit | 126);
                bytes.extend((len as u16).to_be_bytes());
            }
            _ => {
                bytes.push(mask_bit | 127);
                bytes.extend((len as u64).to_be_bytes());
            }
        }
        if self.is_masked {
            bytes.extend(MASK);
            bytes.extend(
                self.payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask),
            );
        } else {
            bytes.extend(&self.payload);
        }
        bytes
    }
}

fn frames(frames: &[(u8, &[u8])]) -> Vec<u8> {
    frames.iter().flat_map(|(first, payload)| ClientFrame::new(*first, payload).bytes()).collect()
}

#[track_caller]
fn said(bytes: &[u8], expected: &[Said]) {
    assert_eq!(read_all_ways(bytes), (expected.to_vec(), None));
}

#[track_caller]
fn refused(bytes: &[u8], code: CloseCode) {
    assert_eq!(read_all_ways(bytes), (vec![], Some(code)), "{}", bytes.escape_ascii());
}

#[test]
fn the_masked_example_of_the_rfc() {
    let bytes = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    said(&bytes, &[Said::Text(b"Hello".to_vec())]);
}

#[test]
fn fragments_are_joined_and_control_frames_come_between() {
    let bytes = frames(&[
        (0x01, b"Hel"),
        (0x89, b"are you there"),
        (0x00, b""),
        (0x8a, b""),
        (0x80, b"lo"),
        (0x82, b"\xff"),
        (0x82, b""),
    ]);
    said(
        &bytes,
        &[
            Said::Ping(b"are you there".to_vec()),
            Said::Pong(vec![]),
            Said::Text(b"Hello".to_vec()),
            Said::Binary(b"\xff".to_vec()),
            Said::Binary(vec![]),
        ],
    );
    // A character may be cut.
    said(&frames(&[(0x01, b"\xc3"), (0x80, b"\xa4")]), &[Said::Text("ä".as_bytes().to_vec())]);
}

#[test]
fn what_breaks_a_rule_is_refused() {
    let unmasked = ClientFrame { is_masked: false, ..ClientFrame::new(0x81, b"x") };
    refused(&unmasked.bytes(), CloseCode::PROTOCOL_ERROR);
    for (first, payload) in [
        (0xc1, &b"x"[..]),
        (0xa1, b"x"),
        (0x91, b"x"),
        (0x83, b""),
        (0x87, b""),
        (0x8b, b""),
        (0x8f, b""),
        (0x80, b"x"),
        (0x00, b"x"),
        (0x09, b""),
        (0x08, b""),
        (0x89, &[b'x'; 126]),
        (0x88, b"x"),
        (0x88, &999u16.to_be_bytes()),
        (0x88, &1004u16.to_be_bytes()),
        (0x88, &1005u16.to_be_bytes()),
        (0x88, &1006u16.to_be_bytes()),
        (0x88, &1015u16.to_be_bytes()),
        (0x88, &2999u16.to_be_bytes()),
        (0x88, &5000u16.to_be_bytes()),
    ] {
        refused(&frames(&[(first, payload)]), CloseCode::PROTOCOL_ERROR);
    }
    refused(&frames(&[(0x01, b"a"), (0x81, b"b")]), CloseCode::PROTOCOL_ERROR);
    refused(&frames(&[(0x02, b"a"), (0x02, b"b")]), CloseCode::PROTOCOL_ERROR);
    refused(&frames(&[(0x81, b"\xff")]), CloseCode::INVALID_PAYLOAD);
    refused(&frames(&[(0x01, b"\xc3"), (0x80, b"x")]), CloseCode::INVALID_PAYLOAD);
    refused(&frames(&[(0x88, b"\x03\xe8\xff")]), CloseCode::INVALID_PAYLOAD);
}

#[test]
fn a_length_is_said_as_shortly_as_can_be() {
    refused(&[0x82, 0xfe, 0, 125, 0, 0, 0, 0], CloseCode::PROTOCOL_ERROR);
    refused(&[0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff], CloseCode::PROTOCOL_ERROR);
    refused(&[0x82, 0xff, 0x80, 0, 0, 0, 0, 1, 0, 0], CloseCode::PROTOCOL_ERROR);
}

#[test]
fn messages_are_limited_before_they_come() {
    let most = [b'x'; MESSAGE_BYTES_MAX];
    said(&frames(&[(0x82, &most)]), &[Said::Binary(most.to_vec())]);
    said(&frames(&[(0x02, &most[5..]), (0x80, &most[..5])]), &[Said::Binary(most.to_vec())]);
    let head_of_more = &frames(&[(0x82, &[b'x'; MESSAGE_BYTES_MAX + 1])])[..8];
    refused(head_of_more, CloseCode::TOO_BIG);
    refused(&frames(&[(0x02, &most), (0x80, b"x")]), CloseCode::TOO_BIG);
    refused(&[0x82, 0xff, 0x7f, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], CloseCode::TOO_BIG);
}

#[test]
fn a_client_may_say_why_it_goes() {
    said(&frames(&[(0x88, b""), (0x81, b"x")]), &[Said::Close(None, vec![])]);
    let bytes = frames(&[(0x88, b"\x03\xe8bye")]);
    said(&bytes, &[Said::Close(Some(1000), b"bye".to_vec())]);
    for code in [1000, 1003, 1007, 1014, 3000, 4999] {
        assert_eq!(CloseCode::new(code).map(CloseCode::code), Some(code));
    }
}

#[test]
fn a_whole_part_is_wanted() {
    let bytes = ClientFrame::new(0x82, &[b'x'; 200]).bytes();
    for cut in 0..bytes.len() {
        let mut part = bytes[..cut].to_vec();
        let taken = MessageReader::new().take(&mut part, MESSAGE_BYTES_MAX).expect("good");
        let Incoming::Part { wanted } = taken.incoming else { panic!("{taken:?}") };
        assert!(wanted <= bytes.len() - cut);
        assert_eq!(part, &bytes[..cut], "what is not whole is not changed");
        assert!(taken.spent.is_empty());
    }
}

#[test]
#[should_panic(expected = "a short control frame")]
fn a_long_ping_is_never_sent() {
    write_frame_head(FrameKind::Ping, 126, &mut Vec::new());
}

/// One end of a connection for `tungstenite`.
#[derive(Debug, Default)]
struct Pipe {
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.input.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let len = self.input.len().min(buffer.len());
        self.input.drain(..len).zip(buffer).for_each(|(byte, place)| *place = byte);
        Ok(len)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn judge(role: Role, input: Vec<u8>) -> WebSocket<Pipe> {
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES_MAX));
    let config = config.max_frame_size(None);
    WebSocket::from_raw_socket(Pipe { input, output: vec![] }, role, Some(config))
}

/// What `tungstenite` reads, and whether it finds an error.
fn judged(role: Role, input: Vec<u8>) -> (Vec<Said>, bool) {
    let (mut socket, mut said) = (judge(role, input), Vec::new());
    loop {
        said.push(match socket.read() {
            Ok(Message::Text(text)) => Said::Text(text.as_bytes().to_vec()),
            Ok(Message::Binary(bytes)) => Said::Binary(bytes.to_vec()),
            Ok(Message::Ping(bytes)) => Said::Ping(bytes.to_vec()),
            Ok(Message::Pong(bytes)) => Said::Pong(bytes.to_vec()),
            Ok(Message::Close(frame)) => {
                let reason =
                    frame.as_ref().map_or(vec![], |frame| frame.reason.as_bytes().to_vec());
                said.push(Said::Close(frame.map(|frame| frame.code.into()), reason));
                return (said, false);
            }
            Ok(Message::Frame(frame)) => panic!("{frame:?}"),
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                return (said, false);
            }
            Err(_) => return (said, true),
        });
    }
}

fn client_frame() -> impl Strategy<Value = ClientFrame> {
    let first = prop_oneof![
        8 => proptest::sample::select(vec![0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x89, 0x8a]),
        1 => any::<u8>().prop_filter("closes have a test of their own", |first| first & 15 != 8),
    ];
    let payload = prop_oneof![8 => "[a-zä]{0,9}", 1 => "[a-z]{120,310}"];
    let is_masked = prop_oneof![30 => Just(true), 1 => Just(false)];
    (first, is_masked, payload).prop_map(|(first, is_masked, payload)| ClientFrame {
        first,
        is_masked,
        payload: payload.into_bytes(),
    })
}

proptest! {
    #[test]
    fn a_judge_reads_the_same(frames in proptest::collection::vec(client_frame(), 0..9)) {
        let bytes: Vec<u8> = frames.iter().flat_map(ClientFrame::bytes).collect();
        let (said, error) = read_all_ways(&bytes);
        prop_assert_eq!((said, error.is_some()), judged(Role::Server, bytes));
    }

    #[test]
    fn what_a_judge_sends_is_read(
        texts in proptest::collection::vec("\\PC{0,70}", 0..5), ping in "[a-z]{0,125}",
    ) {
        let mut socket = judge(Role::Client, vec![]);
        let mut expected = Vec::new();
        for text in texts {
            socket.write(Message::text(text.clone())).expect("sent");
            socket.write(Message::binary(text.clone().into_bytes())).expect("sent");
            expected.extend([Said::Text(text.clone().into_bytes()), Said::Binary(text.into_bytes())]);
        }
        socket.write(Message::Ping(ping.clone().into())).expect("sent");
        expected.push(Said::Ping(ping.into_bytes()));
        socket.close(None).expect("sent");
        socket.flush().expect("sent");
        expected.push(Said::Close(None, vec![]));
        prop_assert_eq!(read_all_ways(&socket.get_ref().output), (expected, None));
    }

    #[test]
    fn a_judge_reads_what_is_written(
        messages in proptest::collection::vec("[a-zä]{0,140}", 0..5), reason in "\\PC{0,130}",
    ) {
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for text in &messages {
            let text = text.as_bytes();
            for (kind, said) in [
                (FrameKind::Text, Said::Text(text.to_vec())),
                (FrameKind::Binary, Said::Binary(text.to_vec())),
                (FrameKind::Ping, Said::Ping(text.to_vec())),
                (FrameKind::Pong, Said::Pong(text.to_vec())),
            ] {
                let is_control = matches!(kind, FrameKind::Ping | FrameKind::Pong);
                if !is_control || text.len() <= 125 {
                    write_frame_head(kind, text.len(), &mut bytes);
                    bytes.extend(text);
                    expected.push(said);
                }
            }
        }
        write_close(CloseCode::POLICY, &reason, &mut bytes);
        let (mut said, is_error) = judged(Role::Client, bytes);
        let close = said.pop();
        prop_assert_eq!((said, is_error), (expected, false));
        let Some(Said::Close(Some(1008), sent)) = close else { panic!("{close:?}") };
        prop_assert!(reason.as_bytes().starts_with(&sent) && reason.len() - sent.len() <= 400);
        prop_assert!(sent.len() == reason.len() || sent.len() > 119);
    }

    #[test]
    fn any_bytes_have_one_outcome(
        heads in proptest::collection::vec(
            (any::<u8>(), any::<u8>(), proptest::collection::vec(any::<u8>(), 0..20)), 0..4,
        ),
    ) {
        let bytes: Vec<u8> = heads
            .into_iter()
            .flat_map(|(first, second, rest)| [vec![first, second | 0x80], rest].concat())
            .collect();
        read_all_ways(&bytes);
    }
}

#[test]
fn a_judge_reads_long_messages() {
    for len in [125, 126, 127, 0xffff, 0x1_0000, 1 << 20] {
        let mut bytes = Vec::new();
        write_frame_head(FrameKind::Binary, len, &mut bytes);
        bytes.resize(bytes.len() + len, b'x');
        let pipe = Pipe { input: bytes, output: vec![] };
        let mut socket = WebSocket::from_raw_socket(pipe, Role::Client, None);
        assert_eq!(socket.read().expect("good").len(), len);
    }
}
