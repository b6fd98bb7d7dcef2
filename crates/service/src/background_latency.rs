//! What the latency monitor learns of work that no command does: checkpoints, syncs of the journal,
//! rounds of the expiry cycle.
//!
//! Those who do that work know nothing of the monitor. The thread that samples the server compares
//! their figures with those of its last look.

use crate::server::Server;
use basalt_config::Fsync;
use basalt_observe::histogram::Distribution;
use basalt_observe::latency::{self, Sample};
use basalt_stdx::lock_rank::RankedMutex;

/// What was seen at the last look.
#[derive(Debug, Default)]
pub(crate) struct BackgroundLatency(RankedMutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    checkpoints: Option<u64>,
    expiry: bool,
    syncs: Option<Distribution>,
}

impl BackgroundLatency {
    /// Tells the monitor what has ended since the last look and took this long or longer. The first
    /// look only notes what there was before.
    pub(crate) fn observe(&self, server: &Server, threshold_ms: u64) {
        let unix_s = server.env.clock.unix_ms() / 1000;
        let note = |event, ms: u64| {
            if ms >= threshold_ms {
                server.latency.add(event, Sample { unix_s, ms });
            }
        };
        let stats = server.engine.checkpoint_stats();
        let syncs = server.host.syncs();
        let expiry = server.engine.take_longest_expiry_round();
        let mut seen = self.0.lock();
        if seen.checkpoints.replace(stats.completed).is_some_and(|before| before < stats.completed)
        {
            note(latency::CHECKPOINT, stats.last_duration.as_millis() as u64);
        }
        if std::mem::replace(&mut seen.expiry, true) {
            note(latency::EXPIRE_CYCLE, expiry.as_millis() as u64);
        }
        let Some(syncs) = syncs else { return };
        let longest = seen.syncs.as_ref().and_then(|before| syncs.longest_since(before));
        if let Some(seconds) = longest {
            let is_always = server.config.settings().persistence.fsync == Fsync::Always;
            let event = if is_always { latency::SYNC_ALWAYS } else { latency::SYNC };
            note(event, (seconds * 1000.0) as u64);
        }
        seen.syncs = Some(syncs);
    }
}
