//! `stat` and `worker`: what is known of a queue.

use super::{MINUTE_MS, Started, command, done, no_queue, of_existing};
use crate::hust::answer::Answered;
use crate::hust::given::Given;
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

/// What a queue holds is asked first, then its settings.
#[derive(Debug)]
pub(in crate::hust) struct Stat {
    queue: Vec<u8>,
    counts: Option<Value>,
}

impl Stat {
    pub(in crate::hust) fn of(queue: Vec<u8>) -> Stat {
        Stat { queue, counts: None }
    }
}

impl Talk for Stat {
    fn command(&self) -> Command {
        let queue = self.queue.clone().into();
        match self.counts {
            None => command(vec!["Q.STAT".into(), queue]),
            Some(_) => command(vec!["Q.CONFIG".into(), queue, "GET".into()]),
        }
    }

    fn is_last(&self) -> bool {
        self.counts.is_some()
    }

    fn hear(&mut self, reply: Value) -> Heard {
        match (reply, &self.counts) {
            (Value::Error(text), _) => Heard::Answer(Answered::of_error(&text)),
            (Value::Null, _) => Heard::Answer(no_queue()),
            (counts, None) => {
                self.counts = Some(counts);
                Heard::Again
            }
            (settings, Some(counts)) => {
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
