//! What becomes of keys that memory has no room for, as the options say.

use basalt_config::{EvictionPolicy, MemorySettings};
use basalt_engine::{Among, Engine, Eviction, First};

/// Tells the engine what the options say.
pub fn apply(engine: &Engine, settings: &MemorySettings) {
    engine.set_eviction(eviction(settings.eviction), settings.eviction_samples);
}

fn eviction(policy: EvictionPolicy) -> Eviction {
    match policy {
        EvictionPolicy::NoEviction => Eviction::Demote,
        EvictionPolicy::AllKeysLru => Eviction::Delete(Among::All, First::LeastRecent),
        EvictionPolicy::AllKeysLfu => Eviction::Delete(Among::All, First::LeastFrequent),
        EvictionPolicy::AllKeysRandom => Eviction::Delete(Among::All, First::Any),
        EvictionPolicy::VolatileLru => Eviction::Delete(Among::Expiring, First::LeastRecent),
        EvictionPolicy::VolatileLfu => Eviction::Delete(Among::Expiring, First::LeastFrequent),
        EvictionPolicy::VolatileRandom => Eviction::Delete(Among::Expiring, First::Any),
        EvictionPolicy::VolatileTtl => Eviction::Delete(Among::Expiring, First::Soonest),
    }
}
