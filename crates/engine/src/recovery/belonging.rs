//! Whether the log and the cold tier belong together.
//!
//! A checkpoint has the log trimmed: from then on neither part is whole without the other. So the
//! cold tier keeps which log it belongs to and how far that may have been trimmed ([`LogMark`]), in
//! the same ingest as the rows that make the trim possible. A start compares, before it changes
//! anything:
//!
//! ```text
//! log      │ has a name │ begins behind missing │ … records … │ ends at position
//! cold tier│ names one  │ trimmed               │ marks of partitions: floor
//!          │     =      │ missing ≤ trimmed     │               floor ≤ position
//! ```
//! An older copy of the cold tier is fine as long as the log still has all that came since. What
//! does not fit would open without a word and serve old or missing data, so it is refused, unless
//! [`Options::accept_data_loss`] is set. A log and a cold tier of two databases are never opened
//! together: their positions mean nothing to each other.
//!
//! [`Options::accept_data_loss`]: crate::Options::accept_data_loss

use crate::recovery::RecoveryError;
use basalt_change::log_mark::{LogMark, log_mark_key};
use basalt_cold::{ColdError, ColdTier};
use std::path::{Path, PathBuf};

/// What a log says of itself before its first record.
#[derive(Clone, Copy, Debug)]
pub struct LogBeginning<'a> {
    /// Its name.
    pub name: [u8; 16],
    /// Its oldest file has the name. Files of an earlier format have none, and the name may be new.
    pub is_named: bool,
    /// There is no log yet.
    pub is_new: bool,
    /// Its oldest file, or its directory if there is none.
    pub file: &'a Path,
    /// Per shard, the position through which its records are gone.
    pub missing_through: &'a [u64],
}

/// Why a log and a cold tier are not opened together.
#[derive(Debug, thiserror::Error)]
pub enum Misfit {
    /// There are no rows, and the log does not begin at the beginning.
    #[error(
        "the cold tier is empty, and the journal begins at position {first} of shard {shard} ({}): what came \
         before was in the cold tier; put its directory back, or start with --accept-data-loss yes to go on \
         with what the journal has", file.display()
    )]
    Empty {
        /// The log's oldest file.
        file: PathBuf,
        /// A shard that is not whole.
        shard: usize,
        /// Its first record.
        first: u64,
    },
    /// There is a gap between the rows and the log.
    #[error(
        "the cold tier has shard {shard} through position {covered}, and the journal begins at position \
         {first} ({}): the cold tier is an older copy, or the journal's oldest files are missing; put back \
         what is missing, or start with --accept-data-loss yes to go on without it", file.display()
    )]
    Gap {
        /// The log's oldest file.
        file: PathBuf,
        /// A shard with a gap.
        shard: usize,
        /// The rows have it through here.
        covered: u64,
        /// The first record that the log has.
        first: u64,
    },
    /// There are rows and no log.
    #[error(
        "there is no journal in {}, and the cold tier has the data of one: put the journal's directory back, or \
         start with --accept-data-loss yes to go on with the last checkpoint", dir.display()
    )]
    NoLog {
        /// Where it should be.
        dir: PathBuf,
    },
    /// The log ends before the rows.
    #[error(
        "the journal ends at position {end} of shard {shard} ({}), and the cold tier has it through position \
         {floor}: the journal is an older copy, or its newest files are missing; put them back, or start with \
         --accept-data-loss yes to go on with the last checkpoint", file.display()
    )]
    EndsEarly {
        /// The log's oldest file.
        file: PathBuf,
        /// A shard that ends too early.
        shard: usize,
        /// Its last record.
        end: u64,
        /// What the rows have of it.
        floor: u64,
    },
    /// They are of two databases.
    #[error(
        "the journal ({}) and the cold tier are of two databases: the cold tier belongs to another journal, {wanted}; \
         put the right one back, or move this one away and start with --accept-data-loss yes to go on with the \
         last checkpoint", file.display()
    )]
    Foreign {
        /// The log's oldest file.
        file: PathBuf,
        /// The log that the rows name.
        wanted: String,
    },
}

/// What the cold tier says of the log, compared with what the log says.
pub(crate) struct Belonging {
    mark: Option<LogMark>,
    /// Per shard, the highest position that a partition's mark has.
    floor: Vec<u64>,
    accepts_loss: bool,
    has_accepted: bool,
    /// The log's oldest file.
    file: PathBuf,
}

impl Belonging {
    /// Reads the log's mark. `floor` is per shard the highest position that the cold tier has.
    pub(crate) fn read(
        cold: &dyn ColdTier,
        floor: Vec<u64>,
        accepts_loss: bool,
    ) -> Result<Belonging, RecoveryError> {
        let mut key = Vec::new();
        log_mark_key(&mut key);
        let row = cold.read_many(&[key])?.pop().flatten();
        let mark =
            row.map(|row| LogMark::decode(&row)).transpose().map_err(RecoveryError::LogMark)?;
        Ok(Belonging { mark, floor, accepts_loss, has_accepted: false, file: PathBuf::new() })
    }

    /// The name of the log that the rows belong to.
    pub(crate) fn log(&self) -> Option<[u8; 16]> {
        self.mark.as_ref().map(|mark| mark.log)
    }

    /// Compares where the log begins.
    pub(crate) fn begin(&mut self, log: &LogBeginning<'_>) -> Result<(), Misfit> {
        self.file = log.file.to_path_buf();
        let misfit = self.misfit_of(log);
        match misfit {
            Some(misfit @ Misfit::Foreign { .. }) => return Err(misfit),
            Some(misfit) => self.accept(misfit)?,
            None => {}
        }
        let trimmed = self.mark.take().map_or(Vec::new(), |mark| mark.trimmed);
        let covered = trimmed.into_iter().chain(std::iter::repeat(0));
        let trimmed = log.missing_through.iter().zip(covered).map(|(&log, cold)| log.max(cold));
        self.mark = Some(LogMark { log: log.name, trimmed: trimmed.collect() });
        Ok(())
    }

    fn misfit_of(&self, log: &LogBeginning<'_>) -> Option<Misfit> {
        let has_rows = self.floor.iter().any(|&floor| floor > 0);
        let file = log.file.to_path_buf();
        if log.is_new {
            return (has_rows || self.mark.is_some()).then_some(Misfit::NoLog { dir: file });
        }
        let covered = match &self.mark {
            Some(mark) if mark.log != log.name => {
                let wanted = format!("{:032x}", u128::from_be_bytes(mark.log));
                return Some(Misfit::Foreign { file, wanted });
            }
            Some(mark) => mark.trimmed.clone(),
            // Its first checkpoint would have left its mark.
            None if has_rows && log.is_named => {
                return Some(Misfit::Foreign { file, wanted: "of an earlier version".to_owned() });
            }
            // Rows of an earlier version.
            None if has_rows => log.missing_through.to_vec(),
            None => Vec::new(),
        };
        let covered = covered.into_iter().chain(std::iter::repeat(0));
        let mut shards = log.missing_through.iter().zip(covered).enumerate();
        let (shard, (&missing, covered)) =
            shards.find(|(_, (missing, covered))| *missing > covered)?;
        let first = missing + 1;
        Some(match has_rows {
            true => Misfit::Gap { file, shard, covered, first },
            false => Misfit::Empty { file, shard, first },
        })
    }

    /// Compares where the log ends.
    pub(crate) fn end(&mut self, positions: &[u64]) -> Result<(), Misfit> {
        let mut shards = positions.iter().zip(&self.floor).enumerate();
        let Some((shard, (&end, &floor))) = shards.find(|(_, (end, floor))| end < floor) else {
            return Ok(());
        };
        let file = self.file.clone();
        self.accept(Misfit::EndsEarly { file, shard, end, floor })?;
        // The log will go on behind the rows, and has nothing before that.
        let trimmed = self.mark.iter_mut().flat_map(|mark| &mut mark.trimmed);
        for (trimmed, (&end, &floor)) in trimmed.zip(positions.iter().zip(&self.floor)) {
            if end < floor {
                *trimmed = floor;
            }
        }
        Ok(())
    }

    fn accept(&mut self, misfit: Misfit) -> Result<(), Misfit> {
        if !self.accepts_loss {
            return Err(misfit);
        }
        tracing::error!(%misfit, "data is lost, and the start goes on because accept-data-loss is set");
        self.has_accepted = true;
        Ok(())
    }

    /// What the next checkpoint goes on from. A loss that was accepted is noted, so that the next
    /// start is as usual.
    pub(crate) fn settle(self, cold: &dyn ColdTier) -> Result<Option<LogMark>, ColdError> {
        if let Some(mark) = self.mark.as_ref().filter(|_| self.has_accepted) {
            let (mut key, mut row) = (Vec::new(), Vec::new());
            log_mark_key(&mut key);
            mark.encode(&mut row);
            let mut writer = cold.checkpoint_writer()?;
            writer.put(&key, &row)?;
            writer.prepare()?.commit()?;
        }
        Ok(self.mark)
    }
}
