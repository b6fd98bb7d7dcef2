//! Lines as rules of a user: they never panic, what a user is described by makes the same user, and
//! no call is judged differently.
#![no_main]

use basalt_acl::{ChannelDefault, User, merge_selectors};
use basalt_commands::table::commands;
use basalt_spec::CommandTable;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static TABLE: LazyLock<Arc<CommandTable>> = LazyLock::new(|| commands().table);

fn user_of(words: &[&[u8]]) -> User {
    let mut user = User::new(&TABLE, Arc::from(&b"x"[..]), 1, ChannelDefault::None);
    for rule in merge_selectors(words).unwrap_or_default() {
        let _ = user.apply(&TABLE, ChannelDefault::None, &rule);
    }
    user
}

fuzz_target!(|bytes: &[u8]| {
    let words: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let user = user_of(&words);
    let described = user.describe();
    let again = user_of(&described.split(|&byte| byte == b' ').collect::<Vec<_>>());
    assert_eq!(again.describe(), described);
    let call: Vec<&[u8]> = words.iter().copied().chain([&b"1"[..]; 3]).take(8).collect();
    for command in TABLE.all() {
        assert_eq!(user.check(command, &call[..]), again.check(command, &call[..]));
    }
});
