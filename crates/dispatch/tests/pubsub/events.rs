//! Key events of every command, compared with those of a real Redis.

use crate::harness::TestServer;
use crate::harness::redis::{Redis, Subscriber};
use basalt_resp::Value;

/// Ends the events of a line.
const END: &str = "__keyend";

/// One line is one comparison; its commands are separated by semicolons. `wait` lets 20 ms pass.
const LINES: &[&str] = &[
    "SET k v",
    "SET k w",
    "SET k v EX 100",
    "SET k v KEEPTTL",
    "SET k v NX",
    "SET absent v XX",
    "SET k v GET",
    "SET absent1 v GET",
    "SET k v PXAT 1; GET k",
    "SET new1 v PXAT 1; GET new1",
    "SETNX k v; SETNX k v",
    "SETEX k 100 v; PSETEX k 100000 v",
    "GETSET k v; GETSET absent2 v",
    "MSET a 1 b 2 k 3; MSETNX a 1 c 2; MSETNX d 1 e 2",
    "MGET a none k none",
    "GET none; STRLEN none; GETRANGE none 0 1; EXISTS none none a; TYPE none; TTL none; TOUCH none",
    "OBJECT ENCODING none",
    "LCS none a",
    "APPEND k x; APPEND k x; APPEND new2 x",
    "SETRANGE k 1 y; SETRANGE none 1 ''; SETRANGE new3 2 x",
    "SET n 1; INCR n; DECR n; INCRBY n 5; DECRBY n 5; INCR new4; INCR k",
    "INCRBYFLOAT n 1.5; INCRBYFLOAT new5 2; INCRBYFLOAT k 1",
    "GETEX k; GETEX k EX 100; GETEX k PERSIST; GETEX k PERSIST; GETEX none EX 10",
    "SET k v; GETEX k PXAT 1; EXISTS k",
    "SET k v; GETDEL k; GETDEL k",
    "MSET a 1 b 2; DEL a none b; MSET a 1 b 2; UNLINK a none b",
    "SET k v; EXPIRE k 100; EXPIRE k 50 GT; PEXPIRE k 100000; EXPIREAT k 9999999999; PERSIST k; PERSIST k",
    "SET k v; EXPIRE k -1; EXPIRE k 10; PERSIST k",
    "SET k v; RENAME k l; RENAME l l; SET k v; RENAME k l; RENAMENX l m; SET l v; RENAMENX l m; RENAME none m",
    "SET k v; COPY k copied; COPY k copied; COPY k copied REPLACE; COPY none copied; COPY k k2 DB 1",
    "SET k v; MOVE k 3; SET k v; MOVE k 3; MOVE none 3; SELECT 3; SET k v; SELECT 0",
    "SET k v PX 10; wait; GET k; GET k",
    "SET k v PX 10; wait; SET k w",
    "SET k v PX 10; wait; SET k w XX; DEL k",
    "SET k v PX 10; wait; DEL k",
    "SET k v PX 10; wait; INCR k; EXPIRE k 10",
    "SET k v PX 10; wait; EXPIRE k 10",
    // Of several keys whose time has come, Redis announces each when it meets it, we all before.
    "MSET a 1 b 2; PEXPIRE a 10; wait; MGET a b c",
    "SET k v; SET l w PX 10; wait; RENAME k l",
    "SET k v PX 10; wait; RENAME k l",
    "SELECT 1; SET k v PX 10; wait; SELECT 0; SET k w; COPY k k DB 1; SELECT 1; GET k; SELECT 0",
    "RPUSH l 1 2 3; LPUSH l 0; LPUSHX l a; RPUSHX l b; LPUSHX nolist x; LSET l 0 z; LREM l 0 z; LREM l 0 z",
    "RPUSH l 1 2 3; LINSERT l BEFORE 2 x; LINSERT l BEFORE none x; LTRIM l 0 1; LTRIM l 5 9",
    "RPUSH l 1 2 3; LPOP l; RPOP l 0; RPOP l 9; LPOP nolist; RPUSH l 1 2 3; LMPOP 2 nolist l LEFT COUNT 2; LMPOP 1 l RIGHT",
    "RPUSH l 1 2; LMOVE l m LEFT RIGHT; LMOVE l l LEFT RIGHT; RPOPLPUSH l m; LMOVE l m LEFT LEFT; BLPOP m 0; BRPOPLPUSH m n 0",
    "SADD s 1 2 3; SADD s 3; SREM s 1 9; SREM s 9; SREM s 2 3; SADD s 1; SMOVE s t 1; SMOVE s t 1",
    "SADD s 1 2 3; SPOP s; SPOP s 0; SPOP s 9; SPOP s; SADD s 1; SPOP s",
    "SADD s 1 2; SADD t 2 3; SINTERSTORE u s t; SUNIONSTORE u s t; SDIFFSTORE u s t; SADD v 9; SINTERSTORE u s v; SINTERSTORE u s v",
    "ZADD z 1 a 2 b; ZADD z 1 a; ZADD z INCR 1 a; ZADD z XX 5 none; ZADD z CH 3 a; ZINCRBY z 1 a; ZREM z a none; ZREM z none; ZREM z b",
    "ZADD z 1 a 2 b 3 c 4 d 5 e; ZREMRANGEBYRANK z 0 0; ZREMRANGEBYSCORE z 2 2; ZREMRANGEBYLEX z [c [c; ZREMRANGEBYSCORE z 99 99; ZPOPMIN z; ZPOPMAX z; ZPOPMAX z",
    "ZADD z 1 a 2 b; ZMPOP 2 none z MIN; BZPOPMAX z 0; ZADD z 1 a; ZADD y 2 a; ZUNIONSTORE x 2 z y; ZINTERSTORE x 2 z y; ZDIFFSTORE x 2 z y; ZRANGESTORE w z 0 -1; ZRANGESTORE w z 5 9",
    "GEOADD g 13.361389 38.115556 p; GEOADD g 13.361389 38.115556 p; GEOSEARCHSTORE h g FROMMEMBER p BYRADIUS 1 km; GEORADIUSBYMEMBER g p 1 km STORE h; GEOSEARCHSTORE h g FROMLONLAT 0 0 BYRADIUS 1 km",
    "SETBIT b 1 1; SETBIT b 1 1; BITFIELD b SET u8 0 9; BITFIELD b GET u8 0; BITOP AND c b b",
    "PFADD p a; PFADD p a; PFADD q b; PFADD r c; PFMERGE r p q; PFCOUNT r",
    "HSET h f 1 g 2; HSET h f 1; HMSET h i 3; HSETNX h f 2; HSETNX h j 2; HINCRBY h f 1; HINCRBYFLOAT h f 0.5; HDEL h f none; HDEL h none; HDEL h g i j",
    "RPUSH l 2 1; SORT l; SORT l STORE sorted; SORT l STORE sorted; SORT none1 STORE sorted; SORT none1 STORE sorted",
    "DEL x; XADD x 1-0 f v; XADD x 2-0 f v; XADD x NOMKSTREAM 3-0 f v; XADD x MAXLEN 2 4-0 f v; XADD x MAXLEN 9 5-0 f v; XADD none NOMKSTREAM * f v; XADD x 1-0 f v",
    "DEL x; XADD x 1-0 f v; XADD x 2-0 f v; XADD x 3-0 f v; XTRIM x MAXLEN 2; XTRIM x MAXLEN 2; XDEL x 2-0 9-0; XDEL x 2-0; XSETID x 9-0; XSETID none 1-0; XDEL x 3-0; XLEN x",
    "DEL x; XADD x 1-0 f v; XGROUP CREATE x g 0; XGROUP CREATE x g 0; XGROUP CREATE y g 0 MKSTREAM; XGROUP SETID x g 0; XGROUP CREATECONSUMER x g c; XGROUP CREATECONSUMER x g c; XGROUP DELCONSUMER x g c; XGROUP DELCONSUMER x g c; XGROUP DESTROY x g; XGROUP DESTROY x g",
    "DEL x; XADD x 1-0 f v; XGROUP CREATE x g 0; XREADGROUP GROUP g c BLOCK 0 STREAMS x >; XREADGROUP GROUP g c STREAMS x 0; XCLAIM x g d 0 1-0; XAUTOCLAIM x g e 0 -; XACK x g 1-0",
    "SADD s 1; SINTERSTORE u no1 s no2; SUNIONSTORE u no1 s; SDIFFSTORE v s no1 no1; SDIFFSTORE v no1 s",
    "ZADD z 1 a; ZUNIONSTORE y 2 no1 z; ZINTERSTORE y 2 no1 no2; ZDIFFSTORE y 2 z no1; ZRANGESTORE y no1 0 -1; ZUNIONSTORE y 2 no1 s",
    "SET k ab; BITOP AND c k no1 no2; BITOP NOT c no1; BITOP AND c no1 no1; BITFIELD no1 GET u8 0; BITFIELD no3 GET u8 0 SET u8 0 1; BITFIELD k GET u8 0",
    "PFMERGE no4 no1 no2; PFCOUNT no1; PFADD p a; PFMERGE p no1 p; PFCOUNT p no1 no2; PFCOUNT p",
    "GEOSEARCHSTORE h no1 FROMLONLAT 1 1 BYRADIUS 1 m; GEORADIUS no1 1 1 1 m STORE h; GEORADIUS no1 1 1 1 m",
    "XACK no1 g 1-1; XCLAIM no1 g c 0 1-1; XAUTOCLAIM no1 g c 0 0; XREADGROUP GROUP g c STREAMS no1 no2 > >",
    "SET k v PX 10; SET l w PX 10; wait; MULTI; SET k w; INCR l; EXEC",
    "SET k v PX 10; wait; MULTI; EXISTS k; EXEC",
    "SET k v PX 10; wait; MULTI; DEL k; SET k w; EXEC; DEL k",
    "MULTI; GET none; SINTERSTORE v none; EXEC",
    "SWAPDB 0 1; FLUSHDB; FLUSHALL",
];

#[test]
fn commands_cause_the_events_that_they_cause_in_redis() {
    let Some(mut redis) = Redis::start() else { return };
    let mut theirs = redis.subscribe("__key*");
    let mut server = TestServer::new();
    let mut ours = server.another_connection();
    ours.line("PSUBSCRIBE __key*");
    for line in ["CONFIG SET notify-keyspace-events KEAnm", "DEBUG SET-ACTIVE-EXPIRE 0"] {
        server.line(line);
        redis.run(&words(line));
    }
    let mut differences = Vec::new();
    for line in LINES {
        for command in line.split("; ") {
            if command == "wait" {
                redis.run(&["DEBUG", "SLEEP", "0.02"]);
                server.clock.advance_ms(20);
                continue;
            }
            server.run_for_bytes(&words(command));
            redis.run(&words(command));
        }
        let ours: Vec<String> = ours.messages().iter().map(event).collect();
        let theirs = events_to_end(&mut redis, &mut theirs);
        if ours != theirs {
            differences.push(format!("{line}\n  ours:  {ours:?}\n  redis: {theirs:?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn an_event_that_redis_does_not_have_would_be_noticed() {
    let Some(mut redis) = Redis::start() else { return };
    let mut theirs = redis.subscribe("__key*");
    redis.run(&words("CONFIG SET notify-keyspace-events KE$"));
    redis.run(&words("SET k v"));
    let events = events_to_end(&mut redis, &mut theirs);
    assert_eq!(events, ["__keyspace@0__:k set", "__keyevent@0__:set k"]);
}

#[test]
fn keys_that_nobody_asks_for_are_announced_by_the_expiry_cycle() {
    let mut server = TestServer::new();
    let mut subscriber = server.another_connection();
    server.line("CONFIG SET notify-keyspace-events Ex");
    subscriber.line("SUBSCRIBE __keyevent@0__:expired");
    server.line("SET k v PX 10");
    server.clock.advance_ms(20);
    server.server.engine.expire_due();
    let events: Vec<String> = subscriber.messages().iter().map(event).collect();
    assert_eq!(events, ["__keyevent@0__:expired k"]);
}

/// What Redis has announced up to now.
fn events_to_end(redis: &mut Redis, subscriber: &mut Subscriber) -> Vec<String> {
    redis.run(&["PUBLISH", END, ""]);
    let mut events = Vec::new();
    loop {
        let event = event(&subscriber.receive());
        if event.starts_with(END) {
            return events;
        }
        events.push(event);
    }
}

/// Channel and payload of a message.
fn event(message: &Value) -> String {
    let Value::Array(parts) = message else { panic!("a message, not {message:?}") };
    let text = |part: &Value| match part {
        Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => panic!("text, not {other:?}"),
    };
    let [.., channel, payload] = &parts[..] else { panic!("a message, not {parts:?}") };
    format!("{} {}", text(channel), text(payload))
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect()
}
