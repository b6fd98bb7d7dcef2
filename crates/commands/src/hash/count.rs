//! HOT PATH
//! HEXISTS, HLEN and HSTRLEN.

use basalt_call::entry::{Entry, Run};
use basalt_engine::Point;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::Hash;
use basalt_value::item::Item;

const READS: Flags = Flags::of(&[Flag::Readonly, Flag::Fast]);

pub(super) const HEXISTS: Entry = Entry {
    spec: CommandSpec {
        name: "hexists",
        synopsis: "key field",
        group: Group::Hash,
        flags: READS,
        keys: &[KeyUse::INSPECT],
        since: "2.0.0",
        complexity: "O(1)",
        summary: "Tells whether a hash has a field.",
        examples: &[
            "HSET h a 1 => (integer) 1",
            "HEXISTS h a => (integer) 1",
            "HEXISTS h b => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(hexists),
    ..Entry::DEFAULT
};

pub(super) const HLEN: Entry = Entry {
    spec: CommandSpec {
        name: "hlen",
        synopsis: "key",
        group: Group::Hash,
        flags: READS,
        keys: &[KeyUse::INSPECT],
        since: "2.0.0",
        complexity: "O(1), O(N) with N fields that have expired and are not yet removed",
        summary: "Returns the number of fields of a hash.",
        examples: &["HSET h a 1 b 2 => (integer) 2", "HLEN h => (integer) 2"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(hlen),
    ..Entry::DEFAULT
};

pub(super) const HSTRLEN: Entry = Entry {
    spec: CommandSpec {
        name: "hstrlen",
        synopsis: "key field",
        group: Group::Hash,
        flags: READS,
        keys: &[KeyUse::INSPECT],
        since: "3.2.0",
        complexity: "O(1)",
        summary: "Returns the length in bytes of the value of a field of a hash.",
        examples: &["HSET h a hello => (integer) 1", "HSTRLEN h a => (integer) 5"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(hstrlen),
    ..Entry::DEFAULT
};

fn hexists(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let hash = point.collection::<Hash>()?;
    let name = Item::of(args.word(2));
    reply.integer(hash.is_some_and(|hash| hash.field(name, point.now_ms()).is_some()).into());
    Ok(())
}

fn hlen(point: &Point<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let hash = point.collection::<Hash>()?;
    reply.integer(hash.map_or(0, |hash| hash.len_at(point.now_ms())) as i64);
    Ok(())
}

fn hstrlen(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let hash = point.collection::<Hash>()?;
    let name = Item::of(args.word(2));
    let field = hash.and_then(|hash| hash.field(name, point.now_ms()));
    reply.integer(field.map_or(0, |field| field.value.spelled_bytes()) as i64);
    Ok(())
}
