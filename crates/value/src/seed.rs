//! HOT PATH
//! The hash of members and fields: rapidhash, seeded again for every process, so that no client can
//! choose members that collide.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};
use std::sync::OnceLock;

static SECRETS: OnceLock<RapidSecrets> = OnceLock::new();

/// Seeds the hash of this process. Only the first call has an effect, and only before the first
/// hash.
pub fn seed_members(seed: u64) {
    SECRETS.get_or_init(|| RapidSecrets::seed(seed));
}

/// The hash of a member or a field.
#[inline]
pub fn hash_member(member: &[u8]) -> u64 {
    let secrets = SECRETS.get_or_init(|| RapidSecrets::seed(0));
    rapidhash_v3_inline::<true, false, false>(member, secrets)
}
