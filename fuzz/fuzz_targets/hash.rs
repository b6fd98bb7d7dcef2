//! Foreign bytes as a hash and as edits of it: nothing panics, and what is read is written and read
//! again as the same.
#![no_main]

use basalt_value::{Collection, Edits, Hash, FormLimits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&len, rest)) = data.split_first() else { return };
    let (whole, edits) = rest.split_at(rest.len().min(usize::from(len)));
    let mut limits = FormLimits::default();
    for entries_max in [4, 512] {
        limits.hash.entries_max = entries_max;
        let mut hash = Hash::decode(whole, &limits).unwrap_or_default();
        let _ = hash.apply(edits, &limits);
        assert_eq!(parts(&hash.duplicate(&limits)), parts(&hash));
        let (now_ms, before) = (u64::from(len), hash.len());
        let live = hash.len_at(now_ms);
        let removed = hash.remove_expired(now_ms, usize::MAX, &mut Edits::none());
        assert_eq!((before - removed, hash.len_at(now_ms)), (live, live));
    }
});

fn parts(hash: &Hash) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    hash.visit_parts(&mut |part| parts.push(part.to_vec()));
    parts.sort();
    parts
}
