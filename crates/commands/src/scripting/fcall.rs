//! FCALL and FCALL_RO: functions of libraries.

use basalt_call::entry::{Entry, Named, Permit, Run, ScriptCall};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

const LOAD: &str = "FUNCTION LOAD \"#!lua name=l\\nredis.register_function{function_name='f', \
                    callback=function(keys, args) return {keys[1], args[1]} end, flags={'no-writes'}}\" \
                    => \"l\"";

pub(super) const FCALL: Entry = Entry {
    spec: CommandSpec {
        name: "fcall",
        synopsis: "function numkeys [key [key ...]] [arg [arg ...]]",
        group: Group::Scripting,
        flags: Flags::of(&[
            Flag::Noscript,
            Flag::Stale,
            Flag::SkipMonitor,
            Flag::NoMandatoryKeys,
            Flag::MayReplicate,
        ]),
        keys: &[KeyUse::MODIFY],
        since: "7.0.0",
        complexity: "Depends on the function",
        summary: "Runs a function, during which nobody else sees or changes its keys.",
        examples: &[
            LOAD,
            "FCALL f 1 k v => [\"k\", \"v\"]",
            "FCALL nosuch 0 => (error) ERR Function not found",
            "FCALL f x => (error) ERR Bad number of keys provided",
            "FCALL f 2 k => (error) ERR Number of keys can't be greater than number of args",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Script(ScriptCall { named: Named::ByFunction, permit: Permit::Writes }),
    ..Entry::DEFAULT
};

pub(super) const FCALL_RO: Entry = Entry {
    spec: CommandSpec {
        name: "fcall_ro",
        synopsis: "function numkeys [key [key ...]] [arg [arg ...]]",
        group: Group::Scripting,
        flags: Flags::of(&[
            Flag::Readonly,
            Flag::Noscript,
            Flag::Stale,
            Flag::SkipMonitor,
            Flag::NoMandatoryKeys,
        ]),
        keys: &[KeyUse::READ],
        since: "7.0.0",
        complexity: "Depends on the function",
        summary: "Runs a function that changes nothing.",
        examples: &[
            LOAD,
            "FCALL_RO f 1 k v => [\"k\", \"v\"]",
            "FUNCTION LOAD REPLACE \"#!lua name=l\\nredis.register_function('f', function() end)\" => \"l\"",
            "FCALL_RO f 0 => (error) ERR Can not execute a script with write flag using *_ro command.",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Script(ScriptCall { named: Named::ByFunction, permit: Permit::Reads }),
    ..Entry::DEFAULT
};
