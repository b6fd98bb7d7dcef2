//! No command of Redis 7.2 is unknown here, but for those that a list names.

use crate::harness::TestServer;
use std::collections::BTreeSet;

/// All commands and subcommands of Redis 7.2: what redis-server 7.0 lists, and what 7.2 has added.
const REDIS_7_2: &str = include_str!("redis_7_2.txt");

/// What is missing. A command that is added leaves this list.
const MISSING: &str = "
    acl acl|cat acl|deluser acl|dryrun acl|genpass acl|getuser acl|help acl|list acl|load acl|log
    acl|save acl|setuser acl|users acl|whoami
    client|caching client|tracking client|trackinginfo
    fcall fcall_ro
    function|delete function|dump function|kill function|list function|load function|restore
    function|stats
";

#[test]
fn no_command_of_redis_7_2_is_unknown() {
    let server = TestServer::new();
    let own: BTreeSet<&str> =
        server.server.commands.table.all().iter().map(|command| command.spec.name).collect();
    let difference: BTreeSet<&str> = REDIS_7_2.lines().filter(|name| !own.contains(name)).collect();
    let missing: BTreeSet<&str> = MISSING.split_whitespace().collect();
    let unexpected: Vec<_> = difference.difference(&missing).collect();
    let landed: Vec<_> = missing.difference(&difference).collect();
    assert!(unexpected.is_empty(), "unknown commands of Redis 7.2: {unexpected:?}");
    assert!(landed.is_empty(), "not missing any more, take them off the list: {landed:?}");
}
