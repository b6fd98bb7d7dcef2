//! A server that answers every PING at once, except for one long nap, shows whether the generator
//! tells the truth about stalls.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::*;
use crate::keys::Distribution;
use crate::plan::Limit;
use crate::stats::Latency;
use crate::target::Target;
use crate::template::{Vocabulary, Wire};
use crate::workload::Workload;

const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";
const NAP: Duration = Duration::from_millis(300);

struct Unobserved;

impl Observer for Unobserved {}

/// Answers one connection; naps once, before request number `nap_before`.
fn serve(mut stream: TcpStream, nap_before: usize, nap: Duration) {
    let mut chunk = [0; 4096];
    let (mut bytes, mut answered) = (0, 0);
    while let Ok(len) = stream.read(&mut chunk) {
        if len == 0 {
            return;
        }
        bytes += len;
        while (answered + 1) * PING.len() <= bytes {
            if answered == nap_before {
                thread::sleep(nap);
            }
            answered += 1;
            if stream.write_all(b"+PONG\r\n").is_err() {
                return;
            }
        }
    }
}

fn napping_server(nap_before: usize, nap: Duration) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port exists");
    let port = listener.local_addr().expect("the listener is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream, nap_before, nap));
        }
    });
    Target::local(port)
}

fn plan(target: Target, load: Load) -> Plan {
    let vocabulary = Vocabulary {
        key_prefix: "key:".into(),
        key_bytes: 16,
        keyspace: 1,
        value_bytes_min: 3,
        value_bytes_max: 3,
        keys_per_request: 1,
        wire: Wire::Resp,
    };
    let workload = Workload::named("ping", &vocabulary).expect("the test exists");
    Plan {
        target,
        workload,
        vocabulary,
        distribution: Distribution::Uniform,
        connections: 1,
        threads: 1,
        pipeline: 1,
        load,
        warmup: Duration::ZERO,
        seed: 1,
    }
}

/// So few requests that a machine with little time to spare keeps up with them.
#[test]
fn an_open_loop_charges_a_stall_to_everyone_it_kept_waiting() {
    let duration = Duration::from_millis(1500);
    let load = Load::Open { requests_per_second: 200.0, duration };
    let outcome = run(&plan(napping_server(50, NAP), load), &mut Unobserved).expect("the run ends");
    let latency = Latency::of(&outcome.latencies());
    assert_eq!(outcome.stats.completed, 300);
    // 60 of 300 requests fell due during the nap: the latency of the slowest tenth spans the
    // second half of it.
    assert!(latency.p999_us > 290e3, "{latency:?}");
    assert!(latency.p90_us > 130e3, "{latency:?}");
}

#[test]
fn a_closed_loop_sees_a_stall_once() {
    let load = Load::Closed(Limit::Requests(5000));
    let outcome =
        run(&plan(napping_server(500, NAP), load), &mut Unobserved).expect("the run ends");
    let latency = Latency::of(&outcome.latencies());
    assert_eq!(outcome.stats.completed, 5000);
    assert!(latency.max_us > 290e3, "{latency:?}");
    assert!(latency.p90_us < 130e3, "{latency:?}");
}

#[test]
fn the_warm_up_is_not_counted() {
    let load = Load::Closed(Limit::Requests(1000));
    let nap = Duration::from_secs(1);
    let mut plan = plan(napping_server(10, nap), load);
    // The first ten requests have as long as the nap, which a busy machine may need.
    plan.warmup = nap * 2;
    plan.pipeline = 7;
    let outcome = run(&plan, &mut Unobserved).expect("the run ends");
    assert_eq!(outcome.stats.completed, 1000);
    assert!(Latency::of(&outcome.latencies()).max_us < 990e3);
}

#[test]
fn a_server_that_hangs_up_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port exists");
    let port = listener.local_addr().expect("the listener is bound").port();
    thread::spawn(move || drop(listener.accept()));
    let plan = plan(Target::local(port), Load::Closed(Limit::Requests(10)));
    assert!(run(&plan, &mut Unobserved).is_err());
}
