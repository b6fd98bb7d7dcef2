//! Bytes as a server and as a client would get them.
//!
//! The input's first two bytes choose where to cut the rest. Cut or whole, the parser must see the
//! same requests and the same error; the decoder must neither panic nor change its mind when bytes
//! follow.

#![no_main]

use basalt_resp::{Arg, Front, RequestLimits, Parsed, Parser, ProtocolError, decode, encode_request};
use libfuzzer_sys::fuzz_target;

const LIMITS: RequestLimits =
    RequestLimits { args_max: 40, bulk_bytes_max: 12_000, line_bytes_max: 64, authenticated: true };

type Requests = Vec<Vec<Vec<u8>>>;

/// Takes off a request that begins with the front; returns its length.
fn take(
    parser: &Parser,
    front: &Front,
    buf: &[u8],
    start: usize,
    limits: &RequestLimits,
    args: &mut Vec<Arg>,
) -> Option<usize> {
    let taken = parser.repeats(front, limits)?.take(buf, start, args)?;
    assert_eq!(taken.first, args.get(1).copied().unwrap_or_default());
    Some(taken.end - start)
}

/// What a connection makes of its bytes, given in pieces.
fn feed<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    limits: &RequestLimits,
) -> (Requests, Option<ProtocolError>) {
    let (mut parser, mut buf, mut requests) = (Parser::new(), Vec::new(), Requests::new());
    let (mut front, mut name) = (Front::default(), Vec::new());
    for piece in pieces {
        buf.extend_from_slice(piece);
        let mut start = 0;
        let mut args = Vec::new();
        loop {
            args.clear();
            let parsed = match take(&parser, &front, &buf, start, limits, &mut args) {
                Some(consumed) => {
                    assert_eq!(args[0].of(&buf), name);
                    Ok(Parsed::Request { consumed })
                }
                None => parser.parse(&mut buf, start, limits, &mut args),
            };
            match parsed {
                Ok(Parsed::Request { consumed }) => {
                    front = Front::of(&buf, start, &args);
                    name = args[0].of(&buf).to_vec();
                    requests.push(args.iter().map(|arg| arg.of(&buf).to_vec()).collect());
                    start += consumed;
                }
                Ok(Parsed::Empty { consumed }) => start += consumed,
                Ok(Parsed::Incomplete { wanted }) => {
                    assert!(start + wanted > buf.len());
                    break;
                }
                Err(error) => return (requests, Some(error)),
            }
            assert!(start <= buf.len());
        }
        buf.drain(..start);
    }
    (requests, None)
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
    let [a, b, bytes @ ..] = input else { return };
    for limits in [LIMITS, RequestLimits { authenticated: false, ..LIMITS }] {
        let whole = feed(std::iter::once(bytes), &limits);
        let cut = feed(pieces(bytes, [*a, *b]), &limits);
        assert_eq!(whole, cut);
        if limits.authenticated {
            // What was understood means the same when said properly.
            let mut encoded = Vec::new();
            whole.0.iter().for_each(|request| encode_request(request, &mut encoded));
            let again = feed(std::iter::once(&encoded[..]), &RequestLimits::default());
            assert_eq!(again, (whole.0, None));
        }
    }
    if let Ok(Some((_, len))) = decode(bytes) {
        assert!(matches!(decode(&bytes[..len]), Ok(Some((_, again))) if again == len));
        assert_eq!(decode(&bytes[..len - 1]), Ok(None));
    }
});
