//! Section Keyspace.

use super::Source;
use super::lines::Lines;

/// The average time to live is not kept: 0, as Redis says when it does not know.
pub(super) fn keyspace(source: &Source<'_>, lines: &mut Lines) {
    for (db, totals) in source.census().databases.iter().enumerate() {
        if totals.keys > 0 {
            let (keys, expires) = (totals.keys, totals.expires);
            lines.put(
                format_args!("db{db}"),
                format_args!("keys={keys},expires={expires},avg_ttl=0"),
            );
        }
    }
}
