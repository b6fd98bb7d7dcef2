//! Chunked bodies: every row is decoded whole, cut at every byte, and byte by byte, with the same
//! outcome.

use basalt_http1::{ChunkedBody, Decoded, Refusal};
use proptest::prelude::*;

/// The body and what follows it; `None` if it is not whole.
type Outcome = Result<Option<(Vec<u8>, Vec<u8>)>, Refusal>;

/// A connection that gets its bytes in pieces.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, body_bytes_max: usize) -> Outcome {
    let (mut decoder, mut bytes) = (ChunkedBody::new(), Vec::new());
    let mut pieces = pieces.into_iter();
    while let Some(piece) = pieces.next() {
        bytes.extend_from_slice(piece);
        let Decoded { body_bytes, spent, wanted } = decoder.decode(&mut bytes, body_bytes_max)?;
        assert_eq!(body_bytes, spent.start);
        bytes.drain(spent);
        if wanted == 0 {
            let mut rest = bytes.split_off(body_bytes);
            pieces.for_each(|piece| rest.extend_from_slice(piece));
            return Ok(Some((bytes, rest)));
        }
        assert_eq!(body_bytes, bytes.len(), "what has been seen is not kept");
        assert!(body_bytes <= body_bytes_max);
    }
    Ok(None)
}

fn decode_all_ways(bytes: &[u8], body_bytes_max: usize) -> Outcome {
    let whole = decode([bytes], body_bytes_max);
    for cut in 0..=bytes.len() {
        let (left, right) = bytes.split_at(cut);
        let cut_there = decode([left, right], body_bytes_max);
        assert_eq!(cut_there, whole, "cut at {cut}: {}", bytes.escape_ascii());
    }
    assert_eq!(decode(bytes.chunks(1), body_bytes_max), whole, "{}", bytes.escape_ascii());
    whole
}

#[track_caller]
fn good(text: &str, body: &str, rest: &str) {
    let expected = Some((body.as_bytes().to_vec(), rest.as_bytes().to_vec()));
    assert_eq!(decode_all_ways(text.as_bytes(), 100), Ok(expected), "{text:?}");
}

#[track_caller]
fn refused(text: &str, refusal: Refusal) {
    assert_eq!(decode_all_ways(text.as_bytes(), 100), Err(refusal), "{text:?}");
    assert!(refusal.closes());
}

#[test]
fn chunks_are_joined() {
    good("0\r\n\r\n", "", "");
    good("5\r\nabcde\r\n2\r\nfg\r\n0\r\n\r\nGET /", "abcdefg", "GET /");
    good("0A\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n0\r\n\r\n", "");
    good("0000000000000001\r\nx\r\n000\r\n\r\n\r\n", "x", "\r\n");
}

#[test]
fn extensions_and_trailers_are_dropped() {
    good("1;a;b=\"c\t\u{e4}\"\r\nx\r\n0;\r\n\r\n", "x", "");
    good("1\r\nx\r\n0\r\nA: b\r\nContent-Length: 9\r\n\r\nrest", "x", "rest");
}

#[test]
fn what_is_no_chunk_is_refused() {
    for text in [
        "\r\n",
        ";a\r\n",
        "g\r\n",
        "-1\r\nx",
        "0x1\r\nx",
        "1 \r\nx",
        " 1\r\nx",
        "1 ;a\r\nx",
        "1\nx",
        "1\rx",
        "1;a\nx",
        "1;a\rb",
        "1;\0\r\n",
        "1\r\nxy",
        "1\r\nx\n",
        "1\r\nx\r\r",
        "1\r\nx\r\n\r\n",
        "0\r\nA: b\n",
        "0\r\nA: b\rc",
        "0\r\n\rx",
        "0\r\nA\0",
        "00000000000000001\r\nx",
    ] {
        refused(text, Refusal::ChunkMalformed);
    }
}

#[test]
fn bodies_extensions_and_trailers_are_limited() {
    let x = |count: usize| "x".repeat(count);
    good(&format!("64\r\n{}\r\n0\r\n\r\n", x(100)), &x(100), "");
    refused("65\r\n", Refusal::BodyTooLarge);
    refused(&format!("60\r\n{}\r\n5\r\n", x(96)), Refusal::BodyTooLarge);
    refused("ffffffffffffffff\r\n", Refusal::BodyTooLarge);
    good(&format!("1;{}\r\nx\r\n1;{}\r\ny\r\n0\r\n\r\n", x(255), x(255)), "xy", "");
    refused(&format!("1;{}", x(256)), Refusal::ExtensionTooLong);
    let trailers =
        |bytes: usize| format!("0\r\n{}\r\n{}\r\n\r\n", x(bytes / 2), x(bytes - bytes / 2));
    let decode = |text: &str| decode([text.as_bytes()], 100).map(|body| body.is_some());
    assert_eq!(decode(&trailers(4096)), Ok(true));
    assert_eq!(decode(&trailers(4097)), Err(Refusal::TrailerTooLong));
}

#[test]
fn what_is_wanted_is_what_is_missing_at_least() {
    let text = b"3\r\nabc\r\n0\r\n\r\n";
    for cut in 0..text.len() {
        let mut bytes = text[..cut].to_vec();
        let wanted = ChunkedBody::new().decode(&mut bytes, 100).expect("good").wanted;
        assert!((1..=text.len() - cut).contains(&wanted), "{wanted} at {cut}");
    }
}

proptest! {
    #[test]
    fn what_was_cut_into_chunks_is_found_again(
        chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..20), 0..8),
        rest in proptest::collection::vec(any::<u8>(), 0..5),
    ) {
        let mut bytes = Vec::new();
        for chunk in &chunks {
            bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
            bytes.extend(chunk);
            bytes.extend(b"\r\n");
        }
        bytes.extend(b"0\r\n\r\n");
        bytes.extend(&rest);
        prop_assert_eq!(decode_all_ways(&bytes, 1000), Ok(Some((chunks.concat(), rest))));
    }

    #[test]
    fn any_bytes_have_one_outcome(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec!["1", "2", "0", "\r\n", "\r\n", "\n", "x", ";", "ff"]), 0..30,
        ),
    ) {
        let _ = decode_all_ways(pieces.concat().as_bytes(), 30);
    }
}
