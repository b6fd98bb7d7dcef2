//! Sections Replication and Cluster, of a server that stands alone.

use super::Source;
use super::lines::Lines;

pub(super) fn replication(source: &Source<'_>, lines: &mut Lines) {
    lines.put("role", "master");
    lines.put("connected_slaves", 0);
    lines.put("master_failover_state", "no-failover");
    // Like Redis' own, it changes with every start.
    lines.put("master_replid", &source.server.run_id);
    lines.put("master_replid2", "0".repeat(40));
    lines.put("master_repl_offset", 0);
    lines.put("second_repl_offset", -1);
    let none = [
        "repl_backlog_active",
        "repl_backlog_size",
        "repl_backlog_first_byte_offset",
        "repl_backlog_histlen",
    ];
    lines.put_all(&none, 0);
}

pub(super) fn cluster(_: &Source<'_>, lines: &mut Lines) {
    lines.put("cluster_enabled", 0);
}
