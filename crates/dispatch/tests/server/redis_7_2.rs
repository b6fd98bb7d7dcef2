//! No command of Redis 7.2 is unknown here.

use crate::harness::TestServer;
use std::collections::BTreeSet;

/// All commands and subcommands of Redis 7.2: what redis-server 7.0 lists, and what 7.2 has added.
const REDIS_7_2: &str = include_str!("redis_7_2.txt");

#[test]
fn no_command_of_redis_7_2_is_unknown() {
    let server = TestServer::new();
    let own: BTreeSet<&str> =
        server.server.commands.table.all().iter().map(|command| command.spec.name).collect();
    let difference: BTreeSet<&str> = REDIS_7_2.lines().filter(|name| !own.contains(name)).collect();
    assert!(difference.is_empty(), "unknown commands of Redis 7.2: {difference:?}");
}
