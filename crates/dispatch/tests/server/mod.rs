//! The connection and the server family.

mod bad_rows;
mod client_kill;
mod client_reply;
mod command_tables;
mod help;
mod info;
mod key_reports;
mod keys_of_calls;
mod latency;
mod monitor;
mod pauses;
mod redis_7_2;
mod reload;
mod same_as_redis;
mod time;
mod transcripts;

use basalt_resp::Value;
use std::collections::BTreeMap;

/// Text of a bulk, verbatim or simple string.
fn text(value: &Value) -> String {
    match value {
        Value::Bulk(bytes) | Value::Simple(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => panic!("no text: {other:?}"),
    }
}

/// The elements of an array or a set.
fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) | Value::Set(values) => values,
        other => panic!("no elements: {other:?}"),
    }
}

/// A RESP2 map.
fn fields(value: &Value) -> BTreeMap<String, &Value> {
    let values = elements(value);
    values.chunks(2).map(|pair| (text(&pair[0]), &pair[1])).collect()
}
