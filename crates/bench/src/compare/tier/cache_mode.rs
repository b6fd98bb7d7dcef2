//! Policies that delete keys, as a cache's user sees them: which part of the GETs is a hit, beside
//! redis-server with room for as many keys.
//!
//! A GET of a key that is not there is followed by a SET of it. Both servers get the same GETs at
//! the same pace: times of use are in seconds, so that a server that is asked faster would know
//! less of them. One counts its whole process as memory and the other what it has allocated, and
//! each needs another amount for a key, so that equal memory is made by the number of keys:
//! `maxmemory` is moved until a tenth of them is there ([`room`]).

mod room;
mod user;

use std::time::Duration;

use super::Amount;
use super::figures::{Bound, Figures, ratio};
use super::zipf::DISTRIBUTION;
use crate::compare::Arena;
use crate::compare::server::Contender;
use crate::error::BenchError;
use crate::keys::KeyDraw;
use crate::random::Random;
use room::Room;
use user::{Asked, User};

/// All that there are but `allkeys-…` and `volatile-…` of later versions of Redis.
const POLICIES: [&str; 7] = [
    "allkeys-lru",
    "allkeys-lfu",
    "allkeys-random",
    "volatile-lru",
    "volatile-lfu",
    "volatile-random",
    "volatile-ttl",
];
const KEYS: u64 = 1_000_000;
const VALUE_BYTES: usize = 200;
/// One key in ten has room.
const KEYS_A_RESIDENT: u64 = 10;
/// The part of the keys that is asked for each second, repetitions included.
const SHARE_A_SECOND: f64 = 0.1;
/// Under `volatile-…` all keys expire, later than the load ends.
const TTL: Duration = Duration::from_secs(3_600);
const SAMPLES: &str = "10";
const SEED: u64 = 17;

/// One point of the hit ratio may be missing.
const DIFFERENCE: Bound = Bound::AtLeast(-0.01);
/// With more keys than the peer, more hits would be no merit.
const KEYS_OF_PEER: Bound = Bound::AtMost(1.03);

pub(super) fn run(
    arena: &Arena<'_>,
    amount: &Amount,
    figures: &mut Figures<'_, '_>,
) -> Result<(), BenchError> {
    for policy in policies(&amount.policies)? {
        let cache = Cache { policy, keys: amount.keys.unwrap_or(KEYS), lasts: amount.duration };
        let own = one_life(arena, &arena.contenders[0], cache)?;
        let peer = one_life(arena, &arena.common.redis()?, cache)?;
        let what = format!("{policy}, Zipf 0.99, {} keys, room for a tenth", cache.keys);
        figures.say(
            &what,
            &[
                ("hit ratio", own.asked.hit_ratio()),
                ("that of redis-server", peer.asked.hit_ratio()),
                ("keys", own.resident),
                ("those of redis-server", peer.resident),
                ("GETs/s", own.asked.gets_per_second()),
                ("those of redis-server", peer.asked.gets_per_second()),
            ],
        )?;
        let refused = (own.asked.refused + peer.asked.refused) as f64;
        figures.hold(&what, ("SETs that were refused", refused), Bound::AtMost(0.0))?;
        let keys = ("keys, of those of redis-server", ratio(own.resident, peer.resident));
        figures.hold(&what, keys, KEYS_OF_PEER)?;
        let difference = own.asked.hit_ratio() - peer.asked.hit_ratio();
        figures.hold(&what, ("hit ratio, less that of redis-server", difference), DIFFERENCE)?;
    }
    Ok(())
}

/// Those that were asked for, or all.
fn policies(names: &[String]) -> Result<Vec<&'static str>, BenchError> {
    if names.is_empty() {
        return Ok(POLICIES.to_vec());
    }
    let known = |name: &String| POLICIES.iter().copied().find(|policy| policy == name);
    let found: Option<Vec<&'static str>> = names.iter().map(known).collect();
    found.ok_or_else(|| BenchError::Usage(format!("--policies are some of {POLICIES:?}")))
}

/// What a server is used for.
#[derive(Debug, Clone, Copy)]
struct Cache {
    policy: &'static str,
    keys: u64,
    /// How long GETs go on that are not counted, and those that are.
    lasts: Duration,
}

/// What came of it.
#[derive(Debug)]
struct Used {
    asked: Asked,
    /// Keys that were there, on average.
    resident: f64,
}

fn one_life(arena: &Arena<'_>, contender: &Contender, cache: Cache) -> Result<Used, BenchError> {
    let mut contender = contender.clone();
    let options = ["--maxmemory", "0", "--maxmemory-policy", cache.policy];
    contender.extra.extend(options.map(str::to_owned));
    contender.extra.extend(["--maxmemory-samples", SAMPLES].map(str::to_owned));
    let life = arena.start(&contender)?;
    let target = life.server.target();
    let ttl = cache.policy.starts_with("volatile").then_some(TTL);
    let mut user = User::connect(&target, ttl, VALUE_BYTES)?;
    let room = (cache.keys / KEYS_A_RESIDENT).max(1);
    let mut room = Room::make(&target, room, || user.set_all(0..room))?;
    let (draw, mut random) = (KeyDraw::new(DISTRIBUTION, cache.keys), Random::new(SEED, 0));
    let mut next = || draw.next(&mut random, 0);
    let gets_per_second = cache.keys as f64 * SHARE_A_SECOND;
    user.ask(&mut next, (gets_per_second, cache.lasts), &mut || room.look())?;
    room.begin();
    let asked = user.ask(&mut next, (gets_per_second, cache.lasts), &mut || room.look())?;
    let resident = room.mean_keys();
    life.server.stop()?;
    Ok(Used { asked, resident })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_those_that_are_named() {
        assert_eq!(policies(&[]).expect("all").len(), POLICIES.len());
        let named = |names: &[&str]| {
            policies(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
        };
        let found = named(&["volatile-ttl", "allkeys-lru"]).expect("they exist");
        assert_eq!(found, ["volatile-ttl", "allkeys-lru"]);
        assert!(named(&["allkeys-lru", "noeviction"]).is_err());
    }
}
