//! What is known of the keys that a script or a function uses.

use std::sync::atomic::{AtomicU8, Ordering};

/// Which keys a script has been seen to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyScope {
    /// It has not run often enough to tell.
    Unknown,
    /// Those that it was called with.
    Declared,
    /// Others, too.
    Any,
    /// Others, too, and it has looked for some that were on disk only after it had changed
    /// something.
    AnyInMemory,
}

/// Runs without a key beyond those declared, after which a script is trusted to keep to these.
const RUNS_TO_TRUST: u8 = 8;
const ANY: u8 = 254;
const ANY_IN_MEMORY: u8 = 255;

/// See the head of this file. [`RUNS_TO_TRUST`] and below are runs that kept to the declared keys.
#[derive(Debug, Default)]
pub struct Trust(AtomicU8);

impl Trust {
    /// Which keys it has been seen to use.
    pub fn scope(&self) -> KeyScope {
        // Relaxed, here and below: a run that knows less takes more locks or begins again.
        match self.0.load(Ordering::Relaxed) {
            ANY_IN_MEMORY => KeyScope::AnyInMemory,
            ANY => KeyScope::Any,
            runs if runs >= RUNS_TO_TRUST => KeyScope::Declared,
            _ => KeyScope::Unknown,
        }
    }

    /// It has run to its end and used no key but those declared.
    pub fn kept_to_its_keys(&self) {
        let count = |runs: u8| (runs < RUNS_TO_TRUST).then_some(runs + 1);
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
    }

    /// It has used a key that it was not called with.
    pub fn went_beyond_its_keys(&self) {
        self.0.fetch_max(ANY, Ordering::Relaxed);
    }

    /// It needs all keys in memory.
    pub fn needs_all_in_memory(&self) {
        self.0.fetch_max(ANY_IN_MEMORY, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_trusted_after_some_runs_and_never_again_after_a_lapse() {
        let trust = Trust::default();
        for _ in 0..RUNS_TO_TRUST {
            assert_eq!(trust.scope(), KeyScope::Unknown);
            trust.kept_to_its_keys();
        }
        assert_eq!(trust.scope(), KeyScope::Declared);
        trust.went_beyond_its_keys();
        trust.kept_to_its_keys();
        assert_eq!(trust.scope(), KeyScope::Any);
        trust.needs_all_in_memory();
        trust.went_beyond_its_keys();
        assert_eq!(trust.scope(), KeyScope::AnyInMemory);
    }
}
