//! The policies that are compared, by name.

use super::cache::Cache;
use super::lru::Lru;
use super::newcomers::{Counts, Newcomers, Order, Settings, USES_BY_TIME};
use super::s3_fifo::S3Fifo;
use super::sampled::SampledLru;
use super::sieve::Sieve;
use super::tiny_lfu::WTinyLfu;

/// What our own policy is called.
pub(super) const OURS: &str = "basalt";
/// What it has to beat.
pub(super) const LRU: &str = "lru";

/// A policy, for caches of any size.
#[derive(Debug, Clone, Copy)]
pub(super) enum Model {
    Lru,
    Sieve,
    WTinyLfu,
    /// Redis' LRU with this `maxmemory-samples`.
    Sampled(usize),
    S3Fifo,
    Newcomers(Settings),
}

impl Model {
    /// Those that are always compared; ours is the last.
    pub(super) const COMPARED: [(&str, Model); 7] = [
        (LRU, Model::Lru),
        ("sieve", Model::Sieve),
        ("w-tinylfu", Model::WTinyLfu),
        ("redis-5", Model::Sampled(5)),
        ("redis-10", Model::Sampled(10)),
        ("s3-fifo", Model::S3Fifo),
        (OURS, Model::Newcomers(Settings::DECIDED)),
    ];

    /// Our policy with other choices, each beside what was decided.
    pub(super) fn variants() -> Vec<(&'static str, Model)> {
        let with = |change: fn(&mut Settings)| {
            let mut settings = Settings::DECIDED;
            change(&mut settings);
            Model::Newcomers(settings)
        };
        vec![
            ("as designed", Model::Newcomers(Settings::DESIGNED)),
            ("spares 1 in 8", with(|settings| settings.spares_one_in = 8)),
            ("spares 1 in 32", with(|settings| settings.spares_one_in = 32)),
            ("spares 1 in 64", with(|settings| settings.spares_one_in = 64)),
            ("ring of 2%", with(|settings| settings.ring_percent = 2)),
            ("ring of 10%", with(|settings| settings.ring_percent = 10)),
            ("ring of 20%", with(|settings| settings.ring_percent = 20)),
            ("no ghosts", with(|settings| settings.ghosts_percent = 0)),
            ("ghosts 100%", with(|settings| settings.ghosts_percent = 100)),
            ("ghosts 200%", with(|settings| settings.ghosts_percent = 200)),
            ("hand leaves ghosts", with(|settings| settings.hand_leaves_ghosts = true)),
            ("two uses to stay", with(|settings| settings.uses_to_stay = 2)),
            ("first use counts", with(|settings| settings.counts = Counts::SecondsAndFirst)),
            ("every use counts", with(|settings| settings.counts = Counts::All)),
            ("uses by time", with(|settings| settings.uses_max = USES_BY_TIME)),
            ("hand by arrival", with(|settings| settings.order = Order::Arrival)),
        ]
    }

    /// A cache of this many keys.
    pub(super) fn build(self, capacity: usize, seed: u64) -> Box<dyn Cache> {
        match self {
            Model::Lru => Box::new(Lru::new(capacity)),
            Model::Sieve => Box::new(Sieve::new(capacity)),
            Model::WTinyLfu => Box::new(WTinyLfu::new(capacity)),
            Model::Sampled(samples) => Box::new(SampledLru::new(capacity, samples, seed)),
            Model::S3Fifo => Box::new(S3Fifo::new(capacity)),
            Model::Newcomers(settings) => Box::new(Newcomers::new(capacity, settings)),
        }
    }
}
