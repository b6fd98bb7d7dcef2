//! What the family costs the log, and what it does without one.

use crate::harness::TestServer;
use basalt_engine::Refusal;
use basalt_resp::Value;

/// Bytes of the records that a command makes.
fn logged_by(server: &mut TestServer, line: &str, expected: i64) -> usize {
    let before = server.log.records().len();
    assert_eq!(server.line(line), Value::Integer(expected), "{line}");
    server.log.records()[before..].iter().map(|record| record.bytes.len()).sum()
}

#[test]
fn a_dense_register_costs_the_log_a_few_bytes_and_an_old_element_none() {
    const RECORD_BYTES_MAX: usize = 24;
    let mut server = TestServer::new();
    server.line("PFADD k a");
    server.line("PFDEBUG TODENSE k");
    server.line("PFCOUNT k");
    let bytes = logged_by(&mut server, "PFADD k b", 1);
    assert!((1..=RECORD_BYTES_MAX).contains(&bytes), "{bytes} bytes");
    assert_eq!(logged_by(&mut server, "PFADD k b a", 0), 0, "nothing has changed");
    assert!(logged_by(&mut server, "PFCOUNT k", 2) > 0, "the count is kept");
    assert_eq!(logged_by(&mut server, "PFCOUNT k", 2), 0, "it is kept already");
}

#[test]
fn a_sparse_register_costs_the_log_the_run_that_it_splits() {
    const RECORD_BYTES_MAX: usize = 32;
    let mut server = TestServer::new();
    (0..300).for_each(|number| drop(server.line(&format!("PFADD k old:{number}"))));
    assert_eq!(server.line("GETRANGE k 4 4"), Value::Bulk(b"\x01".to_vec()), "sparse");
    let mut changed = 0;
    for number in 0..100 {
        let before = server.log.records().len();
        let reply = server.line(&format!("PFADD k new:{number}"));
        let bytes: usize =
            server.log.records()[before..].iter().map(|record| record.bytes.len()).sum();
        match reply {
            Value::Integer(1) => {
                assert!((1..=RECORD_BYTES_MAX).contains(&bytes), "{bytes} bytes");
                changed += 1;
            }
            other => assert_eq!((other, bytes), (Value::Integer(0), 0), "nothing has changed"),
        }
    }
    assert!(changed > 90, "{changed} of new elements changed a register");
    let string = server.line("GET k");
    let mut after = server.reopen();
    assert_eq!(after.line("GET k"), string);
}

#[test]
fn counting_goes_on_when_the_log_takes_nothing() {
    let mut server = TestServer::new();
    server.line("PFADD k a b c");
    let before = server.line("GET k");
    for refusal in [Refusal::Busy, Refusal::DiskFull] {
        server.log.refuse(Some(refusal));
        assert_eq!(server.line("PFCOUNT k"), Value::Integer(3));
        assert_eq!(server.line("GET k"), before, "nothing may change unlogged");
    }
    server.log.refuse(None);
    assert_eq!(server.line("PFCOUNT k"), Value::Integer(3));
    assert_ne!(server.line("GET k"), before, "the count is kept now");
}
