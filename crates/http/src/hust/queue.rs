//! Queues: what is put, taken and acknowledged, and their settings.
//!
//! A token of huststore's, `<priority>:<index>`, does not say which delivery it is of; ours does:
//! `<priority>:<sequence>.<stamp>`. A queue that is made here has huststore's rules: what was not
//! acknowledged within five minutes comes first.

mod stat;
mod take;
pub(super) mod token;
pub(super) mod two;

pub(super) use stat::{Stat, stat, worker};
pub(super) use take::{evget, get};

use super::answer::Answered;
use super::given::Given;
use super::talk::{Command, Database, One, Talk, Word};
use basalt_http1::Status;
use basalt_resp::Value;
use two::Two;

type Started = Result<Box<dyn Talk>, Answered>;

/// The settings of a queue that `put` makes.
const SETTINGS: &str = "lease 300000 overdue-first yes";
const MINUTE_MS: u64 = 60_000;

/// `put queue item [priori]`
pub(super) fn put(given: &Given<'_>) -> Started {
    let queue = given.name("queue")?;
    let mut words = vec!["Q.PUT".into(), queue.into(), given.content("item")?];
    if let Some(priority) = priority(given)?.filter(|&priority| priority > 0) {
        words.extend(["PRIORITY".into(), priority.into()]);
    }
    words.extend(["INIT".into(), SETTINGS.into()]);
    Ok(One::talk(command(words), done))
}

/// `ack queue token`
pub(super) fn ack(given: &Given<'_>) -> Started {
    let queue = given.name("queue")?;
    let token = token::of_queue(&given.name("token")?);
    let token = token.ok_or_else(|| Answered::wrong("ERR invalid token"))?;
    let words = vec!["Q.ACK".into(), queue.into(), token.into()];
    Ok(One::talk(command(words), |reply| match reply {
        Value::Integer(0) => {
            let text = "ERR the token does not stand for the last delivery of a message";
            Answered::failed(Status::PreconditionFailed, text)
        }
        other => done(other),
    }))
}

/// `timeout queue minute`
pub(super) fn timeout(given: &Given<'_>) -> Started {
    given.value("minute")?;
    match given.count("minute")? {
        minutes @ 1..=255 => set(given, "lease", (minutes * MINUTE_MS).into()),
        _ => Err(Answered::wrong("ERR minute must be 1 to 255")),
    }
}

/// `lock queue on`
pub(super) fn lock(given: &Given<'_>) -> Started {
    match given.value("on")?.as_slice() {
        b"1" | b"true" => set(given, "paused", "put".into()),
        b"0" | b"false" => set(given, "paused", "no".into()),
        _ => Err(Answered::wrong("ERR on must be 1 or 0")),
    }
}

/// `max queue num`
pub(super) fn max(given: &Given<'_>) -> Started {
    given.value("num")?;
    set(given, "max", given.count("num")?.into())
}

/// `purge queue priori`
pub(super) fn purge(given: &Given<'_>) -> Started {
    let queue = given.name("queue")?;
    let priority = priority(given)?.ok_or_else(|| Answered::missing("priori"))?;
    let words = vec!["Q.PURGE".into(), queue.clone().into(), "STATE ready PRIORITY".into()];
    Ok(of_existing(queue, words.into_iter().chain([priority.into()]).collect(), done))
}

fn set(given: &Given<'_>, name: &'static str, value: Word) -> Started {
    let queue = given.name("queue")?;
    let words = vec!["Q.CONFIG SET".into(), queue.clone().into(), name.into(), value];
    Ok(of_existing(queue, words, done))
}

fn priority(given: &Given<'_>) -> Result<Option<u64>, Answered> {
    let Some(_) = given.optional("priori")? else { return Ok(None) };
    match given.count("priori")? {
        priority @ 0..=2 => Ok(Some(priority)),
        _ => Err(Answered::wrong("ERR priori must be 0 to 2")),
    }
}

pub(super) fn command(words: Vec<Word>) -> Command {
    Command::new(Database::Queues, words)
}

fn exists(queue: Vec<u8>) -> Command {
    command(vec!["EXISTS".into(), queue.into()])
}

/// A command on a queue that must be there.
fn of_existing(queue: Vec<u8>, words: Vec<Word>, read: fn(Value) -> Answered) -> Box<dyn Talk> {
    let refuse = |reply: &Value| (*reply == Value::Integer(0)).then(Answered::no_queue);
    Two::talk(exists(queue), command(words), refuse, read)
}

fn done(reply: Value) -> Answered {
    match reply {
        Value::Error(text) => Answered::of_error(&text),
        _ => Answered::new(Status::Ok),
    }
}
