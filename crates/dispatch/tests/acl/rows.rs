//! Requests of a client that may not do everything take the short ways, too, and stop where
//! something is denied.

use super::log_in;
use crate::harness::TestServer;
use basalt_env::random::Random;
use basalt_resp::{decode, encode_request};

#[test]
fn a_pipeline_is_denied_request_by_request() {
    let mut random = Random::new(crate::harness::seed::from_base(7));
    for batch_max in [1, 64] {
        let mut server = TestServer::new();
        log_in(&mut server, "alice", &["on", "nopass", "~a*", "%R~r*", "+get", "+set", "+append"]);
        let (mut input, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..500 {
            let verb = ["GET", "SET", "APPEND", "DEL"][random.below(4) as usize];
            let key = ["a1", "a2", "r1", "x"][random.below(4) as usize];
            let mut words = vec![verb, key];
            if verb == "SET" || verb == "APPEND" {
                words.push("v");
            }
            encode_request(&words, &mut input);
            let reads_alone = verb == "GET";
            let is_permitted =
                verb != "DEL" && (key.starts_with('a') || reads_alone && key.starts_with('r'));
            expected.push(is_permitted);
        }
        let replies = server.run_bytes(input, batch_max);
        let mut rest = &replies[..];
        for (number, is_permitted) in expected.into_iter().enumerate() {
            let (value, length) = decode(rest).expect("a reply").expect("a whole reply");
            assert_eq!(!super::is_denied(&value), is_permitted, "request {number}: {value:?}");
            rest = &rest[length..];
        }
        assert!(rest.is_empty());
        let denials = server.server.access.denials();
        assert!(denials.command.load(std::sync::atomic::Ordering::Relaxed) > 50);
    }
}

#[test]
fn a_change_of_a_user_holds_for_the_next_batch() {
    let mut server = TestServer::new();
    log_in(&mut server, "alice", &["on", "nopass", "~*", "&*", "+@all"]);
    assert!(!super::is_denied(&server.line("GET k")));
    assert!(!server.session.rights.is_restricted());
    let settings = std::sync::Arc::clone(&server.worker.settings);
    let access = &server.server.access;
    access.set_user(&settings, b"alice", &[b"-get"]).expect("a rule");
    assert!(super::is_denied(&server.line("GET k")));
    assert!(server.server.access.remove_user(b"alice"));
    assert!(super::is_denied(&server.line("PING")), "a user who has gone may do nothing");
}
