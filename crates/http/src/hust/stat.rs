//! `stat` and `stat_all`: how much there is, as a whole and by table.

use super::answer::Answered;
use super::given::{Given, is_name};
use super::names::Names;
use super::page::{demand_one_peer, too_large};
use super::reply::{number, text};
use super::talk::{Command, Database, Heard, Talk, Word};
use basalt_http1::Status;
use basalt_resp::Value;
use serde_json::{Value as Json, json};

type Started = Result<Box<dyn Talk>, Answered>;

/// `stat [tb]`
pub(super) fn stat(given: &Given<'_>) -> Started {
    demand_one_peer(given)?;
    if given.optional("tb")?.is_none() {
        return Ok(Totals::talk(given, false));
    }
    let name = given.name("tb")?;
    let capacity = given.memory_bytes_max;
    let command = describe(&name);
    Ok(Box::new(OfTable { name, command, capacity }))
}

/// `stat_all`
pub(super) fn stat_all(given: &Given<'_>) -> Started {
    demand_one_peer(given)?;
    Ok(Totals::talk(given, true))
}

fn describe(table: &[u8]) -> Command {
    let words = vec!["OBJECT".into(), "DESCRIBE".into(), Word::Own(table.to_vec())];
    Command::new(Database::Tables, words)
}

/// One table.
#[derive(Debug)]
struct OfTable {
    name: Vec<u8>,
    command: Command,
    capacity: u64,
}

impl Talk for OfTable {
    fn command(&self) -> Command {
        self.command.clone()
    }

    fn is_last(&self) -> bool {
        true
    }

    fn hear(&mut self, reply: Value) -> Heard {
        Heard::Answer(match &reply {
            Value::Error(text) => Answered::of_error(text),
            reply => match shown(&self.name, reply, self.capacity) {
                Some(shown) => Answered::body(shown.to_string()),
                None => Answered::failed(Status::NotFound, "ERR there is no such table"),
            },
        })
    }
}

/// What a description says of a table; `None` if it is of something else.
fn shown(name: &[u8], description: &Value, capacity: u64) -> Option<Json> {
    let kind = match text(description, "type").as_str() {
        "hash" => "H",
        "set" => "S",
        "zset" => "Z",
        _ => return None,
    };
    let table = String::from_utf8_lossy(name);
    let count = number(description, "length");
    Some(if kind == "H" {
        let size = number(description, "bytes");
        json!({ "table": table, "type": kind, "count": count, "size": size, "capacity": capacity })
    } else {
        json!({ "table": table, "type": kind, "count": count })
    })
}

/// What is asked next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    CountsItems,
    MeasuresAll,
    FindsTables,
    Describes,
}

/// All items and all tables.
#[derive(Debug)]
struct Totals {
    stage: Stage,
    tables: Names,
    lists_tables: bool,
    capacity: u64,
    json_bytes_max: usize,
    items: i64,
    bytes: i64,
    /// Of all hashes.
    fields: i64,
    fields_bytes: i64,
    /// What is known of the tables, each behind a comma.
    shown: String,
}

impl Totals {
    fn talk(given: &Given<'_>, lists_tables: bool) -> Box<dyn Talk> {
        Box::new(Totals {
            stage: Stage::CountsItems,
            tables: Names::of(Database::Tables, &[""], is_name),
            lists_tables,
            capacity: given.memory_bytes_max,
            json_bytes_max: given.json_bytes_max,
            items: 0,
            bytes: 0,
            fields: 0,
            fields_bytes: 0,
            shown: String::new(),
        })
    }

    /// Takes in what was found of a table; it may have gone meanwhile.
    fn add(&mut self, description: &Value) -> Result<(), Answered> {
        let Some(name) = self.tables.current() else { return Ok(()) };
        let Some(shown) = shown(name, description, self.capacity) else { return Ok(()) };
        if shown["type"] == "H" {
            self.fields += number(description, "length");
            self.fields_bytes += number(description, "bytes");
        }
        if self.lists_tables {
            self.shown.push(',');
            self.shown.push_str(&shown.to_string());
        }
        if self.shown.len() > self.json_bytes_max {
            return Err(too_large(self.json_bytes_max));
        }
        Ok(())
    }

    fn answer(&self) -> Heard {
        let capacity = self.capacity;
        let total = json!({ "TOTALIZE": {
            "KVPAIR": { "count": self.items, "size": self.bytes, "capacity": capacity },
            "HASHTABLE": { "count": self.fields, "size": self.fields_bytes, "capacity": capacity },
        } });
        Heard::Answer(Answered::body(match self.lists_tables {
            true => format!("[{total}{}]", self.shown),
            false => total.to_string(),
        }))
    }

    fn hear_next(&mut self, reply: Value) -> Result<Heard, Answered> {
        let goes_on = match (self.stage, &reply) {
            (Stage::CountsItems, Value::Integer(count)) => {
                (self.items, self.stage) = (*count, Stage::MeasuresAll);
                true
            }
            (Stage::MeasuresAll, _) => {
                (self.bytes, self.stage) = (dataset_bytes(&reply), Stage::FindsTables);
                true
            }
            (Stage::FindsTables, _) => self.tables.hear(reply)?,
            (Stage::Describes, _) => {
                self.add(&reply)?;
                self.tables.pass()
            }
            _ => return Err(Answered::unexpected()),
        };
        if matches!(self.stage, Stage::FindsTables | Stage::Describes) {
            let is_found = self.tables.current().is_some();
            self.stage = if is_found { Stage::Describes } else { Stage::FindsTables };
        }
        Ok(if goes_on { Heard::Again } else { self.answer() })
    }
}

impl Talk for Totals {
    fn command(&self) -> Command {
        let walk = || self.tables.command().unwrap_or_else(|| describe(b""));
        match self.stage {
            Stage::CountsItems => Command::new(Database::Kv, vec!["DBSIZE".into()]),
            Stage::MeasuresAll => Command::new(Database::Kv, vec!["INFO memory".into()]),
            Stage::FindsTables => walk(),
            Stage::Describes => self.tables.current().map_or_else(walk, |name| describe(name)),
        }
    }

    fn is_last(&self) -> bool {
        false
    }

    fn hear(&mut self, reply: Value) -> Heard {
        if let Value::Error(text) = &reply {
            return Heard::Answer(Answered::of_error(text));
        }
        self.hear_next(reply).unwrap_or_else(Heard::Answer)
    }
}

/// How much memory all data takes, as a line of INFO has it.
fn dataset_bytes(report: &Value) -> i64 {
    let (Value::Bulk(text) | Value::Verbatim { text, .. }) = report else { return 0 };
    let text = String::from_utf8_lossy(text);
    let mut found = text.lines().filter_map(|line| line.strip_prefix("used_memory_dataset:"));
    found.next().and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)
}
