//! The whole front, with sockets, under requests by chance. The fuzz target `http_front` draws the
//! same from its input.
//!
//! `BASALT_SEED` says from which number the seeds go on, `BASALT_HTTP_SECONDS` for how long.

mod any;
#[allow(dead_code, reason = "other tests need more of it")]
#[path = "../../../dispatch/tests/harness/mod.rs"]
mod harness;

use basalt_env::random::Random;
use std::time::{Duration, Instant};

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn whatever_is_sent_each_request_has_one_response_however_it_is_cut() {
    let first = number("BASALT_SEED").unwrap_or(0);
    let time = Duration::from_secs(number("BASALT_HTTP_SECONDS").unwrap_or(5));
    let mut served = any::Served::start();
    let (start, mut seed) = (Instant::now(), first);
    while start.elapsed() < time {
        seed += 1;
        let mut random = Random::new(seed);
        let draw = &mut |bound| random.below(bound);
        let bytes = any::requests(draw);
        let pieces = any::pieces(&bytes, draw);
        served.check(&bytes, &pieces);
    }
    assert!(seed > first);
}
