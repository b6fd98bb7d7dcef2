//! Checkpoints as units: invisible until committed, then whole, in the order of the commits.

use super::{
    Change::{Delete, Put},
    Site, all_rows, assert_row, commit, prepare,
};
use crate::{ColdError, Probe};

pub(super) fn invisible(site: &Site<'_>) {
    let tier = site.tier();
    commit(&*tier, &[Put(b"a", b"old"), Put(b"b", b"old")]);
    let prepared = prepare(&*tier, &[Put(b"a", b"new"), Delete(b"b"), Put(b"c", b"new")]);
    assert_row(&*tier, b"a", Some(b"old"));
    assert_row(&*tier, b"b", Some(b"old"));
    assert_row(&*tier, b"c", None);
    assert_eq!(tier.probe(b"c"), Probe::Absent);
    prepared.commit().expect("commits");
    assert_row(&*tier, b"a", Some(b"new"));
    assert_row(&*tier, b"b", None);
    assert_row(&*tier, b"c", Some(b"new"));
}

pub(super) fn not_committed(site: &Site<'_>) {
    {
        let tier = site.tier();
        commit(&*tier, &[Put(b"a", b"old")]);
        let prepared = prepare(&*tier, &[Put(b"a", b"new")]);
        let mut unfinished = tier.checkpoint_writer().expect("begins");
        unfinished.put(b"b", b"new").expect("puts");
        drop(unfinished);
        drop(prepared);
    }
    let tier = site.tier();
    assert_eq!(all_rows(&*tier), [(b"a".to_vec(), b"old".to_vec())]);
}

pub(super) fn discarded(site: &Site<'_>) {
    let tier = site.tier();
    prepare(&*tier, &[Put(b"a", b"1")]).discard();
    assert_eq!(all_rows(&*tier), []);
    commit(&*tier, &[Put(b"a", b"2")]);
    assert_row(&*tier, b"a", Some(b"2"));
}

pub(super) fn empty(site: &Site<'_>) {
    let tier = site.tier();
    commit(&*tier, &[]);
    prepare(&*tier, &[]).discard();
    assert_eq!(all_rows(&*tier), []);
}

pub(super) fn order_refused(site: &Site<'_>) {
    let tier = site.tier();
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.put(b"b", b"1").expect("puts");
    assert_eq!(writer.put(b"b", b"2"), Err(ColdError::KeyOrder));
    writer.begin_file().expect("goes on");
    assert_eq!(writer.put(b"a", b"2"), Err(ColdError::KeyOrder));
    drop(writer);
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.delete(b"b").expect("deletes");
    assert_eq!(writer.put(b"a", b"2"), Err(ColdError::KeyOrder));
    drop(writer);
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.put(b"", b"").expect("puts the empty key");
    assert_eq!(writer.delete(b""), Err(ColdError::KeyOrder));
    drop(writer);
    assert_eq!(all_rows(&*tier), []);
}

pub(super) fn commit_order(site: &Site<'_>) {
    let tier = site.tier();
    let first = prepare(&*tier, &[Put(b"a", b"first"), Put(b"b", b"first")]);
    let second = prepare(&*tier, &[Put(b"a", b"second")]);
    second.commit().expect("commits");
    first.commit().expect("commits");
    assert_row(&*tier, b"a", Some(b"first"));
    assert_row(&*tier, b"b", Some(b"first"));
}

pub(super) fn many_rows(site: &Site<'_>) {
    const ROWS: u32 = 20_000;
    let tier = site.tier();
    for round in 0..2u8 {
        let mut writer = tier.checkpoint_writer().expect("begins");
        // Values that do not compress, so that a back end which splits files has to.
        let mut noise = super::model::Noise::new(u64::from(round) + 1);
        for row in 0..ROWS {
            let mut value = [0u8; 400];
            noise.fill(&mut value);
            value[0] = round;
            if row % (ROWS / 2) == 0 {
                writer.begin_file().expect("goes on");
            }
            writer.put(&row.to_be_bytes(), &value).expect("puts");
        }
        writer.begin_file().expect("goes on, to its end");
        writer.prepare().expect("prepares").commit().expect("commits");
        let rows = all_rows(&*tier);
        assert_eq!(rows.len(), ROWS as usize);
        for (row, (key, value)) in rows.iter().enumerate() {
            assert_eq!(key[..], (row as u32).to_be_bytes());
            assert_eq!(value[0], round);
        }
    }
}
