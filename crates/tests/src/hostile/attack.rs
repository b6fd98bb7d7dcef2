//! What an attack is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::server::Server;

/// How often an attacker that has nothing to do looks whether it is enough.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How large an attack is, in hundredths of full size.
#[derive(Clone, Copy, Debug)]
pub struct Scale(pub u64);

impl Scale {
    /// The size that the figures in the documentation are from.
    pub const FULL: Scale = Scale(100);

    /// This share of `full`, at least 1.
    pub fn of(self, full: u64) -> u64 {
        (full * self.0 / 100).max(1)
    }
}

/// One way to harm a server.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// One word or a few, for a row of a table.
    pub name: &'static str,
    /// Options of the server that the attack needs.
    pub options: &'static [(&'static str, &'static str)],
    /// Texts of log lines that the server may well write.
    pub allowed_log: &'static [&'static str],
    /// What must be there before; its memory is not the attack's.
    pub prepare: fn(&Server, Scale),
    /// Attacks until told to stop, or until it has done all that it can. An error of a connection
    /// ends it: the server may hang up on it at any time.
    pub run: fn(&Server, Scale, &Stop),
    /// Bytes that the attack stores as data, beyond what was prepared, at this scale.
    pub data_bytes: fn(Scale) -> u64,
}

/// Tells the attackers that it is enough.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Whether it is enough.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Waits until it is enough, without using the CPU.
    pub fn wait(&self) {
        while !self.is_set() {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// One that needs nothing and stores nothing.
pub(super) const fn attack(name: &'static str, run: fn(&Server, Scale, &Stop)) -> Attack {
    Attack { name, options: &[], allowed_log: &[], prepare: |_, _| {}, run, data_bytes: |_| 0 }
}
