//! HOT PATH
//! Counters that one thread writes and anybody reads.
//!
//! A shared atomic counter costs a cache line that travels between cores with every command. Here
//! each network thread has a set of its own; INFO adds them up.

use crate::histogram::{Distribution, Histogram};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::OnceLock;
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
    /// How long calls took, once there was one: most commands are never called.
    times: OnceLock<Histogram>,
}

impl CommandCounters {
    /// Adds `calls` of equal durations. Only the owning thread calls this.
    #[inline]
    pub fn add_times(&self, nanoseconds: u64, calls: u64) {
        self.times.get_or_init(Histogram::default).add(nanoseconds, calls);
    }

    /// Adds how long calls took to the distribution of several threads.
    pub fn add_times_to(&self, distribution: &mut Distribution) {
        if let Some(times) = self.times.get() {
            times.add_to(distribution);
        }
    }
}

/// How long requests took from when their batch began until the end of their turn, when replies
/// have been sent.
#[derive(Debug, Default)]
pub struct RequestTimes {
    /// Of Redis' protocol.
    pub resp: Histogram,
    /// Of connections with a front of their own, such as HTTP's.
    pub of_fronts: Histogram,
}

/// Classes of HTTP's responses: the first digit of their status, from 1 on.
pub const RESPONSE_CLASSES: usize = 5;

/// What one thread counts.
#[derive(Debug)]
pub struct ThreadCounters {
    /// Commands processed.
    pub commands: Counter,
    /// Connections accepted that speak Redis' protocol.
    pub connections: Counter,
    /// Bytes read from clients.
    pub bytes_in: Counter,
    /// Bytes written to clients that speak Redis' protocol.
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
    /// Connections accepted that have a front of their own, such as HTTP's.
    pub connections_of_fronts: Counter,
    /// Connections that have ended, whatever the reason.
    pub connections_closed: Counter,
    /// Bytes written to clients whose connection has a front of its own.
    pub bytes_out_of_fronts: Counter,
    /// Responses by HTTP, by class.
    pub responses: [Counter; RESPONSE_CLASSES],
    /// Connections ended because of `client-query-buffer-limit`.
    pub query_limit_disconnections: Counter,
    /// Connections ended because of `client-output-buffer-limit`.
    pub output_limit_disconnections: Counter,
    /// By command index.
    pub by_command: Vec<CommandCounters>,
    /// How long commands took, by a number that their family has.
    pub by_family: Vec<Histogram>,
    /// How long turns took, for each request in them.
    pub requests: RequestTimes,
    /// Error replies by their first word.
    errors: Mutex<BTreeMap<String, u64>>,
}

/// Most families of commands.
pub const FAMILIES_MAX: usize = 32;
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
            connections_of_fronts: Counter::default(),
            connections_closed: Counter::default(),
            bytes_out_of_fronts: Counter::default(),
            responses: Default::default(),
            query_limit_disconnections: Counter::default(),
            output_limit_disconnections: Counter::default(),
            by_command: (0..commands).map(|_| CommandCounters::default()).collect(),
            by_family: (0..FAMILIES_MAX).map(|_| Histogram::default()).collect(),
            requests: RequestTimes::default(),
            errors: Mutex::default(),
        }
    }

    /// Connections accepted, whatever they speak.
    pub fn all_connections(&self) -> u64 {
        self.connections.value() + self.connections_of_fronts.value()
    }

    /// Bytes written to all clients.
    pub fn all_bytes_out(&self) -> u64 {
        self.bytes_out.value() + self.bytes_out_of_fronts.value()
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
            &self.connections_of_fronts,
            &self.connections_closed,
            &self.bytes_out_of_fronts,
            &self.query_limit_disconnections,
            &self.output_limit_disconnections,
        ];
        all.into_iter().chain(&self.responses).for_each(Counter::reset);
        let requests = [&self.requests.resp, &self.requests.of_fronts];
        self.by_family.iter().chain(requests).for_each(Histogram::reset);
        for command in &self.by_command {
            for counter in
                [&command.calls, &command.nanoseconds, &command.rejected, &command.failed]
            {
                counter.reset();
            }
            if let Some(times) = command.times.get() {
                times.reset();
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
