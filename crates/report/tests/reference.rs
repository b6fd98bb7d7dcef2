//! The checked-in page of metrics is that of the table.

use basalt_report::reference_markdown;
use std::path::Path;

/// `UPDATE_REFERENCE=1 cargo test -p basalt-report` writes the file.
#[test]
fn the_reference_page_is_current() {
    let path = Path::new("../../docs/reference/metrics.md");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(path, reference_markdown()).unwrap();
    }
    let checked_in = std::fs::read_to_string(path).unwrap_or_default();
    assert!(checked_in == reference_markdown(), "stale: run with UPDATE_REFERENCE=1");
}
