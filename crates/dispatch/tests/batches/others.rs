//! Requests of one client that are short each, and long together, leave room for others.

use crate::harness::{TestServer, requests};

const REQUESTS: usize = 64;

#[test]
fn a_batch_has_few_requests_of_many_words() {
    const WORDS: usize = 1_000;
    for (command, words_max) in [("MSET", 4096 + 2 * WORDS), ("SUBSCRIBE", 4096 + WORDS)] {
        let mut server = TestServer::new();
        let step = if command == "MSET" { " v" } else { "" };
        let words =
            (0..WORDS).fold(command.to_owned(), |line, word| format!("{line} w{word}{step}"));
        server.run_bytes(requests(&[words.as_str(); REQUESTS]), REQUESTS);
        assert!((4096..=words_max).contains(&server.batch_words_max), "{}", server.batch_words_max);
    }
    let mut server = TestServer::new();
    server.run_bytes(requests(&["SET key value"; REQUESTS]), REQUESTS);
    assert_eq!(server.batch_words_max, 3 * REQUESTS);
}

#[test]
fn requests_that_take_a_millisecond_together_wait_for_others() {
    const ELEMENTS: usize = 4_000;
    let mut server = TestServer::new();
    let elements =
        (0..ELEMENTS).fold("RPUSH l".to_owned(), |line, number| format!("{line} e{number}"));
    server.line(&elements);
    let replies = server.run_bytes(requests(&["LRANGE l 0 -1"; REQUESTS]), REQUESTS);
    assert_eq!(server.ran_apart, 0, "each is short");
    assert!(server.waited_for_others > 0);
    let whole = server.run_bytes(requests(&["LRANGE l 0 -1"]), 1);
    assert_eq!(replies, whole.repeat(REQUESTS));
    let mut server = TestServer::new();
    server.run_bytes(requests(&["GET key"; REQUESTS]), REQUESTS);
    assert_eq!(server.waited_for_others, 0);
}
