//! HOT PATH
//! What is found out about a request before the batch runs.

use super::Worker;
use crate::commands::Commands;
use crate::server::Server;
use basalt_change::place::PartitionId;
use basalt_engine::Engine;
use basalt_resp::Arg;
use basalt_spec::{Command, CommandId, Found, NAME_BYTES_MAX};
use std::time::Duration;

/// A request whose command has been found.
#[derive(Clone, Copy)]
pub struct Prepared {
    pub(super) command: Option<CommandId>,
    pub(super) first_key: Option<(u64, PartitionId)>,
    /// Its time is its share of the batch's.
    pub(super) shares_time: bool,
}

/// The command that a thread looked up last: pipelines repeat themselves, and comparing a name is a
/// fifth of finding it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastCommand {
    name: [u8; NAME_BYTES_MAX],
    name_bytes: usize,
    id: Option<CommandId>,
}

impl LastCommand {
    #[inline]
    fn find<'a>(
        &mut self,
        commands: &'a Commands,
        buffer: &[u8],
        words: &[Arg],
    ) -> Option<&'a Command> {
        let name = words[0].of(buffer);
        if let Some(id) = self.id
            && self.name.get(..self.name_bytes) == Some(name)
        {
            return Some(commands.table.command(id));
        }
        let second = words.get(1).map(|word| word.of(buffer));
        let Found::Command(command) = commands.table.resolve(name, second) else { return None };
        // A container's meaning depends on the second word, so it is looked up every time.
        let alone = command.container.is_none() && command.subcommands.is_empty();
        self.id = alone.then_some(command.id);
        if let Some(copy) = self.name.get_mut(..name.len()) {
            copy.copy_from_slice(name);
            self.name_bytes = name.len();
        }
        Some(command)
    }
}

/// Finds a request's command, hashes its first key and begins to fetch that key's bucket.
#[inline]
pub fn prepare(
    server: &Server,
    last: &mut LastCommand,
    db: u8,
    buffer: &[u8],
    words: &[Arg],
) -> Prepared {
    let Server { commands, engine, .. } = server;
    let Some(command) = last.find(commands, buffer, words) else {
        return Prepared { command: None, first_key: None, shares_time: false };
    };
    let first = command.key_range.first;
    let first_key = match words.get(first as usize) {
        Some(word) if first > 0 => {
            let key = engine.key(word.of(buffer));
            engine.prefetch_bucket(db, key.hash, key.partition);
            Some((key.hash, key.partition))
        }
        _ => None,
    };
    let shares_time = commands.shares_time(command.id);
    Prepared { command: Some(command.id), first_key, shares_time }
}

impl Prepared {
    /// Brings the entry of the first key into the cache.
    #[inline]
    pub fn prefetch_entry(&self, engine: &Engine, db: u8) {
        if let Some((hash, partition)) = self.first_key {
            engine.prefetch_entry(db, hash, partition);
        }
    }

    /// Counts the time of a command that was not timed by itself.
    #[inline]
    pub fn count_time(&self, worker: &Worker, share: Duration) {
        if let Some(id) = self.command
            && self.shares_time
            && !worker.times_every_command()
        {
            worker.counters.by_command[id.index()].nanoseconds.add(share.as_nanos() as u64);
        }
    }
}
