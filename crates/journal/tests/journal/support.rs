//! What the tests share.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use basalt_env::{Env, SimDisk};
use basalt_journal::{
    FsyncPolicy, Group, Journal, OpenError, Options, ReplayError, ReplaySink, Seq, StreamId,
};

pub const DIR: &str = "/journal";
/// No event that a test waits for takes this long unless the test fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Small segments and short delays.
pub fn options(policy: FsyncPolicy) -> Options {
    Options {
        streams: 4,
        segment_bytes: 16 * 1024,
        policy,
        idle_write_delay: Duration::from_micros(200),
        sync_interval: Duration::from_millis(2),
        ..Options::default()
    }
}

/// Everything that a replay brought, in order.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Heard(pub Vec<(u16, u64, Vec<u8>)>);

impl ReplaySink for Heard {
    fn record(&mut self, stream: StreamId, seq: Seq, bytes: &[u8]) -> Result<(), ReplayError> {
        self.0.push((stream.0, seq.0, bytes.to_vec()));
        Ok(())
    }

    fn truncate_suffix(&mut self, stream: StreamId, from: Seq) -> Result<(), ReplayError> {
        self.0.retain(|(of, seq, _)| *of != stream.0 || *seq < from.0);
        Ok(())
    }

    fn raise(&mut self, _stream: StreamId, _last: Seq) -> Result<(), ReplayError> {
        Ok(())
    }
}

pub fn open(disk: &SimDisk, options: Options) -> Result<(Journal, Heard), OpenError> {
    let mut heard = Heard::default();
    let journal =
        Journal::open(&Env::system(), Arc::new(disk.clone()), Path::new(DIR), options, &mut heard)?;
    Ok((journal, heard))
}

pub fn open_ok(disk: &SimDisk, policy: FsyncPolicy) -> (Journal, Heard) {
    open(disk, options(policy)).expect("the journal opens")
}

/// Syncs stand still while this lives; a failing test must let them go before the journal is
/// dropped.
pub struct HeldSyncs<'a>(&'a SimDisk);

/// Holds every sync from now on. The next segment file is made first: it is synced too.
pub fn hold_syncs<'a>(disk: &'a SimDisk, journal: &Journal) -> HeldSyncs<'a> {
    while journal.stats().prepared_files == 0 {
        std::thread::yield_now();
    }
    disk.hold_syncs();
    HeldSyncs(disk)
}

impl Drop for HeldSyncs<'_> {
    fn drop(&mut self) {
        self.0.release_syncs();
    }
}

/// Appends one record of a byte repeated.
pub fn fill(journal: &Journal, stream: u16, byte: u8, count: usize) -> Group {
    journal.append(StreamId(stream), &[&vec![byte; count]]).1
}

/// Waits for news from the journal until something holds.
pub struct News(Receiver<()>);

impl News {
    pub fn of(journal: &Journal) -> Self {
        let (sender, receiver) = channel();
        // The receiver may be gone while the journal still has something to say.
        journal.subscribe(Arc::new(move || sender.send(()).unwrap_or_default()));
        Self(receiver)
    }

    pub fn wait_until(&self, mut holds: impl FnMut() -> bool) {
        while !holds() {
            self.0.recv_timeout(PATIENCE).expect("the journal has news before patience ends");
        }
    }
}
