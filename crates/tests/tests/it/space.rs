//! A full disk: changes are refused, reads go on, and everything goes on when there is room again.
//!
//! The disk is a small file system that the test mounts; where it may not, the test fails, unless
//! `BASALT_WITHOUT_MOUNT=1` is set.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::http::HttpClient;
use basalt_tests::missing::leave_out;
use basalt_tests::server::{Kind, Launch, Server, is_redis};

const DISK_MIB: u64 = 48;
const RESUME_TIMEOUT: Duration = Duration::from_secs(120);
/// How soon writes go on when there is room again.
const RESUMES: Duration = Duration::from_secs(5);
const VALUE_BYTES: usize = 10_000;

/// A mounted file system, gone when dropped.
struct SmallDisk {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl SmallDisk {
    /// A disk in memory; `None` if mounting is not permitted and that is declared.
    fn mount() -> Option<SmallDisk> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("disk");
        fs::create_dir(&path).expect("a folder can be made");
        let size = format!("size={DISK_MIB}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&path)
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            leave_out("a file system in memory cannot be mounted", "BASALT_WITHOUT_MOUNT");
        }
        mounted.then_some(SmallDisk { path, _folder: folder })
    }

    /// Takes all room but these bytes.
    fn fill_but(&self, left_bytes: u64) -> PathBuf {
        let found = rustix::fs::statvfs(&self.path).expect("it is mounted");
        let bytes = (found.f_bavail * found.f_frsize).saturating_sub(left_bytes);
        let path = self.path.join("ballast");
        fs::write(&path, vec![0; bytes as usize]).expect("there is room");
        path
    }

    /// Takes what room there is.
    fn fill(&self) -> PathBuf {
        let path = self.path.join("ballast");
        let mut file = File::create(&path).expect("a file can be made");
        let zeros = vec![0; 4096];
        while file.write_all(&zeros).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.path).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "the small disk stays mounted");
    }
}

fn launch(dir: &Path, fsync: &str) -> Server {
    launching(dir, fsync).start()
}

fn launching(dir: &Path, fsync: &str) -> Launch {
    let launch = Launch::new(Kind::Basalt).with_http().dir(dir).option("appendfsync", fsync);
    launch
        .option("journal-segment-size", "1mb")
        .allow_log("disk is full")
        .allow_log("less than disk-reserve is free")
        .allow_log("torn tail")
        .allow_log("hot keys could not be listed")
}

fn write(connection: &mut Connection, index: usize) -> Value {
    let value = format!("{index:0VALUE_BYTES$}");
    connection.call(&["SET", &format!("key{index}"), &value]).expect("a reply")
}

fn assert_refusal(reply: &Value) {
    let Value::Error(text) = reply else { panic!("{reply:?} is no error") };
    let text = String::from_utf8_lossy(text);
    assert!(text.starts_with("MISCONF "), "{text}");
    assert!(text.contains("No space left on device"), "{text}");
}

/// Between two writes to a disk that gets full. Where changes are not waited for, a segment could
/// be full before the thread that prepares the next one has found out that there is no room for it;
/// then nothing at all can be written, and what makes room is refused, too.
const PAUSE: Duration = Duration::from_millis(1);

/// Writes until the disk is full; returns how many writes were acknowledged.
fn write_until_full(connection: &mut Connection, from: usize) -> usize {
    for index in from.. {
        let reply = write(connection, index);
        if reply != Value::Simple(b"OK".to_vec()) {
            assert_refusal(&reply);
            return index;
        }
        let limit = (DISK_MIB as usize) << 20;
        assert!(index * VALUE_BYTES < limit * 2, "the disk never gets full");
        std::thread::sleep(PAUSE);
    }
    unreachable!("the disk has an end")
}

/// Writes one key again and again until it is taken.
fn write_when_there_is_room(connection: &mut Connection, index: usize) {
    let started = Instant::now();
    loop {
        let reply = write(connection, index);
        if reply == Value::Simple(b"OK".to_vec()) {
            return;
        }
        assert_refusal(&reply);
        assert!(started.elapsed() < RESUME_TIMEOUT, "writes do not resume");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Removes a key. While nothing at all can be written that is refused, too: until the reserve has
/// been given up.
fn remove_to_make_room(connection: &mut Connection) {
    let started = Instant::now();
    loop {
        let reply = connection.run("DEL spare").expect("a reply");
        if reply == Value::Integer(1) {
            return;
        }
        assert_refusal(&reply);
        assert!(started.elapsed() < RESUME_TIMEOUT, "what makes room is not accepted");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until nothing of what has been acknowledged is in memory only. No write here is so small
/// that the journal's account leaves it out.
fn await_written(connection: &mut Connection) {
    let started = Instant::now();
    loop {
        let Ok(Value::Bulk(info)) = connection.run("INFO persistence") else { panic!("text") };
        if String::from_utf8_lossy(&info).contains("aof_buffer_length:0\r\n") {
            return;
        }
        assert!(started.elapsed() < RESUME_TIMEOUT, "it is never written");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn assert_kept(connection: &mut Connection, count: usize) {
    for index in 0..count {
        let found = connection.run(&format!("GET key{index}")).expect("a reply");
        let expected = Value::Bulk(format!("{index:0VALUE_BYTES$}").into_bytes());
        assert!(found == expected, "key{index} of {count} is lost");
    }
}

/// What the health checks say: this status for taking changes.
fn assert_ready(server: &Server, status: u16) {
    let address = server.http_address().expect("it was told a port");
    let mut http = HttpClient::open(address).expect("it listens");
    assert_eq!(http.ask("GET /health/live", "", b"").status, 200);
    let ready = http.ask("GET /health/ready", "", b"");
    assert_eq!(ready.status, status, "{}", ready.text());
    assert_eq!(ready.text().contains("MISCONF"), status == 503, "{}", ready.text());
}

fn fill_and_recover(fsync: &str) {
    let Some(disk) = SmallDisk::mount() else { return };
    let dir = disk.path.join("data");
    fs::create_dir(&dir).expect("a folder can be made");
    let mut server = launch(&dir, fsync);
    let mut connection = server.connect();
    for index in 0..100 {
        assert_eq!(write(&mut connection, index), Value::Simple(b"OK".to_vec()));
    }
    connection.run("SET spare value").expect("a reply");
    let ballast = disk.fill();
    let mut count = write_until_full(&mut connection, 100);
    assert_ready(&server, 503);
    assert_kept(&mut connection, count);
    remove_to_make_room(&mut connection);
    let ping = server.connect().run("PING").expect("a reply");
    assert_eq!(ping, Value::Simple(b"PONG".to_vec()));

    fs::remove_file(&ballast).expect("it is there");
    for _ in 0..100 {
        write_when_there_is_room(&mut connection, count);
        count += 1;
    }
    assert_ready(&server, 200);
    // Full again, and killed while it is. Without `always` a kill may take what has not been
    // written, for which there may be no room.
    disk.fill();
    let full = write_until_full(&mut connection, count);
    if fsync != "always" {
        fs::remove_file(&ballast).expect("it is there");
        await_written(&mut connection);
    }
    server.kill();
    drop(server);
    if fsync == "always" {
        fs::remove_file(&ballast).expect("it is there");
    }
    let server = launch(&dir, fsync);
    let mut connection = server.connect();
    assert_kept(&mut connection, full);
    write_when_there_is_room(&mut connection, full);
}

#[test]
fn a_full_disk_refuses_changes_and_loses_none() {
    if is_redis(Kind::Basalt) {
        return; // It ends itself when its log cannot be written.
    }
    fill_and_recover("always");
    fill_and_recover("everysec");
}

/// Calls until the answer is what it is to be: the disk is looked at ten times a second.
fn await_reply(connection: &mut Connection, command: &str, is_right: impl Fn(&Value) -> bool) {
    let started = Instant::now();
    loop {
        let reply = connection.run(command).expect("a reply");
        if is_right(&reply) {
            return;
        }
        assert!(started.elapsed() < RESUME_TIMEOUT, "{command}: {reply:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Of a disk of 48 MiB a 32nd is kept free, which is 1.5 MiB.
#[test]
fn before_the_disk_is_full_only_removals_are_accepted() {
    if is_redis(Kind::Basalt) {
        return; // It has no reserve.
    }
    let Some(disk) = SmallDisk::mount() else { return };
    let server = launch(&disk.path, "everysec");
    let mut connection = server.connect();
    let is_ok = |reply: &Value| *reply == Value::Simple(b"OK".to_vec());
    let is_refusal =
        |reply: &Value| matches!(reply, Value::Error(text) if text.starts_with(b"MISCONF "));
    for key in ["one", "two", "three"] {
        assert!(is_ok(&connection.run(&format!("SET {key} value")).expect("a reply")));
    }
    await_written(&mut connection);
    let ballast = disk.fill_but(1_200_000);
    await_reply(&mut connection, "SET spare other", is_refusal);
    assert_ready(&server, 503);
    assert_eq!(connection.run("GET one").expect("a reply"), Value::Bulk(b"value".to_vec()));
    assert_eq!(connection.run("DEL two").expect("a reply"), Value::Integer(1));
    // Nothing is to be kept, and again as much as may be.
    assert!(is_ok(&connection.run("CONFIG SET disk-reserve 0").expect("a reply")));
    await_reply(&mut connection, "SET spare other", is_ok);
    assert!(is_ok(&connection.run("CONFIG SET disk-reserve 1gb").expect("a reply")));
    await_reply(&mut connection, "SET spare third", is_refusal);
    // More than is to be kept, but not twice as much.
    let file = File::options().write(true).open(&ballast).expect("it is there");
    let bytes = file.metadata().expect("it is there").len();
    file.set_len(bytes - 1_300_000).expect("it becomes shorter");
    drop(file);
    std::thread::sleep(Duration::from_millis(500));
    assert!(is_refusal(&connection.run("SET spare third").expect("a reply")));
    fs::remove_file(&ballast).expect("it is there");
    await_reply(&mut connection, "SET spare third", is_ok);
    assert_ready(&server, 200);
    assert_eq!(connection.run("GET two").expect("a reply"), Value::Null);
    assert_eq!(connection.run("GET three").expect("a reply"), Value::Bulk(b"value".to_vec()));
}

/// What one of several clients has seen of a disk that gets full and has room again.
#[derive(Default)]
struct Seen {
    /// How many of its keys were acknowledged, in their order.
    acknowledged: usize,
    refused: usize,
    /// When a write was taken that followed one that was refused, and how many were since.
    resumed: Option<(Instant, usize)>,
}

/// Writes keys of a client's own, one after the other, and reads them, until the disk was full and
/// writes have been taken for a while again, or it is over.
fn go_on(server: &Server, client: usize, is_over: &AtomicBool) -> Seen {
    let (mut connection, mut seen) = (server.connect(), Seen::default());
    // A flag on its own.
    while !is_over.load(Ordering::Relaxed) && seen.resumed.is_none_or(|(_, taken)| taken < 20) {
        let number = seen.acknowledged;
        let key = format!("load:{client}:{number}");
        let value = format!("{number:0VALUE_BYTES$}");
        let reply = connection.call(&["SET", &key, &value]).expect("a reply");
        if reply == Value::Simple(b"OK".to_vec()) {
            seen.acknowledged += 1;
            if seen.refused > 0 {
                seen.resumed.get_or_insert((Instant::now(), 0)).1 += 1;
            }
        } else {
            assert_refusal(&reply);
            seen.refused += 1;
            seen.resumed = None;
        }
        if let Some(before) = number.checked_sub(1) {
            let found = connection.run(&format!("GET load:{client}:{before}")).expect("a reply");
            let expected = Value::Bulk(format!("{before:0VALUE_BYTES$}").into_bytes());
            assert!(found == expected, "reads go on: {found:?}");
        }
        std::thread::sleep(PAUSE);
    }
    seen
}

/// Another program takes the disk's last room while clients write, and frees it later.
#[test]
fn clients_that_write_meanwhile_go_on_soon_when_a_full_disk_has_room() {
    const CLIENTS: usize = 4;
    const FULL_FOR: Duration = Duration::from_secs(3);
    if is_redis(Kind::Basalt) {
        return; // It ends itself when its log cannot be written.
    }
    let Some(disk) = SmallDisk::mount() else { return };
    let dir = disk.path.join("data");
    fs::create_dir(&dir).expect("a folder can be made");
    let launch = launching(&dir, "everysec").allow_log("No space left");
    let mut server = launch.start();
    let mut connection = server.connect();
    (0..100).for_each(|index| drop(write(&mut connection, index)));
    let is_over = AtomicBool::new(false);
    let (freed, seen) = std::thread::scope(|scope| {
        let (server, is_over) = (&server, &is_over);
        let client = |client| scope.spawn(move || go_on(server, client, is_over));
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        std::thread::sleep(Duration::from_millis(300));
        let ballast = disk.fill();
        let full = Instant::now();
        while full.elapsed() < FULL_FOR {
            // What makes room goes on, if need be after the reserve was given up.
            let removed = connection.run("DEL key0").expect("a reply");
            assert!(matches!(removed, Value::Integer(_)) || full.elapsed() < FULL_FOR / 2);
            std::thread::sleep(Duration::from_millis(50));
        }
        fs::remove_file(&ballast).expect("it is there");
        let freed = Instant::now();
        while freed.elapsed() < RESUMES + Duration::from_millis(200) {
            std::thread::sleep(Duration::from_millis(50));
        }
        is_over.store(true, Ordering::Relaxed);
        let seen = clients.into_iter().map(|client| client.join().expect("it ends well"));
        (freed, seen.collect::<Vec<Seen>>())
    });
    for (client, seen) in seen.iter().enumerate() {
        assert!(seen.refused > 0, "client {client} has not seen the full disk");
        let (resumed, _) = seen.resumed.expect("writes go on");
        let resumed = resumed.saturating_duration_since(freed);
        assert!(resumed <= RESUMES, "client {client} writes after {resumed:?}");
        eprintln!("client {client}: {} refused, writes again after {resumed:?}", seen.refused);
    }
    await_written(&mut connection);
    server.kill();
    drop(server);
    let server = launching(&dir, "everysec").start();
    let mut connection = server.connect();
    for (client, seen) in seen.iter().enumerate() {
        for number in 0..seen.acknowledged {
            let found = connection.run(&format!("GET load:{client}:{number}")).expect("a reply");
            let expected = Value::Bulk(format!("{number:0VALUE_BYTES$}").into_bytes());
            assert!(found == expected, "key {number} of client {client} is lost");
        }
    }
}
