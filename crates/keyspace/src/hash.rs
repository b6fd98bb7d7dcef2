//! HOT PATH
//! The key hash: rapidhash, seeded again for every process so that no client can choose keys that
//! collide.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};

/// Hashes keys with one process's seed.
#[derive(Clone)]
pub struct KeyHasher {
    secrets: RapidSecrets,
    /// All keys that begin so have one hash.
    #[cfg(test)]
    colliding: Option<&'static [u8]>,
}

impl KeyHasher {
    /// A hasher with this seed.
    pub fn new(seed: u64) -> KeyHasher {
        KeyHasher {
            secrets: RapidSecrets::seed(seed),
            #[cfg(test)]
            colliding: None,
        }
    }

    /// A hasher for which all keys collide that begin so.
    #[cfg(test)]
    pub(crate) fn colliding(prefix: &'static [u8]) -> KeyHasher {
        KeyHasher { colliding: Some(prefix), ..KeyHasher::new(1) }
    }

    /// The hash of a key: leading bits place it, the last eight bits are its tag.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> u64 {
        #[cfg(test)]
        if self.colliding.is_some_and(|prefix| key.starts_with(prefix)) {
            return 0x5A5A_5A5A_5A5A_5A5A;
        }
        rapidhash_v3_inline::<true, false, false>(key, &self.secrets)
    }
}

impl std::fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyHasher")
    }
}
