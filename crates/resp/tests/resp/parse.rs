//! Requests: every table row is parsed whole, cut at every byte, and byte by byte, with the same
//! outcome.

use basalt_resp::{Arg, Front, Parsed, Parser, ProtocolError, RequestLimits, encode_request};
use proptest::prelude::*;

/// What a connection made of its bytes: the requests, the error that closed it, and the bytes left
/// over.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    requests: Vec<Vec<Vec<u8>>>,
    error: Option<ProtocolError>,
    bytes_left: usize,
}

/// Takes off a request that begins with the front; returns its length.
fn take(
    parser: &Parser,
    front: &Front,
    buf: &[u8],
    start: usize,
    limits: &RequestLimits,
    args: &mut Vec<Arg>,
) -> Option<usize> {
    let before = args.len();
    let taken = parser.repeats(front, limits)?.take(buf, start, args)?;
    assert_eq!(taken.first, args.get(before + 1).copied().unwrap_or_default());
    Some(taken.end - start)
}

/// A connection that gets its bytes in pieces and, like a server, moves what is left to the front
/// of its buffer, and looks whether a request begins as the one before.
fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: &RequestLimits) -> Outcome {
    let (mut parser, mut buf, mut outcome) = (Parser::new(), Vec::new(), Outcome::default());
    let (mut front, mut name) = (Front::default(), Vec::new());
    for piece in pieces {
        buf.extend_from_slice(piece);
        let (mut start, mut args, mut ends) = (0, Vec::new(), Vec::new());
        let stopped = loop {
            let args_before = args.len();
            let parsed = match take(&parser, &front, &buf, start, limits, &mut args) {
                Some(consumed) => {
                    assert_eq!(args[args_before].of(&buf), name, "the first argument is the same");
                    Ok(Parsed::Request { consumed })
                }
                None => parser.parse(&mut buf, start, limits, &mut args),
            };
            if !matches!(parsed, Ok(Parsed::Request { .. })) {
                assert_eq!(args.len(), args_before, "arguments of no request");
            }
            match parsed {
                Ok(Parsed::Request { consumed }) => {
                    assert!(args.len() > args_before && consumed > 0);
                    ends.push(args.len());
                    front = Front::of(&buf, start, &args[args_before..]);
                    name = args[args_before].of(&buf).to_vec();
                    start += consumed;
                }
                Ok(Parsed::Empty { consumed }) => start += consumed,
                Ok(Parsed::Incomplete { wanted }) => {
                    assert!(start + wanted > buf.len(), "wants bytes that it has");
                    break None;
                }
                Err(error) => break Some(error),
            }
        };
        let mut first = 0;
        for end in ends {
            outcome
                .requests
                .push(args[first..end].iter().map(|arg| arg.of(&buf).to_vec()).collect());
            first = end;
        }
        buf.drain(..start);
        if stopped.is_some() {
            outcome.error = stopped;
            return outcome;
        }
    }
    outcome.bytes_left = buf.len();
    outcome
}

/// Feeds `bytes` whole, in two pieces cut at every byte, and byte by byte.
fn feed_in_every_way(bytes: &[u8], limits: &RequestLimits) -> Outcome {
    let whole = feed([bytes], limits);
    let single = feed(bytes.chunks(1), limits);
    assert_eq!((&whole.requests, whole.error), (&single.requests, single.error));
    for at in 0..bytes.len() {
        let (front, back) = bytes.split_at(at);
        let cut = feed([front, back], limits);
        assert_eq!(
            (&whole.requests, whole.error),
            (&cut.requests, cut.error),
            "{} | {}",
            front.escape_ascii(),
            back.escape_ascii()
        );
    }
    whole
}

const TINY: RequestLimits =
    RequestLimits { args_max: 12, bulk_bytes_max: 20_000, line_bytes_max: 32, authenticated: true };
const STRANGER: RequestLimits = RequestLimits { authenticated: false, ..TINY };

#[test]
fn requests_are_taken_apart() {
    let long = [&b"*2\r\n$1\r\na\r\n$12345\r\n"[..], &[b'v'; 12345], b"\r\nPING\r\n"].concat();
    type Requests<'a> = &'a [&'a [&'a [u8]]];
    let cases: &[(&[u8], Requests<'_>)] = &[
        (b"", &[]),
        (b"*1\r\n$4\r\nPING\r\n", &[&[b"PING"]]),
        (b"*2\r\n$3\r\nGET\r\n$0\r\n\r\n", &[&[b"GET", b""]]),
        (b"*3\r\n$3\r\nSET\r\n$16\r\n0123456789abcdef\r\n$1\r\nv\r\n", &[&[b"SET", b"0123456789abcdef", b"v"]]),
        (b"*2\r\n$100\r\n", &[]),
        (b"*1\r\n$2\r\n\r\n\r\n*1\r\n$1\r\n$\r\n", &[&[b"\r\n"], &[b"$"]]),
        (b"*1\r\n$4\r\nPING\r\nPING\r\n*1\r\n$4\r\nPING\r\n", &[&[b"PING"], &[b"PING"], &[b"PING"]]),
        (b"\r\n\n  \r\n*0\r\n*-1\r\n*-5\r\nPING\n", &[&[b"PING"]]),
        (b"PING\r\r\n", &[&[b"PING"]]),
        (br#"set k "\x00 b" 'it\'s'"#, &[]),
        (b"set k \"\\x00 b\" 'it\\'s'\r\nget k\n", &[&[b"set", b"k", b"\0 b", b"it's"], &[b"get", b"k"]]),
        (b"\"\"\n", &[&[b""]]),
        // Line ends are skipped unseen.
        (b"*1\r\n$4\r\nPINGxx*1\rx$4\r?PING..", &[&[b"PING"], &[b"PING"]]),
        (b"*12\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n$1\r\n5\r\n$1\r\n6\r\n$1\r\n7\r\n$1\r\n8\r\n$1\r\n9\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n",
            &[&[b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"a", b"b", b"c"]]),
        (&long, &[&[b"a", &[b'v'; 12345]], &[b"PING"]]),
    ];
    for (bytes, expected) in cases {
        let outcome = match bytes.len() < 1000 {
            true => feed_in_every_way(bytes, &TINY),
            false => feed(bytes.chunks(7), &TINY),
        };
        assert_eq!(outcome.error, None, "{}", bytes.escape_ascii());
        assert_eq!(outcome.requests, *expected, "{}", bytes.escape_ascii());
    }
}

/// Each text was compared with redis-server 7.0, where Redis' own limits apply.
#[test]
fn every_error_has_the_words_of_redis() {
    let ones = "1".repeat(33);
    let cases: &[(RequestLimits, String, &str)] = &[
        (TINY, "*03\r\n".into(), "invalid multibulk length"),
        (TINY, "*+3\r\n".into(), "invalid multibulk length"),
        (TINY, "*-0\r\n".into(), "invalid multibulk length"),
        (TINY, "*-\r\n".into(), "invalid multibulk length"),
        (TINY, "*\r\n".into(), "invalid multibulk length"),
        (TINY, "* 3\r\n".into(), "invalid multibulk length"),
        (TINY, "*x\r\n".into(), "invalid multibulk length"),
        (TINY, "*3\n$3\r\nGET\r\n".into(), "invalid multibulk length"),
        (TINY, "*13\r\n".into(), "invalid multibulk length"),
        (TINY, "*99999999999999999999\r\n".into(), "invalid multibulk length"),
        (STRANGER, "*13\r\n".into(), "invalid multibulk length"),
        (STRANGER, "*11\r\n".into(), "unauthenticated multibulk length"),
        (TINY, "*1\r\nfoo\r\n".into(), "expected '$', got 'f'"),
        (TINY, "*2\r\n$4\r\nECHO\r\n:1\r\n".into(), "expected '$', got ':'"),
        (TINY, "*1\r\n$-1\r\n".into(), "invalid bulk length"),
        (TINY, "*1\r\n$x\r\n".into(), "invalid bulk length"),
        (TINY, "*1\r\n$\r\n".into(), "invalid bulk length"),
        (TINY, "*1\r\n$04\r\nPING\r\n".into(), "invalid bulk length"),
        (TINY, "*1\r\n$00\r\n\r\n".into(), "invalid bulk length"),
        (TINY, "*1\r\n$20001\r\n".into(), "invalid bulk length"),
        (TINY, "*1\r\n$18446744073709551615\r\n".into(), "invalid bulk length"),
        (STRANGER, "*1\r\n$20001\r\n".into(), "invalid bulk length"),
        (STRANGER, "*1\r\n$16385\r\n".into(), "unauthenticated bulk length"),
        (TINY, format!("*{ones}"), "too big mbulk count string"),
        (TINY, format!("*1\r\n${ones}"), "too big bulk count string"),
        (TINY, format!("*1\r\n{ones}"), "too big bulk count string"),
        (TINY, ones.clone(), "too big inline request"),
        (TINY, format!("{ones}\r\n"), "too big inline request"),
        (TINY, "echo \"a\"b\r\n".into(), "unbalanced quotes in request"),
        (TINY, "echo 'abc\r\n".into(), "unbalanced quotes in request"),
    ];
    for (limits, bytes, expected) in cases {
        // What comes before an error counts, and does not change it.
        for front in ["", "PING\r\n", "*1\r\n$4\r\nPING\r\n"] {
            let outcome = feed_in_every_way(format!("{front}{bytes}").as_bytes(), limits);
            let error = outcome.error.unwrap_or_else(|| panic!("{bytes:?} is no error"));
            assert_eq!(error.to_string(), format!("Protocol error: {expected}"), "{bytes:?}");
            assert_eq!(outcome.requests.len(), usize::from(!front.is_empty()));
        }
    }
}

#[test]
fn limits_are_inclusive() {
    let cases: &[(RequestLimits, Vec<u8>)] = &[
        (TINY, [b"*1\r\n$20000\r\n", &[b'v'; 20_000][..], b"\r\n"].concat()),
        (STRANGER, [b"*1\r\n$16384\r\n", &[b'v'; 16_384][..], b"\r\n"].concat()),
        (STRANGER, [&b"*10\r\n"[..], &b"$1\r\nv\r\n".repeat(10)].concat()),
        (TINY, [&b"*12\r\n"[..], &b"$1\r\nv\r\n".repeat(12)].concat()),
        (TINY, [&[b'v'; 32][..], b"\n"].concat()),
    ];
    for (limits, bytes) in cases {
        let outcome = feed([&bytes[..]], limits);
        assert_eq!((outcome.requests.len(), outcome.error, outcome.bytes_left), (1, None, 0));
    }
    let limits = RequestLimits { bulk_bytes_max: 5, ..TINY };
    let error = feed([&b"*1\r\n$6\r\nfoobar\r\n"[..]], &limits).error;
    assert_eq!(error, Some(ProtocolError::InvalidBulkLength));
}

/// Requests that begin alike, with names and counts on both sides of what a front can hold.
#[test]
fn requests_that_begin_as_the_one_before_are_parsed_alike() {
    for name_bytes in 1..40 {
        for args in [1, 2, 3, 9, 10, 11] {
            let request = |end: u8, value: &[u8]| {
                let mut name = vec![b'n'; name_bytes - 1];
                name.push(end);
                let mut words = vec![name];
                words.resize(args, value.to_vec());
                words
            };
            let requests = [
                request(b'a', b""),
                request(b'a', b"v"),
                request(b'b', b"$1\r\n1"),
                request(b'b', &[b'v'; 40]),
                request(b'a', b"v"),
            ];
            let mut bytes = Vec::new();
            requests.iter().for_each(|request| encode_request(request, &mut bytes));
            let expected = Outcome { requests: requests.into(), ..Outcome::default() };
            assert_eq!(feed([&bytes[..]], &RequestLimits::default()), expected);
            assert_eq!(feed(bytes.chunks(5), &RequestLimits::default()), expected);
        }
    }
}

#[test]
fn a_front_is_known_again_within_the_limits() {
    let parse_after = |front: &Front, bytes: &[u8], limits| {
        take(&Parser::new(), front, bytes, 0, limits, &mut Vec::new())
    };
    let request = b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
    let words = [Arg { start: 8, len: 3 }, Arg { start: 17, len: 3 }];
    let front = Front::of(request, 0, &words);
    assert_eq!(parse_after(&front, request, &TINY), Some(request.len()));
    assert_eq!(parse_after(&front, &request[..request.len() - 1], &TINY), None);
    assert_eq!(parse_after(&front, b"*2\r\n$3\r\nSET\r\n$3\r\nkey\r\n", &TINY), None);
    assert_eq!(parse_after(&front, request, &RequestLimits { args_max: 1, ..TINY }), None);
    assert_eq!(parse_after(&front, request, &STRANGER), None);
    assert_eq!(parse_after(&Front::default(), &[0; 64], &TINY), None);
    assert_eq!(parse_after(&Front::of(b"GET key\r\n......", 0, &words[..1]), request, &TINY), None);
}

/// Unquoting puts the name where the request began, so it may look like another kind of request.
#[test]
fn an_inline_request_is_no_front_whatever_its_name() {
    let (mut parser, mut words) = (Parser::new(), Vec::new());
    let mut bytes = b"\"*\"\n**\"\r\n.............................".to_vec();
    let parsed = parser.parse(&mut bytes, 0, &RequestLimits::default(), &mut words);
    assert_eq!(parsed, Ok(Parsed::Request { consumed: 4 }));
    assert_eq!(words[0].of(&bytes), b"*");
    let front = Front::of(&bytes, 0, &words);
    let again = take(&parser, &front, &bytes, 4, &RequestLimits::default(), &mut words);
    assert_eq!(again, None);
    let error = parser.parse(&mut bytes, 4, &RequestLimits::default(), &mut words);
    assert_eq!(error, Err(ProtocolError::InvalidMultibulkLength));
}

/// A caller that reads exactly as much as is wanted calls a bounded number of times.
#[test]
fn wanted_is_exact_for_payloads() {
    let value = vec![b'v'; 1_000_000];
    let mut bytes = Vec::new();
    encode_request(&[&b"SET"[..], b"k", &value], &mut bytes);
    let (mut parser, mut args, mut have, mut calls) = (Parser::new(), Vec::new(), 0, 0);
    let mut buf = b"ignored".to_vec();
    loop {
        calls += 1;
        match parser.parse(&mut buf, 7, &RequestLimits::default(), &mut args).unwrap() {
            Parsed::Incomplete { wanted } => {
                assert!(wanted <= bytes.len() && parser.is_resuming() == (have > 0));
                buf.extend_from_slice(&bytes[have..wanted]);
                have = wanted;
            }
            Parsed::Request { consumed } => {
                assert_eq!(consumed, bytes.len());
                break;
            }
            Parsed::Empty { .. } => unreachable!("the request has arguments"),
        }
    }
    assert!(calls < 30, "{calls}");
    assert_eq!(args.len(), 3);
    assert_eq!(args[2], Arg { start: 7 + bytes.len() - 1_000_002, len: 1_000_000 });
}

/// Were a cut request scanned again with every piece, this would take hours, not a second.
#[test]
fn a_request_in_a_million_pieces_is_not_scanned_again() {
    let args: Vec<Vec<u8>> = (0..300_000).map(|n: u32| n.to_string().into_bytes()).collect();
    let mut bytes = Vec::new();
    encode_request(&args, &mut bytes);
    bytes.extend([b'x'; 60_000]);
    bytes.extend(b"\r\n");
    let (mut parser, mut taken, mut buf, mut start) = (Parser::new(), Vec::new(), Vec::new(), 0);
    for &byte in &bytes {
        buf.push(byte);
        match parser.parse(&mut buf, start, &RequestLimits::default(), &mut taken).unwrap() {
            Parsed::Request { consumed } => start += consumed,
            other => assert!(matches!(other, Parsed::Incomplete { .. })),
        }
    }
    assert_eq!(start, buf.len());
    assert_eq!(taken.len(), args.len() + 1);
    assert!(taken.iter().zip(&args).all(|(taken, arg)| taken.of(&buf) == arg));
}

fn request() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let len =
        prop_oneof![8 => 0..20usize, 2 => 90..110usize, 1 => 990..1010usize, 1 => 9990..10010usize];
    let arg = (len, any::<u8>())
        .prop_map(|(len, seed)| (0..len).map(|n| seed.wrapping_add(n as u8)).collect());
    prop::collection::vec(arg, 1..15)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_encoded_is_parsed(requests in prop::collection::vec(request(), 0..6), piece_bytes in 1..40_000usize) {
        let mut bytes = Vec::new();
        for request in &requests {
            encode_request(request, &mut bytes);
        }
        let outcome = feed(bytes.chunks(piece_bytes), &RequestLimits::default());
        prop_assert_eq!(outcome, Outcome { requests, error: None, bytes_left: 0 });
    }

    #[test]
    fn any_bytes_mean_the_same_however_they_are_cut(
        bytes in prop::collection::vec(prop::sample::select(&b"*$0123-\r\n\r\n\r\n \"'\\xaP\0\xff"[..]), 0..60),
    ) {
        feed_in_every_way(&bytes, &TINY);
        feed_in_every_way(&[b"*2\r\n$1\r\n", &bytes[..]].concat(), &STRANGER);
    }
}
