//! The table against a plain map, with random operations.

use basalt_change::op::StringForm;
use basalt_change::version::Version;
use basalt_keyspace::entry::{Access, Content, NewValue, StringValue};
use basalt_keyspace::hash::KeyHasher;
use basalt_keyspace::memory::pages::PagePool;
use basalt_keyspace::table::bucket::{COLD, DIRTY, EXPIRING};
use basalt_keyspace::table::{EntryHint, Lookup, Table};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

fn table() -> Table {
    Table::new(Arc::new(PagePool::default()), Arc::new(KeyHasher::new(7)))
}

fn hash(key: &[u8]) -> u64 {
    KeyHasher::new(7).hash(key)
}

fn put(table: &mut Table, key: &[u8], value: &[u8], expire_ms: u64) {
    let content = Content {
        key,
        value: NewValue::string(value, StringForm::Whole),
        expire_ms,
        access: Access::default(),
        version: Version::NONE,
    };
    match table.find(hash(key), key) {
        Some(found) if table.overwrite(found, &content) => {}
        Some(found) => table.replace(found, content, DIRTY),
        None => table.insert(hash(key), content, DIRTY),
    }
}

fn get(table: &Table, key: &[u8]) -> Option<(Vec<u8>, u64)> {
    match table.lookup(hash(key), key) {
        Lookup::Live(entry) => {
            Some((entry.string().map(StringValue::bytes).unwrap().to_vec(), entry.expire_ms()))
        }
        Lookup::Tombstone | Lookup::Unknown => None,
    }
}

fn remove(table: &mut Table, key: &[u8]) {
    if let Some(found) = table.find(hash(key), key) {
        table.remove(hash(key), found);
    }
}

/// With these seeds, a run of full buckets meets a segment that is about to reach its largest size.
#[test]
fn the_largest_segment_splits_early_if_chance_wants_it() {
    for seed in [0x8d88_8e5f_2981_619e, 0x7b3d_4d3a_ded5_1bdd, 0x9190_e26f_a938_b786] {
        let hasher = Arc::new(KeyHasher::new(seed));
        let mut table = Table::new(Arc::new(PagePool::default()), Arc::clone(&hasher));
        // Too few for what the test is for where each takes milliseconds.
        let count = if cfg!(miri) { 100 } else { 16_000 };
        let keys: Vec<String> =
            (0..count).map(|n| format!("{{3}}:{}:{}", n / 400, n % 400)).collect();
        for key in &keys {
            let content = Content {
                key: key.as_bytes(),
                value: NewValue::string(b"v", StringForm::Whole),
                expire_ms: 0,
                access: Access::default(),
                version: Version::NONE,
            };
            table.insert(hasher.hash(key.as_bytes()), content, DIRTY);
        }
        let is_there =
            |key: &&String| table.find(hasher.hash(key.as_bytes()), key.as_bytes()).is_some();
        assert_eq!(keys.iter().filter(is_there).count(), keys.len());
    }
}

/// A place is good until something comes, goes or is replaced, and only in its own table.
#[test]
#[cfg(debug_assertions)]
fn a_place_is_not_used_after_a_change() {
    let find = |table: &Table, key: &[u8]| table.find(hash(key), key).expect("it is there");
    let changes: [fn(&mut Table); 4] = [
        |table| put(table, b"new", b"v", 0),
        |table| remove(table, b"other"),
        |table| put(table, b"other", &[0; 100], 0),
        |table| table.mark_in_flight(|_, _| ()),
    ];
    for change in changes {
        let mut table = table();
        put(&mut table, b"key", b"v", 0);
        put(&mut table, b"other", b"v", 0);
        let found = find(&table, b"key");
        put(&mut table, b"key", b"w", 0); // In place.
        table.mark(found, COLD);
        assert_eq!(table.entry(found).key(), b"key");
        change(&mut table);
        let uses_it = std::panic::AssertUnwindSafe(|| table.entry(found).key().len());
        assert!(std::panic::catch_unwind(uses_it).is_err());
    }
    let (mut one, mut other) = (table(), table());
    put(&mut one, b"key", b"v", 0);
    put(&mut other, b"key", b"v", 0);
    let found = find(&one, b"key");
    let uses_it = std::panic::AssertUnwindSafe(|| other.entry(found).key().len());
    assert!(std::panic::catch_unwind(uses_it).is_err());
}

/// A scan from start to end, in steps, while `between` changes the table.
fn scan(
    table: &mut Table,
    step: usize,
    mut between: impl FnMut(&mut Table, usize),
) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let mut from = Some(0);
    let mut round = 0;
    while let Some(hash) = from {
        from = table.scan(hash, step, |entry| keys.push(entry.key().to_vec()));
        between(table, round);
        round += 1;
    }
    keys
}

#[test]
fn a_large_table_grows_splits_and_shrinks() {
    let keys = if cfg!(miri) { 200 } else { 40_000u32 };
    let mut table = table();
    for i in 0..keys {
        put(&mut table, &i.to_be_bytes(), &vec![i as u8; i as usize % 40], 0);
    }
    assert_eq!(table.counts().live, keys as usize);
    for i in 0..keys {
        assert_eq!(get(&table, &i.to_be_bytes()), Some((vec![i as u8; i as usize % 40], 0)));
    }
    if !cfg!(miri) {
        let per_key = table.counts().index_bytes as f64 / f64::from(keys);
        assert!(per_key < 13.0, "{per_key} bytes of index a key");
    }
    for i in 0..keys {
        remove(&mut table, &i.to_be_bytes());
    }
    assert_eq!(table.counts().live, 0);
    assert_eq!(table.counts().entry_bytes, 0);
}

#[test]
fn a_scan_returns_every_lasting_key_once_while_the_table_grows() {
    let lasting = if cfg!(miri) { 100 } else { 5_000u32 };
    let mut table = table();
    for i in 0..lasting {
        put(&mut table, &i.to_be_bytes(), b"v", 0);
    }
    let mut extra = lasting;
    let keys = scan(&mut table, 3, |table, _| {
        for _ in 0..7 {
            put(table, &extra.to_be_bytes(), b"later", 0);
            extra += 1;
        }
    });
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    for key in keys {
        *seen.entry(key).or_default() += 1;
    }
    for i in 0..lasting {
        assert_eq!(seen.get(&i.to_be_bytes()[..]), Some(&1), "key {i}");
    }
}

#[test]
fn a_scan_for_flags_returns_what_has_them_and_nothing_else() {
    let mut table = table();
    let count = if cfg!(miri) { 100 } else { 1_000u32 };
    for i in 0..count {
        put(&mut table, &i.to_be_bytes(), b"v", u64::from(i.is_multiple_of(3)));
    }
    let (mut next, mut seen) = (Some(0), Vec::new());
    while let Some(from) = next {
        next = table.scan_flagged(from, 2, EXPIRING, |entry| seen.push(entry.key().to_vec()));
    }
    seen.sort_unstable();
    let expected: Vec<_> = (0..count).step_by(3).map(|i| i.to_be_bytes().to_vec()).collect();
    assert_eq!(seen, expected);
}

#[test]
fn random_reaches_every_key() {
    let mut table = table();
    for i in 0..20u32 {
        put(&mut table, &i.to_be_bytes(), b"v", 0);
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut random = 1u64;
    for _ in 0..if cfg!(miri) { 500 } else { 5_000 } {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        seen.insert(table.random(random ^ random >> 29).unwrap().key().to_vec());
    }
    assert_eq!(seen.len(), 20);
}

#[test]
fn flags_are_kept_and_counted() {
    let mut table = table();
    for i in 0..100u32 {
        put(&mut table, &i.to_be_bytes(), b"v", u64::from(i % 2));
    }
    assert_eq!((table.counts().dirty, table.counts().expiring), (100, 50));
    let mut new = 0;
    table.mark_in_flight(|_, _| new += 1);
    table.mark_arrived();
    assert_eq!(new, 100);
    assert_eq!(table.counts().dirty, 0);
    let mut cold = 0;
    table.walk(COLD, |_, flags| cold += usize::from(flags & DIRTY == 0));
    assert_eq!(cold, 100);
    put(&mut table, &5u32.to_be_bytes(), b"w", 1);
    assert_eq!(table.counts().dirty, 1);
    let found = table.find(hash(&5u32.to_be_bytes()), &5u32.to_be_bytes()).unwrap();
    assert!(found.has(COLD | DIRTY), "an overwrite keeps COLD");
}

#[derive(Debug, Clone)]
enum Op {
    Put(u8, usize, u64),
    Remove(u8),
    Edit(u8, usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (any::<u8>(), 0usize..5000, 0u64..3).prop_map(|(k, len, e)| Op::Put(k, len, e)),
        (any::<u8>(), 0usize..100, 0u64..3).prop_map(|(k, len, e)| Op::Put(k, len, e)),
        any::<u8>().prop_map(Op::Remove),
        (any::<u8>(), 1usize..50).prop_map(|(k, len)| Op::Edit(k, len)),
    ]
}

/// Keys of every length class: short, long, empty.
fn key(number: u8) -> Vec<u8> {
    match number % 4 {
        0 => vec![number; usize::from(number / 64)],
        1 => vec![number; 16],
        2 => vec![number; 255 + usize::from(number % 3)],
        _ => vec![number; 1],
    }
}

/// What a hint of any age says of a key is what a search says.
fn check_hint(table: &Table, seen: EntryHint, key: &[u8]) {
    let value = |found| table.entry(found).string().map(StringValue::bytes);
    let (hinted, found) = (table.find_again(seen, hash(key), key), table.find(hash(key), key));
    assert_eq!(hinted.map(value), found.map(value), "{key:?}");
}

#[test]
fn a_hint_is_known_to_be_out_of_date() {
    let keys = if cfg!(miri) { 100 } else { 2_000u32 };
    let mut table = table();
    let mut hints = Vec::new();
    let check = |table: &Table, hints: &[(u32, EntryHint)]| {
        for (number, seen) in hints {
            check_hint(table, *seen, &number.to_be_bytes());
        }
    };
    // Hints from before the key came, and of segments that have gone since.
    for i in 0..keys {
        hints.push((i, table.prefetch_entry(hash(&i.to_be_bytes()))));
        put(&mut table, &i.to_be_bytes(), &i.to_be_bytes(), 0);
        hints.push((i, table.prefetch_entry(hash(&i.to_be_bytes()))));
    }
    check(&table, &hints);
    hints.extend((0..keys).map(|i| (i, table.prefetch_entry(hash(&i.to_be_bytes())))));
    // Of keys that have gone, and of others that stand in their place.
    for i in (0..keys).step_by(2) {
        remove(&mut table, &i.to_be_bytes());
        check_hint(&table, hints[i as usize * 2 + 1].1, &i.to_be_bytes());
    }
    check(&table, &hints);
    for i in (0..keys).step_by(2) {
        put(&mut table, &(keys + i).to_be_bytes(), b"another", 0);
    }
    check(&table, &hints);
    // Of another key, or a table that has been emptied.
    for (number, seen) in &hints {
        check_hint(&table, *seen, &(number + 1).to_be_bytes());
    }
    for i in 0..2 * keys {
        remove(&mut table, &i.to_be_bytes());
    }
    check(&table, &hints);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 64 }, ..Default::default() })]
    #[test]
    fn the_table_agrees_with_a_map(ops in proptest::collection::vec(op(), 1..if cfg!(miri) { 60 } else { 600 })) {
        let mut table = table();
        let mut model: BTreeMap<Vec<u8>, (Vec<u8>, u64)> = BTreeMap::new();
        let mut hints = Vec::new();
        for op in ops {
            let (Op::Put(number, ..) | Op::Remove(number) | Op::Edit(number, _)) = op;
            hints.push((key(number), table.prefetch_entry(hash(&key(number)))));
            match op {
                Op::Put(number, len, expire_ms) => {
                    let value = vec![number ^ len as u8; len];
                    put(&mut table, &key(number), &value, expire_ms);
                    model.insert(key(number), (value, expire_ms));
                }
                Op::Remove(number) => {
                    remove(&mut table, &key(number));
                    model.remove(&key(number));
                }
                Op::Edit(number, len) => {
                    let key = key(number);
                    let Some((value, _)) = model.get_mut(&key) else { continue };
                    let found = table.find(hash(&key), &key).unwrap();
                    if value.len() >= basalt_keyspace::entry::SHARED_BYTES_MIN {
                        value.extend(std::iter::repeat_n(9, len));
                        table.edit_shared(found, |bytes| bytes.extend(std::iter::repeat_n(9, len)));
                    } else {
                        let from = value.len().saturating_sub(len);
                        value[from..].fill(len as u8);
                        table.edit_inline(found, |bytes| bytes[from..].fill(len as u8));
                        prop_assert_eq!(table.entry(found).form(), StringForm::Edited);
                    }
                }
            }
        }
        prop_assert_eq!(table.counts().live, model.len());
        for (key, seen) in hints {
            check_hint(&table, seen, &key);
        }
        for number in 0..=255 {
            prop_assert_eq!(get(&table, &key(number)), model.get(&key(number)).cloned());
        }
        let mut keys = scan(&mut table, 1, |_, _| {});
        keys.sort();
        prop_assert_eq!(keys, model.keys().cloned().collect::<Vec<_>>());
    }
}
