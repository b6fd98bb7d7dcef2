//! Calls that are checked as alike, once for what they have in common, are judged as each alone.

use crate::harness::seed;
use basalt_acl::{ChannelDefault, User, merge_selectors};
use basalt_commands::table::commands;
use basalt_env::random::Random;
use std::sync::Arc;

const USERS: usize = 300;
const RULES_MAX: u64 = 8;
const WORDS_MAX: u64 = 9;

const RULES: &[&str] = &[
    "+@all",
    "-@write",
    "+set",
    "-get",
    "+select|0",
    "-@all",
    "~*",
    "~a*",
    "~?b",
    "%R~b*",
    "%W~b*",
    "%W~c*",
    "resetkeys",
    "&*",
    "&a*",
    "resetchannels",
    "(+@all %R~c*)",
    "(+set +get ~d &*)",
];

const WORDS: &[&str] = &["a", "ab", "b", "c", "d", "e", "0", "1", "GET", "set", "IFEQ", "u8", ""];

fn one_of<'a>(random: &mut Random, choices: &[&'a str]) -> &'a str {
    choices[random.below(choices.len() as u64) as usize]
}

#[test]
fn calls_are_judged_as_alike_as_they_are_alone() {
    let (table, mut random) = (commands().table, Random::new(seed::from_base(17)));
    let (mut permitted, mut denied) = (0, 0);
    for _ in 0..USERS {
        let mut user = User::new(&table, Arc::from(&b"x"[..]), 1, ChannelDefault::None);
        let rules = (0..random.below(RULES_MAX)).map(|_| one_of(&mut random, RULES).as_bytes());
        let rules: Vec<&[u8]> = [&b"+@all"[..]].into_iter().chain(rules).collect();
        for rule in merge_selectors(&rules).expect("they are closed") {
            let _ = user.apply(&table, ChannelDefault::None, &rule);
        }
        for command in table.all() {
            let count = 1 + random.below(WORDS_MAX) as usize;
            let least = usize::from(command.arity.unsigned_abs());
            let count = if random.below(2) == 0 { least } else { count };
            if !command.accepts_words(count) {
                continue;
            }
            let calls = user.alike_calls(command, count);
            for _ in 0..4 {
                let call: Vec<&str> = (0..count).map(|_| one_of(&mut random, WORDS)).collect();
                let alone = user.check(command, &call[..]);
                assert_eq!(
                    calls.check(&call[..]),
                    alone,
                    "{} {call:?} {rules:?}",
                    command.spec.name
                );
                *if alone.is_ok() { &mut permitted } else { &mut denied } += 1;
            }
        }
    }
    assert!(permitted > 10_000 && denied > 10_000, "{permitted} and {denied}");
}
