//! Ranges of bytes.

use basalt_http1::{ByteRange, Refusal};
use proptest::prelude::*;

#[test]
fn a_range_is_read() {
    let from = |first, last| Ok(Some(ByteRange::From { first, last }));
    for (value, read) in [
        ("bytes=0-0", from(0, Some(0))),
        ("bytes=0-499", from(0, Some(499))),
        ("Bytes= 500- ", from(500, None)),
        ("bytes=-5", Ok(Some(ByteRange::Last(5)))),
        ("bytes=7-99999999999999999999", from(7, Some(u64::MAX))),
        ("bytes=0-1,5-6", Ok(None)),
        ("lines=0-1", Ok(None)),
        ("none", Ok(None)),
        ("", Ok(None)),
        ("bytes=", Err(Refusal::RangeMalformed)),
        ("bytes=-", Err(Refusal::RangeMalformed)),
        ("bytes=5", Err(Refusal::RangeMalformed)),
        ("bytes=5-4", Err(Refusal::RangeMalformed)),
        ("bytes=--5", Err(Refusal::RangeMalformed)),
        ("bytes=a-b", Err(Refusal::RangeMalformed)),
        ("bytes=0 - 1", Err(Refusal::RangeMalformed)),
    ] {
        assert_eq!(ByteRange::parse(value.as_bytes()), read, "{value}");
    }
    assert!(!Refusal::RangeMalformed.closes());
}

#[test]
fn a_range_is_of_what_there_is() {
    let of = |value: &str, length| {
        ByteRange::parse(value.as_bytes()).expect("good").expect("bytes").of(length)
    };
    assert_eq!(of("bytes=0-4", 10), Some(0..5));
    assert_eq!(of("bytes=5-99", 10), Some(5..10));
    assert_eq!(of("bytes=9-", 10), Some(9..10));
    assert_eq!(of("bytes=10-", 10), None);
    assert_eq!(of("bytes=10-20", 10), None);
    assert_eq!(of("bytes=-3", 10), Some(7..10));
    assert_eq!(of("bytes=-30", 10), Some(0..10));
    assert_eq!(of("bytes=-0", 10), None);
    assert_eq!(of("bytes=0-0", 0), None);
    assert_eq!(of("bytes=-1", 0), None);
    assert_eq!(of("bytes=0-99999999999999999999", 10), Some(0..10));
}

proptest! {
    #[test]
    fn a_part_is_never_beyond_the_whole(value in "bytes=[0-9]{0,3}-?[0-9]{0,3}", length in 0..999u64) {
        if let Ok(Some(range)) = ByteRange::parse(value.as_bytes())
            && let Some(part) = range.of(length)
        {
            prop_assert!(part.start < part.end && part.end <= length);
        }
    }
}
