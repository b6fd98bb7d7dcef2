//! Range deletions: they act on older rows, before the rows of their own checkpoint.

use super::{
    Change::{Delete, DeleteRange, Put},
    Site, all_rows, assert_row, commit, scan_rows,
};

fn filled(site: &Site<'_>) -> Box<dyn crate::ColdTier> {
    let tier = site.tier();
    let keys: Vec<[u8; 2]> = (0..100u8).map(|i| [b'k', i]).collect();
    let rows: Vec<_> = keys.iter().map(|key| Put(key, b"old")).collect();
    commit(&*tier, &rows);
    tier
}

pub(super) fn removes_range(site: &Site<'_>) {
    let tier = filled(site);
    commit(&*tier, &[DeleteRange(&[b'k', 10], &[b'k', 20]), DeleteRange(b"x", b"y")]);
    assert_eq!(all_rows(&*tier).len(), 90);
    assert_row(&*tier, &[b'k', 9], Some(b"old"));
    assert_row(&*tier, &[b'k', 10], None);
    assert_row(&*tier, &[b'k', 19], None);
    assert_row(&*tier, &[b'k', 20], Some(b"old"));
    commit(&*tier, &[Put(&[b'k', 15], b"new")]);
    assert_row(&*tier, &[b'k', 15], Some(b"new"));
    drop(tier);
    let tier = site.tier();
    assert_eq!(all_rows(&*tier).len(), 91);
    assert_row(&*tier, &[b'k', 16], None);
}

pub(super) fn spares_own_rows(site: &Site<'_>) {
    let tier = filled(site);
    let before = DeleteRange(&[b'k', 0], &[b'k', 50]);
    let after = DeleteRange(&[b'k', 30], &[b'k', 60]);
    commit(&*tier, &[before, Put(&[b'k', 40], b"new"), Delete(&[b'k', 70]), after]);
    assert_row(&*tier, &[b'k', 40], Some(b"new"));
    assert_row(&*tier, &[b'k', 45], None);
    assert_row(&*tier, &[b'k', 55], None);
    assert_row(&*tier, &[b'k', 70], None);
    assert_eq!(all_rows(&*tier).len(), 40);
}

pub(super) fn any_order(site: &Site<'_>) {
    let tier = filled(site);
    commit(
        &*tier,
        &[
            DeleteRange(&[b'k', 90], &[b'k', 95]),
            DeleteRange(&[b'k', 80], &[b'k', 80]),
            DeleteRange(&[b'k', 70], &[b'k', 60]),
            DeleteRange(&[b'k', 10], &[b'k', 15]),
            DeleteRange(&[b'k', 12], &[b'k', 17]),
            DeleteRange(&[b'k', 11], &[b'k', 12]),
        ],
    );
    assert_eq!(all_rows(&*tier).len(), 100 - 5 - 7);
    assert_row(&*tier, &[b'k', 80], Some(b"old"));
    assert_row(&*tier, &[b'k', 65], Some(b"old"));
    assert_row(&*tier, &[b'k', 16], None);
}

pub(super) fn alone(site: &Site<'_>) {
    let tier = filled(site);
    commit(&*tier, &[DeleteRange(b"", b"\xff")]);
    assert_eq!(all_rows(&*tier), []);
    commit(&*tier, &[DeleteRange(b"", b"\xff")]);
    commit(&*tier, &[DeleteRange(b"b", b"a")]);
    commit(&*tier, &[Put(&[b'k', 1], b"new")]);
    assert_eq!(all_rows(&*tier).len(), 1);
    drop(tier);
    assert_eq!(all_rows(&*site.tier()).len(), 1);
}

/// As a long string is written: each time under another prefix, and the one before goes.
pub(super) fn gives_way(site: &Site<'_>) {
    const PIECES: u8 = 9;
    const PIECE_BYTES: usize = 1 << 20;
    let tier = site.tier();
    for round in 1..4u8 {
        let keys: Vec<[u8; 3]> = (0..PIECES).map(|number| [b'p', round, number]).collect();
        let piece = |number: u8| {
            let len = if number == PIECES - 1 { PIECE_BYTES / 2 } else { PIECE_BYTES };
            (0..len).map(|at| (at % 251) as u8 ^ (at >> 12) as u8 ^ number ^ round).collect()
        };
        let pieces: Vec<Vec<u8>> = (0..PIECES).map(piece).collect();
        let (before, own) = ([b'p', round - 1], [b'p', round]);
        let after = [b'p', round + 1];
        let mut changes = vec![DeleteRange(&before, &own), DeleteRange(&own, &after)];
        let object = [round];
        changes.push(Put(b"object", &object));
        changes.extend(keys.iter().zip(&pieces).map(|(key, piece)| Put(key, piece)));
        commit(&*tier, &changes);
        assert_row(&*tier, b"object", Some(&object));
        let found = scan_rows(&*tier, b"p", b"q");
        let expected = keys.iter().map(|key| key.to_vec()).zip(pieces);
        assert!(found.into_iter().eq(expected), "round {round}");
    }
    drop(tier);
    let found = scan_rows(&*site.tier(), b"p", b"q");
    assert_eq!(found.len(), usize::from(PIECES));
}
