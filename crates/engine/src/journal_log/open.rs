//! Opening the journal: replay, and what to do when it ends too early.

use super::{JournalLog, Trimming};
use crate::log::LogError;
use crate::recovery::RecoveryError;
use crate::replay::Replay;
use basalt_change::place::ShardId;
use basalt_env::Disk;
use basalt_journal::{FsyncPolicy, Journal, OpenError, Options, ReplayError, Seq, StreamId};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

impl JournalLog {
    /// Opens the journal and replays it. Shards go on behind `floor` at least.
    ///
    /// # Errors
    /// If the journal or a record of it cannot be read.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: Options,
        trimming: Trimming,
        floor: &[u64],
        replay: &mut Replay<'_, '_>,
    ) -> Result<JournalLog, RecoveryError> {
        let policy = options.policy;
        let mut refused = None;
        let mut record = |stream: StreamId, seq: Seq, bytes: &[u8]| {
            let Some(shard) = ShardId::new(stream.0) else {
                let reason = "there is no such shard".to_owned();
                return Err(ReplayError::Record { stream, seq, reason });
            };
            replay.record(shard, seq.0, bytes).map_err(|error| {
                let reason = error.to_string();
                refused = Some(error);
                ReplayError::Record { stream, seq, reason }
            })
        };
        let journal = match Journal::open(disk, dir, options, &mut record) {
            Ok(journal) => journal,
            Err(OpenError::Replay(error)) => {
                return Err(refused.unwrap_or_else(|| log_error(error)));
            }
            Err(error) => return Err(log_error(error)),
        };
        for ((shard, &floor), position) in ShardId::all().zip(floor).zip(journal.positions()) {
            if position.0 < floor {
                tracing::error!(
                    shard = shard.number(),
                    journal_ends_at = position.0,
                    cold_tier_ends_at = floor,
                    "the journal ends before the cold tier: journal files are missing, and changes \
                     may be lost"
                );
                journal.raise_stream(StreamId(shard.number()), Seq(floor));
            }
        }
        let gates = AtomicBool::new(policy == FsyncPolicy::Always);
        Ok(JournalLog { journal, trimming, gates, latest: AtomicU64::new(0) })
    }
}

fn log_error(error: impl std::fmt::Display) -> RecoveryError {
    RecoveryError::Log(LogError(error.to_string()))
}
