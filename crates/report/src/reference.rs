//! The page of all metrics, checked in as `docs/reference/metrics.md`.

use crate::table::GROUPS;
use std::fmt::Write;

const HEAD: &str = "<!-- Made from the table of metrics in crates/report; do not edit it by hand. -->
# Metrics

What `GET /metrics` exports; [docs/metrics.md](../metrics.md) says how to scrape it. Counters begin at 0 with each start
and with `CONFIG RESETSTAT`.
";

/// See the head of this file.
pub fn reference_markdown() -> String {
    let mut page = HEAD.to_owned();
    // Writing to a string cannot fail.
    for group in GROUPS {
        let _ = write!(page, "\n## {}\n\n", group.title);
        page.push_str("| metric | type | labels | what it is |\n|---|---|---|---|\n");
        for metric in group.metrics {
            let family = metric.family;
            let labels: Vec<String> =
                metric.labels.iter().map(|label| format!("`{label}`")).collect();
            let (kind, labels) = (family.kind.name(), labels.join(", "));
            let _ = writeln!(page, "| `{}` | {kind} | {labels} | {} |", family.name, family.help);
        }
    }
    page
}
