//! CONFIG SET answers what redis-server 7.0.15 answers.

use crate::{load, set, value};
use basalt_config::{Config, SetOrigin};

/// `name`, `value`, and Redis' answer: `OK` or the reason.
const ANSWERS: &str = include_str!("../data/redis-set-answers.tsv");

/// The data directory holds the journal and the cold tier: it cannot move under a running server.
const DIFFERENT: &[&str] = &["dir"];

#[test]
fn every_option_answers_as_redis_does() {
    let config = load(&["--enable-protected-configs", "yes"], b"").unwrap().config;
    let mut count = 0;
    for line in ANSWERS.lines().filter(|line| !line.starts_with('#')) {
        let [name, argument, answer] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            panic!("{line} has not three fields");
        };
        count += 1;
        if DIFFERENT.contains(&name) {
            continue;
        }
        let expected = match answer {
            "OK" => Ok(()),
            reason => Err(failed(name, reason)),
        };
        assert_eq!(set(&config, &[name, argument]), expected, "{name} {argument}");
    }
    assert_eq!(count, 380);
}

fn failed(name: &str, reason: &str) -> String {
    format!("CONFIG SET failed (possibly related to argument '{name}') - {reason}")
}

/// Arguments, and the value of the first option afterwards.
const TAKEN: &[(&[&str], &str)] = &[
    (&["maxmemory", ""], "0"),
    (&["maxmemory", "auto"], "0"),
    (&["maxmemory", "5b"], "5"),
    (&["maxmemory", "007"], "7"),
    (&["maxmemory", "1k"], "1000"),
    (&["maxmemory", "1KB"], "1024"),
    (&["maxmemory", "2m"], "2000000"),
    (&["maxmemory", "2mb"], "2097152"),
    (&["maxmemory", "5g"], "5000000000"),
    (&["maxmemory", "5GB"], "5368709120"),
    (&["maxmemory", "18446744073709551615"], "18446744073709551615"),
    (&["hz", "0"], "1"),
    (&["hz", "1000"], "500"),
    (&["HZ", "22"], "22"),
    (&["loglevel", "DEBUG"], "debug"),
    (&["appendonly", "NO"], "no"),
    (&["maxmemory-clients", "5%"], "5%"),
    (&["maxmemory-clients", "1gb"], "1073741824"),
    (&["notify-keyspace-events", "KEA"], "AKE"),
    (&["notify-keyspace-events", "ng$lKEm"], "g$lnKEm"),
    (&["notify-keyspace-events", "g$lshzxetdKEm"], "AKEm"),
    (&["notify-keyspace-events", ""], ""),
    (&["shutdown-on-sigint", "force now"], "now force"),
    (&["shutdown-on-sigint", "default"], "default"),
    (&["save", "900 1"], "900 1"),
    (&["save", "900 1 300 10"], "900 1 300 10"),
    (&["save", "900 0"], "900 0"),
    (&["save", ""], ""),
    (&["bind", ""], ""),
    (&["bind", "127.0.0.1 -::1"], "127.0.0.1 -::1"),
    (
        &["client-output-buffer-limit", "NORMAL 1k 2K 1"],
        "normal 1000 2000 1 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
    ),
    (
        &["client-output-buffer-limit", "replica 1mb 2mb 60 pubsub 0 0 0"],
        "normal 1000 2000 1 slave 1048576 2097152 60 pubsub 0 0 0",
    ),
    (&["latency-tracking-info-percentiles", "0.0 99.99 100"], "0 99.99 100"),
    (&["latency-tracking-info-percentiles", "50 50"], "50 50"),
    (&["latency-tracking-info-percentiles", ""], ""),
    (&["oom-score-adj-values", "3 2 1"], "3 2 1"),
    (&["list-max-ziplist-size", "3", "list-max-listpack-size", "4"], "4"),
    (&["lua-time-limit", "7"], "7"),
    (&["requirepass", "foo bar"], "foo bar"),
    (&["requirepass", "a\0b"], "a\0b"),
];

#[test]
fn values_read_back_as_redis_shows_them() {
    let config = Config::default();
    for (arguments, expected) in TAKEN {
        assert_eq!(set(&config, arguments), Ok(()), "{arguments:?}");
        assert_eq!(value(&config, arguments[0]), *expected, "{arguments:?}");
    }
    assert_eq!(value(&config, "busy-reply-threshold"), "7");
}

/// Arguments, and the error. None of them changes anything.
const REFUSED: &[(&[&str], &str, &str)] = &[
    (&["hz", "007"], "hz", "argument couldn't be parsed into an integer"),
    (&["HZ", "x"], "hz", "argument couldn't be parsed into an integer"),
    (&["Slave-Priority", "x"], "slave-priority", "argument couldn't be parsed into an integer"),
    (&["DATABASES", "5"], "DATABASES", "can't set immutable config"),
    (&["hz", "+7"], "hz", "argument couldn't be parsed into an integer"),
    (&["hz", " 7"], "hz", "argument couldn't be parsed into an integer"),
    (&["hz", "99999999999999999999"], "hz", "argument couldn't be parsed into an integer"),
    (&["maxclients", "0"], "maxclients", "argument must be between 1 and 4294967295 inclusive"),
    (&["port", "99999"], "port", "argument must be between 0 and 65535 inclusive"),
    (&["maxmemory", "10 "], "maxmemory", "argument must be a memory value"),
    (&["maxmemory", "automatic"], "maxmemory", "argument must be a memory value"),
    (&["maxmemory", "1xb"], "maxmemory", "argument must be a memory value"),
    (&["maxmemory", "-1"], "maxmemory", "argument must be a memory value"),
    (
        &["repl-backlog-size", "0"],
        "repl-backlog-size",
        "argument must be between 1 and 9223372036854775807 inclusive",
    ),
    (
        &["client-query-buffer-limit", "5"],
        "client-query-buffer-limit",
        "argument must be between 1048576 and 2146435072 inclusive",
    ),
    (
        &["client-query-buffer-limit", "2gb"],
        "client-query-buffer-limit",
        "argument must be between 1048576 and 2146435072 inclusive",
    ),
    (
        &["proto-max-bulk-len", "513mb"],
        "proto-max-bulk-len",
        "argument must be between 1048576 and 536870912 inclusive",
    ),
    (
        &["maxmemory-clients", "101%"],
        "maxmemory-clients",
        "percentage argument must be less or equal to 100",
    ),
    (
        &["maxmemory-clients", "-50"],
        "maxmemory-clients",
        "argument must be a memory or percent value",
    ),
    (&["appendonly", "5"], "appendonly", "argument must be 'yes' or 'no'"),
    (&["databases", "4"], "databases", "can't set immutable config"),
    (&["unixsocketperm", "999"], "unixsocketperm", "can't set immutable config"),
    (&["dbfilename", "x"], "dbfilename", "can't set protected config"),
    (&["maxmemory", "1", "maxmemory", "2"], "maxmemory", "duplicate parameter"),
    (&["hz", "6", "HZ", "7"], "HZ", "duplicate parameter"),
    (&["databases", "1", "nope", "1"], "databases", "can't set immutable config"),
    (
        &["hz", "5", "loglevel", "x"],
        "loglevel",
        "argument(s) must be one of the following: debug, verbose, notice, warning",
    ),
    (
        &["shutdown-on-sigint", "save nosave"],
        "shutdown-on-sigint",
        "shutdown options SAVE and NOSAVE can't be used simultaneously",
    ),
    (&["save", "900"], "save", "Invalid save parameters"),
    (&["save", "0 1"], "save", "Invalid save parameters"),
    (&["save", "900 1 x"], "save", "Invalid save parameters"),
    (
        &["client-output-buffer-limit", "normal 0"],
        "client-output-buffer-limit",
        "Wrong number of arguments in buffer limit configuration.",
    ),
    (
        &["client-output-buffer-limit", "master 1 2 1"],
        "client-output-buffer-limit",
        "Invalid client class specified in buffer limit configuration.",
    ),
    (
        &["client-output-buffer-limit", "normal 1 2 -1"],
        "client-output-buffer-limit",
        "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
    ),
    (
        &["bind", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"],
        "bind",
        "Too many bind addresses specified.",
    ),
    (
        &["proc-title-template", "{foo}"],
        "proc-title-template",
        "template format is invalid or contains unknown variables",
    ),
    (
        &["cluster-announce-hostname", "a b"],
        "cluster-announce-hostname",
        "Hostnames may only contain alphanumeric characters, hyphens or dots",
    ),
    (&["oom-score-adj-values", "1 2"], "oom-score-adj-values", "wrong number of arguments"),
];

#[test]
fn refusals_are_worded_as_in_redis_and_change_nothing() {
    let config = Config::default();
    let before = config.get(&[b"*"]);
    for (arguments, name, reason) in REFUSED {
        assert_eq!(set(&config, arguments), Err(failed(name, reason)), "{arguments:?}");
    }
    let unknown = "Unknown option or number of arguments for CONFIG SET - 'nope'";
    assert_eq!(set(&config, &["nope", "1", "databases", "1"]), Err(unknown.to_owned()));
    for unpaired in [&["hz", "1", "nope", "1", "port"][..], &["save"], &[]] {
        assert_eq!(set(&config, unpaired), Err("syntax error".to_owned()));
    }
    assert_eq!(config.get(&[b"*"]), before);
    assert_eq!(config.version(), 0);
}

#[test]
fn protected_options_follow_the_clients_place() {
    for (allowed, local, remote) in
        [("no", false, false), ("local", true, false), ("yes", true, true)]
    {
        let config = load(&["--enable-protected-configs", allowed], b"").unwrap().config;
        for (origin, expected) in [
            (SetOrigin::LocalClient, local),
            (SetOrigin::RemoteClient, remote),
            (SetOrigin::Server, true),
        ] {
            let result = config.prepare_set(&[b"dbfilename", b"x.rdb"], origin);
            assert_eq!(result.is_ok(), expected, "{allowed} {origin:?}");
        }
    }
}
