//! What replies of commands mean that several verbs have.

use super::answer::Answered;
use basalt_http1::Status;
use basalt_resp::Value;

/// The digits of a version.
pub(super) fn version(value: &Value) -> Option<u64> {
    let Value::Bulk(digits) = value else { return None };
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Whether a conditional command has done something, and the version that there is.
pub(super) fn outcome(reply: &Value) -> Option<(bool, u64)> {
    let Value::Array(elements) = reply else { return None };
    let [Value::Integer(is_done), current, ..] = &elements[..] else { return None };
    Some((*is_done == 1, version(current)?))
}

/// A write under a condition.
pub(super) fn written(reply: Value) -> Answered {
    match (&reply, outcome(&reply)) {
        (Value::Error(text), _) => Answered::of_error(text).with_version(0).with_refusal(false),
        (_, Some((true, version))) => {
            Answered::new(Status::Ok).with_version(version).with_refusal(false)
        }
        (_, Some((false, current))) => mismatch(current),
        _ => Answered::unexpected(),
    }
}

/// The version that was sent is not the one that there is; 0 is none.
pub(super) fn mismatch(current: u64) -> Answered {
    let reason = "ERR the version is another one";
    Answered::failed(Status::Unauthorized, reason).with_version(current).with_refusal(current > 0)
}

/// A removal without a condition.
pub(super) fn removed(reply: Value) -> Answered {
    match outcome(&reply) {
        Some((false, _)) => Answered::nothing().with_refusal(false),
        _ => written(reply),
    }
}

/// A value that is not there, or could not be read.
pub(super) fn no_value(reply: Value) -> Answered {
    match reply {
        Value::Null | Value::NullArray => Answered::nothing(),
        Value::Error(text) => Answered::of_error(&text).with_version(0),
        _ => Answered::unexpected(),
    }
}

/// Whether there is an item: its version comes first.
pub(super) fn exists(reply: Value) -> Answered {
    match reply {
        Value::Array(elements) => match elements.first().and_then(version) {
            Some(version) => Answered::new(Status::Ok).with_version(version),
            None => Answered::unexpected(),
        },
        other => no_value(other),
    }
}

/// The only part of a reply that has one for each name that was asked for.
pub(super) fn only(reply: Value) -> Value {
    match reply {
        Value::Array(mut parts) if parts.len() == 1 => parts.remove(0),
        other => other,
    }
}

/// What a map has under a name.
pub(super) fn member<'a>(map: &'a Value, name: &str) -> Option<&'a Value> {
    let Value::Map(members) = map else { return None };
    let found = members.iter().find(|(it, _)| *it == Value::Bulk(name.as_bytes().to_vec()));
    found.map(|(_, value)| value)
}

/// The number that a map has under a name, 0 if it has none.
pub(super) fn number(map: &Value, name: &str) -> i64 {
    member(map, name).map_or(0, whole)
}

/// The text that a map has under a name, empty if it has none.
pub(super) fn text(map: &Value, name: &str) -> String {
    match member(map, name) {
        Some(Value::Bulk(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}

/// A number; 0 if it is none.
pub(super) fn whole(value: &Value) -> i64 {
    match value {
        Value::Integer(number) => *number,
        _ => 0,
    }
}
