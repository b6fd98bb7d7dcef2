//! A script: its text, its name, and what its first line says of it.

use crate::sha1::Sha1;
use std::sync::atomic::{AtomicU8, Ordering};

/// What a script's first line declares: `#!lua flags=no-writes,allow-stale`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScriptFlags {
    /// It has such a line at all. A script that has none is taken as Redis took scripts before
    /// version 7.
    pub declared: bool,
    /// It changes nothing.
    pub no_writes: bool,
    /// It may run when memory is full.
    pub allow_oom: bool,
}

/// Why a text is no script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError(pub String);

/// A script.
#[derive(Debug)]
pub struct Script {
    /// The digest of the whole text.
    pub sha: Sha1,
    /// What the first line says.
    pub flags: ScriptFlags,
    /// The text, the first line left out if it is not Lua.
    body: Vec<u8>,
    /// See [`KeyScope`]; [`RUNS_TO_TRUST`] and below are runs that kept to the declared keys.
    reach: AtomicU8,
}

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

impl Script {
    /// Reads a text.
    ///
    /// # Errors
    /// The first line is meant for us and says what we do not know.
    pub fn read(text: &[u8]) -> Result<Script, ScriptError> {
        let (flags, body) = match text.strip_prefix(b"#!") {
            None => (ScriptFlags::default(), text.to_vec()),
            Some(rest) => {
                let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
                    return Err(ScriptError("Invalid script shebang".to_owned()));
                };
                // The line end stays, so that lines keep their numbers.
                (parse_first_line(&text[..2 + end])?, rest[end..].to_vec())
            }
        };
        let sha = Sha1::of(text);
        Ok(Script { sha, flags, body, reach: AtomicU8::new(0) })
    }

    /// What is compiled.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Which keys it has been seen to use.
    pub fn reach(&self) -> KeyScope {
        // Relaxed, here and below: a run that knows less takes more locks or begins again.
        match self.reach.load(Ordering::Relaxed) {
            ANY_IN_MEMORY => KeyScope::AnyInMemory,
            ANY => KeyScope::Any,
            runs if runs >= RUNS_TO_TRUST => KeyScope::Declared,
            _ => KeyScope::Unknown,
        }
    }

    /// It has run to its end and used no key but those declared.
    pub fn kept_to_its_keys(&self) {
        let count = |runs: u8| (runs < RUNS_TO_TRUST).then_some(runs + 1);
        let _ = self.reach.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
    }

    /// It has used a key that it was not called with.
    pub fn went_beyond_its_keys(&self) {
        self.reach.fetch_max(ANY, Ordering::Relaxed);
    }

    /// It needs all keys in memory.
    pub fn needs_all_in_memory(&self) {
        self.reach.fetch_max(ANY_IN_MEMORY, Ordering::Relaxed);
    }
}

/// Reads `#!lua flags=…`.
fn parse_first_line(line: &[u8]) -> Result<ScriptFlags, ScriptError> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    let engine = words.next().unwrap_or_default();
    if engine != "#!lua" {
        return Err(ScriptError(format!("Unexpected engine in script shebang: {engine}")));
    }
    let mut flags = ScriptFlags { declared: true, ..ScriptFlags::default() };
    for word in words {
        let Some(names) = word.strip_prefix("flags=") else {
            return Err(ScriptError(format!("Unknown lua shebang option: {word}")));
        };
        for name in names.split(',').filter(|name| !name.is_empty()) {
            match name {
                "no-writes" => flags.no_writes = true,
                "allow-oom" => flags.allow_oom = true,
                // One server, always up to date: nothing that they could allow is ever forbidden.
                "allow-stale" | "no-cluster" | "allow-cross-slot-keys" => {}
                _ => {
                    let text = format!("Unexpected flag in script shebang: {name}");
                    return Err(ScriptError(text));
                }
            }
        }
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str) -> Result<ScriptFlags, String> {
        Script::read(text.as_bytes()).map(|script| script.flags).map_err(|error| error.0)
    }

    #[test]
    fn the_first_line_is_read_and_kept_as_an_empty_one() {
        let script = Script::read(b"#!lua flags=no-writes,allow-oom\nreturn 1").unwrap();
        assert_eq!(script.flags, ScriptFlags { declared: true, no_writes: true, allow_oom: true });
        assert_eq!(script.body(), b"\nreturn 1");
        assert_eq!(flags("return 1"), Ok(ScriptFlags::default()));
        assert_eq!(flags("#!lua\n"), Ok(ScriptFlags { declared: true, ..Default::default() }));
    }

    #[test]
    fn what_the_first_line_cannot_say_is_refused_in_redis_words() {
        let error = |text| flags(text).unwrap_err();
        assert_eq!(error("#!lua"), "Invalid script shebang");
        assert_eq!(error("#!python\n"), "Unexpected engine in script shebang: #!python");
        assert_eq!(error("#!lua x\n"), "Unknown lua shebang option: x");
        assert_eq!(error("#!lua flags=a\n"), "Unexpected flag in script shebang: a");
    }

    #[test]
    fn a_script_is_trusted_after_some_runs_and_never_again_after_a_lapse() {
        let script = Script::read(b"return 1").unwrap();
        for _ in 0..RUNS_TO_TRUST {
            assert_eq!(script.reach(), KeyScope::Unknown);
            script.kept_to_its_keys();
        }
        assert_eq!(script.reach(), KeyScope::Declared);
        script.went_beyond_its_keys();
        script.kept_to_its_keys();
        assert_eq!(script.reach(), KeyScope::Any);
        script.needs_all_in_memory();
        script.went_beyond_its_keys();
        assert_eq!(script.reach(), KeyScope::AnyInMemory);
    }
}
