//! Items 14 and 15 of what clients of huststore rely on, as far as one node goes: writers that meet
//! agree, and what was acknowledged survives `kill -9`.

use super::super::{client, start};
use super::{Hust, PROFILES, Profile, version};
use basalt_tests::http::Response;
use basalt_tests::server::{Kind, Launch};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const WRITERS: u64 = 4;
/// Rounds of all writers after which the server is killed.
const ROUNDS: u64 = 400;
const ITEMS: u64 = 40;

impl Hust {
    /// The answer; none if the server has gone.
    fn try_get(&mut self, kind: &str, target: &str) -> Option<Response> {
        let line = format!("GET {}", self.path(kind, target));
        self.http.request(&line, "", b"").ok()?;
        self.http.response().ok()
    }
}

/// What a writer has been told.
#[derive(Default)]
struct Diary {
    /// The value and the version of each item, by the target that reads it; none if it was removed.
    items: BTreeMap<String, Option<(String, u64)>>,
    /// What was asked for last, and has had no answer: it may have been done.
    open: Option<String>,
    put: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
}

impl Diary {
    /// Writes items, fields and messages, and removes some; returns nothing when the server has
    /// gone.
    fn write(&mut self, hust: &mut Hust, own: u64, number: u64) -> Option<()> {
        let (place, removes) = (number % ITEMS, number % 7 == 6);
        let (key, field) = (format!("key=k{own}-{place}"), format!("tb=t{own}&key=f{place}"));
        for (read, write, remove, item) in
            [("get", "put", "del", key), ("hget", "hset", "hdel", field)]
        {
            let read = format!("{read}?{item}");
            self.open = Some(read.clone());
            let target = match removes {
                true => format!("{remove}?{item}"),
                false => format!("{write}?{item}&val={number}"),
            };
            let answer = hust.try_get("db", &target)?;
            let (status, version) = version(&answer);
            assert!(removes || status == 200, "{target}: {answer:?}");
            let is_there = (!removes).then(|| (number.to_string(), version.expect("a version")));
            self.items.insert(read, is_there);
        }
        let message = format!("{own}-{number}");
        self.open = None;
        assert_eq!(hust.try_get("mq", &format!("put?queue=q{own}&item={message}"))?.status, 200);
        self.put.insert(message);
        if number.is_multiple_of(3) {
            self.take(hust, own)?;
        }
        Some(())
    }

    /// Takes a message and acknowledges it.
    fn take(&mut self, hust: &mut Hust, own: u64) -> Option<()> {
        let target = format!("get?queue=q{own}&worker=worker&ack=false");
        let taken = hust.try_get("mq", &target)?;
        assert_eq!(taken.status, 200, "{taken:?}");
        self.open = Some(taken.text());
        let token = taken.field("ack-token").expect("a token");
        let acknowledge = format!("ack?queue=q{own}&token={token}&peer=0");
        assert_eq!(hust.try_get("mq", &acknowledge)?.status, 200);
        self.acknowledged.insert(taken.text());
        Some(())
    }

    /// Compares it with what there is.
    fn check(&self, hust: &mut Hust, own: u64) {
        for (read, told) in self.items.iter().filter(|(read, _)| self.open.as_ref() != Some(read)) {
            let answer = hust.db(read);
            let there = (answer.status == 200).then(|| answer.text()).zip(version(&answer).1);
            assert_eq!(&there, told, "{read}");
        }
        let stat = hust.get("mq", &format!("stat?queue=q{own}"));
        let stat: serde_json::Value = serde_json::from_slice(&stat.body).expect("JSON");
        let held = stat["unacked"].as_u64().expect("a number");
        let mut ready = BTreeSet::new();
        loop {
            let taken = hust.get("mq", &format!("get?queue=q{own}&worker=worker"));
            if taken.status != 200 {
                break;
            }
            ready.insert(taken.text());
        }
        let again: Vec<_> = ready.intersection(&self.acknowledged).collect();
        assert!(again.is_empty(), "acknowledged, and there again: {again:?}");
        let gone = self.put.iter().filter(|&it| {
            let is_known = ready.contains(it) || self.acknowledged.contains(it);
            !is_known && self.open.as_ref() != Some(it)
        });
        let gone: Vec<_> = gone.collect();
        assert!(gone.len() as u64 <= held, "put, and gone: {gone:?}, {held} are held");
    }
}

/// Writes until the server goes.
fn write_on(mut hust: Hust, own: u64, rounds: &AtomicU64) -> Diary {
    let mut diary = Diary::default();
    let mut number = 0;
    while diary.write(&mut hust, own, number).is_some() {
        number += 1;
        rounds.fetch_add(1, Ordering::Relaxed);
    }
    diary
}

fn write_and_kill(dir: &Path, profile: Profile) -> Vec<Diary> {
    let mut server = launch(dir).start();
    let address = server.http_address().expect("it was told a port");
    let rounds = AtomicU64::new(0);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|own| (own, Hust::new(client(address), profile)))
            .map(|(own, hust)| {
                scope.spawn({
                    let rounds = &rounds;
                    move || write_on(hust, own, rounds)
                })
            })
            .collect();
        while rounds.load(Ordering::Relaxed) < ROUNDS && !writers.iter().any(|it| it.is_finished())
        {
            thread::yield_now();
        }
        server.kill();
        writers.into_iter().map(|writer| writer.join().expect("it wrote")).collect()
    })
}

fn launch(dir: &Path) -> Launch {
    let launch = Launch::new(Kind::Basalt).with_http().dir(dir).allow_log("torn tail");
    launch.option("appendonly", "yes").option("appendfsync", "always")
}

#[test]
fn item_15_what_was_acknowledged_survives_a_kill() {
    for profile in PROFILES {
        let dir = tempfile::tempdir().unwrap();
        let diaries = write_and_kill(dir.path(), profile);
        assert!(diaries.iter().all(|diary| diary.put.len() > 10), "all have written");
        let server = launch(dir.path()).start();
        let address = server.http_address().expect("it was told a port");
        let mut hust = Hust::new(client(address), profile);
        for (own, diary) in (0..).zip(&diaries) {
            diary.check(&mut hust, own);
        }
    }
}

/// A front with one node says nothing of others, and what it reads is what was written last.
#[test]
fn item_14_writers_that_meet_agree() {
    let (_server, address) = start(&[]);
    for profile in PROFILES {
        let key = format!("of-{profile:?}");
        thread::scope(|scope| {
            for own in 0..WRITERS {
                let key = &key;
                scope.spawn(move || write_to_one(address, profile, key, own));
            }
        });
        let reads = ["/hustdb/get", "/get", "/get2"].map(|path| {
            let line = format!("GET {path}?key={key}");
            let answer = client(address).ask(&line, "", b"");
            (version(&answer), answer.text())
        });
        assert_eq!(reads[0].0, (200, Some(WRITERS * ROUNDS)), "each write has counted");
        assert!(reads.iter().all(|read| *read == reads[0]), "{reads:?}");
    }
}

fn write_to_one(address: SocketAddr, profile: Profile, key: &str, own: u64) {
    let mut hust = Hust::new(client(address), profile);
    let mut last = 0;
    for number in 0..ROUNDS {
        let answer = hust.db(&format!("put?key={key}&val={own}-{number}"));
        let (status, version) = version(&answer);
        assert!(status == 200 && version > Some(last), "{answer:?}");
        last = version.unwrap_or(0);
        for of_nodes in ["sync", "fail", "count", "version1", "val-offset"] {
            assert_eq!(answer.field(of_nodes), None, "{answer:?}");
        }
    }
}
