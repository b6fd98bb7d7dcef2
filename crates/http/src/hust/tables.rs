//! Tables: hashes, sets and sorted sets, whose items have versions and times to live of their own.

use super::answer::Answered;
use super::given::Given;
use super::kv::{expiry, numbered};
use super::replica::{Removal, Replica};
use super::reply::{exists, no_value, only, outcome, removed, version, written};
use super::talk::{Command, Database, Heard, One, Profile, Talk, ValueForm, Word};
use basalt_http1::Status;
use basalt_resp::Value;

type Started = Result<Box<dyn Talk>, Answered>;

/// Scores are exact up to here.
const SCORE_MAX: i64 = 1 << 53;

/// `hset tb key val [ttl] [ver] [is_dup]`
pub(super) fn hset(given: &Given<'_>) -> Started {
    let (table, field) = (given.name("tb")?, Word::Own(given.value("key")?));
    let read = command("CAS.HEXISTS", &table, [field.clone()]);
    write(given, read, command("CAS.HSET", &table, [field, given.content("val")?]), written)
}

/// `hget tb key`
pub(super) fn hget(given: &Given<'_>) -> Started {
    let table = given.name("tb")?;
    let words = command("CAS.HGET", &table, [given.value("key")?.into()]);
    Ok(Item::talk(given, table, words, (Some(ValueForm::Versioned), no_value)))
}

/// `hexist tb key`
pub(super) fn hexist(given: &Given<'_>) -> Started {
    let table = given.name("tb")?;
    let words = command("CAS.HEXISTS", &table, [given.value("key")?.into()]);
    Ok(Item::talk(given, table, words, (None, exists)))
}

/// `hdel tb key [ver] [is_dup]`
pub(super) fn hdel(given: &Given<'_>) -> Started {
    let (table, field) = (given.name("tb")?, Word::Own(given.value("key")?));
    remove(given, table, field, ("CAS.HEXISTS", "CAS.HDEL"))
}

/// `hincrby tb key val [ttl] [ver]`
pub(super) fn hincrby(given: &Given<'_>) -> Started {
    let (table, field) = (given.name("tb")?, Word::Own(given.value("key")?));
    let delta = given.number("val")?.ok_or_else(|| Answered::missing("val"))?;
    let delta = Word::Own(delta.to_string().into_bytes());
    no_replica(given)?;
    let words = command("CAS.HINCRBY", &table, [field, delta]);
    write(given, words.clone(), words, numbered_reply)
}

/// `sadd tb key [ttl] [ver] [is_dup]`
pub(super) fn sadd(given: &Given<'_>) -> Started {
    let (table, member) = (given.name("tb")?, given.content("key")?);
    let read = command("CAS.SISMEMBER", &table, [member.clone()]);
    write(given, read, command("CAS.SADD", &table, [member]), written)
}

/// `srem tb key [ver] [is_dup]`
pub(super) fn srem(given: &Given<'_>) -> Started {
    let (table, member) = (given.name("tb")?, given.content("key")?);
    remove(given, table, member, ("CAS.SISMEMBER", "CAS.SREM"))
}

/// `sismember tb key`
pub(super) fn sismember(given: &Given<'_>) -> Started {
    let table = given.name("tb")?;
    let words = command("CAS.SISMEMBER", &table, [given.content("key")?]);
    Ok(Item::talk(given, table, words, (None, exists)))
}

/// `zadd tb key score [opt] [ttl] [ver] [is_dup]`
pub(super) fn zadd(given: &Given<'_>) -> Started {
    let (table, member) = (given.name("tb")?, given.content("key")?);
    let score = given.number("score")?.ok_or_else(|| Answered::missing("score"))?;
    if !(-SCORE_MAX..=SCORE_MAX).contains(&score) {
        return Err(Answered::wrong("ERR score is beyond 2^53"));
    }
    let option = given.number("opt")?.unwrap_or(0);
    if option != 0 {
        no_replica(given)?;
    }
    let score = if option < 0 { -score } else { score };
    let read = command("CAS.ZSCORE", &table, [member.clone()]);
    let mut add = command("CAS.ZADD", &table, [score.to_string().into_bytes().into(), member]);
    if option != 0 {
        add.words.push("INCR".into());
    }
    write(given, read, add, numbered_reply)
}

/// `zrem tb key [ver] [is_dup]`
pub(super) fn zrem(given: &Given<'_>) -> Started {
    let (table, member) = (given.name("tb")?, given.content("key")?);
    remove(given, table, member, ("CAS.ZSCORE", "CAS.ZREM"))
}

/// `zscore tb key`
pub(super) fn zscore(given: &Given<'_>) -> Started {
    let table = given.name("tb")?;
    let words = command("CAS.ZSCORE", &table, [given.content("key")?]);
    Ok(Item::talk(given, table, words, (None, scored)))
}

/// `zismember tb key`
pub(super) fn zismember(given: &Given<'_>) -> Started {
    let table = given.name("tb")?;
    let words = command("CAS.ZSCORE", &table, [given.content("key")?]);
    Ok(Item::talk(given, table, words, (None, exists)))
}

fn command<const N: usize>(name: &'static str, table: &[u8], rest: [Word; N]) -> Command {
    let mut words = vec![name.into(), table.to_vec().into()];
    words.extend(rest);
    Command::new(Database::Tables, words)
}

fn write(
    given: &Given<'_>,
    read: Command,
    mut write: Command,
    heard: fn(Value) -> Answered,
) -> Started {
    write.words.extend(expiry(given)?);
    let version = given.count("ver")?;
    if given.switch("is_dup")? {
        return Replica::write(read, write, version);
    }
    write.words.extend(numbered(given, version));
    Ok(One::talk(write, heard))
}

fn remove(
    given: &Given<'_>,
    table: Vec<u8>,
    item: Word,
    (read, remove): (&'static str, &'static str),
) -> Started {
    let mut command_of_removal = command(remove, &table, [item.clone()]);
    match given.count("ver")? {
        0 => {}
        version if given.switch("is_dup")? => {
            let read = command(read, &table, [item]);
            return Ok(Removal::replica(read, command_of_removal, version));
        }
        version => command_of_removal.words.extend(["IF".into(), version.into()]),
    }
    let item = Item::of(given, table, command_of_removal, (None, removed_item));
    Ok(Box::new(Item { is_write: true, ..item }))
}

/// What is added cannot be repeated: another node sends the sum.
fn no_replica(given: &Given<'_>) -> Result<(), Answered> {
    match given.switch("is_dup")? {
        true => Err(Answered::wrong("ERR a write of another node brings what it has become")),
        false => Ok(()),
    }
}

fn removed_item(reply: Value) -> Answered {
    match outcome(&reply) {
        Some((false, 0)) => removed(reply),
        _ => written(reply),
    }
}

/// A write whose answer is a number.
fn numbered_reply(reply: Value) -> Answered {
    let number = match &reply {
        Value::Array(elements) => elements.get(2).and_then(digits),
        _ => None,
    };
    let answered = written(reply);
    Answered { body: number.unwrap_or_default().into_bytes(), ..answered }
}

/// Version, time to live, score.
fn scored(reply: Value) -> Answered {
    let Value::Array(elements) = &reply else { return no_value(reply) };
    match (elements.first().and_then(version), elements.get(2).and_then(digits)) {
        (Some(version), Some(score)) => Answered::body(score).with_version(version),
        _ => Answered::unexpected(),
    }
}

fn digits(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        // Rust writes no exponent and, of a whole number, no fraction.
        Value::Double(number) => Some(number.to_string()),
        _ => None,
    }
}

/// What is done with an item. If it is not there, a node says whether its table is.
#[derive(Debug)]
struct Item {
    command: Command,
    table: Option<Command>,
    is_asking: bool,
    form: Option<ValueForm>,
    read: fn(Value) -> Answered,
    is_write: bool,
}

impl Item {
    fn talk(
        given: &Given<'_>,
        table: Vec<u8>,
        words: Command,
        hears: (Option<ValueForm>, fn(Value) -> Answered),
    ) -> Box<dyn Talk> {
        Box::new(Item::of(given, table, words, hears))
    }

    fn of(
        given: &Given<'_>,
        table: Vec<u8>,
        words: Command,
        (form, read): (Option<ValueForm>, fn(Value) -> Answered),
    ) -> Item {
        let is_node = given.profile == Profile::Node;
        let table = is_node.then(|| command("EXISTS", &table, []));
        Item { command: words, table, is_asking: false, form, read, is_write: false }
    }

    /// The answer when there is no such item: whether there is a table is known now.
    fn absent(&self, reply: Value) -> Answered {
        let answered = match reply {
            Value::Integer(0) => {
                let text = "ERR there is no such table";
                Answered::failed(Status::PreconditionFailed, text).with_version(0)
            }
            Value::Error(text) => Answered::of_error(&text).with_version(0),
            _ => Answered::nothing(),
        };
        if self.is_write { answered.with_refusal(false) } else { answered }
    }
}

impl Talk for Item {
    fn command(&self) -> Command {
        match &self.table {
            Some(table) if self.is_asking => table.clone(),
            _ => self.command.clone(),
        }
    }

    fn is_last(&self) -> bool {
        self.is_asking || self.table.is_none()
    }

    fn value_form(&self) -> Option<ValueForm> {
        if self.is_asking { None } else { self.form }
    }

    fn hear(&mut self, reply: Value) -> Heard {
        let reply = only(reply);
        if self.is_asking {
            return Heard::Answer(self.absent(reply));
        }
        let is_nothing = reply == Value::Null || outcome(&reply) == Some((false, 0));
        if is_nothing && self.table.is_some() {
            self.is_asking = true;
            return Heard::Again;
        }
        Heard::Answer((self.read)(reply))
    }
}
