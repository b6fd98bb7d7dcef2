//! The attacks.

use super::answers::Answer;
use super::tricks;
use super::{FrontAttack, Scene};
use crate::descriptors::Thousands;
use crate::http::HttpClient;
use std::time::{Duration, Instant};

/// Clients that are slow.
const SLOW_CLIENTS: u64 = 5_000;
/// Between two bytes of theirs.
const SLOWLY: Duration = Duration::from_millis(100);
const LONG_HEAD_BYTES: usize = 15_000;
/// Bodies that are announced, and come as slowly as they may.
const SLOW_BODIES: u64 = 500;
const SLOW_BODY_BYTES: usize = 1_000_000;
/// What comes of them at once.
const BEGUN_BYTES: usize = 300_000;
const ENDLESS_BODIES: usize = 16;
/// Clients that do one thing again and again.
const BUSY_CLIENTS: usize = 4;
const PIPELINED: usize = 10_000;
/// How long one sends that reads nothing.
const UNREAD: Duration = Duration::from_millis(200);
/// How long an attacker waits for an answer that has to come.
const PATIENCE: Duration = Duration::from_secs(15);

const BEGUN: &str = "PUT /v1/strings/victim HTTP/1.1\r\nHost: localhost\r\n";
const GET: &str = "GET /v1/strings/key HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Each with its row of the table.
pub fn attacks() -> Vec<FrontAttack> {
    let attack = |name, statuses, run| FrontAttack { name, options: &[], statuses, run };
    let quickly: &[(&str, &str)] = &[("http-head-timeout", "1")];
    vec![
        FrontAttack { options: quickly, ..attack("5,000 slow heads", &[408, 503], slow_heads) },
        FrontAttack {
            options: quickly,
            ..attack("5,000 slow heads of 15 kB", &[408, 503], long_slow_heads)
        },
        attack("500 slow bodies of 1 MB", &[408, 503], slow_bodies),
        attack("endless chunks of a byte", &[413], |scene| {
            endless(scene, &b"1\r\nx\r\n".repeat(4_000));
        }),
        attack("16 endless bodies, chunks of 64 KiB", &[413, 503], endless_bodies),
        attack("endless sizes, extensions, trailers", &[400], endless_lines),
        attack("heads of 64 KiB", &[414, 431], large_heads),
        attack("10,000 pipelined requests, unread", &[200], unread),
        attack("10,000 pipelined requests, read", &[200], pipelined),
        attack("paths and encodings", &tricks::OF_PATHS, |scene| {
            busy(scene, |scene| tricks::play(scene, tricks::paths()));
        }),
        attack("TE with CL and its like", &[400, 501], |scene| {
            busy(scene, |scene| tricks::play(scene, tricks::lengths()));
        }),
        attack("bare LF, CR, NUL", &[400], |scene| {
            busy(scene, |scene| tricks::play(scene, tricks::lines()));
        }),
    ]
}

/// A connection; `None` if the server takes none.
pub(super) fn connect(scene: &Scene<'_>) -> Option<HttpClient> {
    let client = HttpClient::open(scene.server.http_address()?).ok()?;
    client.set_patience(PATIENCE).ok()?;
    Some(client)
}

/// Several attackers at once.
fn busy(scene: &Scene<'_>, attack: impl Fn(&Scene<'_>) + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..BUSY_CLIENTS {
            scope.spawn(|| attack(scene));
        }
    });
}

fn slow_heads(scene: &Scene<'_>) {
    slowly(scene, scene.scale.of(SLOW_CLIENTS), &format!("{BEGUN}X: "));
}

fn long_slow_heads(scene: &Scene<'_>) {
    let head = format!("{BEGUN}X: {}", "x".repeat(LONG_HEAD_BYTES));
    slowly(scene, scene.scale.of(SLOW_CLIENTS), &head);
}

fn slow_bodies(scene: &Scene<'_>) {
    let begun = "x".repeat(BEGUN_BYTES);
    let head = format!("{BEGUN}Content-Length: {SLOW_BODY_BYTES}\r\n\r\n{begun}");
    slowly(scene, scene.scale.of(SLOW_BODIES), &head);
}

/// Clients that begin so and go on byte by byte. One that is answered is followed by another.
fn slowly(scene: &Scene<'_>, count: u64, begun: &str) {
    let Some(_permission) = Thousands::open(count + 1_000) else {
        return scene.answers.note(Answer::End);
    };
    let mut clients = Vec::new();
    let begin = || {
        let mut client = connect(scene)?;
        match client.send(begun) {
            Ok(()) => Some(client),
            Err(_) => {
                scene.answers.note_next(&mut client);
                None
            }
        }
    };
    while !scene.stop.is_set() {
        while (clients.len() as u64) < count && !scene.stop.is_set() {
            clients.extend(begin());
        }
        clients.retain_mut(|client| {
            // The first byte that comes too late still goes, the second fails.
            let goes_on = client.send("x").is_ok();
            if !goes_on {
                scene.answers.note_next(client);
            }
            goes_on
        });
        std::thread::sleep(SLOWLY);
    }
    // A short attack is answered, too: somebody of it.
    let begun = Instant::now();
    while scene.answers.are_none() && begun.elapsed() < PATIENCE {
        clients.iter_mut().for_each(|client| scene.answers.note_if_there(client));
    }
}

/// A body in chunks that never ends, again and again.
fn endless(scene: &Scene<'_>, part: &[u8]) {
    while !scene.stop.is_set() {
        let Some(mut client) = connect(scene) else { return };
        let head = format!("{BEGUN}Transfer-Encoding: chunked\r\n\r\n");
        let mut goes_on = client.send(head).is_ok();
        // A short attack is answered, too.
        while goes_on && (!scene.stop.is_set() || scene.answers.are_none()) {
            goes_on = client.send(part).is_ok();
        }
        if !goes_on {
            scene.answers.note_next(&mut client);
        }
    }
}

fn endless_bodies(scene: &Scene<'_>) {
    let part = [b"10000\r\n", &[b'x'; 1 << 16][..], b"\r\n"].concat();
    std::thread::scope(|scope| {
        for _ in 0..ENDLESS_BODIES {
            scope.spawn(|| endless(scene, &part));
        }
    });
}

fn endless_lines(scene: &Scene<'_>) {
    let fields = [
        "0".repeat(10_000),
        format!("1;{}", "x".repeat(10_000)),
        format!("0\r\n{}", "X: y\r\n".repeat(2_000)),
        "1;a\r\nx\r\n".repeat(100) + "x",
    ];
    busy(scene, |scene| {
        for line in fields.iter().cycle() {
            let Some(mut client) = connect(scene) else { return };
            let _ = client.send(format!("{BEGUN}Transfer-Encoding: chunked\r\n\r\n{line}"));
            scene.answers.note_next(&mut client);
            if scene.stop.is_set() {
                return;
            }
        }
    });
}

fn large_heads(scene: &Scene<'_>) {
    let heads = [
        format!("{BEGUN}X: {}\r\n\r\n", "x".repeat(64 << 10)),
        format!("{BEGUN}{}\r\n", "X: y\r\n".repeat(65)),
        format!("{BEGUN}{}\r\n", "X: y\r\n".repeat(11_000)),
        format!("GET /v1/strings/{} HTTP/1.1\r\nHost: a\r\n\r\n", "k".repeat(9_000)),
        format!("GET /v1/strings/{} HTTP/1.1\r\nHost: a\r\n\r\n", "k".repeat(64 << 10)),
    ];
    busy(scene, |scene| {
        for head in heads.iter().cycle() {
            let Some(mut client) = connect(scene) else { return };
            // It may be refused before all of it has come.
            let _ = client.send(head);
            scene.answers.note_next(&mut client);
            if scene.stop.is_set() {
                return;
            }
        }
    });
}

/// Clients that send as much as goes, and read nothing.
fn unread(scene: &Scene<'_>) {
    let requests = GET.repeat(PIPELINED);
    busy(scene, |scene| {
        let Some(mut client) = connect(scene) else { return };
        // It is held back when it is owed too much.
        if client.set_patience(UNREAD).is_ok() {
            while !scene.stop.is_set() && client.send(&requests).is_ok() {}
            scene.stop.wait();
            scene.answers.note_next(&mut client);
        }
    });
}

fn pipelined(scene: &Scene<'_>) {
    let requests = GET.repeat(PIPELINED);
    while !scene.stop.is_set() {
        let Some(mut client) = connect(scene) else { return };
        let Ok(mut sending) = client.try_clone() else { return };
        std::thread::scope(|scope| {
            scope.spawn(|| sending.send(&requests));
            for _ in 0..PIPELINED {
                if !scene.answers.note_next(&mut client) {
                    return;
                }
            }
        });
    }
}
