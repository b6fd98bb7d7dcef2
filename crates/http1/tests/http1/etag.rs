//! Entity tags and the conditions that name them.

use basalt_http1::{Comparison, ETAG_BYTES_MAX, ETag, ETags, Refusal, if_range_holds};
use proptest::prelude::*;

fn text(tag: ETag) -> String {
    str::from_utf8(tag.text(&mut [0; ETAG_BYTES_MAX])).expect("ASCII").to_owned()
}

fn includes(value: &str, tag: ETag, comparison: Comparison) -> bool {
    ETags::parse(value.as_bytes()).expect("good").include(tag, comparison)
}

#[test]
fn a_tag_has_its_kind_and_its_number() {
    assert_eq!(text(ETag::Version(0)), "\"v0\"");
    assert_eq!(text(ETag::Version(u64::MAX)), "\"v18446744073709551615\"");
    assert_eq!(text(ETag::Digest(0xc0_ffee)), "\"d0000000000c0ffee\"");
    assert_eq!(text(ETag::Digest(u64::MAX)), "\"dffffffffffffffff\"");
}

#[test]
fn strong_and_weak_comparison() {
    // The table of RFC 9110, section 8.8.3.2, with a tag of ours.
    for (value, strong, weak) in [
        ("\"v1\"", true, true),
        ("W/\"v1\"", false, true),
        ("\"v2\"", false, false),
        ("W/\"v2\"", false, false),
        ("\"V1\"", false, false),
        ("\"v01\"", false, false),
        ("\"1\"", false, false),
        ("*", true, true),
    ] {
        assert_eq!(includes(value, ETag::Version(1), Comparison::Strong), strong, "{value}");
        assert_eq!(includes(value, ETag::Version(1), Comparison::Weak), weak, "{value}");
    }
    assert!(!includes("\"v1\"", ETag::Digest(1), Comparison::Weak));
    assert!(includes("\"d000000000000000a\"", ETag::Digest(10), Comparison::Strong));
    assert!(!includes("\"d000000000000000A\"", ETag::Digest(10), Comparison::Strong));
}

#[test]
fn lists_have_commas_between_and_within_tags() {
    let is_there = |value: &str| includes(value, ETag::Version(7), Comparison::Weak);
    assert!(is_there("\"a\", W/\"v7\" ,\"b\""));
    assert!(is_there(", ,\"v7\","));
    assert!(is_there("\"a\",\"v7\""));
    assert!(is_there("\"\", \"v7\""));
    assert!(!is_there("\"a,\", \",v7\""));
    assert!(!is_there("\"x\u{e4}\""));
}

#[test]
fn what_is_no_list_is_refused() {
    for value in [
        "",
        ",",
        "v7",
        "\"v7",
        "v7\"",
        "w/\"v7\"",
        "W/v7",
        "W/ \"v7\"",
        "\"a\" \"b\"",
        "\"a\"b",
        "\"a b\"",
        "*, \"a\"",
        "\"a\", *",
        "\"a\"\"b\"",
        "\"a\"; x",
    ] {
        assert_eq!(ETags::parse(value.as_bytes()), Err(Refusal::ETagMalformed), "{value}");
    }
    assert!(!Refusal::ETagMalformed.closes());
}

#[test]
fn a_part_is_of_what_there_is_now() {
    let holds = |value: &str| if_range_holds(value.as_bytes(), ETag::Version(7));
    assert!(holds("\"v7\""));
    assert!(!holds("W/\"v7\"") && !holds("\"v8\"") && !holds("\"v7\", \"v8\"") && !holds(""));
    assert!(!holds("Sun, 06 Nov 1994 08:49:37 GMT"));
}

proptest! {
    #[test]
    fn a_tag_is_itself_and_no_other(one in any::<u64>(), other in any::<u64>()) {
        for (make, else_) in [
            (ETag::Version as fn(u64) -> ETag, ETag::Digest as fn(u64) -> ETag),
            (ETag::Digest, ETag::Version),
        ] {
            let value = text(make(one));
            prop_assert!(includes(&value, make(one), Comparison::Strong));
            prop_assert!(!includes(&value, else_(one), Comparison::Weak));
            prop_assert_eq!(includes(&value, make(other), Comparison::Weak), one == other);
        }
    }

    #[test]
    fn any_value_has_an_answer(value in "[W/\"v7, *\\x00é-]{0,12}") {
        if let Ok(tags) = ETags::parse(value.as_bytes()) {
            let strong = tags.include(ETag::Version(7), Comparison::Strong);
            prop_assert!(!strong || tags.include(ETag::Version(7), Comparison::Weak));
        }
        let _ = if_range_holds(value.as_bytes(), ETag::Version(7));
    }
}
