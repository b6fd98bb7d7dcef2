//! Patterns of keys and channels against a model that reads rules literally.

use crate::harness::seed;
use basalt_acl::{ChannelDefault, KeyRights, User};
use basalt_commands::table::commands;
use basalt_env::random::Random;
use std::sync::Arc;

const USERS: usize = 2_000;

/// A glob of letters, `?` and `*`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => {
            matches(rest, name) || !name.is_empty() && matches(pattern, &name[1..])
        }
        ([b'?', rest @ ..], [_, others @ ..]) => matches(rest, others),
        ([letter, rest @ ..], [first, others @ ..]) => letter == first && matches(rest, others),
        _ => false,
    }
}

#[derive(Default)]
struct Model {
    keys: Vec<(Vec<u8>, KeyRights)>,
    channels: Vec<Vec<u8>>,
}

impl Model {
    /// Each rule by itself: Redis joins the rights of a pattern that is named twice.
    fn permits_key(&self, key: &[u8], needed: KeyRights) -> bool {
        self.keys.iter().any(|(pattern, _)| {
            let same = self.keys.iter().filter(|(other, _)| other == pattern);
            let rights = same.fold((false, false), |all, (_, rights)| {
                (all.0 | rights.reads, all.1 | rights.writes)
            });
            matches(pattern, key) && (rights.0 || !needed.reads) && (rights.1 || !needed.writes)
        })
    }
}

fn word(random: &mut Random, letters: &[u8]) -> Vec<u8> {
    let length = 1 + random.below(4) as usize;
    (0..length).map(|_| letters[random.below(letters.len() as u64) as usize]).collect()
}

#[test]
fn random_patterns_permit_what_a_model_permits() {
    let (commands, mut random) = (commands(), Random::new(seed::from_base(25)));
    let rights = [
        (&b"~"[..], KeyRights::ALL),
        (b"%R~", KeyRights::READ),
        (b"%w~", KeyRights { reads: false, writes: true }),
        (b"%WR~", KeyRights::ALL),
    ];
    for _ in 0..USERS {
        let mut model = Model::default();
        let mut user = User::new(&commands.table, Arc::from(&b"x"[..]), 1, ChannelDefault::None);
        for _ in 0..random.below(5) {
            let pattern = word(&mut random, b"ab?*");
            let (prefix, rights) = rights[random.below(4) as usize];
            let rule = [prefix, &pattern].concat();
            // After all keys, no pattern is taken.
            if user.apply(&commands.table, ChannelDefault::None, &rule).is_ok() {
                if rule == b"~*" {
                    model.keys.clear();
                }
                model.keys.push((pattern, rights));
            }
            let pattern = word(&mut random, b"ab?*");
            let rule = [b"&", &pattern[..]].concat();
            if user.apply(&commands.table, ChannelDefault::None, &rule).is_ok() {
                model.channels.push(pattern);
            }
        }
        for _ in 0..20 {
            let name = word(&mut random, b"ab");
            for reads in [false, true] {
                for writes in [false, true] {
                    let needed = KeyRights { reads, writes };
                    let expected = model.permits_key(&name, needed);
                    assert_eq!(user.permits_key(&name, needed), expected, "{name:?} {user:?}");
                }
            }
            let expected = model.channels.iter().any(|pattern| matches(pattern, &name));
            assert_eq!(user.permits_channel(&name), expected);
            let pattern = word(&mut random, b"ab?*");
            let is_all = model.channels.iter().any(|known| known == b"*");
            let expected = is_all || model.channels.contains(&pattern);
            assert_eq!(user.permits_channel_pattern(&pattern), expected);
        }
    }
}
