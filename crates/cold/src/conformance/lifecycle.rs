//! Opening, closing, backing up, counting.

use std::ops::ControlFlow;

use super::{
    Change::{Delete, DeleteRange, Put},
    Site, all_rows, assert_row, commit,
};
use crate::{ColdError, Probe};

pub(super) fn restart(site: &Site<'_>) {
    let big = vec![7u8; 5000];
    for round in 0..5u8 {
        let tier = site.tier();
        if round > 0 {
            assert_row(&*tier, b"round", Some(&[round - 1]));
            assert_row(&*tier, b"big", Some(&big));
            assert_row(&*tier, &[b's', round - 1], None);
        }
        commit(&*tier, &[Put(b"big", &big), Put(b"round", &[round]), Put(&[b's', round], b"")]);
        commit(&*tier, &[Delete(&[b's', round]), DeleteRange(b"t", b"u")]);
        if round % 2 == 0 {
            tier.close();
        }
    }
    assert_eq!(all_rows(&*site.tier()).len(), 2);
}

pub(super) fn closed(site: &Site<'_>) {
    let tier = site.tier();
    commit(&*tier, &[Put(b"a", b"1")]);
    let prepared = super::prepare(&*tier, &[Put(b"a", b"2")]);
    tier.close();
    tier.close();
    assert_eq!(prepared.commit(), Err(ColdError::Closed));
    assert_eq!(tier.probe(b"a"), Probe::Unknown);
    assert_eq!(tier.read_many(&[b"a".to_vec()]), Err(ColdError::Closed));
    let scanned = tier.scan(b"", b"z", &mut |_, _| ControlFlow::Continue(()));
    assert_eq!(scanned, Err(ColdError::Closed));
    assert_eq!(tier.checkpoint_writer().err(), Some(ColdError::Closed));
    assert_eq!(tier.backup(&site.copy_dir()), Err(ColdError::Closed));
    tier.pressure();
    tier.stats();
    drop(tier);
    assert_row(&*site.tier(), b"a", Some(b"1"));
}

pub(super) fn backup(site: &Site<'_>) {
    let tier = site.tier();
    let big = vec![1u8; 100_000];
    commit(&*tier, &[Put(b"a", b"1"), Put(b"b", &big)]);
    tier.backup(&site.copy_dir()).expect("backs up");
    assert!(tier.backup(&site.copy_dir()).is_err(), "a backup must not overwrite another");
    commit(&*tier, &[Put(b"a", b"2"), Delete(b"b")]);
    let copy = site.tier_of_copy();
    assert_row(&*copy, b"a", Some(b"1"));
    assert_row(&*copy, b"b", Some(&big));
    commit(&*copy, &[Put(b"a", b"3")]);
    assert_row(&*tier, b"a", Some(b"2"));
    assert_row(&*tier, b"b", None);
    drop(tier);
    drop(copy);
    assert_row(&*site.tier(), b"a", Some(b"2"));
    assert_row(&*site.tier_of_copy(), b"a", Some(b"3"));
}

pub(super) fn stats(site: &Site<'_>) {
    let tier = site.tier();
    assert_eq!(tier.stats().checkpoints_committed, 0);
    commit(&*tier, &[Put(b"a", b"1"), Delete(b"b"), DeleteRange(b"c", b"d")]);
    super::prepare(&*tier, &[Put(b"a", b"2")]).discard();
    let stats = tier.stats();
    assert_eq!(stats.checkpoints_committed, 1);
    assert_eq!(stats.checkpoint_rows, 3);
    assert!(stats.checkpoint_bytes > 0);
    assert!(stats.table_bytes > 0);
    assert!(!tier.pressure().stalled);
}
