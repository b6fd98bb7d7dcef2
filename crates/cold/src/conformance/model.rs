//! Random checkpoints against a plain `BTreeMap`, with restarts. The seed is fixed: a failure
//! repeats.

use std::collections::BTreeMap;

use super::{Site, all_rows, assert_row};
use crate::ColdTier;

const CHECKPOINTS: u64 = 150;
const KEY_SPACE: u64 = 400;

/// A small generator of noise (xorshift64*), so that the suite needs no dependency.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

pub(super) fn like_a_map(site: &Site<'_>) {
    let mut noise = Noise::new(42);
    let mut model = Model::new();
    let mut tier = site.tier();
    for number in 0..CHECKPOINTS {
        random_checkpoint(&*tier, &mut model, &mut noise, number);
        for _ in 0..5 {
            let key = random_key(&mut noise);
            assert_row(&*tier, &key, model.get(&key).map(Vec::as_slice));
        }
        if noise.below(20) == 0 {
            drop(tier);
            tier = site.tier();
        }
        if number % 25 == 24 {
            let rows: Model = all_rows(&*tier).into_iter().collect();
            assert!(rows == model, "rows differ after checkpoint {number}");
        }
    }
}

/// Keys of one to three bytes from a small space, so that rows meet each other.
fn random_key(noise: &mut Noise) -> Vec<u8> {
    let number = noise.below(KEY_SPACE);
    let len = 1 + (number % 3) as usize;
    (number * 0x1_0001).to_le_bytes()[..len].to_vec()
}

fn random_checkpoint(tier: &dyn ColdTier, model: &mut Model, noise: &mut Noise, number: u64) {
    let mut changes: BTreeMap<Vec<u8>, Option<Vec<u8>>> = BTreeMap::new();
    for _ in 0..noise.below(60) {
        let mut value = vec![0; [0, 3, 60, 900, 3000][noise.below(5) as usize]];
        noise.fill(&mut value);
        let value = (noise.below(4) > 0).then_some(value);
        changes.insert(random_key(noise), value);
    }
    let mut writer = tier.checkpoint_writer().expect("begins");
    let ranges = if noise.below(5) == 0 { noise.below(4) } else { 0 };
    let mut next_model = model.clone();
    for _ in 0..ranges {
        let (from, to) = (random_key(noise), random_key(noise));
        writer.delete_range(&from, &to).expect("deletes a range");
        next_model.retain(|key, _| *key < from || *key >= to);
    }
    for (key, value) in &changes {
        match value {
            Some(value) => {
                writer.put(key, value).expect("puts");
                next_model.insert(key.clone(), value.clone());
            }
            None => {
                writer.delete(key).expect("deletes");
                next_model.remove(key);
            }
        }
    }
    let prepared = writer.prepare().expect("prepares");
    if noise.below(8) == 0 {
        prepared.discard();
    } else {
        prepared.commit().unwrap_or_else(|error| panic!("checkpoint {number}: {error}"));
        *model = next_model;
    }
}
