//! EVAL, EVALSHA and their variants that only read.

use basalt_call::entry::{Entry, Named, Permit, Run, ScriptCall};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

const WRITES: Flags = Flags::of(&[
    Flag::Noscript,
    Flag::Stale,
    Flag::SkipMonitor,
    Flag::NoMandatoryKeys,
    Flag::MayReplicate,
]);
const READS: Flags = Flags::of(&[
    Flag::Readonly,
    Flag::Noscript,
    Flag::Stale,
    Flag::SkipMonitor,
    Flag::NoMandatoryKeys,
]);

pub(super) const EVAL: Entry = Entry {
    spec: CommandSpec {
        name: "eval",
        synopsis: "script numkeys [key [key ...]] [arg [arg ...]]",
        group: Group::Scripting,
        flags: WRITES,
        keys: &[KeyUse::MODIFY],
        since: "2.6.0",
        complexity: "Depends on the script",
        summary: "Runs a Lua script, during which nobody else sees or changes its keys.",
        examples: &[
            "EVAL \"return {KEYS[1], ARGV[1]}\" 1 k v => [\"k\", \"v\"]",
            "EVAL \"return redis.call('INCRBY', KEYS[1], ARGV[1])\" 1 n 5 => (integer) 5",
            "EVAL \"return redis.call('GET', 'n')\" 0 => \"5\"",
            "EVAL \"return redis.call('NOSUCH')\" 0 => (error) ERR ...",
            "EVAL \"return 1\" 1 => (error) ERR Number of keys can't be greater than number of args",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Script(ScriptCall { named: Named::ByText, permit: Permit::Writes }),
    ..Entry::DEFAULT
};

pub(super) const EVAL_RO: Entry = Entry {
    spec: CommandSpec {
        name: "eval_ro",
        synopsis: "script numkeys [key [key ...]] [arg [arg ...]]",
        group: Group::Scripting,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "7.0.0",
        complexity: "Depends on the script",
        summary: "Runs a Lua script that changes nothing.",
        examples: &[
            "SET k v => OK",
            "EVAL_RO \"return redis.call('GET', KEYS[1])\" 1 k => \"v\"",
            "EVAL_RO \"return redis.call('DEL', KEYS[1])\" 1 k => (error) ERR ...",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Script(ScriptCall { named: Named::ByText, permit: Permit::Reads }),
    ..Entry::DEFAULT
};

pub(super) const EVALSHA: Entry = Entry {
    spec: CommandSpec {
        name: "evalsha",
        synopsis: "sha1 numkeys [key [key ...]] [arg [arg ...]]",
        group: Group::Scripting,
        flags: WRITES,
        keys: &[KeyUse::MODIFY],
        since: "2.6.0",
        complexity: "Depends on the script",
        summary: "Runs a Lua script that the server knows, by the SHA-1 of its text.",
        examples: &[
            "SCRIPT LOAD \"return 1\" => \"e0e1f9fabfc9d4800c877a703b823ac0578ff8db\"",
            "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0 => (integer) 1",
            "EVALSHA 00 0 => (error) NOSCRIPT No matching script. Please use EVAL.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Script(ScriptCall { named: Named::BySha, permit: Permit::Writes }),
    ..Entry::DEFAULT
};

pub(super) const EVALSHA_RO: Entry = Entry {
    spec: CommandSpec {
        name: "evalsha_ro",
        synopsis: "sha1 numkeys [key [key ...]] [arg [arg ...]]",
        group: Group::Scripting,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "7.0.0",
        complexity: "Depends on the script",
        summary: "Runs a Lua script that the server knows and that changes nothing.",
        examples: &[
            "SCRIPT LOAD \"return 1\" => \"e0e1f9fabfc9d4800c877a703b823ac0578ff8db\"",
            "EVALSHA_RO e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0 => (integer) 1",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Script(ScriptCall { named: Named::BySha, permit: Permit::Reads }),
    ..Entry::DEFAULT
};
