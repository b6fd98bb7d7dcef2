//! The compatibility cases, on Basalt and on redis-server.

use std::path::Path;

use basalt_tests::compat::{self, Outcome};
use basalt_tests::missing::is_redis_missing;
use basalt_tests::server::{Kind, Server};
use basalt_tests::transcript::Version;

fn run(kind: Kind, newest: Version) -> Outcome {
    let path = Path::new("data/resp-compat-cases.json");
    let cases = compat::load(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let server = Server::start(kind);
    let outcome = compat::run(&server, &cases, newest)
        .unwrap_or_else(|error| panic!("{error}\nlog:\n{}", server.log()));
    eprintln!("{kind:?}: {} passed, {} failed", outcome.passed, outcome.failed.len());
    for (reason, count) in &outcome.skipped {
        eprintln!("  {count} skipped: {reason}");
    }
    outcome
}

#[test]
fn basalt() {
    let newest = match basalt_tests::server::is_redis(Kind::Basalt) {
        true => Version(7, 0, 0),
        false => Version(7, 2, 0),
    };
    let outcome = run(Kind::Basalt, newest);
    assert!(outcome.failed.is_empty(), "{}", outcome.failed.join("\n"));
    // A server that lists no commands would skip everything and look fine.
    let all = if newest == Version(7, 0, 0) { 350 } else { 352 };
    assert_eq!(outcome.passed, all);
}

/// The runner is right if Redis passes everything up to its version.
#[test]
fn redis() {
    if is_redis_missing() {
        return;
    }
    let outcome = run(Kind::Redis, Version(7, 0, 0));
    assert!(outcome.failed.is_empty(), "{}", outcome.failed.join("\n"));
    assert_eq!(outcome.passed, 350);
}
