//! Calls whose replies are the same, byte for byte, in Redis.

use super::fields;
use crate::harness::TestServer;
use crate::harness::redis::Redis;

const CALLS: &[&str] = &[
    // connection
    "PING",
    "PING hello",
    "PING a b",
    "ECHO hello",
    "ECHO",
    "SELECT 1",
    "SELECT 16",
    "SELECT -1",
    "SELECT x",
    "SELECT 1.5",
    "SELECT 4294967296",
    "SELECT 99999999999999999999",
    "SELECT 0",
    "AUTH secret",
    "AUTH default anything",
    "AUTH nobody secret",
    "AUTH a b c",
    "HELLO 1",
    "HELLO 4",
    "HELLO x",
    "HELLO 2 bogus",
    "HELLO 2 AUTH default",
    "HELLO 2 AUTH nobody any",
    "HELLO 2 AUTH a b bogus",
    "HELLO 2 SETNAME",
    "HELLO 2 SETNAME a\tb",
    "CLIENT",
    "CLIENT BOGUS",
    "CLIENT bogus arg",
    "CLIENT ID now",
    "CLIENT GETREDIR",
    "CLIENT GETNAME",
    "CLIENT SETNAME me",
    "CLIENT GETNAME",
    "CLIENT SETNAME a\tb",
    "CLIENT NO-EVICT on",
    "CLIENT NO-EVICT maybe",
    "CLIENT LIST TYPE",
    "CLIENT LIST TYPE bogus",
    "CLIENT LIST TYPE pubsub",
    "CLIENT LIST TYPE master",
    "CLIENT LIST TYPE normal bogus",
    "CLIENT LIST ID",
    "CLIENT LIST ID x",
    "CLIENT LIST ID -1",
    "CLIENT LIST ID 999999999",
    "CLIENT LIST bogus",
    "CLIENT KILL",
    "CLIENT KILL bogus",
    "CLIENT KILL ID",
    "CLIENT KILL ID x",
    "CLIENT KILL ID 0",
    "CLIENT KILL ID -1",
    "CLIENT KILL ID 1 TYPE",
    "CLIENT KILL ID 999999999",
    "CLIENT KILL TYPE bogus",
    "CLIENT KILL TYPE pubsub",
    "CLIENT KILL USER nobody",
    "CLIENT KILL USER default ID 999999999 SKIPME yes",
    "CLIENT KILL SKIPME maybe",
    "CLIENT KILL BOGUS x",
    "CLIENT KILL LADDR 1.2.3.4:5",
    "RESET",
    // what is no command
    "NOSUCH",
    "nosuch a b",
    "NOSUCH aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b",
    "NOSUCH a\0b c",
    // server
    "COMMAND BOGUS",
    "COMMAND COUNT x",
    "COMMAND LIST FILTERBY PATTERN ECH*",
    "COMMAND LIST FILTERBY MODULE nosuch",
    "COMMAND LIST FILTERBY ACLCAT nosuch",
    "COMMAND LIST FILTERBY BOGUS x",
    "COMMAND LIST FILTERBY PATTERN",
    "COMMAND LIST bogus",
    "COMMAND INFO nosuch",
    "COMMAND INFO client|nosuch get|x",
    "COMMAND DOCS nosuch",
    "CONFIG",
    "CONFIG BOGUS x",
    "CONFIG GET",
    "CONFIG GET nosuch",
    "CONFIG GET DataBases",
    "CONFIG SET maxmemory",
    "CONFIG SET maxmemory 100mb",
    "CONFIG GET maxmemory",
    "CONFIG SET maxmemory abc",
    "CONFIG SET maxmemory 0",
    "CONFIG SET nosuch 1",
    "CONFIG SET databases 5",
    "CONFIG SET slowlog-max-len 1 nosuch 2",
    "CONFIG SET slowlog-max-len 1 slowlog-max-len 2",
    "CONFIG REWRITE",
    "CONFIG RESETSTAT",
    "DEBUG",
    "DEBUG BOGUS",
    "DEBUG SLEEP",
    "DEBUG SLEEP 0.001",
    "DEBUG OBJECT none",
    "DEBUG SET-ACTIVE-EXPIRE 1",
    "DEBUG DIGEST-VALUE none",
    "DEBUG ERROR whatever",
    "DEBUG PROTOCOL string",
    "DEBUG PROTOCOL integer",
    "DEBUG PROTOCOL double",
    "DEBUG PROTOCOL bignum",
    "DEBUG PROTOCOL null",
    "DEBUG PROTOCOL array",
    "DEBUG PROTOCOL set",
    "DEBUG PROTOCOL map",
    "DEBUG PROTOCOL verbatim",
    "DEBUG PROTOCOL true",
    "DEBUG PROTOCOL false",
    "DEBUG PROTOCOL bogus",
    "INFO nosuch",
    "BGSAVE bogus",
    "BGSAVE SCHEDULE x",
    "SAVE now",
    "LASTSAVE now",
    "TIME now",
    "SHUTDOWN MAYBE",
    "SHUTDOWN SAVE NOSAVE",
    "SHUTDOWN ABORT NOW",
    "SHUTDOWN ABORT",
    "SLOWLOG",
    "SLOWLOG BOGUS",
    "SLOWLOG RESET",
    "SLOWLOG GET",
    "SLOWLOG GET -1",
    "SLOWLOG GET -2",
    "SLOWLOG GET x",
    "SLOWLOG GET 1 2",
    "SLOWLOG LEN",
    "FUNCTION FLUSH",
    "FUNCTION FLUSH SYNC",
    "FUNCTION FLUSH bogus",
    "FUNCTION FLUSH SYNC x",
    "SCRIPT FLUSH",
    "SCRIPT FLUSH bogus",
    "SCRIPT FLUSH SYNC x",
];

#[test]
fn replies_are_the_same_in_both_protocols() {
    for hello in [None, Some("HELLO 3")] {
        let Some(mut redis) = Redis::start() else { return };
        let mut server = TestServer::new();
        let mut different = Vec::new();
        for call in CALLS {
            // RESET goes back to RESP2.
            if let Some(hello) = hello {
                let words: Vec<&str> = hello.split(' ').collect();
                redis.run_for_bytes(&words);
                server.run_for_bytes(&words);
            }
            let words: Vec<&str> = call.split(' ').collect();
            let expected = redis.run_for_bytes(&words).escape_ascii().to_string();
            let actual = server.run_for_bytes(&words).escape_ascii().to_string();
            if actual != expected {
                different.push(format!("{call}\n  redis:  {expected}\n  basalt: {actual}"));
            }
        }
        assert!(different.is_empty(), "{}", different.join("\n"));
    }
}

#[test]
fn every_option_that_redis_reports_is_reported() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let reported = redis.run(&["CONFIG", "GET", "*"]);
    let names: Vec<String> = fields(&reported).into_keys().collect();
    assert!(names.len() > 150, "only {} options", names.len());
    for name in names {
        let own = server.run(&["CONFIG", "GET", &name]);
        assert!(fields(&own).contains_key(&name), "{name} is not reported");
    }
}

#[test]
fn attributes_and_pushes_stand_before_a_reply() {
    let mut server = TestServer::new();
    let attribute = b"$39\r\nSome real reply following the attribute\r\n";
    assert_eq!(server.run_for_bytes(&["DEBUG", "PROTOCOL", "attrib"]), attribute);
    let refused = b"-ERR RESP2 is not supported by this command\r\n";
    assert_eq!(server.run_for_bytes(&["DEBUG", "PROTOCOL", "push"]), refused);
    server.run_for_bytes(&["HELLO", "3"]);
    let reply = server.run_for_bytes(&["DEBUG", "PROTOCOL", "attrib"]);
    assert!(reply.starts_with(b"|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n"));
    assert!(reply.ends_with(attribute));
    let reply = server.run_for_bytes(&["DEBUG", "PROTOCOL", "push"]);
    assert!(reply.starts_with(b">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n$40\r\nSome real"));
}
