//! Items: `put`, `get`, `exist`, `del`.

use super::answer::Answered;
use super::given::Given;
use super::replica::{Removal, Replica};
use super::reply::{exists, mismatch, no_value, only, outcome, removed, written};
use super::talk::{Command, Database, Heard, One, Talk, ValueForm, Word};
use basalt_http1::Status;
use basalt_resp::Value;

type Started = Result<Box<dyn Talk>, Answered>;

/// `put key val [ttl] [ver] [is_dup]`
pub(super) fn put(given: &Given<'_>) -> Started {
    let key = given.value("key")?;
    let mut words = vec!["CAS.SET".into(), Word::Own(key.clone()), given.content("val")?];
    words.extend(expiry(given)?);
    let read = look(key);
    let version = given.count("ver")?;
    if given.switch("is_dup")? {
        return Replica::write(read, Command::new(Database::Kv, words), version);
    }
    words.extend(numbered(given, version));
    Ok(One::talk(Command::new(Database::Kv, words), written))
}

/// `get key`
pub(super) fn get(given: &Given<'_>) -> Started {
    let words = vec!["CAS.GET".into(), given.value("key")?.into()];
    Ok(One::value(Command::new(Database::Kv, words), ValueForm::Versioned, no_value))
}

/// `exist key`
pub(super) fn exist(given: &Given<'_>) -> Started {
    Ok(One::talk(look(given.value("key")?), |reply| exists(only(reply))))
}

/// `del key [ver] [is_dup]`
pub(super) fn del(given: &Given<'_>) -> Started {
    let key = given.value("key")?;
    let version = given.count("ver")?;
    let command = Command::new(Database::Kv, vec!["CAS.DEL".into(), key.clone().into()]);
    let is_replica = given.switch("is_dup")?;
    if version == 0 {
        return Ok(One::talk(command, removed));
    }
    if is_replica {
        return Ok(Removal::replica(look(key), command, version));
    }
    let exists = Command::new(Database::Kv, vec!["EXISTS".into(), key.into()]);
    Ok(Box::new(Delete { command, exists, version, is_asking: false }))
}

/// Asks for the version of what is there, and not for the value, which may be long.
fn look(key: Vec<u8>) -> Command {
    Command::new(Database::Kv, vec!["CAS.EXISTS".into(), key.into()])
}

/// The words that say when an item expires.
pub(super) fn expiry(given: &Given<'_>) -> Result<Vec<Word>, Answered> {
    let ttl = given.ttl()?;
    Ok(ttl.map_or_else(Vec::new, |seconds| vec!["EX".into(), seconds.into()]))
}

/// The words that say which version an item must have, 0 for any, and which one it gets.
pub(super) fn numbered(given: &Given<'_>, version: u64) -> Vec<Word> {
    let mut words = Vec::new();
    if version > 0 {
        words.extend(["IF".into(), version.into()]);
    }
    if given.settings.counts_versions {
        words.push("COUNTED".into());
    }
    words
}

/// A removal of a given version. One that was refused asks whether there is anything: an item that
/// was not written by this interface may have no version.
#[derive(Debug)]
struct Delete {
    command: Command,
    exists: Command,
    version: u64,
    is_asking: bool,
}

impl Talk for Delete {
    fn command(&self) -> Command {
        if self.is_asking {
            return self.exists.clone();
        }
        let mut command = self.command.clone();
        command.words.extend(["IF".into(), self.version.into()]);
        command
    }

    fn is_last(&self) -> bool {
        self.is_asking
    }

    fn hear(&mut self, reply: Value) -> Heard {
        if self.is_asking {
            let is_there = reply == Value::Integer(1);
            let other = mismatch(0).with_refusal(true);
            return Heard::Answer(if is_there {
                other
            } else {
                Answered::new(Status::NotFound).with_version(0).with_refusal(false)
            });
        }
        if outcome(&reply) == Some((false, 0)) {
            self.is_asking = true;
            return Heard::Again;
        }
        Heard::Answer(written(reply))
    }
}
