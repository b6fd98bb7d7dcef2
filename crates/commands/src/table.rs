//! All commands: the one file that knows the families.

use crate::{
    bits, cluster, connection, generic, geo, hash, hyperloglog, list, pubsub, queue, replication,
    scripting, server, set, sorted_set, stream, strings, transactions, versions,
};
use basalt_call::calls::Commands;
use basalt_call::entry::Entry;

/// All families. A family is a constant slice; adding a command is adding its entry there.
const FAMILIES: &[&[Entry]] = &[
    strings::COMMANDS,
    versions::COMMANDS,
    list::COMMANDS,
    set::COMMANDS,
    stream::COMMANDS,
    queue::COMMANDS,
    hash::COMMANDS,
    sorted_set::COMMANDS,
    geo::COMMANDS,
    bits::COMMANDS,
    hyperloglog::COMMANDS,
    generic::COMMANDS,
    connection::COMMANDS,
    transactions::COMMANDS,
    pubsub::COMMANDS,
    scripting::COMMANDS,
    server::COMMANDS,
    replication::COMMANDS,
    cluster::COMMANDS,
];

/// The table of all commands.
pub fn commands() -> Commands {
    commands_and(&[])
}

/// The table of all commands and more: for tests of what no command uses yet.
pub fn commands_and(more: &'static [Entry]) -> Commands {
    Commands::of(FAMILIES.iter().copied().flatten().chain(more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_call::entry::{Run, Shortcut};
    use basalt_resp::Arg;
    use basalt_service::args::Args;
    use basalt_service::collection_target::CollectionTarget;
    use basalt_spec::{Flag, Found};
    use basalt_value::sorted_set::Direction;

    #[test]
    fn what_looks_at_one_key_has_it_in_its_first_word() {
        let commands = commands();
        for command in commands.table.all() {
            let call = commands.call(command.id);
            let name = command.spec.name;
            match (call.run, call.shortcut) {
                (Run::Point(_), None) => assert_eq!(call.only_key, 1, "{name}"),
                (Run::Point(_), Some(_)) => panic!("{name} is short by itself"),
                (Run::Write(_), Some(Shortcut::Attempt(_))) => {
                    assert_eq!(call.first_key, 1, "{name}")
                }
                (Run::Write(_), Some(Shortcut::Overwrite)) => {
                    // It is let through without being timed.
                    assert!(call.only_key == 1 && call.shares_time, "{name}");
                    continue;
                }
                (_, Some(_)) => panic!("{name} writes nothing"),
                (_, None) => continue,
            }
            // It is let through without being timed, asked for memory, or written to the log.
            assert!(call.shares_time && !call.takes_memory, "{name}");
            assert!(command.flags.has(Flag::Readonly), "{name}");
        }
    }

    #[test]
    fn what_may_free_or_walk_a_whole_value_is_not_slight() {
        let commands = commands();
        let words_max = |name: &str| {
            let Found::Command(command) = commands.table.resolve(name.as_bytes(), None) else {
                panic!("{name} is a command")
            };
            commands.call(command.id).slight_words_max
        };
        for name in ["lpush", "lpop", "sadd", "spop", "hset", "hdel", "zadd", "zpopmin", "pfadd"] {
            assert_eq!(words_max(name), 16, "{name}");
        }
        assert_eq!([words_max("incr"), words_max("decr")], [2, 2]);
        assert!(words_max("xadd") < "XADD key MAXLEN 1 * f v".split(' ').count() as u16);
        for name in ["append", "getset", "setnx", "incrby", "psetex"] {
            assert!(words_max(name) < 3, "{name}");
        }
        assert_eq!(words_max("setbit"), "SETBIT key 7 1".split(' ').count() as u16);
        assert!(words_max("bitfield") < "BITFIELD key SET u8 0 1".split(' ').count() as u16);
        for name in ["set", "getdel", "getex", "del", "unlink", "rename", "lrange", "sinter"] {
            assert_eq!(words_max(name), 0, "{name}");
        }
        for name in ["bzpopmin", "xread", "expire", "move", "pfcount", "pfmerge"] {
            assert_eq!(words_max(name), 0, "{name}");
        }
    }

    #[test]
    fn what_shares_a_lock_is_slight_and_has_one_key() {
        let commands = commands();
        let together = commands.table.all().iter().filter(|it| commands.call(it.id).runs_together);
        let mut names = Vec::new();
        for command in together {
            let call = commands.call(command.id);
            let words = usize::from(call.slight_words_max);
            assert!(words > 0 && call.shares_time && !call.takes_long, "{}", command.spec.name);
            assert!(matches!(call.run, Run::Write(_)), "{}", command.spec.name);
            assert!(call.shortcut.is_none(), "{}", command.spec.name);
            names.push(command.spec.name);
        }
        for name in ["lpush", "lpop", "sadd", "spop", "hset", "zadd", "zpopmin", "xadd", "pfadd"] {
            assert!(names.contains(&name), "{name}");
        }
        for name in ["incr", "q.ack", "q.extend", "q.get", "q.nack", "q.put"] {
            assert!(names.contains(&name), "{name}");
        }
        for name in
            ["smove", "lmove", "append", "zmpop", "set", "setbit", "blpop", "zremrangebyrank"]
        {
            assert!(!names.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_key_behind_a_word_is_found_as_key_specifications_find_it() {
        let commands = commands();
        let Found::Command(command) = commands.table.resolve(b"q.get", None) else {
            panic!("it is a command")
        };
        for (line, wanted) in [
            ("Q.GET QUEUES q", 2),
            ("Q.GET LEASE 600000 queues q", 4),
            ("Q.GET QUEUES queues", 2),
            ("Q.GET COUNT 2 WORKER w Queues q", 6),
            ("Q.GET QUEUES a b", 0),
            ("Q.GET QUEUES a QUEUES b", 0),
            ("Q.GET WORKER queues QUEUES q", 0),
            ("Q.GET q QUEUES", 0),
            ("Q.GET LEASE q", 0),
            ("QUEUES q", 0),
            ("Q.GET", 0),
        ] {
            let mut words = Vec::new();
            for word in line.split(' ') {
                let start = word.as_ptr().addr() - line.as_ptr().addr();
                words.push(Arg { start, len: word.len() });
            }
            let position = commands.call(command.id).position_behind_word(&words, line.as_bytes());
            assert_eq!(position, wanted, "{line}");
            let mut keys = Vec::new();
            let args = Args::new(line.as_bytes(), &words);
            let visited = command.visit_keys(&args, |position, _| keys.push(position));
            let only = if visited.is_ok() && keys.len() == 1 { keys[0] } else { 0 };
            assert_eq!(only, wanted, "{line}");
        }
    }

    #[test]
    fn elements_are_found_by_the_synopsis() {
        let commands = commands();
        let element = |element| CollectionTarget::Element { key: 1, element };
        for (name, target) in [
            ("get", CollectionTarget::Nothing),
            ("lpush", CollectionTarget::Collection { key: 1 }),
            ("spop", CollectionTarget::Random { key: 1 }),
            ("zpopmax", CollectionTarget::End { key: 1, direction: Direction::Backward }),
            ("hgetall", CollectionTarget::Collection { key: 1 }),
            ("zrange", CollectionTarget::Collection { key: 1 }),
            ("setbit", CollectionTarget::Bit { key: 1, offset: 2 }),
            ("getbit", CollectionTarget::Bit { key: 1, offset: 2 }),
            ("bitcount", CollectionTarget::Nothing),
            ("bitfield", CollectionTarget::Nothing),
            ("hget", element(2)),
            ("hset", element(2)),
            ("hincrby", element(2)),
            ("sadd", element(2)),
            ("sismember", element(2)),
            ("smove", element(3)),
            ("zadd", element(3)),
            ("zincrby", element(3)),
            ("zscore", element(2)),
        ] {
            let Found::Command(command) = commands.table.resolve(name.as_bytes(), None) else {
                panic!("{name} is a command")
            };
            assert_eq!(commands.call(command.id).target, target, "{name}");
        }
    }
}
