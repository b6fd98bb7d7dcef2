//! Many clients add to one number, each by writing back what it has read if nobody has written
//! since: by Redis' protocol and by HTTP, with other commands between that change the key, and a
//! kill -9 in the middle. No addition is lost, and no version is given twice.
//!
//! `BASALT_CAS_UPDATES` says how many additions (1,600 by default).

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use basalt_tests::server::{Kind, Launch, Server};
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const CLIENTS: u64 = 16;

/// What the clients of all lives have seen.
#[derive(Default)]
struct Seen {
    added: AtomicU64,
    /// Additions whose reply was lost with the server.
    unknown: AtomicU64,
    /// Attempts that came too late.
    refused: AtomicU64,
    versions: Mutex<HashSet<u64>>,
}

/// What one attempt to write came to.
enum Attempt {
    /// It was made, under this version.
    Made(u64),
    /// Somebody else was faster.
    TooLate,
}

/// A client of either protocol.
trait Client {
    /// The number, and the version of its key.
    fn read(&mut self) -> io::Result<(u64, String)>;
    fn write(&mut self, number: u64, version: &str) -> io::Result<Attempt>;
}

struct ByRedis(Connection);
struct ByHttp(HttpClient);

fn text(value: &Value) -> String {
    match value {
        Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => panic!("{other:?}"),
    }
}

impl Client for ByRedis {
    fn read(&mut self) -> io::Result<(u64, String)> {
        match self.0.run("CAS.GET counter")? {
            Value::Array(state) => {
                Ok((text(&state[2]).parse().expect("a number"), text(&state[0])))
            }
            other => panic!("{other:?}"),
        }
    }

    fn write(&mut self, number: u64, version: &str) -> io::Result<Attempt> {
        match self.0.run(&format!("CAS.SET counter {number} IF {version} KEEPTTL"))? {
            Value::Array(outcome) if outcome[0] == Value::Integer(1) => {
                Ok(Attempt::Made(text(&outcome[1]).parse().expect("a version")))
            }
            Value::Array(_) => Ok(Attempt::TooLate),
            other => panic!("{other:?}"),
        }
    }
}

impl ByHttp {
    fn ask(
        &mut self,
        line: &str,
        fields: &str,
        body: &[u8],
    ) -> io::Result<basalt_tests::http::Response> {
        self.0.request(line, fields, body)?;
        self.0.response()
    }
}

impl Client for ByHttp {
    fn read(&mut self) -> io::Result<(u64, String)> {
        let state = self.ask("GET /v1/strings/counter", "", b"")?;
        let tag = state.field("etag").expect("a tag").to_owned();
        Ok((state.text().parse().expect("a number"), tag))
    }

    fn write(&mut self, number: u64, version: &str) -> io::Result<Attempt> {
        let (line, fields) =
            ("PUT /v1/strings/counter?keep_ttl=1", format!("If-Match: {version}\r\n"));
        let outcome = self.ask(line, &fields, number.to_string().as_bytes())?;
        let tag = outcome.field("etag").expect("a tag").to_owned();
        match outcome.status {
            204 => Ok(Attempt::Made(tag[2..tag.len() - 1].parse().expect("a version"))),
            412 => Ok(Attempt::TooLate),
            other => panic!("{other}: {}", outcome.text()),
        }
    }
}

/// Adds until there are `target` additions, or the server is gone.
fn add(client: &mut dyn Client, seen: &Seen, target: u64) {
    while seen.added.load(Ordering::Relaxed) < target {
        let Ok((number, version)) = client.read() else { return };
        match client.write(number + 1, &version) {
            Ok(Attempt::Made(version)) => {
                seen.added.fetch_add(1, Ordering::Relaxed);
                let is_new = seen.versions.lock().unwrap().insert(version);
                assert!(is_new, "version {version} was given twice");
            }
            Ok(Attempt::TooLate) => drop(seen.refused.fetch_add(1, Ordering::Relaxed)),
            Err(_) => {
                seen.unknown.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// Changes the key in ways that leave its number alone.
fn disturb(mut connection: Connection, ended: &AtomicBool) {
    for round in 0.. {
        let line = if round % 2 == 0 { "EXPIRE counter 100000" } else { "PERSIST counter" };
        if ended.load(Ordering::Relaxed) || connection.run(line).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn start(dir: &Path) -> Server {
    Launch::new(Kind::Basalt).with_http().dir(dir).option("appendfsync", "always").start()
}

/// Has all clients add; kills the server when there are `kill_at` additions.
fn live(server: &mut Server, seen: &Seen, target: u64, kill_at: Option<u64>) {
    let (ended, http) =
        (AtomicBool::new(false), server.http_address().expect("it was told a port"));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let mut client: Box<dyn Client + Send> = match number % 2 {
                    0 => Box::new(ByRedis(server.connect())),
                    _ => Box::new(ByHttp(HttpClient::open(http).expect("it listens"))),
                };
                scope.spawn(move || add(&mut *client, seen, target))
            })
            .collect();
        let connection = server.connect();
        scope.spawn(|| disturb(connection, &ended));
        if let Some(kill_at) = kill_at {
            while seen.added.load(Ordering::Relaxed) < kill_at {
                std::thread::sleep(Duration::from_millis(1));
            }
            server.kill();
        }
        clients.into_iter().for_each(|client| client.join().expect("a client"));
        ended.store(true, Ordering::Relaxed);
    });
}

#[test]
fn no_addition_is_lost_and_no_version_comes_twice() {
    let updates = std::env::var("BASALT_CAS_UPDATES").ok();
    let updates = updates.map_or(1_600, |text| text.parse().expect("a number"));
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let seen = Seen::default();
    let mut server = start(dir.path());
    server.connect().run("CAS.SET counter 0").expect("it answers");
    live(&mut server, &seen, updates, Some(updates / 2));
    let mut server = start(dir.path());
    live(&mut server, &seen, updates, None);
    let (number, _) = ByRedis(server.connect()).read().expect("it answers");
    let (added, unknown) =
        (seen.added.load(Ordering::Relaxed), seen.unknown.load(Ordering::Relaxed));
    let refused = seen.refused.load(Ordering::Relaxed);
    eprintln!("{added} additions, {unknown} unknown, {refused} refused");
    assert!(added >= updates && (added..=added + unknown).contains(&number), "{number}: {added}");
    assert!(refused > 0, "the clients never met");
}
