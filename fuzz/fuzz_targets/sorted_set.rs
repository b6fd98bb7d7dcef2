//! Sorted sets as the cold tier or the log would hold them, in both forms: decoding and edits never
//! panic, and what was taken means the same when encoded again.
#![no_main]

use basalt_value::limits::PackedLimits;
use basalt_value::sorted_set::Direction;
use basalt_value::{Collection, Edits, FormLimits, SortedSet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&len, rest)) = data.split_first() else { return };
    let (whole, edits) = rest.split_at(rest.len().min(usize::from(len)));
    for entries_max in [0, 4, 128] {
        let sorted_set = PackedLimits { entries_max, value_bytes_max: 64 };
        let limits = FormLimits { sorted_set, ..FormLimits::default() };
        let mut set = SortedSet::decode(whole, &limits).unwrap_or_default();
        check(&set, &limits);
        let _ = set.apply(edits, &limits);
        check(&set, &limits);
        let half = set.len() / 2;
        set.remove_ranks(half / 2..half, &mut Edits::none());
        check(&set, &limits);
    }
});

fn check(set: &SortedSet, limits: &FormLimits) {
    let mut bytes = Vec::new();
    set.encode(&mut bytes);
    let again = SortedSet::decode(&bytes, limits).expect("what was encoded can be decoded");
    assert_eq!(again.len(), set.len());
    let backward = set.iter(0..set.len(), Direction::Backward);
    assert_eq!(backward.count(), set.elements().count());
    for (rank, (element, same)) in set.elements().zip(again.elements()).enumerate() {
        assert_eq!(element.score, same.score);
        let member = element.member.spell(&mut [0; 20]).to_vec();
        assert_eq!(set.rank(&member), Some((rank, element.score)));
    }
}
