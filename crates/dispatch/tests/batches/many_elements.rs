//! Calls that ask for many elements run where their thread's other clients are served meanwhile.

use crate::harness::{TestServer, requests};
use basalt_resp::Value;
use basalt_spec::{Command, Flag};

/// Elements of each collection: more than a call works on in little time.
const MANY: usize = 5_000;

/// Calls for many elements of a collection.
const FOR_MANY: &[&str] = &[
    "LRANGE l 0 -1",
    "LPOP l 4500",
    "RPOP l 4500",
    "LMPOP 1 l LEFT COUNT 4500",
    "LMPOP 2 absent l RIGHT COUNT 4500",
    "BLMPOP 1 1 l LEFT COUNT 4500",
    "SMEMBERS s",
    "SPOP s 4500",
    "SRANDMEMBER s 4500",
    "SRANDMEMBER s -4500",
    "SRANDMEMBER small -4500",
    "SSCAN s 0 COUNT 100000 MATCH zz",
    "HGETALL h",
    "HRANDFIELD h 4500",
    "HRANDFIELD h -4500 WITHVALUES",
    "HRANDFIELD small_hash -4500",
    "HSCAN h 0 COUNT 100000",
    "ZRANGE z 0 -1",
    "ZRANGE z -inf +inf BYSCORE",
    "ZRANGE z - + BYLEX",
    "ZREVRANGE z 0 -1",
    "ZRANGEBYSCORE z -inf +inf",
    "ZRANGEBYSCORE z -inf +inf LIMIT 10 -1",
    "ZREVRANGEBYSCORE z +inf -inf LIMIT 0 4500",
    "ZRANGEBYLEX z - +",
    "ZREVRANGEBYLEX z + -",
    "ZPOPMIN z 4500",
    "ZPOPMAX z 4500",
    "ZMPOP 1 z MIN COUNT 4500",
    "BZMPOP 1 2 absent z MAX COUNT 4500",
    "ZRANDMEMBER z 4500",
    "ZRANDMEMBER z -4500",
    "ZRANDMEMBER small_sorted_set -4500 WITHSCORES",
    "ZSCAN z 0 COUNT 100000",
    "XRANGE x - +",
    "XRANGE x - + COUNT 4500",
    "XREVRANGE x + -",
    "XREAD STREAMS x 0",
    "XREAD COUNT 4500 BLOCK 1 STREAMS x 0",
    "XREADGROUP GROUP g c STREAMS x >",
    "XREADGROUP GROUP g c STREAMS x 0",
    "XPENDING x g - + 4500",
    "XPENDING x g IDLE 0 - + 4500 c",
    "XINFO STREAM x FULL COUNT 0",
    "XGROUP DELCONSUMER x g c",
    "XGROUP DESTROY x g",
    "SCAN 0 COUNT 4500",
    "SCAN 0 MATCH zz COUNT 100000",
    "MOVE s 1",
];

/// Calls for few, of the same commands.
const FOR_FEW: &[&str] = &[
    "LRANGE l 0 9",
    "LPOP l",
    "RPOP l 3",
    "LMPOP 1 l LEFT",
    "BLMPOP 1 2 absent l LEFT COUNT 3",
    "SMEMBERS small",
    "SPOP s",
    "SPOP small 100000",
    "SRANDMEMBER s -3",
    "SRANDMEMBER small 100000",
    "SSCAN s 0",
    "SSCAN s 0 COUNT 100",
    "HRANDFIELD h 3",
    "HSCAN h 0 COUNT 100 NOVALUES",
    "ZRANGE z 0 9",
    "ZRANGE z -inf +inf BYSCORE LIMIT 0 10",
    "ZREVRANGE z -10 -1",
    "ZRANGEBYSCORE z -inf +inf LIMIT 0 10",
    "ZRANGEBYLEX z - + LIMIT 4500 1",
    "ZPOPMIN z",
    "ZPOPMAX z 3",
    "ZMPOP 1 z MIN",
    "ZRANDMEMBER z -3",
    "XRANGE x 5-1 5-1",
    "XRANGE x - + COUNT 10",
    "XREAD COUNT 10 STREAMS x 0",
    "XREADGROUP GROUP g c COUNT 10 STREAMS x >",
    "XPENDING x g - + 10",
    "XINFO STREAM x",
    "SCAN 0",
    "SCAN 0 COUNT 1000",
];

fn server() -> TestServer {
    let mut server = TestServer::new();
    let mut put = |head: &[&str], element: &dyn Fn(usize) -> Vec<String>| {
        for first in (0..MANY).step_by(1_000) {
            let words = head.iter().map(|&word| word.to_owned());
            let words = words.chain((first..first + 1_000).flat_map(element));
            server.run(&words.collect::<Vec<String>>());
        }
    };
    put(&["RPUSH", "l"], &|number| vec![format!("element{number}")]);
    put(&["SADD", "s"], &|number| vec![format!("member{number}")]);
    put(&["HSET", "h"], &|number| vec![format!("field{number}"), "v".to_owned()]);
    put(&["ZADD", "z"], &|number| vec!["1".to_owned(), format!("member{number}")]);
    for number in 1..=MANY {
        server.line(&format!("XADD x {number}-1 f v"));
    }
    for line in ["SADD small a b", "HSET small_hash f v", "ZADD small_sorted_set 1 m"] {
        server.line(line);
    }
    server.line("XGROUP CREATE x g 0");
    server
}

/// How many of these runs were apart.
fn apart(server: &mut TestServer, line: &str) -> usize {
    let before = server.ran_apart;
    let reply = server.line(line);
    assert!(!matches!(reply, Value::Error(_)), "{line}: {reply:?}");
    server.ran_apart - before
}

#[test]
fn what_asks_for_many_elements_runs_apart() {
    for line in FOR_MANY {
        assert_eq!(apart(&mut server(), line), 1, "{line}");
    }
}

#[test]
fn what_asks_for_few_elements_does_not() {
    let mut server = server();
    for line in FOR_FEW {
        assert_eq!(apart(&mut server, line), 0, "{line}");
    }
}

#[test]
fn what_works_on_much_that_its_connection_holds_runs_apart() {
    for (hold, let_go) in [
        ("SUBSCRIBE", "UNSUBSCRIBE"),
        ("PSUBSCRIBE", "PUNSUBSCRIBE"),
        ("SSUBSCRIBE", "SUNSUBSCRIBE"),
        ("SUBSCRIBE", "RESET"),
    ] {
        let mut server = TestServer::new();
        let mut call = |line: &str| {
            let before = server.ran_apart;
            server.run_bytes(requests(&[line]), 1);
            server.ran_apart - before
        };
        // Of which each is small.
        for part in 0..2 {
            let names = (0..MANY / 2).map(|number| format!("{part}:{number}"));
            let line = names.fold(hold.to_owned(), |line, name| line + " " + &name);
            assert_eq!(call(&line), 0, "{hold}");
        }
        if let_go.ends_with("UNSUBSCRIBE") {
            assert_eq!(call(&format!("{let_go} 0:0")), 0, "{let_go} of one");
        }
        assert_eq!(call(let_go), 1, "{let_go}");
        assert_eq!(call(let_go), 0, "{let_go} of nothing");
    }
}

/// How much a call asks for is read in its words before it is known that it has enough of them.
#[test]
fn no_number_of_words_harms_where_collections_are_large() {
    let mut server = server();
    let table = std::sync::Arc::clone(&server.server.commands.table);
    let has_keys =
        |command: &&Command| command.key_range.first > 0 || command.flags.has(Flag::Movablekeys);
    for command in table.all().iter().filter(has_keys) {
        let names: Vec<&str> = command.spec.name.split('|').collect();
        for key in ["l", "s", "h", "z", "x"] {
            let first = [key, "0", "-1", "COUNT", "0", "1"];
            let counted = ["1", key, "MIN", "COUNT", "-1", "LEFT"];
            let last = ["COUNT", "9", "STREAMS", key, "0", "0"];
            for words in [first, counted, last] {
                for more in 0..words.len() {
                    let line = [&names, &words[..more]].concat().join(" ");
                    server.run_bytes(requests(&[&line, "UNWATCH"]), 2);
                }
            }
        }
    }
}

#[test]
fn no_more_is_drawn_than_one_reply_may_have() {
    let mut server = server();
    for line in [
        "SRANDMEMBER small -16777217",
        "HRANDFIELD small_hash -16777217",
        "HRANDFIELD small_hash -16777217 WITHVALUES",
        "ZRANDMEMBER small_sorted_set -16777217",
        "ZRANDMEMBER small_sorted_set -16777217 WITHSCORES",
    ] {
        assert_eq!(
            server.line(line),
            Value::Error(b"ERR value is out of range".to_vec()),
            "{line}"
        );
    }
}
