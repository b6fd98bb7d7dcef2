//! Rows as such: order, overwriting, deleting, odd sizes, bounds.

use std::ops::ControlFlow;

use super::{
    Change::{Delete, Put},
    Site, TOP, all_rows, assert_row, commit, scan_rows,
};
use crate::Probe;

pub(super) fn empty_tier(site: &Site<'_>) {
    let tier = site.tier();
    assert_eq!(all_rows(&*tier), []);
    assert_eq!(tier.read_many(&[]).expect("reading nothing succeeds"), []);
    assert_eq!(tier.probe(b"any"), Probe::Absent);
    assert_row(&*tier, b"any", None);
}

pub(super) fn byte_order(site: &Site<'_>) {
    let tier = site.tier();
    // Unsigned bytes, shorter before longer: not the order of signed chars or of lengths.
    let keys: [&[u8]; 7] = [b"\x00", b"\x00\x00", b"\x01\xff", b"a", b"aa", b"b", b"\x80"];
    for key in keys.iter().rev() {
        commit(&*tier, &[Put(key, key)]);
    }
    let found: Vec<Vec<u8>> = all_rows(&*tier).into_iter().map(|(key, _)| key).collect();
    assert_eq!(found, keys);
}

pub(super) fn overwrites(site: &Site<'_>) {
    let tier = site.tier();
    for round in 0..20u8 {
        commit(&*tier, &[Put(b"a", &[round]), Put(b"k", &[round; 100])]);
        assert_row(&*tier, b"a", Some(&[round]));
        assert_row(&*tier, b"k", Some(&[round; 100]));
    }
    assert_eq!(all_rows(&*tier).len(), 2);
}

pub(super) fn deletes(site: &Site<'_>) {
    let tier = site.tier();
    commit(&*tier, &[Put(b"a", b"1"), Put(b"b", b"2"), Put(b"c", b"3")]);
    commit(&*tier, &[Delete(b"a"), Delete(b"never"), Delete(b"z")]);
    assert_row(&*tier, b"a", None);
    assert_row(&*tier, b"b", Some(b"2"));
    commit(&*tier, &[Put(b"a", b"again"), Delete(b"b")]);
    assert_row(&*tier, b"a", Some(b"again"));
    assert_row(&*tier, b"b", None);
    assert_row(&*tier, b"c", Some(b"3"));
}

pub(super) fn empty_bytes(site: &Site<'_>) {
    let tier = site.tier();
    commit(&*tier, &[Put(b"", b"at the start"), Put(b"e", b"")]);
    assert_row(&*tier, b"", Some(b"at the start"));
    assert_row(&*tier, b"e", Some(b""));
    assert_row(&*tier, b"\x00", None);
    commit(&*tier, &[Delete(b""), Delete(b"e")]);
    assert_eq!(all_rows(&*tier), []);
}

pub(super) fn high_keys(site: &Site<'_>) {
    let tier = site.tier();
    let keys: [&[u8]; 4] = [b"\xfe", b"\xff", b"\xff\x00", b"\xff\xff\xff\xff"];
    commit(&*tier, &keys.map(|key| Put(key, b"v")));
    for key in keys {
        assert_row(&*tier, key, Some(b"v"));
    }
    assert_eq!(scan_rows(&*tier, b"\xff", &TOP).len(), 3);
    assert_eq!(scan_rows(&*tier, b"\xff", b"\xff\xff").len(), 2);
}

pub(super) fn big_values(site: &Site<'_>) {
    let tier = site.tier();
    // Around the usual threshold of value separation, a block, and well beyond a buffer.
    let values = [1023, 1024, 1025, 4096, 70_000, 9 << 20].map(pattern);
    for round in 0..2 {
        let keys = [b"0", b"1", b"2", b"3", b"4", b"5"];
        let changes: Vec<_> = keys.iter().zip(&values).map(|(k, v)| Put(&k[..], v)).collect();
        commit(&*tier, &changes);
        for (key, value) in keys.iter().zip(&values) {
            assert_row(&*tier, &key[..], Some(value));
        }
        assert_eq!(all_rows(&*tier).len(), 6, "round {round}");
    }
    commit(&*tier, &[Put(b"5", b"small now")]);
    assert_row(&*tier, b"5", Some(b"small now"));
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 ^ (i >> 12) as u8).collect()
}

pub(super) fn scan_bounds(site: &Site<'_>) {
    let tier = site.tier();
    commit(&*tier, &[Put(b"a", b""), Put(b"b", b""), Put(b"c", b"")]);
    let keys = |from: &[u8], to: &[u8]| -> Vec<u8> {
        scan_rows(&*tier, from, to).iter().map(|(key, _)| key[0]).collect()
    };
    assert_eq!(keys(b"a", b"c"), b"ab");
    assert_eq!(keys(b"a\x00", b"c\x00"), b"bc");
    assert_eq!(keys(b"", b"a"), b"");
    assert_eq!(keys(b"b", b"b"), b"");
    assert_eq!(keys(b"c", b"a"), b"");
    assert_eq!(keys(b"d", b"z"), b"");
    assert_eq!(keys(b"", b""), b"");
}

pub(super) fn scan_break(site: &Site<'_>) {
    let tier = site.tier();
    commit(&*tier, &[Put(b"a", b""), Put(b"b", b""), Put(b"c", b"")]);
    let mut seen = 0;
    tier.scan(b"", &TOP, &mut |_, _| {
        seen += 1;
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .expect("a broken-off scan succeeds");
    assert_eq!(seen, 2);
}

pub(super) fn read_many_order(site: &Site<'_>) {
    let tier = site.tier();
    commit(&*tier, &[Put(b"a", b"1"), Put(b"b", b""), Put(b"c", b"3")]);
    let keys = [&b"c"[..], b"none", b"a", b"c", b"b"].map(<[u8]>::to_vec);
    let values = tier.read_many(&keys).expect("reads succeed");
    let expected = [Some(&b"3"[..]), None, Some(b"1"), Some(b"3"), Some(b"")];
    assert_eq!(values, expected.map(|value| value.map(<[u8]>::to_vec)));
    let many: Vec<Vec<u8>> = (0..1000u32).map(|i| i.to_be_bytes().to_vec()).collect();
    assert_eq!(tier.read_many(&many).expect("reads succeed"), vec![None; 1000]);
}
