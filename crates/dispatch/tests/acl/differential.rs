//! Random rules, to Basalt and to redis-server: the same errors, the same rights, and our
//! description of a user makes the same user there.

use crate::harness::TestServer;
use crate::harness::redis::Redis;
use crate::harness::seed;
use basalt_env::random::Random;
use basalt_resp::Value;

const USERS: usize = 150;
const RULES_MAX: u64 = 8;

const RULES: &[&str] = &[
    "on",
    "off",
    "ON",
    "nopass",
    "resetpass",
    ">one",
    ">two",
    "<one",
    "<two",
    "reset",
    "allkeys",
    "resetkeys",
    "~*",
    "~a*",
    "~b*",
    "%R~a*",
    "%W~a*",
    "%r~c",
    "%RW~d?",
    "%RR~x",
    "%~x",
    "%X~x",
    "%R",
    "~",
    "&*",
    "&a*",
    "&b",
    "allchannels",
    "resetchannels",
    "&",
    "+@all",
    "-@all",
    "allcommands",
    "nocommands",
    "ALLKEYS",
    "+get",
    "-get",
    "+SET",
    "-set",
    "+config",
    "-config",
    "+config|get",
    "-config|get",
    "+CONFIG|SET",
    "+config|nosuch",
    "-config|nosuch",
    "+select|0",
    "+SELECT|1",
    "-select",
    "+select|",
    "-select|0",
    "+config|get|x",
    "+nosuch",
    "-nosuch",
    "+",
    "-",
    "+@read",
    "-@read",
    "+@write",
    "-@string",
    "+@hash",
    "-@dangerous",
    "+@nosuch",
    "+@",
    "(~x +get)",
    "(+@all ~y* &z)",
    "(%R~q +mget +publish)",
    "(",
    "()",
    "(on)",
    "(+nosuch)",
    "clearselectors",
    "sanitize-payload",
    "skip-sanitize-payload",
    "junk",
    "",
    "!abc",
    "#abc",
    "#2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
    "!2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b",
];

const CALLS: &[&str] = &[
    "GET a1",
    "GET b1",
    "GET x",
    "SET a1 v",
    "SET c v",
    "SET a1 v GET",
    "MGET a1 b1 c",
    "MSET a1 v x v",
    "COPY a1 b1",
    "RENAME a1 c",
    "EXISTS x",
    "STRLEN a",
    "HSET a f v",
    "HGET b f",
    "DEL y1 y2",
    "SUNIONSTORE a b c",
    "ZUNIONSTORE a 2 b c",
    "XREAD STREAMS a b 0 0",
    "EVAL x 1 a",
    "EVAL x 0",
    "SORT a STORE b",
    "LMPOP 2 a b LEFT",
    "CONFIG GET x",
    "CONFIG SET maxmemory 1",
    "SELECT 0",
    "SELECT 1",
    "SELECT 2",
    "PUBLISH a1 m",
    "PUBLISH b m",
    "SUBSCRIBE a b",
    "PSUBSCRIBE a*",
    "PSUBSCRIBE *",
    "SSUBSCRIBE z",
    "PING",
    "AUTH x",
    "FLUSHALL",
    "KEYS *",
    "BITFIELD a GET u8 0",
    "BITFIELD a SET u8 0 1",
    "GETEX q",
    "PFCOUNT a b",
    "GEORADIUS a 0 0 1 m STORE b",
    "CLIENT ID",
];

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The reply's text for a denial differs between versions; what is denied does not.
fn judged(reply: &Value) -> String {
    let text = match reply {
        Value::Simple(text) | Value::Bulk(text) | Value::Error(text) => text,
        other => panic!("{other:?}"),
    };
    let text = String::from_utf8_lossy(text).into_owned();
    match text.split_once("has no permissions") {
        Some((_, what)) => what.to_owned(),
        None => text,
    }
}

/// GETUSER's answer but for two flags that redis-server 7.0 shows only when they were given.
fn without_sanitizing(mut reply: Value) -> Value {
    if let Value::Array(fields) = &mut reply
        && let Some(Value::Array(flags)) = fields.get_mut(1)
    {
        flags.retain(|flag| !judged(flag).ends_with("sanitize-payload"));
    }
    reply
}

/// GETUSER's fields but for the commands, which redis-server 7.0 describes in its own words.
fn fields(reply: Value) -> Vec<Value> {
    let Value::Array(mut fields) = without_sanitizing(reply) else { panic!("no user") };
    fields.remove(5);
    if let Value::Array(selectors) = &mut fields[10] {
        for selector in selectors {
            if let Value::Array(fields) = selector {
                fields.remove(1);
            }
        }
    }
    fields
}

#[test]
fn random_rules_make_the_same_users_as_in_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut server = TestServer::new();
    let mut random = Random::new(seed::from_base(2025));
    for _ in 0..USERS {
        redis.run(&["ACL", "DELUSER", "alice", "twin"]);
        server.line("ACL DELUSER alice");
        for _ in 0..1 + random.below(4) {
            let mut call = vec!["ACL", "SETUSER", "alice"];
            for _ in 0..random.below(RULES_MAX) {
                call.push(RULES[random.below(RULES.len() as u64) as usize]);
            }
            let (ours, theirs) = (server.run(&call), redis.run(&call));
            assert_eq!(ours, theirs, "{call:?}");
        }
        let look = ["ACL", "GETUSER", "alice"];
        let (ours, theirs) = (server.run(&look), redis.run(&look));
        if theirs == Value::Null {
            assert_eq!(ours, Value::Null);
            continue;
        }
        assert_eq!(fields(ours.clone()), fields(theirs.clone()));
        for line in CALLS {
            let call = [vec!["ACL", "DRYRUN", "alice"], words(line)].concat();
            let (ours, theirs) = (judged(&server.run(&call)), judged(&redis.run(&call)));
            assert_eq!(ours, theirs, "{line}: {:?}", server.line("ACL GETUSER alice"));
        }
        twin(&mut server, &mut redis, &theirs);
    }
}

/// Our line of the user, read by Redis, makes the user that it has.
fn twin(server: &mut TestServer, redis: &mut Redis, alice: &Value) {
    let user = server.server.access.user(b"alice").expect("it is there");
    let described = user.describe();
    let rules = String::from_utf8(described).expect("text");
    let call = [vec!["ACL", "SETUSER", "twin"], words(&rules)].concat();
    assert_eq!(redis.run(&call), Value::Simple(b"OK".to_vec()), "{rules}");
    let twin = without_sanitizing(redis.run(&["ACL", "GETUSER", "twin"]));
    assert_eq!(twin, without_sanitizing(alice.clone()), "{rules}");
}
