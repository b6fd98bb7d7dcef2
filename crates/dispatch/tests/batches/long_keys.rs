//! Keys that are hashed where a request runs, since that takes long.

use crate::harness::TestServer;
use basalt_resp::encode_request;

/// Longer than what is hashed before a batch runs.
const LONG_KEY_BYTES: usize = (1 << 20) + 1;

/// Requests on keys that end in these letters: short ways, plain ones, several keys, keys behind a
/// count, a script's, those of a transaction, and those that wait.
const LINES: &[&str] = &[
    "SET @s v",
    "SET @s w",
    "GET @s",
    "GET @s",
    "APPEND @s x",
    "STRLEN @s",
    "INCR @n",
    "INCR @n",
    "INCR @n",
    "GET @n",
    "EXPIRE @n 100",
    "PERSIST @n",
    "TYPE @n",
    "EXISTS @s @n @s none",
    "MGET @s @n none",
    "LPUSH @l a b",
    "BLPOP @l 0",
    "BLMPOP 0 1 @l LEFT COUNT 5",
    "SADD @m a b",
    "SISMEMBER @m a",
    "SUNIONSTORE @u @m",
    "SMEMBERS @u",
    "EVAL return{redis.call('get',KEYS[1]),#KEYS[1]>0} 1 @n",
    "WATCH @s",
    "MULTI",
    "APPEND @s y",
    "GET @s",
    "EXEC",
    "RENAME @s @r",
    "GET @r",
    "DEL @r @s",
    "UNLINK @n",
];

fn replies(server: &mut TestServer, key: &str, batch_max: usize) -> Vec<u8> {
    let mut input = Vec::new();
    for line in LINES {
        let words: Vec<String> = line.split(' ').map(|word| word.replace('@', key)).collect();
        encode_request(&words, &mut input);
    }
    let replies = server.run_bytes(input, batch_max);
    let text = String::from_utf8(replies).expect("letters only");
    // Of what comes back, only the name that BLPOP and BLMPOP return is as long as the key is.
    let length = |name_bytes: usize| format!("${name_bytes}\r\n");
    text.replace(&length(key.len() + 1), "$n\r\n").replace(key, "@").into_bytes()
}

#[test]
fn requests_with_long_keys_are_answered_as_those_with_short_ones() {
    for batch_max in [1, 64] {
        let mut server = TestServer::new();
        let wanted = replies(&mut server, "a-short-key-", batch_max);
        let apart = server.ran_apart;
        let got = replies(&mut server, &"k".repeat(LONG_KEY_BYTES), batch_max);
        assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(&wanted));
        let apart = server.ran_apart - apart;
        assert_eq!(apart, LINES.len() - 1, "all but MULTI, though some ran again");
        assert_eq!(server.line("DBSIZE"), basalt_resp::Value::Integer(4));
    }
}
