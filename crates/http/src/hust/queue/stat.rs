//! `stat` and `worker`: what is known of a queue.

use super::{MINUTE_MS, Started, command, done, of_existing};
use crate::hust::answer::Answered;
use crate::hust::given::Given;
use crate::hust::push;
use crate::hust::reply::{member, number, text, whole};
use crate::hust::talk::{Command, Heard, Talk};
use basalt_resp::Value;
use serde_json::json;

/// `worker queue`
pub(in crate::hust) fn worker(given: &Given<'_>) -> Started {
    let queue = given.name("queue")?;
    let words = vec!["Q.WORKERS".into(), queue.clone().into()];
    Ok(of_existing(queue, words, workers))
}

/// `stat queue`
pub(in crate::hust) fn stat(given: &Given<'_>) -> Started {
    Ok(Box::new(Stat::of(given.name("queue")?)))
}

/// `[{"w":"name","t":unix}]`
fn workers(reply: Value) -> Answered {
    let Value::Array(workers) = reply else { return done(reply) };
    let shown: Vec<_> = workers
        .iter()
        .map(|worker| json!({ "w": text(worker, "worker"), "t": number(worker, "last-seen") / 1000 }))
        .collect();
    Answered::body(json!(shown).to_string())
}

/// What a queue holds is asked first, then its settings; of what is no queue, its window.
#[derive(Debug)]
pub(in crate::hust) struct Stat {
    queue: Vec<u8>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Counts,
    /// What a queue holds is known.
    Settings(Value),
    Window,
}

impl Stat {
    pub(in crate::hust) fn of(queue: Vec<u8>) -> Stat {
        Stat { queue, stage: Stage::Counts }
    }
}

impl Talk for Stat {
    fn command(&self) -> Command {
        let queue = self.queue.clone().into();
        match self.stage {
            Stage::Counts => command(vec!["Q.STAT".into(), queue]),
            Stage::Settings(_) => command(vec!["Q.CONFIG GET".into(), queue]),
            Stage::Window => push::info(&self.queue),
        }
    }

    fn is_last(&self) -> bool {
        !matches!(self.stage, Stage::Counts)
    }

    fn hear(&mut self, reply: Value) -> Heard {
        match (&self.stage, reply) {
            (Stage::Counts, Value::Error(text)) if text.starts_with(b"WRONGTYPE") => {
                self.stage = Stage::Window;
                Heard::Again
            }
            (Stage::Window, reply) => Heard::Answer(push::stat(&self.queue, reply)),
            (_, Value::Error(text)) => Heard::Answer(Answered::of_error(&text)),
            (_, Value::Null) => Heard::Answer(Answered::no_queue()),
            (Stage::Counts, counts) => {
                self.stage = Stage::Settings(counts);
                Heard::Again
            }
            (Stage::Settings(counts), settings) => {
                Heard::Answer(Answered::body(shown(&self.queue, counts, &settings)))
            }
        }
    }
}

fn shown(queue: &[u8], counts: &Value, settings: &Value) -> String {
    let lanes = member(counts, "ready-by-priority");
    let ready = [0, 1, 2].map(|lane| match lanes {
        Some(Value::Map(lanes)) => {
            let found = lanes.iter().find(|(it, _)| *it == Value::Integer(lane));
            found.map_or(0, |(_, count)| whole(count))
        }
        _ => 0,
    });
    let takes_puts = ["no", "get"].contains(&text(settings, "paused").as_str());
    let queue = String::from_utf8_lossy(queue);
    json!({
        "queue": queue,
        "ready": ready,
        "unacked": number(counts, "leased"),
        "max": number(settings, "max"),
        "lock": i32::from(!takes_puts),
        "type": 0,
        "timeout": number(settings, "lease").cast_unsigned().div_ceil(MINUTE_MS),
        "si": 0,
        "ci": 0,
        "tm": 0,
    })
    .to_string()
}
