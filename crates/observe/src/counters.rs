//! HOT PATH
//! Counters that one thread writes and anybody reads.
//!
//! A shared atomic counter costs a cache line that travels between cores with every command. Here
//! each network thread has a set of its own; INFO adds them up.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that one thread writes.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds. Only the owning thread calls this: it is a load and a store, not an atomic addition.
    #[inline]
    pub fn add(&self, amount: u64) {
        // Relaxed: a lone number; readers want it soon, not in any order with others.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// Its value.
    #[inline]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Back to zero. An addition at the same moment may survive.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// What is counted about one command.
#[derive(Debug, Default)]
pub struct CommandCounters {
    /// Calls that ran.
    pub calls: Counter,
    /// Time that they took, in nanoseconds; for fast commands, their share of a batch's time.
    pub nanoseconds: Counter,
    /// Calls refused before they ran: wrong arity, no rights, out of memory.
    pub rejected: Counter,
    /// Calls that ran and answered an error.
    pub failed: Counter,
}

/// What one thread counts.
#[derive(Debug)]
pub struct ThreadCounters {
    /// Commands processed.
    pub commands: Counter,
    /// Connections accepted.
    pub connections: Counter,
    /// Bytes read from clients.
    pub bytes_in: Counter,
    /// Bytes written to clients.
    pub bytes_out: Counter,
    /// Keys that reads found.
    pub keyspace_hits: Counter,
    /// Keys that reads did not find.
    pub keyspace_misses: Counter,
    /// Commands that had to wait for the cold tier.
    pub cold_reads: Counter,
    /// Turns of the event loop.
    pub turns: Counter,
    /// Changes of keys.
    pub changes: Counter,
    /// Connections ended because of `client-query-buffer-limit`.
    pub query_limit_disconnections: Counter,
    /// Connections ended because of `client-output-buffer-limit`.
    pub output_limit_disconnections: Counter,
    /// By command index.
    pub by_command: Vec<CommandCounters>,
    /// Error replies by their first word.
    errors: Mutex<BTreeMap<String, u64>>,
}

/// Most different error codes that are told apart.
const ERROR_CODES_MAX: usize = 128;

impl ThreadCounters {
    /// All zero, for this many commands.
    pub fn new(commands: usize) -> ThreadCounters {
        ThreadCounters {
            commands: Counter::default(),
            connections: Counter::default(),
            bytes_in: Counter::default(),
            bytes_out: Counter::default(),
            keyspace_hits: Counter::default(),
            keyspace_misses: Counter::default(),
            cold_reads: Counter::default(),
            turns: Counter::default(),
            changes: Counter::default(),
            query_limit_disconnections: Counter::default(),
            output_limit_disconnections: Counter::default(),
            by_command: (0..commands).map(|_| CommandCounters::default()).collect(),
            errors: Mutex::default(),
        }
    }

    /// Counts an error reply by the first word of its text.
    #[cold]
    pub fn count_error(&self, text: &str) {
        let code = text.split(' ').next().unwrap_or("ERR");
        let mut errors = self.errors.lock();
        if let Some(count) = errors.get_mut(code) {
            *count += 1;
        } else if errors.len() < ERROR_CODES_MAX {
            errors.insert(code.to_owned(), 1);
        }
    }

    /// Error replies by code.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        self.errors.lock().clone()
    }

    /// All back to zero (`CONFIG RESETSTAT`).
    pub fn reset(&self) {
        let all = [
            &self.commands,
            &self.connections,
            &self.bytes_in,
            &self.bytes_out,
            &self.keyspace_hits,
            &self.keyspace_misses,
            &self.cold_reads,
            &self.turns,
            &self.query_limit_disconnections,
            &self.output_limit_disconnections,
        ];
        all.into_iter().for_each(Counter::reset);
        for command in &self.by_command {
            for counter in
                [&command.calls, &command.nanoseconds, &command.rejected, &command.failed]
            {
                counter.reset();
            }
        }
        self.errors.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_code_and_reset() {
        let counters = ThreadCounters::new(2);
        counters.count_error("WRONGTYPE Operation against …");
        counters.count_error("ERR syntax error");
        counters.count_error("ERR value is not an integer");
        assert_eq!(counters.errors()["ERR"], 2);
        counters.by_command[1].calls.add(3);
        counters.reset();
        assert!(counters.errors().is_empty());
        assert_eq!(counters.by_command[1].calls.value(), 0);
    }
}
