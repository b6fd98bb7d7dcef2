//! The reference page of all commands is what the table says.

use basalt_commands::reference::reference_markdown;
use basalt_commands::table::commands;
use std::path::Path;

/// `UPDATE_REFERENCE=1 cargo test -p basalt-dispatch reference` writes the page again.
#[test]
fn the_reference_page_is_current() {
    let path = Path::new("../../docs/reference/commands.md");
    let page = reference_markdown(&commands());
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let checked_in = std::fs::read_to_string(path).unwrap_or_default();
    assert!(checked_in == page, "docs/reference/commands.md is stale: run with UPDATE_REFERENCE=1");
}
