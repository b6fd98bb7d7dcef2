//! MIGRATE beside what happens while another server is asked.

use crate::harness::TestServer;
use basalt_resp::{Value, encode_request};
use basalt_service::peer::{PeerAnswers, PeerFailure};
use basalt_service::wait::Wait;

const CALL: &str = "MIGRATE 10.0.0.1 6379 k 2 100";

fn answer(server: &TestServer, replies: Vec<Result<(), String>>, failure: Option<PeerFailure>) {
    let (_, answered) = server.host.calls.lock().pop().expect("another server was asked");
    answered(PeerAnswers { replies, failure });
}

#[test]
fn a_key_goes_when_the_other_server_has_it_and_not_before() {
    let mut server = TestServer::new();
    server.line("SET k v");
    assert!(matches!(server.run_once(CALL), Some(Wait::Peer(_))));
    let sent = server.host.calls.lock()[0].0.clone();
    let mut select = Vec::new();
    encode_request(&["SELECT", "2"], &mut select);
    assert!(sent.requests.starts_with(&select) && sent.count == 2, "{sent:?}");
    assert!(server.stored("k").is_some());
    answer(&server, vec![Ok(()), Ok(())], None);
    assert_eq!(server.line(CALL), Value::Simple(b"OK".to_vec()));
    assert!(server.stored("k").is_none());
    assert!(server.reopen().stored("k").is_none(), "the log knows that it has gone");
    assert_eq!(server.line(CALL), Value::Simple(b"NOKEY".to_vec()));
}

#[test]
fn a_key_that_has_changed_meanwhile_stays() {
    let mut server = TestServer::new();
    for change in ["SET k other", "EXPIRE k 100", "DEL k"] {
        server.line("SET k v");
        server.run_once(CALL);
        let mut other = server.another_connection();
        other.line(change);
        answer(&server, vec![Ok(()), Ok(())], None);
        let Value::Error(text) = server.line(CALL) else { panic!("{change} was lost") };
        assert!(text.starts_with(b"TRYAGAIN a key has changed"), "{change}");
        assert_eq!(server.stored("k").is_some(), change != "DEL k");
    }
}

#[test]
fn what_the_other_server_has_not_acknowledged_stays() {
    let mut server = TestServer::new();
    server.line("SET k v");
    let refused = || Err("ERR no".to_owned());
    for (replies, failure, text) in [
        (vec![Ok(()), refused()], None, "ERR Target instance replied with error: ERR no"),
        (vec![refused(), Ok(())], None, "ERR Target instance replied with error: ERR no"),
        (
            vec![Ok(())],
            Some(PeerFailure::Reading),
            "IOERR error or timeout reading from target instance",
        ),
        (vec![], Some(PeerFailure::Writing), "IOERR error or timeout writing to target instance"),
        (vec![], Some(PeerFailure::Connecting), "IOERR error or timeout connecting to the client"),
    ] {
        server.run_once(CALL);
        answer(&server, replies, failure);
        assert_eq!(server.line(CALL), Value::Error(text.as_bytes().to_vec()));
        assert!(server.stored("k").is_some(), "{text}");
    }
}

/// EXEC would hold the key while it waits for a server that may wait for this one.
#[test]
fn it_is_refused_as_soon_as_a_transaction_is_to_have_it() {
    let mut server = TestServer::new();
    server.line("SET k v");
    server.line("MULTI");
    server.line("SET k w");
    let text = b"ERR 'migrate' waits and cannot do that inside a transaction";
    for line in [CALL, "MIGRATE 10.0.0.1 6379 \"\" 2 100 COPY KEYS k none"] {
        assert_eq!(server.line(line), Value::Error(text.to_vec()), "{line}");
    }
    let Value::Error(text) = server.line("EXEC") else { panic!("it has failed") };
    assert!(text.starts_with(b"EXECABORT"), "{}", text.escape_ascii());
    assert_eq!(server.line("GET k"), Value::Bulk(b"v".to_vec()), "nothing has run");
    assert!(server.host.calls.lock().is_empty(), "nobody was asked");
    let script = "return redis.call('MIGRATE', '10.0.0.1', '6379', KEYS[1], '2', '100')";
    assert!(matches!(server.run(&["EVAL", script, "1", "k"]), Value::Error(_)));
    assert!(server.host.calls.lock().is_empty(), "nobody was asked");
}
