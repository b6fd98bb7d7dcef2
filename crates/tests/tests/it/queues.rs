//! Queues in whole servers.

mod alive;
mod crash;
mod ledger;

use basalt_resp::Value;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// A message that came.
struct Delivery {
    token: String,
    body: String,
    deliveries: i64,
    sequence: u64,
    lane: i64,
}

fn deliveries(reply: Value) -> Vec<Delivery> {
    let Value::Array(all) = reply else { return Vec::new() };
    let delivery = |it: Value| {
        let Value::Array(fields) = it else { panic!("{it:?}") };
        let [
            _,
            Value::Bulk(token),
            Value::Bulk(body),
            Value::Integer(deliveries),
            _,
            Value::Integer(lane),
        ] = &fields[..]
        else {
            panic!("{fields:?}")
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let token = text(token);
        let sequence = token.split('-').nth(1).and_then(|number| number.parse().ok());
        let sequence = sequence.expect("a token has a sequence");
        Delivery { body: text(body), deliveries: *deliveries, lane: *lane, token, sequence }
    };
    all.into_iter().map(delivery).collect()
}
