//! What the commands of a transaction are going to touch, found out before the first one runs.

use super::dispatcher::Dispatcher;
use super::keys::add_keys;
use super::script;
use super::wants::{When, wants, when};
use basalt_call::calls::Commands;
use basalt_call::entry::Run;
use basalt_engine::{Claims, Key};
use basalt_service::args::Args;
use basalt_service::transaction::{Queue, QueuedCommand};
use basalt_spec::{Command, CommandId};
use std::ops::Range;

/// A transaction about to run.
pub(super) struct Plan<'q> {
    /// What all commands touch.
    pub(super) claims: Claims<'q>,
    queue: &'q Queue,
    /// What was found out about its commands.
    found: Vec<Found>,
    /// Some step is to be run after the others.
    pub(super) has_late_steps: bool,
}

/// One command of it.
pub(super) struct Step<'q> {
    pub(super) id: CommandId,
    pub(super) args: Args<'q>,
    /// Which of the plan's keys are its own.
    pub(super) keys: Range<usize>,
    pub(super) when: When,
}

/// What is kept of a command until it runs: there may be millions.
#[derive(Clone, Copy)]
struct Found {
    /// How many of the plan's keys are its own.
    keys: u32,
    when: When,
}

impl<'q> Plan<'q> {
    /// Makes the plan of a queue of a client that has selected `db`.
    pub(super) fn new(server: &Dispatcher, queue: &'q Queue, db: u8) -> Plan<'q> {
        let claims = Claims { databases: db..db + 1, ..Claims::default() };
        let found = Vec::with_capacity(queue.count());
        let mut plan = Plan { claims, queue, found, has_late_steps: false };
        for queued in queue.iter() {
            plan.add(server, &queued);
        }
        plan
    }

    /// How many commands there are.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// The commands, in order.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step<'q>> {
        let mut first = 0;
        self.queue.iter().zip(&self.found).map(move |(queued, found)| {
            let keys = first..first + found.keys as usize;
            first = keys.end;
            Step { id: queued.command, args: queued.args, keys, when: found.when }
        })
    }

    fn add(&mut self, server: &Dispatcher, queued: &QueuedCommand<'q>) {
        let QueuedCommand { command: id, args, hash, partition } = *queued;
        let (commands, engine) = (&server.commands, &server.engine);
        let command = commands.table.command(id);
        let when = when(commands, command);
        self.has_late_steps |= when == When::Late;
        let first = self.claims.keys.len();
        if let Run::Script(call) = commands.call(id).run {
            self.claims.everything = true;
            self.claims.reads_everything |= script::reads_everything(server, args, call);
        }
        if when == When::InTurn {
            self.claim_databases(commands, command, args, engine.databases());
            let only_key = usize::from(commands.call(id).only_key);
            match partition {
                Some(partition) if only_key != 0 => {
                    self.claims.keys.push(Key { bytes: args.word(only_key), hash, partition });
                }
                _ => add_keys(engine, command, args, &mut self.claims.keys),
            }
        }
        let keys = u32::try_from(self.claims.keys.len() - first);
        let keys = keys.expect("a request has a million words at most");
        self.found.push(Found { keys, when });
    }

    fn claim_databases(
        &mut self,
        commands: &Commands,
        command: &Command,
        args: Args<'_>,
        databases: u8,
    ) {
        if commands.traits(command.id).names_databases {
            self.claims.databases = 0..databases;
        }
        let wants = wants(commands, command, args);
        self.claims.everything |= wants.everything;
        self.claims.reads_everything |= wants.reads_everything;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_commands::table::commands;

    #[test]
    fn every_command_that_names_a_database_says_so() {
        let commands = commands();
        let names_database = |command: &&Command| {
            // MIGRATE names one of another server, `destination-db`.
            let words: Vec<&str> = command
                .spec
                .synopsis
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                .collect();
            words.iter().any(|word| ["DB", "db", "index1"].contains(word))
        };
        let found: Vec<&str> = commands
            .table
            .all()
            .iter()
            .filter(names_database)
            .filter(|command| when(&commands, command) == When::InTurn)
            .filter(|command| !commands.traits(command.id).names_databases)
            .map(|command| command.spec.name)
            .collect();
        assert!(found.is_empty(), "{found:?} name a database");
    }
}
