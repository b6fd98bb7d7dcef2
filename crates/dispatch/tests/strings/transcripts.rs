//! Corners of the family, in the notation of examples.

use crate::examples::agrees;
use crate::harness::TestServer;
use basalt_resp::Value;
use basalt_spec::example;

/// Runs lines one after the other on one connection.
fn run(server: &mut TestServer, lines: &[&str]) {
    for line in lines {
        let example = example::parse(line).unwrap_or_else(|error| panic!("`{line}`: {error}"));
        let value = server.run(&example.words);
        assert!(agrees(&value, &example.reply), "`{line}` answered {value:?}");
    }
}

#[test]
fn options_of_set_exclude_each_other() {
    let lines = [
        "SET k v EX 1 PX 1 => (error) ERR syntax error",
        "SET k v KEEPTTL EX 1 => (error) ERR syntax error",
        "SET k v PXAT 1 KEEPTTL => (error) ERR syntax error",
        "SET k v XX NX => (error) ERR syntax error",
        "SET k v EX => (error) ERR syntax error",
        "SET k v PERSIST => (error) ERR syntax error",
        "SET k v EX x => (error) ERR value is not an integer or out of range",
        "SET k v PX -1 => (error) ERR invalid expire time in 'set' command",
        "SET k v EX 9223372036854775807 => (error) ERR invalid expire time in 'set' command",
        "SET k v PX 9223372036854775807 => (error) ERR invalid expire time in 'set' command",
        "GET k => (nil)",
        "SET k v EX 0 EX 10 => OK",
        "GET k => \"v\"",
    ];
    run(&mut TestServer::new(), &lines);
}

#[test]
fn a_time_in_the_past_deletes() {
    let mut server = TestServer::new();
    let lines = [
        "SET k v => OK",
        "SET k w EXAT 1 => OK",
        "GET k => (nil)",
        "SET k v => OK",
        r#"GETEX k PXAT 1 => "v""#,
        "GET k => (nil)",
        "GETEX k EX 0 => (nil)",
        "SET k v => OK",
        "GETEX k EX 0 => (error) ERR invalid expire time in 'getex' command",
        r#"GET k => "v""#,
    ];
    run(&mut server, &lines);
}

#[test]
fn keys_expire_and_what_keeps_or_drops_the_expiry_is_as_in_redis() {
    let mut server = TestServer::new();
    let lines = [
        "SET kept 5 EX 10 => OK",
        "SET dropped 5 EX 10 => OK",
        "INCR kept => (integer) 6",
        "INCRBYFLOAT kept 0.5 => \"6.5\"",
        "APPEND kept 1 => (integer) 4",
        "SETRANGE kept 0 7 => (integer) 4",
        "SET kept x KEEPTTL => OK",
        "GETSET dropped x => \"5\"",
        "MSET set 1 => OK",
        "SETEX gone 10 x => OK",
    ];
    run(&mut server, &lines);
    server.clock.advance_ms(9_999);
    run(&mut server, &["MGET kept dropped gone => [\"x\", \"x\", \"x\"]"]);
    server.clock.advance_ms(1);
    let lines = [
        "MGET kept dropped gone => [(nil), \"x\", (nil)]",
        "SETNX gone y => (integer) 1",
        "APPEND kept new => (integer) 3",
        "SET kept z XX KEEPTTL => OK",
    ];
    run(&mut server, &lines);
    server.clock.advance_ms(1_000_000);
    run(&mut server, &["MGET kept gone => [\"z\", \"y\"]"]);
}

#[test]
fn strings_grow_up_to_proto_max_bulk_len() {
    let mut server = TestServer::new();
    server.configure("proto-max-bulk-len", "1048576");
    let error = "(error) ERR string exceeds maximum allowed size (proto-max-bulk-len)";
    let memory =
        "(error) ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
    let lines = [
        "SETRANGE k 1048575 x => (integer) 1048576".to_owned(),
        format!("APPEND k y => {error}"),
        format!("SETRANGE k 1048576 y => {error}"),
        format!("SETRANGE new 9223372036854775807 y => {error}"),
        "SETRANGE k 1048576 \"\" => (integer) 1048576".to_owned(),
        "APPEND k \"\" => (integer) 1048576".to_owned(),
        "STRLEN new => (integer) 0".to_owned(),
        format!("LCS k new2 => {memory}"),
    ];
    run(&mut server, &lines.each_ref().map(String::as_str));
}

#[test]
fn long_strings_are_edited_and_returned_whole() {
    let mut server = TestServer::new();
    let mut model = Vec::new();
    for part in 0..400u32 {
        let piece = [part as u8; 100];
        model.extend_from_slice(&piece);
        let reply = server.run(&[b"APPEND", &b"k"[..], &piece]);
        assert_eq!(reply, Value::Integer(model.len() as i64));
        if part % 50 == 0 {
            assert_eq!(server.line("GET k"), Value::Bulk(model.clone()));
        }
    }
    server.run(&[b"SETRANGE", &b"k"[..], b"20000", b"inside"]);
    model[20_000..20_006].copy_from_slice(b"inside");
    assert_eq!(server.line("GET k"), Value::Bulk(model.clone()));
    let many = server.line("MGET k absent k");
    let whole = Value::Bulk(model);
    assert_eq!(many, Value::Array(vec![whole.clone(), Value::Null, whole]));
    assert_eq!(server.reopen().line("STRLEN k"), Value::Integer(40_000));
}

#[test]
fn msetnx_changes_nothing_if_one_key_exists() {
    let lines = [
        "MSET a 1 b 2 a 3 => OK",
        r#"MGET a b => ["3", "2"]"#,
        "MSETNX c 1 d 2 b 3 => (integer) 0",
        "MGET c d => [(nil), (nil)]",
        "MSETNX c => (error) ERR wrong number of arguments for 'msetnx' command",
        "MSETNX c 1 d => (error) ERR wrong number of arguments for 'msetnx' command",
    ];
    run(&mut TestServer::new(), &lines);
}
