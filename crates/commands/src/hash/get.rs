//! HOT PATH
//! HGET, HMGET, HGETALL, HKEYS and HVALS.

use super::{reply_item, reply_value};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Point, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::Hash;
use basalt_value::item::Item;

const READS: Flags = Flags::of(&[Flag::Readonly]);
const READS_FAST: Flags = Flags::of(&[Flag::Readonly, Flag::Fast]);

pub(super) const HGET: Entry = Entry {
    spec: CommandSpec {
        name: "hget",
        synopsis: "key field",
        group: Group::Hash,
        flags: READS_FAST,
        keys: &[KeyUse::READ],
        since: "2.0.0",
        complexity: "O(1)",
        summary: "Returns the value of a field of a hash.",
        examples: &["HSET h a 1 => (integer) 1", r#"HGET h a => "1""#, "HGET h b => (nil)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(hget),
    ..Entry::DEFAULT
};

pub(super) const HMGET: Entry = Entry {
    spec: CommandSpec {
        name: "hmget",
        synopsis: "key field [field ...]",
        group: Group::Hash,
        flags: READS_FAST,
        keys: &[KeyUse::READ],
        since: "2.0.0",
        complexity: "O(1) a field",
        summary: "Returns the values of several fields of a hash.",
        examples: &["HSET h a 1 b 2 => (integer) 2", r#"HMGET h a c b => ["1", (nil), "2"]"#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(hmget),
    ..Entry::DEFAULT
};

pub(super) const HGETALL: Entry = Entry {
    spec: CommandSpec {
        name: "hgetall",
        synopsis: "key",
        group: Group::Hash,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "2.0.0",
        complexity: "O(N) with N fields",
        summary: "Returns all fields of a hash and their values.",
        examples: &["HSET h a 1 => (integer) 1", r#"HGETALL h => ["a", "1"]"#],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(hgetall),
    traits: Traits::WHOLE,
    ..Entry::DEFAULT
};

pub(super) const HKEYS: Entry = Entry {
    spec: CommandSpec {
        name: "hkeys",
        synopsis: "key",
        group: Group::Hash,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "2.0.0",
        complexity: "O(N) with N fields",
        summary: "Returns the names of all fields of a hash.",
        examples: &["HSET h a 1 b 2 => (integer) 2", r#"HKEYS h => {"a", "b"}"#],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(hkeys),
    traits: Traits::WHOLE,
    ..Entry::DEFAULT
};

pub(super) const HVALS: Entry = Entry {
    spec: CommandSpec {
        name: "hvals",
        synopsis: "key",
        group: Group::Hash,
        flags: READS,
        keys: &[KeyUse::READ],
        since: "2.0.0",
        complexity: "O(N) with N fields",
        summary: "Returns the values of all fields of a hash.",
        examples: &["HSET h a 1 b 2 => (integer) 2", r#"HVALS h => {"1", "2"}"#],
        tips: &["nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(hvals),
    traits: Traits::WHOLE,
    ..Entry::DEFAULT
};

fn hget(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let hash = point.collection::<Hash>()?;
    let name = Item::of(args.word(2));
    reply_value(hash.and_then(|hash| hash.field(name, point.now_ms())), reply);
    Ok(())
}

fn hmget(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let hash = point.collection::<Hash>()?;
    reply.array(args.len() - 2);
    for name in args.from(2) {
        reply_value(hash.and_then(|hash| hash.field(Item::of(name), point.now_ms())), reply);
    }
    Ok(())
}

fn hgetall(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(hash) = view.collection::<Hash>(args.key(0))? else {
        reply.map(0);
        return Ok(());
    };
    reply.map(hash.len_at(view.now_ms()));
    hash.visit(view.now_ms(), |field| {
        reply_item(field.name, reply);
        reply_item(field.value, reply);
    });
    Ok(())
}

fn hkeys(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(hash) = view.collection::<Hash>(args.key(0))? else {
        reply.array(0);
        return Ok(());
    };
    reply.array(hash.len_at(view.now_ms()));
    hash.visit(view.now_ms(), |field| reply_item(field.name, reply));
    Ok(())
}

fn hvals(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(hash) = view.collection::<Hash>(args.key(0))? else {
        reply.array(0);
        return Ok(());
    };
    reply.array(hash.len_at(view.now_ms()));
    hash.visit(view.now_ms(), |field| reply_item(field.value, reply));
    Ok(())
}
