//! The examples in `docs/formats` are what the encoders write.

use basalt_change::element::{ElementsOf, RowSet};
use basalt_change::library::library_key;
use basalt_change::log_mark::{LogMark, log_mark_key};
use basalt_change::op::{self, Edit, Op, Origin, Put, PutValue, Replace, StringForm};
use basalt_change::place::{PartitionId, Slot};
use basalt_change::row::{self, DatabaseMark, HashEnd, Mark, ObjectRow, RowKind, SpreadHead};
use basalt_change::seed::{encode_seed, seed_key};
use basalt_change::version::Version;

const CHANGE_SET: &str = include_str!("../../../docs/formats/changeset.md");
const COLD_ROWS: &str = include_str!("../../../docs/formats/cold-rows.md");
const EXPIRE_MS: u64 = 1_700_000_000_000;
const VERSION: Version = Version::new((1_700_000_000_000 << 16) + 2);

/// The bytes at the line starts of the first block after `heading`; two spaces end them.
fn documented(page: &str, heading: &str) -> Vec<u8> {
    let (_, after) = page.split_once(&format!("### {heading}\n")).expect("the heading is there");
    let block = after.split("```").nth(1).expect("a block follows");
    let hex = |line: &str| {
        let bytes = line.split("  ").next().unwrap_or_default().to_owned();
        bytes.split(' ').filter_map(|byte| u8::from_str_radix(byte, 16).ok()).collect::<Vec<u8>>()
    };
    block.lines().skip(1).flat_map(hex).collect()
}

fn partition() -> PartitionId {
    Slot::of(b"foo").partition()
}

fn object(kind: RowKind, end: HashEnd, value: &[u8]) -> ObjectRow<'_> {
    ObjectRow { expire_ms: 0, version: Version::NONE, kind, end, value }
}

fn put() -> Put<'static> {
    let (origin, form) = (Origin::New, StringForm::Whole);
    Put { db: 0, key: b"foo", value: b"bar", expire_ms: 0, origin, form }
}

fn record(ops: &[Op<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    op::begin(&mut out, partition());
    ops.iter().for_each(|op| op.encode(&mut out));
    out
}

fn shard_record(op: Op<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    op::begin_shard(&mut out);
    op.encode(&mut out);
    out
}

fn library_record() -> Vec<u8> {
    let mut out = Vec::new();
    op::begin(&mut out, PartitionId::LIBRARIES);
    Op::Library { name: b"lib", code: b"#!lua name=lib\n" }.encode(&mut out);
    out
}

#[test]
fn change_sets_are_as_documented() {
    let existing = Put { origin: Origin::Existing, ..put() };
    let unread = Put { origin: Origin::Unread, ..put() };
    let again = Put { expire_ms: EXPIRE_MS, origin: Origin::Existing, ..put() };
    let expire = Op::Expire { db: 0, key: b"foo", expire_ms: EXPIRE_MS };
    let splice = Op::Splice { db: 0, key: b"foo", offset: 200, bytes: b"xyz" };
    let bytes = b"\x12\x88\x07";
    let replace = Op::Replace(Replace { db: 0, key: b"foo", offset: 150, removed: 1, bytes });
    let origin = Origin::New;
    let edits = b"\x02\x01a\x02\xd1";
    let list = Op::Edit(Edit { db: 0, key: b"foo", kind: 2, origin, edits });
    let value = b"\xd7\x01b";
    let set = Op::PutValue(PutValue { db: 0, key: b"foo", kind: 3, expire_ms: 0, origin, value });
    let version = Op::Version { db: 0, key: b"foo", version: VERSION };
    for (heading, bytes) in [
        ("A new key", record(&[Op::Put(put())])),
        ("A key put again, with an expiry", record(&[Op::Put(again)])),
        ("A key with a version put again", record(&[Op::Put(existing), version])),
        ("A key put without a look at the cold tier", record(&[Op::Put(unread)])),
        ("A removed key", record(&[Op::Delete { db: 0, key: b"foo" }])),
        ("Another expiry", record(&[expire])),
        ("Bytes appended", record(&[splice])),
        ("Bytes replaced by more", record(&[replace])),
        ("Two elements of a new list", record(&[list])),
        ("A whole set", record(&[set])),
        ("A flushed database", shard_record(Op::FlushDb { db: 0, generation: 256 })),
        ("Two databases swapped", shard_record(Op::SwapDb { db: 0, other: 1 })),
        ("A library of functions", library_record()),
    ] {
        assert_eq!(documented(CHANGE_SET, heading), bytes, "{heading}: {bytes:02x?}");
    }
}

#[test]
fn cold_rows_are_as_documented() {
    let (mut mark_key, mut mark, mut key, mut end) = (vec![], vec![], vec![], vec![]);
    row::mark_key(partition(), &mut mark_key);
    let databases = vec![
        DatabaseMark { generation: 0, keys: 1, spread: 0, expiry_ms: 0 },
        DatabaseMark { generation: 256, keys: 300, spread: 2, expiry_ms: 300 },
    ];
    Mark { applied: 300, next_id: 5, last_version: VERSION, databases }.encode(&mut mark);
    let elements = ElementsOf { partition: partition(), generation: 0, id: 4 };
    let (mut by_name, mut by_order) = (vec![], vec![]);
    elements.key(RowSet::ByName, b"ann", &mut by_name);
    elements.key(RowSet::ByOrder, b"\xc0\x08\0\0\0\0\0\0ann", &mut by_order);
    let (mut piece, mut head, mut in_pieces) = (vec![], vec![], vec![]);
    elements.piece_key(3, &mut piece);
    SpreadHead::encode_of_string(4, 4, 7 << 19, &mut head);
    object(RowKind::StringInPieces(StringForm::Whole), HashEnd::Unsaid, &head)
        .encode(&mut in_pieces);
    let (mut body, mut spread, mut passing) = (vec![], vec![], vec![]);
    SpreadHead { id: 4, elements: 300, head: b"" }.encode(&mut body);
    object(RowKind::Spread(4), HashEnd::Unsaid, &body).encode(&mut spread);
    object(RowKind::Spread(5), HashEnd::At(EXPIRE_MS), &body).encode(&mut passing);
    let (mut lasting, fields) = (vec![], b"\x00\x01a\xd1");
    object(RowKind::Collection(5), HashEnd::Never, fields).encode(&mut lasting);
    row::object_key(partition(), 0, (0x0123_4567_89AB_CDEF, b"foo"), &mut key);
    end.extend(row::generation_range(partition(), 0).1);
    let (mut seed_row_key, mut seed) = (vec![], vec![]);
    seed_key(&mut seed_row_key);
    encode_seed(0x0123_4567_89AB_CDEF, &mut seed);
    let row_of = |expire_ms, version, form| {
        let mut out = Vec::new();
        let row = object(RowKind::String(form), HashEnd::Unsaid, b"bar");
        ObjectRow { expire_ms, version, ..row }.encode(&mut out);
        out
    };
    let row = |expire_ms, form| row_of(expire_ms, Version::NONE, form);
    let (mut log_key, mut log) = (vec![], vec![]);
    log_mark_key(&mut log_key);
    let mut library_row_key = vec![];
    library_key(b"lib", &mut library_row_key);
    let name = std::array::from_fn(|index| index as u8);
    LogMark { log: name, trimmed: vec![0, 300] }.encode(&mut log);
    for (heading, bytes) in [
        ("Key of the log's mark", log_key),
        ("A mark of the log", log),
        ("Key of a mark", mark_key),
        ("A mark", mark),
        ("Key of a library", library_row_key),
        ("Key of the seed", seed_row_key),
        ("A seed", seed),
        ("Key of an object", key),
        ("End of a generation", end),
        ("A string", row(0, StringForm::Whole)),
        ("A string with an expiry", row(EXPIRE_MS, StringForm::Whole)),
        ("A string with a version", row_of(0, VERSION, StringForm::Whole)),
        ("An edited string", row(0, StringForm::Edited)),
        ("A string in pieces", in_pieces),
        ("Key of a piece", piece),
        ("A spread sorted set", spread),
        ("A hash that stays", lasting),
        ("A spread hash of which all fields expire", passing),
        ("Key of a member", by_name),
        ("Key of a member by its score", by_order),
    ] {
        assert_eq!(documented(COLD_ROWS, heading), bytes, "{heading}: {bytes:02x?}");
    }
}
