//! Probes: cautious, never wrong, and sure about absent keys.

use super::{
    Change::{Delete, DeleteRange, Put},
    Site, assert_probe, commit,
    model::Noise,
};
use crate::Probe;

pub(super) fn never_lies(site: &Site<'_>) {
    let tier = site.tier();
    let big = vec![3u8; 20_000];
    commit(&*tier, &[Put(b"a", b"1"), Put(b"big", &big), Put(b"d", b"4"), Put(b"r", b"5")]);
    commit(&*tier, &[Put(b"a", b"2"), Delete(b"d"), DeleteRange(b"q", b"s")]);
    for _ in 0..2 {
        assert_probe(&*tier, b"a", Some(b"2"));
        assert_probe(&*tier, b"big", Some(&big));
        assert_probe(&*tier, b"d", None);
        assert_probe(&*tier, b"r", None);
        assert_probe(&*tier, b"never", None);
        // The second time some of it may be cached.
        let keys = [&b"a"[..], b"big", b"d", b"r"].map(<[u8]>::to_vec);
        tier.read_many(&keys).expect("reads succeed");
    }
}

pub(super) fn absent_keys(site: &Site<'_>) {
    const ROWS: u32 = 50_000;
    // Ten bits a key give about 1 % per filter; a key meets one filter per overlapping file.
    const UNKNOWN_MAX: usize = ROWS as usize * 3 / 100;
    {
        let tier = site.tier();
        let mut writer = tier.checkpoint_writer().expect("begins");
        for row in 0..ROWS {
            writer.put(&(row * 2).to_be_bytes(), b"present").expect("puts");
        }
        writer.prepare().expect("prepares").commit().expect("commits");
    }
    // Opened again: nothing is cached but what opening loads.
    let tier = site.tier();
    let mut noise = Noise::new(1);
    let mut unknown = 0;
    for _ in 0..ROWS {
        let key = (noise.below(u64::from(ROWS)) as u32 * 2 + 1).to_be_bytes();
        match tier.probe(&key) {
            Probe::Absent => {}
            Probe::Unknown => unknown += 1,
            Probe::Present(_) => panic!("probe of absent {key:?} said present"),
        }
    }
    assert!(unknown <= UNKNOWN_MAX, "{unknown} of {ROWS} absent keys were unknown");
}
