//! A script: its text, its name, and what its first line says of it.

use crate::sha1::Sha1;
use crate::trust::Trust;
use std::sync::Arc;

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
    /// It may run on a replica that is not up to date. There is one server, always up to date.
    pub allow_stale: bool,
    /// It may not run in a cluster. There is none.
    pub no_cluster: bool,
    /// Its keys may be in several slots. They always may.
    pub allow_cross_slot_keys: bool,
}

impl ScriptFlags {
    /// Sets the flag of this name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn set(&mut self, name: &str) -> Result<(), ()> {
        let flag = match name {
            "no-writes" => &mut self.no_writes,
            "allow-oom" => &mut self.allow_oom,
            "allow-stale" => &mut self.allow_stale,
            "no-cluster" => &mut self.no_cluster,
            "allow-cross-slot-keys" => &mut self.allow_cross_slot_keys,
            _ => return Err(()),
        };
        *flag = true;
        Ok(())
    }

    /// The names of those that are set, in Redis' order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let flags = [
            (self.no_writes, "no-writes"),
            (self.allow_oom, "allow-oom"),
            (self.allow_stale, "allow-stale"),
            (self.no_cluster, "no-cluster"),
            (self.allow_cross_slot_keys, "allow-cross-slot-keys"),
        ];
        flags.into_iter().filter_map(|(is_set, name)| is_set.then_some(name))
    }
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
    /// Which keys it has been seen to use, or others of its shape.
    pub trust: Arc<Trust>,
}

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
        Ok(Script { sha, flags, body, trust: Arc::default() })
    }

    /// The script, of which that is known already.
    pub(crate) fn known_as(self, trust: Arc<Trust>) -> Script {
        Script { trust, ..self }
    }

    /// What is compiled.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
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
            flags
                .set(name)
                .map_err(|()| ScriptError(format!("Unexpected flag in script shebang: {name}")))?;
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
        let declared = ScriptFlags { declared: true, ..Default::default() };
        let expected = ScriptFlags { no_writes: true, allow_oom: true, ..declared };
        assert_eq!(script.flags, expected);
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
}
