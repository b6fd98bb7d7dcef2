//! Opening the journal: replay, and what to do when it ends too early.

use crate::log::{JournalLog, Trimming};
use basalt_change::place::ShardId;
use basalt_engine::{LogBeginning, LogError, LogReplay, RecoveryError};
use basalt_env::{Disk, Env};
use basalt_journal::{
    Beginning, FsyncPolicy, Journal, JournalId, Options, ReplayError, Seq, StreamId,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

impl JournalLog {
    /// Opens the journal and replays it. Shards go on behind `floor` at least.
    ///
    /// # Errors
    /// If the journal or a record of it cannot be read.
    pub fn open(
        env: &Env,
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: Options,
        trimming: Trimming,
        floor: &[u64],
        replay: &mut LogReplay<'_, '_>,
    ) -> Result<JournalLog, RecoveryError> {
        let policy = options.policy;
        let adopt = replay.log().map(JournalId);
        let options = Options { adopt, ..options };
        let mut records = Records { replay, refused: None };
        let opened = Journal::open(env, disk, dir, options, &mut records);
        let Records { replay, refused } = records;
        let journal = opened.map_err(|error| refused.unwrap_or_else(|| log_error(error)))?;
        if let Some(error) = journal.accepted_loss() {
            tracing::error!(%error, "data is lost, and the start goes on because accept-data-loss is set");
        }
        let positions = journal.positions();
        replay.end(&positions.iter().map(|position| position.0).collect::<Vec<_>>())?;
        for ((shard, &floor), position) in ShardId::all().zip(floor).zip(positions) {
            if position.0 < floor {
                journal.raise_stream(StreamId(shard.number()), Seq(floor));
            }
        }
        let gates = AtomicBool::new(policy == FsyncPolicy::Always);
        Ok(JournalLog { journal, trimming, gates, latest: AtomicU64::new(0) })
    }
}

/// Hands what the journal has to the engine.
struct Records<'a, 'scope, 'env> {
    replay: &'a mut LogReplay<'scope, 'env>,
    /// What the engine said, when the journal is told to stop.
    refused: Option<RecoveryError>,
}

impl basalt_journal::ReplaySink for Records<'_, '_, '_> {
    fn begin(&mut self, beginning: &Beginning<'_>) -> Result<(), ReplayError> {
        let missing: Vec<u64> = beginning.missing_through.iter().map(|seq| seq.0).collect();
        let log = LogBeginning {
            name: beginning.journal.0,
            is_named: beginning.is_named,
            is_new: beginning.is_new,
            file: beginning.file,
            missing_through: &missing,
        };
        self.replay.begin(&log).map_err(|error| {
            let reason = error.to_string();
            self.refused = Some(error);
            ReplayError::Refused(reason)
        })
    }

    fn record(&mut self, stream: StreamId, seq: Seq, bytes: &[u8]) -> Result<(), ReplayError> {
        let Some(shard) = ShardId::new(stream.0) else {
            let reason = "there is no such shard".to_owned();
            return Err(ReplayError::Record { stream, seq, reason });
        };
        self.replay.record(shard, seq.0, bytes).map_err(|error| {
            let reason = error.to_string();
            self.refused = Some(error);
            ReplayError::Record { stream, seq, reason }
        })
    }

    fn truncate_suffix(&mut self, stream: StreamId, from: Seq) -> Result<(), ReplayError> {
        Err(ReplayError::Truncated { stream, from })
    }

    fn raise(&mut self, _: StreamId, _: Seq) -> Result<(), ReplayError> {
        Ok(())
    }
}

fn log_error(error: impl std::fmt::Display) -> RecoveryError {
    RecoveryError::Log(LogError(error.to_string()))
}
