//! Data of earlier versions is read by this one, or refused and left as it is.
//!
//! `fixtures/FORMAT/` holds what the version before a change of a format left behind: the journal's
//! files, the rows of a cold tier, and what a client saw of it. The journal has been trimmed, so
//! that neither part is whole without the other. The rows are those that RocksDB would be given;
//! its own files are not here.
//!
//! `BASALT_WRITE_FIXTURE=DIR` has the test write what the present version leaves behind into `DIR`:
//! to be done before a format is changed.

use crate::in_process::{DataPlace, InProcess, try_open};
use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_env::RealDisk;
use basalt_resp::Value;
use basalt_tests::client::Connection;
use basalt_tests::server::Target;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SEGMENT_BYTES: u64 = 16 << 10;
/// Small, so that the rows are few.
const COLLECTION_ROW_BYTES_MAX: usize = 2 << 10;
/// Less than the long string has.
const STRING_PIECE_BYTES: usize = 1 << 10;
const DATABASES: usize = 5;
/// What is not read any more.
const REFUSED: &str = "journal-1-rows-2";
/// In the year 2100.
const FAR_MS: &str = "4102444800000";

/// Every kind of value in either form, before the checkpoint.
const BEFORE: &[&str] = &[
    "SET short value",
    "SET number 12345",
    "SET edited abc",
    "APPEND edited def",
    "SET expiring value PXAT {far}",
    "SET gone value",
    "SET late value",
    "SETBIT bits 1000 1",
    "PFADD hll a b c d e",
    "RPUSH list a b c 1 2 3",
    "SADD numbers 1 2 3 1000000",
    "SADD words a b c",
    "ZADD scores 1 a 2.5 b -inf c",
    "HSET hash f1 v1 f2 v2 f3 v3",
    "HPEXPIREAT hash {far} FIELDS 1 f2",
    "XADD stream 1-1 f v",
    "XADD stream 2-1 f w",
    "XADD stream 3-1 f x",
    "XGROUP CREATE stream group 0",
    "XREADGROUP GROUP group anna COUNT 2 STREAMS stream >",
    "XDEL stream 2-1",
    "SELECT 1",
    "SET elsewhere one",
    "SELECT 2",
    "SET two 2",
    "SELECT 4",
    "SET flushed 4",
    "FLUSHDB",
    "SET after-flush 4",
    "SELECT 0",
];

/// Changes of what the cold tier has, in the journal alone.
const AFTER: &[&str] = &[
    "APPEND edited ghi",
    "SETRANGE short 2 XY",
    "PEXPIREAT late {far}",
    "PERSIST expiring",
    "DEL gone",
    "INCR number",
    "SETBIT bits 5000 1",
    "PFADD hll f g h",
    "LPUSH list z",
    "LSET list 3 changed",
    "LREM list 1 a",
    "SREM numbers 2",
    "SADD words d",
    "ZINCRBY scores 10 a",
    "HDEL hash f1",
    "HSET hash f4 v4",
    "XADD stream 4-1 f y",
    "XACK stream group 1-1",
    "XREADGROUP GROUP group bert COUNT 1 STREAMS stream >",
    "RENAME words renamed",
    "COPY scores copied",
    "MULTI",
    "SET transaction-a 1",
    "SET transaction-b 2",
    "EXEC",
    "HSET large-hash field-7 changed field-new new",
    "HDEL large-hash field-8",
    "ZADD large-set 5000 member-3",
    "SREM large-words word-4",
    "LPUSH large-list first",
    "RPOP large-list",
    "SWAPDB 1 2",
    "SELECT 3",
    "RPUSH new-list x y",
    "FLUSHDB",
    "SET new-after-flush 3",
    "SELECT 0",
];

fn run(connection: &mut Connection, line: &str) -> Value {
    let reply = connection.run(&line.replace("{far}", FAR_MS)).expect("the server answers");
    assert!(!matches!(reply, Value::Error(_)), "{line}: {reply:?}");
    reply
}

/// Collections above `collection-row-max`, and a string of several pieces.
fn put_large(connection: &mut Connection) {
    run(connection, &format!("SET large {}", "x".repeat(3_000)));
    for number in 0..60 {
        let text = format!("{number}-{}", "t".repeat(40));
        run(connection, &format!("HSET large-hash field-{number} {text}"));
        run(connection, &format!("ZADD large-set {number} member-{text}"));
        run(connection, &format!("SADD large-words word-{text}"));
        run(connection, &format!("RPUSH large-list {text}"));
    }
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(words).collect(),
        Value::Bulk(bytes) | Value::Simple(bytes) => vec![bytes.escape_ascii().to_string()],
        other => vec![format!("{other:?}")],
    }
}

/// What is under a key, the same however it is kept.
fn describe(connection: &mut Connection, key: &str) -> String {
    let kind = words(&run(connection, &format!("TYPE {key}"))).concat();
    let look: &[&str] = match kind.as_str() {
        "string" => &["GET"],
        "list" => &["LRANGE K 0 -1"],
        "set" => &["SMEMBERS"],
        "zset" => &["ZRANGE K 0 -1 WITHSCORES"],
        "hash" => &["HGETALL", "HPEXPIRETIME K FIELDS 2 f2 f3"],
        "stream" => &["XRANGE K - +", "XPENDING K group - + 100", "XINFO STREAM"],
        other => panic!("{key} is a {other}"),
    };
    let mut seen = Vec::new();
    for look in look {
        let line =
            if look.contains('K') { look.replacen('K', key, 1) } else { format!("{look} {key}") };
        let mut found = words(&run(connection, &line));
        match *look {
            "SMEMBERS" => found.sort(),
            "HGETALL" => {
                let mut pairs: Vec<String> = found.chunks(2).map(|pair| pair.join("=")).collect();
                pairs.sort();
                found = pairs;
            }
            // Beside what is compared already, how much memory it takes.
            "XINFO STREAM" => found.truncate(2),
            // Which client waits for how long is a matter of the clock.
            "XPENDING K group - + 100" => {
                found = found.chunks(4).map(|entry| entry[..2].join("/")).collect();
            }
            _ => {}
        }
        seen.extend(found);
    }
    let expiry = words(&run(connection, &format!("PEXPIRETIME {key}"))).concat();
    let text = seen.join(" ");
    let text = if text.len() > 100 {
        format!("{} bytes, {:016x}", text.len(), digest(&text))
    } else {
        text
    };
    format!("{key} {kind} {expiry} {text}")
}

/// Everything that a client can see, one line a key.
fn describe_all(connection: &mut Connection) -> String {
    let mut lines = Vec::new();
    for db in 0..DATABASES {
        run(connection, &format!("SELECT {db}"));
        let size = words(&run(connection, "DBSIZE")).concat();
        lines.push(format!("database {db}: {size}"));
        let mut keys = words(&run(connection, "KEYS *"));
        keys.sort();
        lines.extend(keys.iter().map(|key| describe(connection, key)));
    }
    lines.join("\n") + "\n"
}

fn place(dir: &Path, rows: &[u8]) -> DataPlace {
    let cold =
        MemoryTier::open(&Arc::new(MemoryDisk::new()), Path::new("cold"), Residency::Uncached);
    let mut writer = cold.checkpoint_writer().expect("it is open");
    let mut rest = rows;
    while !rest.is_empty() {
        let key = take(&mut rest);
        writer.put(key, take(&mut rest)).expect("rows come in order");
    }
    writer.prepare().expect("there is room").commit().expect("there is room");
    let (disk, journal_dir) = (Arc::new(RealDisk), dir.join("journal"));
    DataPlace {
        cold: Arc::new(cold),
        disk,
        journal_dir,
        segment_bytes: SEGMENT_BYTES,
        collection_row_bytes_max: COLLECTION_ROW_BYTES_MAX,
        string_piece_bytes: STRING_PIECE_BYTES,
    }
}

/// The next of the pieces that [`dump`] has written.
fn take<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let (length, after) = rest.split_first_chunk().expect("a length");
    let (piece, after) = after.split_at(u32::from_le_bytes(*length) as usize);
    *rest = after;
    piece
}

/// All rows, each a key and a value with their lengths.
fn dump(cold: &dyn ColdTier) -> Vec<u8> {
    let mut bytes = Vec::new();
    cold.scan(b"", &[0xFF; 3], &mut |key, value| {
        for piece in [key, value] {
            bytes
                .extend_from_slice(&u32::try_from(piece.len()).expect("it is short").to_le_bytes());
            bytes.extend_from_slice(piece);
        }
        ControlFlow::Continue(())
    })
    .expect("it is open");
    bytes
}

/// Leaves data behind as this version does.
fn write_fixture(dir: &Path) {
    let place = place(dir, b"");
    let server = InProcess::start(&place);
    let mut connection = server.connect();
    put_large(&mut connection);
    BEFORE.iter().for_each(|line| drop(run(&mut connection, line)));
    server.engine.checkpoint().expect("a checkpoint");
    AFTER.iter().for_each(|line| drop(run(&mut connection, line)));
    // The log goes on in another segment.
    for number in 0..40 {
        run(&mut connection, &format!("SET filler-{number} {}", "f".repeat(300)));
    }
    let expected = describe_all(&mut connection);
    drop((connection, server));
    fs::write(dir.join("rows"), dump(&*place.cold)).expect("written");
    fs::write(dir.join("expected.txt"), expected).expect("written");
    for path in segments(dir) {
        let bytes = fs::read(&path).expect("readable");
        let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let named = path.file_stem().and_then(|name| u64::from_str_radix(name.to_str()?, 16).ok());
        let begun = used > 0 && bytes[16..24] == named.unwrap_or(0).to_le_bytes();
        match begun {
            true => fs::write(&path, &bytes[..used.next_multiple_of(4096)]).expect("written"),
            // It waits for its first use.
            false => fs::remove_file(&path).expect("it is there"),
        }
    }
}

fn segments(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("journal")).expect("the journal's directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Opens a copy of what is in a directory, changes it, and opens it again.
#[track_caller]
fn assert_readable(fixture: &Path) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let dir = dir.path();
    fs::create_dir(dir.join("journal")).expect("a folder can be made");
    for path in segments(fixture) {
        let name = path.file_name().expect("a file");
        fs::copy(&path, dir.join("journal").join(name)).expect("copied");
    }
    let expected = fs::read_to_string(fixture.join("expected.txt")).expect("what was seen");
    let place = place(dir, &fs::read(fixture.join("rows")).expect("rows"));
    let first = {
        let server = InProcess::start(&place);
        let mut connection = server.connect();
        let seen = describe_all(&mut connection);
        assert_eq!(seen, expected, "{}", fixture.display());
        run(&mut connection, "SELECT 0");
        run(&mut connection, "SET written-later value");
        server.engine.checkpoint().expect("a checkpoint");
        run(&mut connection, "APPEND written-later more");
        describe_all(&mut connection)
    };
    let server = InProcess::start(&place);
    assert_eq!(describe_all(&mut server.connect()), first, "{}", fixture.display());
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

#[test]
fn data_of_every_format_is_read() {
    let mut found = 0;
    for entry in fs::read_dir(fixtures()).expect("the fixtures") {
        let path = entry.expect("an entry").path();
        if !path.ends_with(REFUSED) {
            assert_readable(&path);
            found += 1;
        }
    }
    assert!(found > 0, "there are fixtures");
}

/// Rows stood in another order.
#[test]
fn rows_of_a_format_that_is_not_read_any_more_are_left_as_they_are() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let rows = fs::read(fixtures().join(REFUSED).join("rows")).expect("rows");
    let place = place(dir.path(), &rows);
    let error = try_open(&place).err().expect("it is refused").to_string();
    assert!(error.contains("format 2 of an earlier version"), "{error}");
    assert_eq!(dump(&*place.cold), rows);
}

#[test]
fn data_of_this_version_is_read() {
    let temporary = tempfile::tempdir().expect("a temporary folder can be made");
    let chosen = std::env::var_os("BASALT_WRITE_FIXTURE").map(PathBuf::from);
    let dir = chosen.unwrap_or_else(|| temporary.path().to_owned());
    fs::create_dir_all(dir.join("journal")).expect("a folder can be made");
    write_fixture(&dir);
    assert_readable(&dir);
}
