//! The cache: plain commands, without versions. What it is not given back is 404.

use super::answer::Answered;
use super::given::Given;
use super::talk::{Command, Database, One, Talk, ValueForm, Word};
use basalt_http1::Status;
use basalt_resp::Value;

type Started = Result<Box<dyn Talk>, Answered>;

/// `exist key`
pub(super) fn exist(given: &Given<'_>) -> Started {
    of_key("EXISTS", given, Vec::new())
}

/// `del key`
pub(super) fn del(given: &Given<'_>) -> Started {
    of_key("DEL", given, Vec::new())
}

/// `persist key`
pub(super) fn persist(given: &Given<'_>) -> Started {
    of_key("PERSIST", given, Vec::new())
}

/// `expire key ttl`
pub(super) fn expire(given: &Given<'_>) -> Started {
    let ttl = given.number("ttl")?.ok_or_else(|| Answered::missing("ttl"))?;
    match u64::try_from(ttl) {
        Ok(seconds @ 1..) => of_key("EXPIRE", given, vec![seconds.into()]),
        _ => Err(Answered::failed(Status::NotFound, "ERR ttl is not above 0")),
    }
}

/// `get key`
pub(super) fn get(given: &Given<'_>) -> Started {
    let words = vec!["GET".into(), given.value("key")?.into()];
    Ok(One::value(Command::new(Database::Cache, words), ValueForm::Bare, failed))
}

/// `ttl key`
pub(super) fn ttl(given: &Given<'_>) -> Started {
    let words = vec!["TTL".into(), given.value("key")?.into()];
    Ok(One::talk(Command::new(Database::Cache, words), seconds))
}

/// `put key val [ttl]`
pub(super) fn put(given: &Given<'_>) -> Started {
    let key = given.value("key")?;
    let mut words = vec!["SET".into(), key.into(), given.content("val")?];
    match given.count("ttl")? {
        0 => {}
        seconds => words.extend(["EX".into(), seconds.into()]),
    }
    Ok(One::talk(Command::new(Database::Cache, words), done))
}

/// `append key val`
pub(super) fn append(given: &Given<'_>) -> Started {
    let words = vec!["APPEND".into(), given.value("key")?.into(), given.content("val")?];
    Ok(One::talk(Command::new(Database::Cache, words), done))
}

/// `hset tb key val`
pub(super) fn hset(given: &Given<'_>) -> Started {
    of_field("HSET", given, Some(given.content("val")?), done)
}

/// `hget tb key`
pub(super) fn hget(given: &Given<'_>) -> Started {
    let words = vec!["HGET".into(), given.value("tb")?.into(), given.value("key")?.into()];
    Ok(One::value(Command::new(Database::Cache, words), ValueForm::Bare, failed))
}

/// `hexist tb key`
pub(super) fn hexist(given: &Given<'_>) -> Started {
    of_field("HEXISTS", given, None, found)
}

/// `hdel tb key`
pub(super) fn hdel(given: &Given<'_>) -> Started {
    of_field("HDEL", given, None, found)
}

/// `hincrby tb key val`
pub(super) fn hincrby(given: &Given<'_>) -> Started {
    of_field("HINCRBY", given, Some(given.value("val")?.into()), number)
}

/// `hincrbyfloat tb key val`
pub(super) fn hincrbyfloat(given: &Given<'_>) -> Started {
    of_field("HINCRBYFLOAT", given, Some(given.value("val")?.into()), number)
}

fn of_key(name: &'static str, given: &Given<'_>, rest: Vec<Word>) -> Started {
    let mut words = vec![name.into(), given.value("key")?.into()];
    words.extend(rest);
    Ok(One::talk(Command::new(Database::Cache, words), found))
}

fn of_field(
    name: &'static str,
    given: &Given<'_>,
    value: Option<Word>,
    read: fn(Value) -> Answered,
) -> Started {
    let mut words = vec![name.into(), given.value("tb")?.into(), given.value("key")?.into()];
    words.extend(value);
    Ok(One::talk(Command::new(Database::Cache, words), read))
}

/// There is nothing, or nothing of this kind.
fn failed(reply: Value) -> Answered {
    match reply {
        Value::Null => Answered::new(Status::NotFound),
        Value::Error(text) => match Answered::of_error(&text) {
            answered if answered.status == Status::InternalServerError => answered,
            answered => Answered { status: Status::NotFound, ..answered },
        },
        _ => Answered::unexpected(),
    }
}

fn done(reply: Value) -> Answered {
    match reply {
        Value::Simple(_) | Value::Integer(_) => Answered::new(Status::Ok),
        other => failed(other),
    }
}

/// Whether there was something.
fn found(reply: Value) -> Answered {
    match reply {
        Value::Integer(0) => Answered::new(Status::NotFound),
        Value::Integer(_) => Answered::new(Status::Ok),
        other => failed(other),
    }
}

/// The seconds for which a key lives still, -1 for ever.
fn seconds(reply: Value) -> Answered {
    match reply {
        Value::Integer(-2) => Answered::new(Status::NotFound),
        other => number(other),
    }
}

fn number(reply: Value) -> Answered {
    match reply {
        Value::Integer(number) => Answered::body(number.to_string()),
        Value::Bulk(digits) => Answered::body(digits),
        other => failed(other),
    }
}
