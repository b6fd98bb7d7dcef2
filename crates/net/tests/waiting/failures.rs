//! A log that fails while replies wait for it.

use crate::harness::{TestServer, ok};
use basalt_env::{Fault, FaultKind, Operation};
use basalt_journal::FsyncPolicy;
use basalt_resp::Value;

fn outcome_unknown(value: &Value) -> bool {
    matches!(value, Value::Error(text) if text.starts_with(b"OUTCOMEUNKNOWN "))
}

#[test]
fn replies_that_wait_for_a_log_that_fails_end_with_what_is_known() {
    let server = TestServer::start_with(2, FsyncPolicy::Always);
    let (mut writer, mut reader, mut other) =
        (server.connect(), server.connect(), server.connect());
    assert_eq!(writer.line("SET k durable"), ok());
    server.disk.hold_syncs();
    writer.send("SET k lost");
    server.until(|server| server.disk.syncs_waiting() > 0);
    reader.send("GET k");
    let broken =
        Fault { operation: Operation::Sync, kind: FaultKind::Broken, skip: 0, times: u32::MAX };
    server.disk.inject(broken);
    server.disk.release_syncs();
    for client in [&mut writer, &mut reader] {
        let answer = client.receive();
        assert!(outcome_unknown(&answer), "{answer:?}");
        client.until_closed();
    }
    // What nobody knows is not told later, either; what does not hang on it is.
    let mut late = server.connect();
    let answer = late.line("GET k");
    assert!(outcome_unknown(&answer), "{answer:?}");
    assert_eq!(other.line("GET another"), Value::Null);
    let Value::Error(refused) = other.line("SET k x") else { panic!("it cannot be kept") };
    assert!(refused.starts_with(b"MISCONF "));
}
