//! Item 9 of what clients of huststore rely on: snapshots of tables.

use super::super::{client, start};
use super::{Hust, PROFILES, Profile, for_each_profile};
use basalt_resp::Value as Reply;
use basalt_tests::http::Response;
use serde_json::Value;
use std::collections::BTreeSet;

/// The names on a page.
fn names(page: &Response) -> Vec<String> {
    assert_eq!(page.status, 200, "{page:?}");
    let elements: Vec<Value> = serde_json::from_slice(&page.body).unwrap();
    elements.iter().map(|element| element["key"].as_str().unwrap().to_owned()).collect()
}

/// All names of a snapshot, in pages of three, with a write to the table before each page.
fn walk(hust: &mut Hust, target: &str, write: &mut dyn FnMut(&mut Hust)) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for offset in (0..).step_by(3) {
        write(hust);
        let page = hust.db(&format!("{target}&offset={offset}&size=3&async=true"));
        assert_eq!(page.field("totalcount"), Some("10"), "{page:?}");
        let names = names(&page);
        let is_last = names.len() < 3;
        for name in names {
            assert!(all.insert(name.clone()), "{name} is twice on pages of {target}");
        }
        if is_last {
            return all;
        }
    }
    unreachable!("some page is the last");
}

#[test]
fn item_9_a_snapshot_stays_as_it_is_under_writes() {
    for_each_profile(|hust| {
        for at in 0..10 {
            assert_eq!(hust.db(&format!("hset?tb=h&key=k{at}&val=v{at}")).status, 200);
            assert_eq!(hust.post("db", "sadd?tb=s", format!("k{at}").as_bytes()).status, 200);
            assert_eq!(hust.db(&format!("zadd?tb=z&key=k{at}&score={at}")).status, 200);
        }
        let listings = [("h", "hkeys?tb=h"), ("s", "smembers?tb=s"), ("z", "zrangebyrank?tb=z")];
        for (table, target) in listings {
            let page = format!("{target}&offset=0&size=1000");
            let none = hust.db(&format!("{page}&async=true"));
            assert_eq!(none.status, hust.status(500), "{table} is not exported");
            let before: BTreeSet<_> = names(&hust.db(&page)).into_iter().collect();
            let token = hust.db(&format!("export?tb={table}"));
            assert_eq!(token.status, 200, "{token:?}");
            assert_eq!(hust.db(&format!("task_status?token={}", token.text())).text(), "2");
            assert_eq!(hust.db("task_status?token=999999").text(), "3");
            let mut number = 0;
            let mut write = |hust: &mut Hust| {
                number += 1;
                let gone = number % 10;
                match table {
                    "h" => {
                        hust.db(&format!("hset?tb=h&key=new{number}&val=v"));
                        hust.db(&format!("hdel?tb=h&key=k{gone}"));
                    }
                    "s" => {
                        hust.post("db", "sadd?tb=s", format!("new{number}").as_bytes());
                        hust.post("db", "srem?tb=s", format!("k{gone}").as_bytes());
                    }
                    _ => {
                        hust.db(&format!("zadd?tb=z&key=new{number}&score=-{number}"));
                        hust.db(&format!("zrem?tb=z&key=k{gone}"));
                    }
                }
            };
            assert_eq!(walk(hust, target, &mut write), before, "{table}");
            let again = hust.db(&format!("export?tb={table}"));
            assert_eq!(again.status, 404, "a snapshot is there");
            assert_eq!(hust.db(&format!("export?tb={table}&cover=true")).status, 200);
            let after: BTreeSet<_> = names(&hust.db(&page)).into_iter().collect();
            let covered = names(&hust.db(&format!("{page}&async=true")));
            assert_eq!(covered.into_iter().collect::<BTreeSet<_>>(), after);
            assert_ne!(after, before);
        }
        let all = hust.db("stat_all").text();
        assert!(!all.contains("export"), "snapshots are no tables: {all}");
    });
}

#[test]
fn item_9_what_cannot_be_exported_is_said() {
    let (_server, address) = start(&[]);
    for profile in PROFILES {
        let mut hust = Hust::new(client(address), profile);
        for (wrong, status) in [
            ("export?tb=none", 412),
            ("export?tb=a/b", 400),
            ("export", 404),
            ("task_status", 404),
            ("task_status?token=x", 400),
            ("export?tb=t&size=5", 400),
            ("keys?file=0&offset=0&size=1&async=true", 501),
        ] {
            let status = if status == 501 { 501 } else { hust.status(status) };
            assert_eq!(hust.db(wrong).status, status, "{wrong}");
        }
        assert_eq!(hust.db("export?file=0").status, 501);
        assert_eq!(hust.post("db", "export?tb=t", b"x").status, 405);
        if profile == Profile::Node {
            assert_eq!(hust.get("mq", "export?tb=t").status, 404);
        }
    }
}

/// A client that goes between any two commands leaves no snapshot that stays.
#[test]
fn item_9_no_snapshot_is_ever_without_its_end() {
    let (server, address) = start(&[]);
    let mut hust = Hust::new(client(address), Profile::Node);
    assert_eq!(hust.db("hset?tb=h&key=k&val=v").status, 200);
    assert_eq!(hust.db("export?tb=h").status, 200);
    assert_eq!(hust.db("export?tb=h&cover=true").status, 200);
    let Reply::Bulk(stats) = server.connect().run("INFO commandstats").unwrap() else {
        panic!("a text")
    };
    let stats = String::from_utf8_lossy(&stats);
    assert!(stats.contains("cmdstat_copyex:calls=2,"), "{stats}");
    for apart in ["cmdstat_copy:", "cmdstat_pexpire:"] {
        assert!(!stats.contains(apart), "{stats}");
    }
}

/// A snapshot can be read for an hour.
#[test]
fn item_9_a_snapshot_goes_by_itself() {
    let (_server, address) = start(&[]);
    let mut hust = Hust::new(client(address), Profile::Node);
    assert_eq!(hust.db("hset?tb=h&key=k&val=v").status, 200);
    assert_eq!(hust.db("export?tb=h").status, 200);
    let json = "Content-Type: application/json\r\n";
    for key in ["{h}@export", "@export:1"] {
        let words = serde_json::json!(["PTTL", key]).to_string();
        let left = hust.http.ask("POST /v1/command?db=1", json, words.as_bytes());
        let left: u64 = left.text().parse().expect("a time");
        assert!((1..=3_600_000).contains(&left), "{key}: {left}");
    }
}
