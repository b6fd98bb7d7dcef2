//! Bytes as an HTTP server would get them: requests one behind the other, or a WebSocket.
//!
//! The input's first three bytes choose which, and where to cut the rest. Cut or whole, the same
//! requests, messages and refusals must come of it, and what they contain must be read without a
//! panic: targets, entity tags, ranges, credentials.

#![no_main]

use basalt_http1::percent::{self, Plus};
use basalt_http1::{
    Authority, Body, ByteRange, ChunkedBody, CloseCode, Comparison, Credentials, ETag, ETags, Field,
    HeadLimits, HeadReader, Incoming, MessageReader, Refusal, accept_websocket, base64,
    if_range_holds, target,
};
use libfuzzer_sys::fuzz_target;

const LIMITS: HeadLimits = HeadLimits { head_bytes_max: 400, target_bytes_max: 100 };
const BODY_BYTES_MAX: usize = 300;

/// What a request is, as far as a server could act on it.
#[derive(Debug, PartialEq)]
struct Request {
    head: Vec<u8>,
    words: Vec<Result<Vec<u8>, Refusal>>,
    fields: String,
    body: Vec<u8>,
}

/// What a connection makes of its bytes, given in pieces.
fn requests<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Request>, Option<Refusal>) {
    let (mut reader, mut buf, mut requests) = (HeadReader::new(), Vec::new(), Vec::new());
    let mut chunked: Option<(Request, ChunkedBody)> = None;
    for piece in pieces {
        buf.extend_from_slice(piece);
        loop {
            if let Some((mut request, mut body)) = chunked.take() {
                let decoded = match body.decode(&mut buf, BODY_BYTES_MAX) {
                    Ok(decoded) => decoded,
                    Err(refusal) => return (requests, Some(refusal)),
                };
                buf.drain(decoded.spent);
                if decoded.wanted > 0 {
                    assert_eq!(decoded.body_bytes, buf.len(), "nothing seen is kept");
                    chunked = Some((request, body));
                    break;
                }
                request.body = buf.drain(..decoded.body_bytes).collect();
                requests.push(request);
                continue;
            }
            let head = match reader.read(&buf, &LIMITS) {
                Ok(Some(head)) => head,
                Ok(None) => break,
                Err(refusal) => {
                    assert!(refusal.closes());
                    return (requests, Some(refusal));
                }
            };
            assert_strict(&buf[..head.bytes], &head);
            let (words, fields) = (words(&head, &buf), fields(&head, &buf));
            let mut request = Request { head: buf[..head.bytes].to_vec(), words, fields, body: vec![] };
            match head.body {
                Body::Chunked => {
                    buf.drain(..head.bytes);
                    chunked = Some((request, ChunkedBody::new()));
                }
                Body::Length(length) if length > BODY_BYTES_MAX as u64 => return (requests, None),
                Body::Length(length) => {
                    let end = head.bytes + length as usize;
                    if end > buf.len() {
                        break;
                    }
                    request.body = buf[head.bytes..end].to_vec();
                    buf.drain(..end);
                    requests.push(request);
                }
            }
        }
    }
    (requests, None)
}

/// Nothing was taken that another reader could understand in another way: a reader that knows
/// nothing of HTTP but lines and colons finds one length at most, and one host.
fn assert_strict(head: &[u8], found: &basalt_http1::Head) {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n").skip_while(|line| line.is_empty()).skip(1);
    let lines: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    assert!(lines.iter().all(|line| !line.contains(['\r', '\n']) && !line.starts_with([' ', '\t'])));
    let count = |name: &str| {
        let names = lines.iter().map(|line| line.split_once(':').expect("a colon").0);
        names.filter(|found| found.trim().eq_ignore_ascii_case(name)).count()
    };
    let (lengths, codings) = (count("content-length"), count("transfer-encoding"));
    assert!(lengths + codings <= 1 && count("host") <= 1, "{head}");
    assert_eq!(found.body == Body::Chunked, codings == 1, "{head}");
}

/// The parts of a target, decoded as a server would: over the head.
fn words(head: &basalt_http1::Head, buf: &[u8]) -> Vec<Result<Vec<u8>, Refusal>> {
    let (path, query) = (head.path(), head.query());
    let segments = target::segments(&buf[path.clone()])
        .map(|range| (path.start + range.start..path.start + range.end, Plus::Itself));
    let parameters = target::parameters(&buf[query.clone()])
        .map(|found| (query.start + found.value.start..query.start + found.value.end, Plus::Space));
    let ranges: Vec<_> = segments.chain(parameters).collect();
    let (mut buf, mut at) = (buf.to_vec(), 0);
    let mut words = Vec::new();
    for (range, plus) in ranges {
        let (start, end) = (range.start, range.end);
        let word = percent::decode(&mut buf, range, at, plus).map(|len| {
            assert!(len <= end - start);
            at += len;
            buf[at - len..at].to_vec()
        });
        if let Ok(word) = &word {
            let mut encoded = Vec::new();
            percent::encode(word, &mut encoded);
            let len = encoded.len();
            assert_eq!(percent::decode(&mut encoded, 0..len, 0, plus), Ok(word.len()));
            assert_eq!(&encoded[..word.len()], word);
        }
        words.push(word);
    }
    words
}

/// What fields say.
fn fields(head: &basalt_http1::Head, buf: &[u8]) -> String {
    let value = |field| head.field(field).map_or(&b""[..], |range| &buf[range]);
    let tag = ETag::Version(7);
    let tags = ETags::parse(value(Field::IfNoneMatch));
    let is_same = tags.map(|tags| tags.include(tag, Comparison::Weak));
    let range = ByteRange::parse(value(Field::Range)).map(|range| range.and_then(|it| it.of(100)));
    assert!(!matches!(&range, Ok(Some(part)) if part.is_empty() || part.end > 100));
    let mut scratch = Vec::new();
    let credentials = Credentials::parse(value(Field::Authorization), &mut scratch);
    let origin = Authority::of_url(value(Field::Origin), "http");
    let mut text = value(Field::Cookie).to_vec();
    let decoded = base64::decode(&mut text, base64::Alphabet::Url);
    if let Ok(len) = decoded {
        let mut again = Vec::new();
        base64::encode(&text[..len], base64::Alphabet::Url, &mut again);
        assert_eq!(again, value(Field::Cookie));
    }
    let part = if_range_holds(value(Field::IfRange), tag);
    let socket = accept_websocket(head, buf);
    format!("{is_same:?} {range:?} {credentials:?} {origin:?} {decoded:?} {part} {socket:?}")
}

/// What a WebSocket makes of its bytes, given in pieces.
fn messages<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<(Incoming, Vec<u8>)>, Option<CloseCode>) {
    let (mut reader, mut buf, mut messages) = (MessageReader::new(), Vec::new(), Vec::new());
    for piece in pieces {
        buf.extend_from_slice(piece);
        loop {
            let taken = match reader.take(&mut buf, BODY_BYTES_MAX) {
                Ok(taken) => taken,
                Err(code) => return (messages, Some(code)),
            };
            let payload = buf[taken.payload].to_vec();
            buf.drain(taken.spent);
            if let Incoming::Part { wanted } = taken.incoming {
                assert!(wanted > 0);
                break;
            }
            messages.push((taken.incoming, payload));
        }
    }
    (messages, None)
}

/// Pieces of lengths that follow from `seed`, from one byte to about two hundred.
fn pieces(mut bytes: &[u8], seed: [u8; 2]) -> impl Iterator<Item = &[u8]> {
    let mut state = u32::from(u16::from_le_bytes(seed)) | 1 << 16;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let len = 1 + (state >> 24) as usize % (1 + usize::from(seed[0] % 200));
        let (piece, rest) = bytes.split_at(len.min(bytes.len()));
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

fuzz_target!(|input: &[u8]| {
    let [kind, a, b, bytes @ ..] = input else { return };
    if kind % 2 == 0 {
        assert_eq!(requests(std::iter::once(bytes)), requests(pieces(bytes, [*a, *b])));
    } else {
        assert_eq!(messages(std::iter::once(bytes)), messages(pieces(bytes, [*a, *b])));
    }
});
