//! `export` and `task_status`: snapshots of tables, which `async=true` reads.
//!
//! ```text
//! what is it? ─▶ COPYEX t {t}@export PX … ─▶ INCR @exports ─▶ SET @export:7 t PX … ─▶ 7
//! ```
//! The copy is one command: nothing is written between its first element and its last, and a large
//! one is made beside other clients. No verb can name the copy, since `{` and `@` are in no name of
//! a table; it goes by itself after an hour, also if the client that has asked for it has gone
//! before the next command.

use super::answer::Answered;
use super::given::Given;
use super::reply::text;
use super::talk::{Command, Database, Heard, One, Talk, Word};
use basalt_http1::Status;
use basalt_resp::Value;

type Started = Result<Box<dyn Talk>, Answered>;

/// How long a snapshot is kept.
const KEPT_MS: u64 = 3_600_000;

/// How many snapshots have been made.
const COUNTER: &str = "@exports";

/// What becomes of a task: it is done, or nothing is known of it.
const DONE: &str = "2";
const UNKNOWN: &str = "3";

/// `export tb [start end noval cover]`
pub(super) fn export(given: &Given<'_>) -> Started {
    if given.optional("tb")?.is_none() && given.optional("file")?.is_some() {
        let text = "ERR tables are exported one by one; page through keys by cursor";
        return Err(Answered::failed(Status::NotImplemented, text));
    }
    let table = given.name("tb")?;
    if given.count("offset")? > 0 || given.count("size")? > 0 {
        return Err(Answered::wrong("ERR a table is exported as a whole: no offset, no size"));
    }
    let covers = given.switch("cover")?;
    Ok(Box::new(Export { table, covers, stage: Stage::Looks }))
}

/// `task_status token`
pub(super) fn task_status(given: &Given<'_>) -> Started {
    given.value("token")?;
    let token = given.count("token")?;
    let exists = of_tables(vec!["EXISTS".into(), task(token).into()]);
    Ok(One::talk(exists, |reply| match reply {
        Value::Error(text) => Answered::of_error(&text),
        Value::Integer(1) => Answered::body(DONE),
        _ => Answered::body(UNKNOWN),
    }))
}

/// The key of a table's snapshot, in the slot of the table.
pub(super) fn snapshot(table: &[u8]) -> Vec<u8> {
    [b"{", table, b"}@export"].concat()
}

/// There is nothing under the name of a table.
pub(super) fn no_table() -> Answered {
    Answered::failed(Status::PreconditionFailed, "ERR there is no such table")
}

/// Nothing can be read before it has been exported.
pub(super) fn no_snapshot() -> Answered {
    let text = "ERR there is no snapshot of the table: export it first";
    Answered::failed(Status::InternalServerError, text)
}

/// The key that stands for a task that is done.
fn task(token: u64) -> Vec<u8> {
    format!("@export:{token}").into_bytes()
}

fn of_tables(words: Vec<Word>) -> Command {
    Command::new(Database::Tables, words)
}

/// What is asked next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Looks,
    Copies,
    Counts,
    Notes(u64),
}

/// See the head of this file.
#[derive(Debug)]
struct Export {
    table: Vec<u8>,
    /// A snapshot that is there gives way.
    covers: bool,
    stage: Stage,
}

impl Export {
    fn hear_next(&mut self, reply: &Value) -> Result<Stage, Answered> {
        match (self.stage, reply) {
            (Stage::Looks, Value::Null) => Err(no_table()),
            (Stage::Looks, description) => {
                let kind = text(description, "type");
                let is_table = ["hash", "set", "zset"].contains(&kind.as_str());
                if is_table { Ok(Stage::Copies) } else { Err(no_table()) }
            }
            (Stage::Copies, Value::Integer(1)) => Ok(Stage::Counts),
            (Stage::Copies, Value::Integer(_)) => {
                let text = "ERR there is a snapshot already: cover=true replaces it";
                Err(Answered::failed(Status::NotFound, text))
            }
            (Stage::Counts, Value::Integer(token)) => Ok(Stage::Notes(token.cast_unsigned())),
            (Stage::Notes(token), Value::Simple(_)) => Err(Answered::body(token.to_string())),
            _ => Err(Answered::unexpected()),
        }
    }
}

impl Talk for Export {
    fn command(&self) -> Command {
        let table = || Word::Own(self.table.clone());
        let snapshot = || Word::Own(snapshot(&self.table));
        of_tables(match self.stage {
            Stage::Looks => vec!["OBJECT DESCRIBE".into(), table()],
            Stage::Copies => {
                let words = ["COPYEX".into(), table(), snapshot(), "PX".into(), KEPT_MS.into()];
                words.into_iter().chain(self.covers.then_some("REPLACE".into())).collect()
            }
            Stage::Counts => vec!["INCR".into(), COUNTER.into()],
            Stage::Notes(token) => {
                vec!["SET".into(), task(token).into(), table(), "PX".into(), KEPT_MS.into()]
            }
        })
    }

    fn is_last(&self) -> bool {
        false
    }

    fn hear(&mut self, reply: Value) -> Heard {
        if let Value::Error(text) = &reply {
            return Heard::Answer(Answered::of_error(text));
        }
        match self.hear_next(&reply) {
            Ok(stage) => {
                self.stage = stage;
                Heard::Again
            }
            Err(answered) => Heard::Answer(answered),
        }
    }
}
