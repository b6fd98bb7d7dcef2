//! Reads that others make, at places that the log has told them.

use crate::{World, collect_all, commit, key, noise, put_all, read};
use basalt_cold::{ColdTier, RowPlace};

/// Makes the read that a place asks for.
fn bytes_at(place: &RowPlace) -> Vec<u8> {
    let mut bytes = vec![0; place.read.bytes];
    let read = place.read.file.read_at(&mut bytes, place.read.offset).expect("reads");
    bytes.truncate(read);
    bytes
}

#[test]
fn a_value_is_at_the_place_that_is_told() {
    let world = World::default();
    let tier = world.open();
    put_all(&tier, 0..100, 0);
    commit(&tier, &[(b"empty", Some(b"")), (b"small", Some(b"x"))]);
    let reads = tier.stats().block_reads;
    for number in 0..100 {
        let place = tier.locate(&key(number)).expect("is located");
        let bytes = bytes_at(&place);
        let row = tier.row_at(&key(number), &place, &bytes).expect("is there");
        assert_eq!(*row, noise(number, 1_000));
        assert!(tier.row_at(&key(number + 1), &place, &bytes).is_none(), "of another key");
        assert!(tier.row_at(&key(number), &place, &bytes[..500]).is_none(), "cut off");
        assert!(tier.row_at(&key(number), &place, &[]).is_none());
        let mut damaged = bytes.clone();
        damaged[300] ^= 1;
        assert!(tier.row_at(&key(number), &place, &damaged).is_none(), "damaged");
    }
    assert_eq!(tier.stats().block_reads, reads + 100, "each read counts");
    for absent in [&b"small"[..], b"empty", b"none"] {
        assert!(tier.locate(absent).is_none());
    }
    tier.close();
    assert!(tier.locate(&key(1)).is_none());
}

/// What was under way when rows were committed may be of before, or of a segment that has gone.
#[test]
fn what_was_read_before_a_commit_is_not_taken() {
    let world = World::default();
    let tier = world.open();
    put_all(&tier, 0..100, 0);
    let place = tier.locate(&key(7)).expect("is located");
    let bytes = bytes_at(&place);
    assert!(tier.row_at(&key(7), &place, &bytes).is_some());
    put_all(&tier, 0..100, 1);
    assert!(tier.row_at(&key(7), &place, &bytes).is_none());
    collect_all(&tier, 1);
    // Its segment has been removed, and can still be read by those that have opened it.
    assert_eq!(bytes_at(&place), bytes);
    let place = tier.locate(&key(7)).expect("is located");
    assert_eq!(
        *tier.row_at(&key(7), &place, &bytes_at(&place)).expect("is there"),
        noise(1_007, 1_000)
    );
    commit(&tier, &[(&key(7), None)]);
    assert!(tier.row_at(&key(7), &place, &bytes_at(&place)).is_none());
    assert!(tier.locate(&key(7)).is_none() && read(&tier, &key(7)).is_none());
}

/// Nothing is located before it is known where all is: rows are read then.
#[test]
fn nothing_is_located_after_a_start_before_rows_have_been_gone_over() {
    let world = World::default();
    put_all(&world.open(), 0..100, 0);
    let tier = world.open();
    assert!(tier.locate(&key(7)).is_none());
    assert_eq!(read(&tier, &key(7)), Some(noise(7, 1_000)));
    collect_all(&tier, 15);
    assert!(tier.locate(&key(7)).is_some());
}

/// The page cache is read past only where it could hold little of the log.
#[test]
fn where_the_page_cache_is_small_it_is_not_asked() {
    let world = World::default();
    for (page_cache_bytes, is_direct) in [(u64::MAX, false), (64 << 10, false), (4 << 10, true)] {
        let tier = world.open_with(|options| options.page_cache_bytes = page_cache_bytes);
        put_all(&tier, 0..100, 0);
        collect_all(&tier, 15);
        tier.pressure();
        let place = tier.locate(&key(7)).expect("is located");
        assert_eq!(place.read.is_direct, is_direct, "{page_cache_bytes}");
    }
}
