//! HOTKEYS and BIGKEYS.

use super::{elements, fields, text};
use crate::harness::TestServer;
use basalt_resp::Value;

/// The names of a report's keys, in its order.
fn names(report: &Value, of: &str) -> Vec<String> {
    let fields_of = fields(report);
    elements(fields_of[of]).iter().map(|key| text(fields(key)["key"])).collect()
}

fn pass_seconds(server: &mut TestServer, seconds: u64, line: &str) {
    for _ in 0..seconds {
        server.clock.advance_ms(1_000);
        server.line(line);
    }
}

#[test]
fn keys_that_are_used_every_second_are_hotter_than_others() {
    let mut server = TestServer::new();
    for number in 0..100 {
        server.line(&format!("SET key:{number} v"));
    }
    pass_seconds(&mut server, 40, "GET key:7");
    let report = server.line("HOTKEYS COUNT 3");
    let all = fields(&report);
    assert_eq!((all["keys"], all["sampled"]), (&Value::Integer(100), &Value::Integer(100)));
    let found = names(&report, "hotkeys");
    assert_eq!((found.len(), &found[0][..]), (3, "key:7"), "{found:?}");
    let hottest = fields(&elements(all["hotkeys"])[0]);
    assert_eq!(
        (text(hottest["type"]), hottest["idle_seconds"]),
        ("string".into(), &Value::Integer(0))
    );
    assert!(matches!(hottest["frequency"], Value::Integer(6..)), "{hottest:?}");
    // A day without a use is forgotten, whatever it was before.
    server.clock.advance_ms(24 * 60 * 60 * 1000);
    server.line("SET new v");
    let found = names(&server.line("HOTKEYS COUNT 1"), "hotkeys");
    assert_eq!(found, ["new"]);
    // The report itself is no use of a key.
    assert_eq!(names(&server.line("HOTKEYS COUNT 1"), "hotkeys"), ["new"]);
}

#[test]
fn the_largest_keys_come_first_by_memory_or_by_length() {
    let mut server = TestServer::new();
    for number in 0..500 {
        server.line(&format!("SET small:{number} v"));
    }
    server.line(&format!("SET heavy {}", "x".repeat(50_000)));
    for number in 0..300 {
        server.line(&format!("RPUSH long {number}"));
    }
    let report = server.line("BIGKEYS COUNT 2");
    assert_eq!(names(&report, "bigkeys"), ["heavy", "long"]);
    let all = fields(&report);
    let heavy = fields(&elements(all["bigkeys"])[0]);
    assert_eq!((text(heavy["encoding"]), heavy["length"]), ("raw".into(), &Value::Integer(50_000)));
    assert_eq!(heavy["bytes"], &server.line("MEMORY USAGE heavy"));
    assert_eq!(names(&server.line("BIGKEYS TYPE list"), "bigkeys"), ["long"]);
    assert_eq!(names(&server.line("BIGKEYS TYPE nosuch"), "bigkeys"), [""; 0]);
    server.line("HSET h f v");
    assert_eq!(names(&server.line("BIGKEYS COUNT 1 BY LENGTH TYPE list"), "bigkeys"), ["long"]);
    // Equals come in the order of their names.
    let equals = names(&server.line("BIGKEYS COUNT 4 BY LENGTH"), "bigkeys");
    assert_eq!(equals, ["heavy", "long", "h", "small:0"]);
}

#[test]
fn a_report_looks_at_as_many_keys_as_it_may() {
    let mut server = TestServer::new();
    for number in 0..3_000 {
        server.line(&format!("SET key:{number} v"));
    }
    let report = server.line("HOTKEYS SAMPLES 300");
    let Value::Integer(sampled) = *fields(&report)["sampled"] else { panic!("a number") };
    // A bucket that has been begun is looked at to its end.
    assert!((200..2_000).contains(&sampled), "{sampled}");
    server.line("SELECT 1");
    assert_eq!(fields(&server.line("BIGKEYS"))["keys"], &Value::Integer(0));
}

#[test]
fn reports_are_for_administrators() {
    let mut server = TestServer::new();
    server.line("ACL SETUSER bob on nopass ~app:* +@all -@admin");
    for command in ["HOTKEYS", "BIGKEYS"] {
        let refused =
            format!("User bob has no permissions to run the '{}' command", command.to_lowercase());
        assert_eq!(text(&server.line(&format!("ACL DRYRUN bob {command}"))), refused);
        let info = format!("{:?}", server.line(&format!("COMMAND INFO {command}")));
        for category in ["@admin", "@dangerous", "@slow"] {
            assert!(info.contains(&format!("{:?}", category.as_bytes().to_vec())), "{info}");
        }
    }
}
