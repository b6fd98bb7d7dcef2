//! Bytes as a log or a cold tier would hold them for a stream: neither decoding nor applying
//! panics, and what comes of it can be encoded and read back as the same.
#![no_main]

use basalt_value::stream::{EntryId, Stream};
use basalt_value::{Collection, FormLimits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = FormLimits::default();
    let decoded = Stream::decode(bytes, &limits).ok();
    let mut applied = Stream::new();
    // Whatever edits came before the first that is wrong.
    let _ = applied.apply(bytes, &limits);
    for stream in decoded.into_iter().chain([applied]) {
        let (mut once, mut again) = (Vec::new(), Vec::new());
        stream.encode(&mut once);
        Stream::decode(&once, &limits).expect("it was just encoded").encode(&mut again);
        assert_eq!(once, again);
        assert_eq!(stream.entries(EntryId::MIN, EntryId::MAX).count(), stream.len());
        assert_eq!(stream.entries_back(EntryId::MIN, EntryId::MAX).count(), stream.len());
    }
});
