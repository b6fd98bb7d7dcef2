//! Plays the transcripts to Basalt and to redis-server.

use std::path::PathBuf;

use basalt_tests::missing::is_redis_missing;
use basalt_tests::server::{Kind, Launch, Server, Target};
use basalt_tests::transcript::{Protocol, bless_file, run_folder};

/// Cargo runs tests in the folder of their package.
fn folder() -> PathBuf {
    PathBuf::from("transcripts")
}

fn start(kind: Kind) -> Server {
    Launch::new(kind).option("enable-debug-command", "yes").start()
}

fn play(kind: Kind, protocol: Protocol) {
    play_to(&start(kind), protocol);
}

/// Plays all transcripts.
pub fn play_to(server: &dyn Target, protocol: Protocol) {
    let kind = if server.is_redis() { Kind::Redis } else { Kind::Basalt };
    let report = run_folder(server, protocol, &folder());
    let (cases, steps, skipped) = (report.cases, report.steps, report.skipped);
    eprintln!("{kind:?} {protocol:?}: {cases} cases, {steps} replies, {skipped} cases skipped");
    assert!(cases > 0, "no transcripts in {}", folder().display());
    let failures = &report.failures;
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn basalt_in_resp2() {
    play(Kind::Basalt, Protocol::Resp2);
}

#[test]
fn basalt_in_resp3() {
    play(Kind::Basalt, Protocol::Resp3);
}

#[test]
fn basalt_over_a_unix_socket() {
    let launch = Launch::new(Kind::Basalt).option("enable-debug-command", "yes").unix();
    play_to(&launch.start(), Protocol::Resp3);
}

#[test]
fn basalt_over_tls() {
    let launch = Launch::new(Kind::Basalt).option("enable-debug-command", "yes").tls();
    play_to(&launch.start(), Protocol::Resp3);
}

/// Both protocols in one test, because blessing rewrites the files.
#[test]
fn redis() {
    if is_redis_missing() {
        return;
    }
    if std::env::var("BASALT_BLESS").as_deref() == Ok("redis") {
        bless();
    }
    play(Kind::Redis, Protocol::Resp2);
    play(Kind::Redis, Protocol::Resp3);
}

fn bless() {
    let server = start(Kind::Redis);
    for family in std::fs::read_dir(folder()).expect("the folder is there") {
        let family = family.expect("it can be listed").path();
        for file in std::fs::read_dir(&family).expect("it holds families") {
            let path = file.expect("it can be listed").path();
            for protocol in [Protocol::Resp2, Protocol::Resp3] {
                let count = bless_file(&server, protocol, &path)
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                if count > 0 {
                    eprintln!("{}: {count} replies written ({protocol:?})", path.display());
                }
            }
        }
    }
}

/// The canary: what is wrong in a transcript must be found.
#[test]
fn a_wrong_expectation_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let text = "> SET k v\nOK\n> GET k\n\"w\"\n> GET none\n> QUIT\nOK\n> PING\nPONG\n";
    std::fs::write(folder.path().join("wrong.txt"), text).expect("the file can be written");
    let report = run_folder(&start(Kind::Basalt), Protocol::Resp2, folder.path());
    let lines: Vec<_> = report.failures.iter().filter_map(|text| text.lines().next()).collect();
    assert_eq!(lines, ["wrong.txt:3: GET k", "wrong.txt:5: GET none", "wrong.txt:8: PING"]);
}
