//! Glob patterns: a table of Redis' answers, a slow matcher to compare with, and a bound on time.

use basalt_stdx::glob::{Case, Pattern, matches};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// Pattern, names that match, names that do not. What Redis 7 answers to `KEYS`.
const TABLE: &[(&str, &[&str], &[&str])] = &[
    ("", &[""], &["a"]),
    ("*", &["", "a", "ab"], &[]),
    ("**", &["a", "ab"], &[""]),
    ("a*", &["a", "ab", "a*"], &["", "b", "ba"]),
    ("*a", &["a", "ba", "aa"], &["", "b", "ab"]),
    ("*a*", &["a", "bab", "ab", "ba"], &["", "b"]),
    ("a*b*c", &["abc", "axbxc", "abbcc", "aabbc"], &["acb", "ab", "abcd", "ac"]),
    ("ab*ba", &["abba", "abxba"], &["aba", "ab", "ba"]),
    ("?", &["a", "*", "\u{7f}"], &["", "ab"]),
    ("h?llo", &["hello", "hxllo"], &["hllo", "heello"]),
    ("h*llo", &["hllo", "heeeello"], &["hell"]),
    ("*?*", &["a", "ab"], &[""]),
    ("*??", &["ab", "abc"], &["a", ""]),
    ("[ae]", &["a", "e"], &["b", "ae", ""]),
    ("h[a-b]llo", &["hallo", "hbllo"], &["hcllo", "h-llo"]),
    ("h[b-a]llo", &["hallo", "hbllo"], &["hcllo"]),
    ("h[^e]llo", &["hallo", "h^llo"], &["hello", "hllo"]),
    ("[e^]", &["e", "^"], &["a"]),
    ("[]a", &[], &["a", "]a", "[]a"]),
    ("[^]a", &["xa", "]a"], &["a"]),
    ("[abc", &["a", "b", "c"], &["[abc", "abc", "["]),
    ("[a-", &["a", "-"], &["b"]),
    ("[a-]", &["a", "]", "^", "_"], &["-", "b"]),
    ("[a-]x]", &["a", "x", "]"], &["ax]", "b"]),
    ("[\\]]", &["]"], &["\\", "a"]),
    ("[\\a-c]", &["a", "-", "c"], &["b", "\\"]),
    ("[\\", &["\\"], &["a"]),
    ("\\*", &["*"], &["a", "\\*", ""]),
    ("\\", &["\\"], &["", "a"]),
    ("a\\", &["a\\"], &["a"]),
    ("\\a\\b", &["ab"], &["\\a\\b"]),
    ("a]", &["a]"], &["a"]),
    ("*[0-9]", &["k1", "1"], &["k", "1k"]),
    ("*[0-9]*[a-c]?x", &["9axx", "k1cbx", "1ccbx"], &["1ax", "axx", "9addx"]),
];

#[test]
fn patterns_match_what_they_match_in_redis() {
    for (pattern, yes, no) in TABLE {
        for name in *yes {
            assert!(
                matches(pattern.as_bytes(), name.as_bytes(), Case::Differs),
                "{pattern} {name}"
            );
        }
        for name in *no {
            assert!(
                !matches(pattern.as_bytes(), name.as_bytes(), Case::Differs),
                "{pattern} {name}"
            );
        }
    }
}

#[test]
fn case_can_be_ignored() {
    let ignoring =
        |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes(), Case::Ignored);
    assert!(ignoring("MaX*", "maxMEMORY") && ignoring("[M-N]ax", "max") && ignoring("[m]", "M"));
    assert!(!matches(b"MaX", b"max", Case::Differs));
    // An escaped byte in a class stands for itself only, and ends swap before case is dropped.
    assert!(ignoring("[\\M]", "M") && !ignoring("[\\M]", "m"));
    assert!(!ignoring("[a-Z]", "b"));
    assert!(!ignoring("é", "É"));
}

#[test]
fn ranges_compare_signed_bytes() {
    let class = Pattern::new(b"[a-\xff]", Case::Differs);
    assert!(class.matches(b"\xff") && class.matches(b"A") && class.matches(b"\0"));
    assert!(!class.matches(b"\xfe") && !class.matches(b"b"));
}

#[test]
fn hostile_patterns_are_cheap() {
    let name = vec![b'a'; 1 << 17];
    let stars = b"a*".repeat(10_000);
    let classes = [b"*".to_vec(), b"[ab]".repeat(20_000), b"c*".to_vec()].concat();
    let marks = [b"*".to_vec(), b"?a".repeat(20_000), b"?b*".to_vec()].concat();
    let many = b"*[ab]".repeat(20_000);
    let plain = [b"*".to_vec(), b"a".repeat(60_000), b"b*".to_vec()].concat();
    let start = Instant::now();
    for tail in [&b"b"[..], b""] {
        for pattern in [&stars, &classes, &marks, &many, &plain] {
            let pattern = [pattern, tail].concat();
            let _ = Pattern::new(&pattern, Case::Differs).matches(&name);
        }
    }
    // Some 50 ms a search; the product of the lengths would be minutes.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// The definition, slowly: tries every place for every star.
fn slow(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|taken| slow(rest, &name[taken..])),
        ([b'?', rest @ ..], [_, tail @ ..]) => slow(rest, tail),
        ([b'\\', escaped, rest @ ..], [byte, tail @ ..]) => escaped == byte && slow(rest, tail),
        ([b'[', rest @ ..], [byte, tail @ ..]) => {
            let end = rest.iter().position(|&byte| byte == b']').expect("classes are closed here");
            let (negated, class) = match &rest[..end] {
                [b'^', class @ ..] => (true, class),
                class => (false, class),
            };
            class.contains(byte) != negated && slow(&rest[end + 1..], tail)
        }
        ([literal, rest @ ..], [byte, tail @ ..]) => literal == byte && slow(rest, tail),
        _ => false,
    }
}

proptest! {
    #[test]
    fn agrees_with_the_definition(
        parts in prop::collection::vec(
            prop::sample::select(vec!["*", "?", "a", "b", "ab", "[ab]", "[^a]", "\\*", "\\a", "[bc]"]),
            0..9,
        ),
        name in "[abc*]{1,9}",
    ) {
        let pattern = parts.concat();
        let expected = slow(pattern.as_bytes(), name.as_bytes());
        prop_assert_eq!(matches(pattern.as_bytes(), name.as_bytes(), Case::Differs), expected);
    }

    #[test]
    fn takes_any_bytes(pattern: Vec<u8>, name: Vec<u8>) {
        for case in [Case::Differs, Case::Ignored] {
            let _ = matches(&pattern, &name, case);
        }
    }
}
