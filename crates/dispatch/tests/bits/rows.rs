//! Bits of many requests that come together, which are prefetched.

use crate::harness::TestServer;
use basalt_resp::encode_request;

/// Offsets of which most are none: `N` is a number that changes.
const OFFSETS: [&str; 13] = [
    "N",
    "N00",
    "NN",
    "-1",
    "-9223372036854775808",
    "9223372036854775807",
    "18446744073709551616",
    "4294967296",
    "9999999",
    "1.5",
    "x",
    "",
    "1 2 3 4",
];

/// Of each form, and one that is not there.
const KEYS: [&str; 5] = ["long", "short", "number", "set", "absent"];

fn server() -> TestServer {
    let mut server = TestServer::new();
    server.run(&[b"SET", &b"long"[..], &[b'a'; 100_000]]);
    for line in ["SET short abc", "SET number 12", "SADD set a"] {
        server.line(line);
    }
    server
}

fn requests() -> Vec<u8> {
    let mut input = Vec::new();
    for number in 1..40 {
        for offset in OFFSETS {
            let offset = offset.replace('N', &number.to_string());
            for key in KEYS {
                for (name, last) in [("SETBIT", Some("1")), ("GETBIT", None), ("SETBIT", None)] {
                    let words = [name, key].into_iter().chain(offset.split(' ')).chain(last);
                    encode_request(&words.collect::<Vec<_>>(), &mut input);
                }
            }
        }
    }
    input
}

#[test]
fn a_row_of_bits_is_answered_as_one_by_one() {
    let [mut together, mut alone] = [server(), server()];
    let (replies, expected) = (together.run_bytes(requests(), 64), alone.run_bytes(requests(), 1));
    assert_eq!(replies.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(together.line("BITCOUNT long"), alone.line("BITCOUNT long"));
}
