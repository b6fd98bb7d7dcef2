//! Calls: `do_get` asks, and a worker that has taken the question by `do_post` answers.
//!
//! ```text
//! do_get queue body ─▶ Q.CALL hust:rpc "queue\nbody" ─ … waits … ─▶ 200 with the answer, or 408
//!                            │                      ▲
//!                do_post ─▶ Q.GET ─▶ 200 with Queue, Token, body
//!                do_post token answer ─▶ Q.REPLY ───┘
//! ```
//! A worker gets the calls of all queues, as it cannot choose one, so one queue holds them all, and
//! the name that the caller has given stands before the body. It is written over the end of the
//! request's head, which the body follows, so no body is copied.

use super::answer::Answered;
use super::given::{self, Given};
use super::queue::token;
use super::queue::two::Two;
use super::reply::number;
use super::talk::{Command, Database, One, Talk, WAIT_MS, Word};
use basalt_http1::Status;
use basalt_resp::Value;
use serde_json::json;

type Started = Result<Box<dyn Talk>, Answered>;

/// Where calls wait for a worker.
const QUEUE: &str = "hust:rpc";
/// Calls that are not answered, at most: one more fails at once.
const CALLS_MAX: u64 = 1024;
/// Its settings, unless it is there: a worker that has not answered within a minute counts as lost.
const SETTINGS: &str = "lease 60000 max 1024";
/// Between a queue's name and the body.
const BETWEEN: u8 = b'\n';

/// `do_get queue` and a body
pub(super) fn ask(given: &Given<'_>) -> Started {
    let mut start = given.name("queue")?;
    given.content("body")?;
    start.push(BETWEEN);
    let first = vec!["Q.CONFIG INIT".into(), QUEUE.into(), SETTINGS.into()];
    let time = [Word::Fixed("TIMEOUT"), WAIT_MS.into()];
    let words = vec!["Q.CALL".into(), QUEUE.into(), Word::BodyBehind(start)];
    let words = words.into_iter().chain(time).collect();
    Ok(Two::talk(command(first), command(words), |_| None, answer))
}

/// `do_post` for the next call, `do_post token` and a body to answer one
pub(super) fn work(given: &Given<'_>) -> Started {
    if given.optional("token")?.is_none() {
        let words = vec!["Q.GET BLOCK".into(), WAIT_MS.into(), "QUEUES".into(), QUEUE.into()];
        return Ok(One::talk(command(words), call));
    }
    let token = token::of_queue(&given.name("token")?);
    let token = token.ok_or_else(|| Answered::wrong("ERR invalid token"))?;
    let body = given.content("body")?;
    let words = vec!["Q.REPLY".into(), QUEUE.into(), token.into(), body];
    Ok(One::talk(command(words), |reply| match reply {
        Value::Integer(1) => Answered::new(Status::Ok),
        Value::Integer(_) => {
            let text = "ERR nobody waits for the answer, or another worker has got the call";
            Answered::failed(Status::NotFound, text)
        }
        other => failed(other),
    }))
}

/// `do_get_status`
pub(super) fn tasks(_: &Given<'_>) -> Started {
    Ok(One::talk(command(vec!["Q.STAT".into(), QUEUE.into()]), |reply| {
        let (waiting, held) = match &reply {
            Value::Null => (0, 0),
            Value::Map(_) => (count(&reply, "ready"), count(&reply, "leased")),
            _ => return failed(reply),
        };
        let free = CALLS_MAX.saturating_sub(waiting + held);
        let shown = json!({
            "unassigned_tasks": waiting,
            "assigned_tasks": held,
            "free_tasks": free,
            "total": waiting + held + free,
        });
        Answered::body(shown.to_string())
    }))
}

/// `do_post_status`
pub(super) fn workers(_: &Given<'_>) -> Started {
    let text = "ERR workers that wait are not counted here, but by /metrics";
    Err(Answered::failed(Status::NotImplemented, text))
}

fn command(words: Vec<Word>) -> Command {
    Command::new(Database::Queues, words)
}

/// What the caller is answered.
fn answer(reply: Value) -> Answered {
    match reply {
        Value::Bulk(answer) => Answered::body(answer),
        Value::Null => Answered::failed(Status::RequestTimeout, "ERR no worker has answered"),
        other => failed(other),
    }
}

/// What a worker is given.
fn call(reply: Value) -> Answered {
    let messages = match reply {
        Value::Array(messages) => messages,
        Value::Null | Value::NullArray => {
            return Answered::failed(Status::RequestTimeout, "ERR there is no call");
        }
        other => return failed(other),
    };
    taken(messages).unwrap_or_else(Answered::unexpected)
}

fn taken(messages: Vec<Value>) -> Option<Answered> {
    let Value::Array(message) = messages.into_iter().next()? else { return None };
    let mut parts = message.into_iter().skip(1);
    let (Value::Bulk(token), Value::Bulk(mut body)) = (parts.next()?, parts.next()?) else {
        return None;
    };
    let queue = take_name(&mut body).unwrap_or_else(|| QUEUE.to_owned());
    let mut answered = Answered::body(body);
    answered.fields.extend([("Queue", queue), ("Token", token::of_hust(&token)?)]);
    Some(answered)
}

/// Takes the name of the caller's queue from the front of a body; `None` if there is none: another
/// client has put the message.
fn take_name(body: &mut Vec<u8>) -> Option<String> {
    let end = body.iter().take(given::NAME_BYTES_MAX + 1).position(|&byte| byte == BETWEEN)?;
    let name = str::from_utf8(&body[..end]).ok().filter(|name| given::is_name(name.as_bytes()))?;
    let name = name.to_owned();
    body.drain(..=end);
    Some(name)
}

fn count(map: &Value, name: &str) -> u64 {
    number(map, name).cast_unsigned()
}

fn failed(reply: Value) -> Answered {
    match reply {
        Value::Error(text) => Answered::of_error(&text),
        _ => Answered::unexpected(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_before_a_body_is_taken_off() {
        let taken = |body: &[u8]| {
            let mut rest = body.to_vec();
            (take_name(&mut rest), rest)
        };
        assert_eq!(taken(b"sums\n1\n2"), (Some("sums".to_owned()), b"1\n2".to_vec()));
        let longest = [&[b'a'; 64][..], b"\nb"].concat();
        assert_eq!(taken(&longest), (Some("a".repeat(64)), b"b".to_vec()));
        let too_long = [&[b'a'; 65][..], b"\nb"].concat();
        for others in [&b"sums"[..], b"", b"\nbody", b"a\r: b\nbody", b"a b\nbody", &too_long] {
            assert_eq!(taken(others), (None, others.to_vec()), "{others:?}");
        }
    }
}
