//! EXISTS, TOUCH and TYPE: whether keys are there, and as what.

use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{HeadContent, KeyHead, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const EXISTS: Entry = Entry {
    spec: CommandSpec {
        name: "exists",
        synopsis: "key [key ...]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "1.0.0",
        complexity: "O(N) with N keys",
        summary: "Counts how many of the keys exist; a key given twice counts twice.",
        examples: &["SET a 1 => OK", "EXISTS a => (integer) 1", "EXISTS a a absent => (integer) 2"],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        history: &[("3.0.3", "Several keys in one call.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(exists),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const TOUCH: Entry = Entry {
    spec: CommandSpec {
        name: "touch",
        synopsis: "key [key ...]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "3.2.1",
        complexity: "O(N) with N keys",
        summary: "Marks keys as used just now and returns how many exist.",
        examples: &["SET a 1 => OK", "TOUCH a absent => (integer) 1"],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(touch),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const TYPE: Entry = Entry {
    spec: CommandSpec {
        name: "type",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Tells the type of the value at a key.",
        examples: &["TYPE k => none", "SET k v => OK", "TYPE k => string"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(type_of),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn exists(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let keys = args.keys();
    if keys.len() > 1 {
        view.prefetch(keys);
    }
    let existing = keys.iter().filter(|key| view.head(key).is_some()).count();
    reply.integer(existing as i64);
    Ok(())
}

fn touch(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let keys = args.keys();
    if keys.len() > 1 {
        view.prefetch(keys);
    }
    let touched = keys.iter().filter(|key| view.touch(key)).count();
    reply.integer(touched as i64);
    Ok(())
}

fn type_of(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    match view.head(args.key(0)) {
        Some(KeyHead { content: HeadContent::String(_), .. }) => reply.simple("string"),
        Some(KeyHead { content: HeadContent::Collection(kind), .. }) => reply.simple(kind.name()),
        None => reply.simple("none"),
    }
    Ok(())
}
