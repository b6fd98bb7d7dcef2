//! Random rules, valid or not: what a user is described by makes the same user. The fuzz target
//! `acl_rules` asks the same of any bytes.

use crate::harness::seed;
use basalt_acl::{ChannelDefault, User, merge_selectors};
use basalt_commands::table::commands;
use basalt_env::random::Random;
use basalt_spec::CommandTable;
use std::sync::Arc;

const PARTS: &[&str] = &[
    "+",
    "-",
    "@",
    "all",
    "read",
    "string",
    "get",
    "set",
    "config",
    "|",
    "config|get",
    "select|0",
    "~",
    "%R~",
    "%W~",
    "&",
    "*",
    "a",
    "?",
    "(",
    ")",
    " ",
    "on",
    "off",
    "reset",
    ">",
    "<",
    "#",
    "!",
    "x",
    "\0",
    "\u{e9}",
    "~a*",
    "+@all",
    "-@all",
    "allkeys",
    "(~a +get)",
    "nopass",
];

fn user_of(table: &CommandTable, words: &[&[u8]]) -> User {
    let mut user = User::new(table, Arc::from(&b"x"[..]), 1, ChannelDefault::None);
    for rule in merge_selectors(words).unwrap_or_default() {
        let _ = user.apply(table, ChannelDefault::None, &rule);
    }
    user
}

#[test]
fn a_description_makes_the_same_user() {
    let (table, mut random) = (commands().table, Random::new(seed::from_base(5)));
    for _ in 0..5_000 {
        let rules: Vec<String> = (0..random.below(8))
            .map(|_| {
                let parts = 1 + random.below(4);
                (0..parts).map(|_| PARTS[random.below(PARTS.len() as u64) as usize]).collect()
            })
            .collect();
        let user = user_of(&table, &rules.iter().map(String::as_bytes).collect::<Vec<_>>());
        let described = user.describe();
        let words: Vec<&[u8]> = described.split(|&byte| byte == b' ').collect();
        let again = user_of(&table, &words);
        assert_eq!(again.describe(), described, "{rules:?}");
        let call = [&b"config"[..], b"0", b"a"];
        for command in table.all() {
            assert_eq!(
                user.check(command, &call[..]),
                again.check(command, &call[..]),
                "{rules:?}"
            );
        }
    }
}
