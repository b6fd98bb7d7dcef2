//! Hostile clients: what another client feels meanwhile.
//!
//! `BASALT_HOSTILE=full` runs the attacks at full size, which takes some 8 GB of memory and ten
//! minutes, and holds the server to what `docs/testing.md` says; `BASALT_HOSTILE_ONLY` names some,
//! by a part of their names.

use std::time::Duration;

use basalt_tests::hostile::{self, Attack, Bounds, Scale};

/// What the documentation promises.
const PROMISED: Bounds = Bounds {
    p99: Duration::from_millis(100),
    max: Duration::from_secs(1),
    resident_bytes: 256_000_000,
    end: Duration::from_secs(12),
};

/// What a busy machine with other tests on it can hold.
const BESIDE_OTHERS: Bounds = Bounds {
    p99: Duration::from_secs(2),
    max: Duration::from_secs(5),
    resident_bytes: 512_000_000,
    end: Duration::from_secs(30),
};

fn chosen() -> Vec<Attack> {
    let only = std::env::var("BASALT_HOSTILE_ONLY").unwrap_or_default();
    hostile::attacks().into_iter().filter(|attack| attack.name.contains(&only)).collect()
}

#[test]
fn one_hostile_client_stops_nobody() {
    let full = std::env::var("BASALT_HOSTILE").is_ok_and(|size| size == "full");
    let (scale, bounds, duration, threads): (_, _, _, &[&str]) = match full {
        true => (Scale::FULL, PROMISED, Duration::from_secs(10), &["1", "2"]),
        false => (Scale(2), BESIDE_OTHERS, Duration::from_millis(700), &["1"]),
    };
    let mut failures = Vec::new();
    for &io_threads in threads {
        eprintln!("\nio-threads {io_threads}\n");
        eprintln!(
            "| attack | PINGs | P99 | longest | memory beyond the data | end after SIGTERM |"
        );
        eprintln!("|---|---|---|---|---|---|");
        for attack in chosen() {
            let verdict = hostile::run(&attack, &[("io-threads", io_threads)], scale, duration);
            eprintln!("{}", verdict.row(attack.name));
            for violation in verdict.violations(&bounds) {
                failures.push(format!("{}, io-threads {io_threads}: {violation}", attack.name));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
