//! What the family costs the log.

use crate::harness::TestServer;
use basalt_change::op::{self, Op, STRING_BYTES_MAX};
use basalt_resp::Value;

/// Bytes of the records that a command makes.
fn logged_by(server: &mut TestServer, line: &str, expected: i64) -> usize {
    let before = server.log.records().len();
    assert_eq!(server.line(line), Value::Integer(expected), "{line}");
    server.log.records()[before..].iter().map(|record| record.bytes.len()).sum()
}

#[test]
fn a_bit_in_a_long_string_costs_the_log_a_few_bytes() {
    const RECORD_BYTES_MAX: usize = 16;
    for len in [129, 1000, 2047, 2048, 100_000] {
        let mut server = TestServer::new();
        server.run(&[b"SET", &b"k"[..], &vec![b'a'; len]]);
        server.line("SETBIT k 0 1");
        let bytes = logged_by(&mut server, "SETBIT k 1000 1", 0);
        assert!((1..=RECORD_BYTES_MAX).contains(&bytes), "{bytes} bytes for {len}");
        assert_eq!(logged_by(&mut server, "SETBIT k 1000 1", 1), 0, "nothing has changed");
        assert_eq!(server.line("STRLEN k"), Value::Integer(len as i64));
    }
}

#[test]
fn a_far_bit_of_a_new_string_is_logged_without_the_gap() {
    const RECORD_BYTES_MAX: usize = 32;
    let mut server = TestServer::new();
    assert_eq!(server.line("SETBIT k 80000000 1"), Value::Integer(0));
    let records = server.log.records();
    let bytes: usize = records.iter().map(|record| record.bytes.len()).sum();
    assert!(bytes <= RECORD_BYTES_MAX, "{bytes} bytes");
    let (_, ops) = op::decode(&records[0].bytes).expect("a record");
    let ops: Vec<Op<'_>> = ops.map(|op| op.expect("an op")).collect();
    assert!(matches!(ops[..], [Op::Put(_), Op::Splice { offset: 10_000_000, .. }]), "{ops:?}");
    let mut after = server.reopen();
    assert_eq!(after.line("BITCOUNT k"), Value::Integer(1));
    assert_eq!(after.line("STRLEN k"), Value::Integer(10_000_001));
    assert_eq!(after.line("OBJECT ENCODING k"), Value::Bulk(b"raw".to_vec()));
}

/// A start refuses a change of a longer one.
#[test]
fn the_longest_string_survives_a_restart() {
    let mut server = TestServer::new();
    let one = Value::Array(vec![Value::Integer(0)]);
    assert_eq!(server.line("BITFIELD k SET i64 4294967295 -1"), one);
    assert_eq!(server.line("STRLEN k"), Value::Integer(STRING_BYTES_MAX as i64));
    assert_eq!(server.reopen().line("BITCOUNT k"), Value::Integer(64));
    let refused = server.line("CONFIG SET proto-max-bulk-len 536870913");
    assert!(matches!(refused, Value::Error(_)), "no option makes room for more: {refused:?}");
}
