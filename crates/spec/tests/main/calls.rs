//! The keys of whole calls, as COMMAND GETKEYS of Redis 7.0 tells them.

use basalt_spec::{Found, KeyFlag, KeysError};

use crate::samples::table;

/// The keys of a call, joined by spaces.
fn keys(call: &str) -> Result<String, KeysError> {
    let words: Vec<&[u8]> = call.split(' ').map(str::as_bytes).collect();
    let table = table();
    let Found::Command(command) = table.resolve(words[0], words.get(1).copied()) else {
        panic!("no such command: {call}");
    };
    let mut found = Vec::new();
    command.visit_keys(words.as_slice(), |position, flags| {
        if !flags.has(KeyFlag::NotKey) {
            found.push(String::from_utf8_lossy(words[position]).into_owned());
        }
    })?;
    Ok(found.join(" "))
}

fn assert_keys(call: &str, expected: &str) {
    assert_eq!(keys(call).as_deref(), Ok(expected), "{call}");
}

#[test]
fn keys_at_fixed_places() {
    assert_keys("set a b", "a");
    assert_keys("lcs a b", "a b");
    assert_keys("mset a 1 b 2", "a b");
    assert_keys("mset a 1 b", "a b");
    assert_keys("blpop a b 0", "a b");
    assert_keys("object freq a", "a");
    assert_keys("keys a", "");
    assert_keys("spublish a b", "");
}

#[test]
fn keys_that_a_number_counts() {
    assert_keys("eval x 0", "");
    assert_keys("eval x 2 a b c", "a b");
    assert_keys("zunionstore d 2 a b weights 1 2", "d a b");
    for call in ["zunionstore d 0 a", "zunionstore d x a", "zunionstore d -1 a", "eval x 3 a"] {
        assert_eq!(keys(call), Err(KeysError::Invalid), "{call}");
    }
    assert_eq!(keys("eval x 99999999999999999999 a"), Err(KeysError::Invalid));
    assert_eq!(keys("eval x 18446744073709551615 a"), Err(KeysError::Invalid));
}

#[test]
fn keys_behind_a_keyword() {
    assert_keys("xread count 1 streams a b 0 0", "a b");
    assert_keys("xread STREAMS a 0", "a");
    assert_keys("xread streams a b c", "a");
    assert_eq!(keys("xread count 1 a b c"), Err(KeysError::Invalid));
    assert_keys("migrate h 1 a 0 9 copy keys b c", "a b c");
    assert_keys("migrate h 1 a 0 9", "a");
}

#[test]
fn keys_that_may_stand_anywhere() {
    assert_keys("sort a", "a");
    assert_keys("sort a by store get store", "a");
    assert_keys("sort a limit store 2 STORE x desc store y", "a y");
    assert_keys("sort a store", "a");
}

#[test]
fn a_call_that_ends_before_its_keys_is_invalid() {
    for call in ["set", "lcs a", "blpop a", "object freq", "eval x", "migrate h 1"] {
        assert_eq!(keys(call), Err(KeysError::Invalid), "{call}");
    }
}

#[test]
fn the_three_integers_agree_with_the_specifications() {
    let table = table();
    for (name, words, expected) in
        [("set", 3, vec![1]), ("mset", 5, vec![1, 3]), ("lcs", 4, vec![1, 2]), ("keys", 2, vec![])]
    {
        let command = table.lookup(name.as_bytes()).expect(name);
        assert_eq!(command.key_range.positions(words).collect::<Vec<_>>(), expected, "{name}");
    }
}
