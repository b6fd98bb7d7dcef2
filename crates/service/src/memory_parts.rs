//! What the resident memory of the process consists of.
//!
//! Each part has a counter where it is. What no counter knows is `other`, the rest: code, stacks,
//! tables of connections and commands, and what the allocator loses by rounding up and has not
//! given back yet. It is a difference of figures that are up to a second old.

use crate::clients::ClientHandle;
use crate::server::Server;
use basalt_engine::MemoryTotals;

/// Parts by their names, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryParts {
    /// In the order in which they are shown; the last is `other`.
    pub parts: [(&'static str, u64); PARTS],
}

const PARTS: usize = 14;

impl MemoryParts {
    /// The parts of what is resident now, with these of the keyspace.
    pub fn of(server: &Server, keyspace: &MemoryTotals) -> MemoryParts {
        let cold = server.sampler.cold_stats();
        let slack = keyspace.slack_bytes();
        let retired = server.engine.retired_bytes() as u64 + server.engine.flushed_bytes();
        let known = [
            ("keyspace_pages", keyspace.page_bytes - slack),
            ("keyspace_slack", slack),
            ("keyspace_large", keyspace.large_bytes),
            ("keyspace_apart", keyspace.apart_bytes),
            ("keyspace_index", keyspace.index_bytes),
            ("cold_index", cold.index_filter_bytes),
            ("cold_locator", cold.locator_bytes),
            ("cold_cache", cold.cache_bytes_used),
            ("journal", server.host.journal_buffer_bytes()),
            ("clients", clients(server)),
            ("pubsub", server.pubsub.waiting_bytes() as u64),
            ("scripts", scripts(server)),
            ("retired", retired),
        ];
        MemoryParts::with_rest(known, server.host.memory().rss)
    }

    fn with_rest(known: [(&'static str, u64); PARTS - 1], resident_bytes: u64) -> MemoryParts {
        let sum: u64 = known.iter().map(|(_, bytes)| bytes).sum();
        let mut parts = [("other", resident_bytes.saturating_sub(sum)); PARTS];
        parts[..PARTS - 1].copy_from_slice(&known);
        MemoryParts { parts }
    }
}

/// Buffers of connections, and what they have queued since MULTI.
fn clients(server: &Server) -> u64 {
    let mut bytes = 0;
    server.clients.visit(|client| {
        bytes += size_of::<ClientHandle>() as u64 + client.buffer_bytes() + client.queued_bytes();
    });
    bytes
}

/// The Lua states of all threads, and the texts of scripts and functions.
fn scripts(server: &Server) -> u64 {
    let texts = server.scripts.known.text_bytes() + server.scripts.functions.now().text_bytes();
    server.scripts.lua_bytes() + texts as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_what_no_part_has() {
        let known = std::array::from_fn(|_| ("part", 10));
        let other = |resident| MemoryParts::with_rest(known, resident).parts[PARTS - 1];
        let sum = 10 * (PARTS as u64 - 1);
        assert_eq!(other(sum + 30), ("other", 30));
        // Memory that was never touched is not resident.
        assert_eq!(other(sum - 20), ("other", 0));
    }
}
