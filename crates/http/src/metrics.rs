//! `/metrics`: the report for monitoring systems, which the command METRICS gives.

use crate::words::Words;
use basalt_http1::{Field, Head};

/// What a response says about the text of Prometheus.
pub(crate) const OF_PROMETHEUS: &str = "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
     X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
/// … and about the one that is asked for by its name.
pub(crate) const OF_OPEN_METRICS: &str = "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n\
     X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";

const OPEN_METRICS: &[u8] = b"application/openmetrics-text";

/// Whether the client takes OpenMetrics, which those that know it name first.
pub(crate) fn wants_open_metrics(head: &Head, bytes: &[u8]) -> bool {
    let accept = head.field(Field::Accept).map_or(&b""[..], |range| &bytes[range]);
    let mut kinds = accept.split(|&byte| byte == b',');
    kinds.any(|kind| {
        let mut parts = kind.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let is_it = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(OPEN_METRICS));
        // Version 0.0.1 was a draft; what is not wanted has the weight 0.
        is_it
            && parts
                .all(|part| !part.eq_ignore_ascii_case(b"version=0.0.1") && !is_zero_weight(part))
    })
}

fn is_zero_weight(part: &[u8]) -> bool {
    let weight = part.strip_prefix(b"q=").or_else(|| part.strip_prefix(b"Q="));
    weight.is_some_and(|weight| weight.iter().all(|byte| matches!(byte, b'0' | b'.')))
}

/// The words of the request.
pub(crate) fn write(words: &mut Words<'_>, is_open: bool) {
    words.put(b"METRICS");
    if is_open {
        words.put(b"OPENMETRICS");
    }
}
