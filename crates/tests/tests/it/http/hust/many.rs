//! What takes many requests or large ones: values of 32 MiB, a hundred thousand compare-and-set,
//! sums by clients at the same time; and what holds after a restart.

use super::super::{client, start};
use super::{Hust, PROFILES, Profile, for_each_profile, version};
use basalt_tests::http::Response;
use basalt_tests::server::{Kind, Launch};
use std::time::{Duration, Instant};

/// Compare-and-set in a row.
const CAS_COUNT: u64 = 100_000;

/// Requests that are sent before their answers are read.
const AHEAD: u64 = 500;

#[test]
fn item_1_values_of_32_mib_come_back() {
    for_each_profile(|hust| {
        let bytes = 32 << 20;
        let value: Vec<u8> = (0..bytes).map(|at: u32| (at.wrapping_mul(31) >> 7) as u8).collect();
        let target = "put?key=large";
        assert_eq!(version(&hust.post("db", target, &value)), (200, Some(1)));
        let read = hust.db("get?key=large");
        assert_eq!(version(&read), (200, Some(1)));
        assert!(read.body == value, "{} bytes", read.body.len());
        assert_eq!(hust.post("db", "hset?tb=h&key=large", &value).status, 200);
        assert!(hust.db("hget?tb=h&key=large").body == value);
        assert_eq!(hust.db("hdel?tb=h&key=large").status, 200);
        assert_eq!(version(&hust.db("del?key=large")), (200, Some(1)));
    });
}

/// Each is sent with the version that the one before must get, without waiting for its answer.
#[test]
fn item_2_a_long_row_of_compare_and_set_succeeds() {
    for_each_profile(|hust| {
        assert_eq!(version(&hust.db("put?key=n&val=0")), (200, Some(1)));
        let mut sent = 0;
        while sent < CAS_COUNT {
            let part = sent..CAS_COUNT.min(sent + AHEAD);
            let requests: String = part
                .clone()
                .map(|at| {
                    let path = hust.path("db", &format!("put?key=n&val={at}&ver={}", at + 1));
                    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
                })
                .collect();
            hust.http.send(requests).unwrap();
            for at in part.clone() {
                let answer = hust.http.response().unwrap();
                assert_eq!(version(&answer), (200, Some(at + 2)), "{answer:?}");
            }
            sent = part.end;
        }
        assert_eq!(version(&hust.db("get?key=n")), (200, Some(CAS_COUNT + 1)));
        assert_eq!(hust.db("get?key=n").text(), (CAS_COUNT - 1).to_string());
    });
}

/// The table of writes that repeat those of another node, for the items of tables.
#[test]
fn item_3_the_rules_for_other_nodes_hold_in_tables() {
    for_each_profile(|hust| {
        let tables = [
            ("hset?tb=h&key=m&val=v", "hexist?tb=h&key=m", "hdel?tb=h&key=m"),
            ("sadd?tb=s", "sismember?tb=s", "srem?tb=s"),
            ("zadd?tb=z&score=4", "zscore?tb=z", "zrem?tb=z"),
        ];
        for (write, read, remove) in tables {
            let mut ask = |target: String| -> Response {
                if target.contains("tb=h") {
                    hust.db(&target)
                } else {
                    hust.post("db", &target, b"m")
                }
            };
            let no_version = ask(format!("{write}&is_dup=true")).status;
            assert!([401, 404].contains(&no_version), "{write}: {no_version}");
            for (sent, then) in [(7, 7), (7, 7), (6, 7), (1, 7), (9, 9), (8, 9)] {
                let written = ask(format!("{write}&is_dup=true&ver={sent}"));
                assert_eq!(version(&written), (200, Some(then)), "{write} {sent}");
                assert_eq!(version(&ask(read.to_owned())), (200, Some(then)), "{read}");
            }
            let written = ask(write.to_owned());
            assert_eq!(version(&written), (200, Some(10)), "{write} by a client counts on");
            for (sent, then) in [(9, 200), (10, 200)] {
                let removed = ask(format!("{remove}&is_dup=true&ver={sent}"));
                assert_eq!(version(&removed), (then, Some(10)), "{remove} {sent}");
            }
            assert_ne!(ask(read.to_owned()).status, 200, "{read}");
            let high = i64::MAX as u64;
            assert_eq!(version(&ask(format!("{write}&is_dup=1&ver={high}"))), (200, Some(high)));
            let wrapped = ask(format!("{write}&is_dup=1&ver=1"));
            assert_eq!(version(&wrapped), (200, Some(high)), "versions do not begin again");
        }
    });
}

#[test]
fn item_5_sums_by_many_clients_are_exact() {
    let (_server, address) = start(&[("io-threads", "3")]);
    for (profile, table) in PROFILES.into_iter().zip(["node", "front"]) {
        let target = format!("hincrby?tb={table}&key=sum&val=3");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut hust = Hust::new(client(address), profile);
                    (0..250).for_each(|_| assert_eq!(hust.db(&target).status, 200));
                });
            }
        });
        let mut hust = Hust::new(client(address), profile);
        let sum = hust.db(&format!("hget?tb={table}&key=sum"));
        assert_eq!((version(&sum), sum.text()), ((200, Some(2_000)), "6000".to_owned()));
    }
}

/// Asks as each profile takes it: members of sets come in the body.
fn ask(hust: &mut Hust, target: &str) -> u16 {
    match target.split_once("&key=").filter(|_| target.starts_with('s')) {
        Some((before, rest)) => {
            let (member, options) = rest.split_once('&').unwrap_or((rest, ""));
            hust.post("db", &format!("{before}&{options}"), member.as_bytes()).status
        }
        None => hust.db(target).status,
    }
}

#[test]
fn item_7_times_to_live_go_on_after_a_restart_and_hold_for_all_verbs() {
    for profile in PROFILES {
        times_to_live_go_on(profile);
    }
}

fn times_to_live_go_on(profile: Profile) {
    let dir = tempfile::tempdir().unwrap();
    let launch = || {
        let launch = Launch::new(Kind::Basalt).with_http().dir(dir.path()).allow_log("torn tail");
        launch.option("appendonly", "yes").option("appendfsync", "always").start()
    };
    let hust = |address| Hust::new(client(address), profile);
    let mut server = launch();
    let mut node = hust(server.http_address().unwrap());
    let writes = [
        "put?key=k&val=v",
        "hset?tb=h&key=k&val=v",
        "sadd?tb=s&key=k",
        "zadd?tb=z&key=k&score=1",
        // The writes of another node bring theirs along.
        "put?key=k&val=v&is_dup=true&ver=9",
        "hset?tb=h&key=k&val=v&is_dup=true&ver=9",
        "sadd?tb=s&key=k&is_dup=true&ver=9",
        "zadd?tb=z&key=k&score=1&is_dup=true&ver=9",
    ];
    for (at, target) in writes.iter().enumerate() {
        let ends = target.replace("key=k", if at < 4 { "key=k" } else { "key=r" });
        assert_eq!(ask(&mut node, &format!("{ends}&ttl=5")), 200, "{ends}");
        let kept = target.replace("key=k", "key=kept");
        assert_eq!(ask(&mut node, &format!("{kept}&ttl=1000000")), 200, "{kept}");
    }
    server.kill();
    let server = launch();
    let mut node = hust(server.http_address().unwrap());
    let reads = [
        "get?key=",
        "exist?key=",
        "hget?tb=h&key=",
        "hexist?tb=h&key=",
        "sismember?tb=s&key=",
        "zscore?tb=z&key=",
        "zismember?tb=z&key=",
    ];
    let start = Instant::now();
    let mut is_there = |read: &str, name: &str| ask(&mut node, &format!("{read}{name}")) == 200;
    while reads.iter().any(|read| is_there(read, "k") || is_there(read, "r")) {
        assert!(start.elapsed() < Duration::from_secs(60), "they live too long");
        std::thread::sleep(Duration::from_millis(20));
    }
    for read in reads {
        assert!(is_there(read, "kept"), "{read}");
    }
    // Listings notice it with the memory that it gives back.
    let listings = ["keys?file=0", "hkeys?tb=h", "smembers?tb=s", "zrangebyrank?tb=z"];
    for listing in listings {
        let page = format!("{listing}&offset=0&size=9");
        while node.db(&page).field("keys") != Some("1") {
            assert!(start.elapsed() < Duration::from_secs(60), "{listing}");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(node.db(&page).text().starts_with(r#"[{"key":"a2VwdA==""#), "{listing}");
    }
}

#[test]
fn item_16_each_verb_says_what_it_takes() {
    for_each_profile(|hust| {
        for (kind, verbs) in [
            ("db", &["put", "get", "del", "exist", "hset", "hget", "hdel", "hincrby"][..]),
            ("db", &["sadd", "srem", "sismember", "zadd", "zrem", "zscore", "zismember"]),
            ("db", &["zrangebyrank", "zrangebyscore", "keys", "hkeys", "smembers"]),
            ("db", &["stat", "stat_all", "file_count", "binlog"]),
            ("cache", &["put", "get", "del", "exist", "ttl", "append", "expire", "persist"]),
            (
                "mq",
                &["put", "get", "ack", "timeout", "lock", "max", "purge", "worker", "pub", "sub"],
            ),
            ("cache", &["hset", "hget", "hexist", "hdel", "hincrby", "hincrbyfloat"]),
        ] {
            for verb in verbs {
                let line = format!("DELETE {}", hust.path(kind, verb));
                let refused = hust.http.ask(&line, "", b"");
                assert_eq!(refused.status, 405, "{line}");
                assert!(refused.field("allow").is_some_and(|allow| !allow.is_empty()), "{line}");
                assert_eq!(
                    (refused.field("content-length"), refused.text().as_str()),
                    (Some("0"), "")
                );
                assert_eq!(refused.field("content-type"), Some("text/plain"), "{line}");
                let line = format!("GET {}/more", hust.path(kind, verb));
                assert_eq!(hust.http.ask(&line, "", b"").status, 404, "{line}");
            }
        }
    });
}
