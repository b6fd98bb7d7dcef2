//! KEYS, RANDOMKEY and DBSIZE: a database as a whole.

use super::names::Names;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Cursor, WalkLimits};
use basalt_env::Random;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::draws;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group};
use basalt_stdx::glob::{Case, Pattern};

pub(super) const KEYS: Entry = Entry {
    spec: CommandSpec {
        name: "keys",
        synopsis: "pattern",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        acl: Some(Categories::of(&[Category::Dangerous, Category::Keyspace])),
        since: "1.0.0",
        complexity: "O(N) with N keys in the database",
        summary: "Returns the names of all keys that match a pattern.",
        examples: &[
            "MSET one 1 two 2 three 3 => OK",
            r#"KEYS t* => {"two", "three"}"#,
            r#"KEYS ??? => {"one", "two"}"#,
            r#"KEYS [^t]* => ["one"]"#,
            "KEYS x* => []",
        ],
        tips: &["request_policy:all_shards", "nondeterministic_output_order"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(keys),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const RANDOMKEY: Entry = Entry {
    spec: CommandSpec {
        name: "randomkey",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Returns the name of some key, nil if there is none.",
        examples: &["RANDOMKEY => (nil)", "SET k v => OK", r#"RANDOMKEY => "k""#],
        tips: &["request_policy:all_shards", "nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(randomkey),
    ..Entry::DEFAULT
};

pub(super) const DBSIZE: Entry = Entry {
    spec: CommandSpec {
        name: "dbsize",
        group: Group::Server,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        acl: Some(Categories::of(&[Category::Keyspace])),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Counts the keys of the selected database.",
        examples: &["DBSIZE => (integer) 0", "MSET a 1 b 2 => OK", "DBSIZE => (integer) 2"],
        tips: &["request_policy:all_shards", "response_policy:agg_sum"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(dbsize),
    ..Entry::DEFAULT
};

fn keys(context: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let incomplete = match context.incomplete() {
        Ok(incomplete) => incomplete,
        Err(held) => return Ok(Flow::Wait(Wait::from(held))),
    };
    if !incomplete.is_empty() {
        return Ok(Flow::Wait(Wait::Partitions(incomplete)));
    }
    let pattern = Pattern::new(args.word(1), Case::Differs);
    let mut names = Names::default();
    let mut at = Cursor::START;
    loop {
        let step = context.scan(at, WalkLimits::NONE, |key, _| {
            if pattern.matches(key) {
                names.push(key);
            }
        });
        match step {
            Ok(Cursor::START) => break,
            Ok(next) => at = next,
            Err(end) => return Ok(Flow::Wait(Wait::from(end))),
        }
    }
    context.gate_reads_of_everything();
    names.reply(reply);
    Ok(Flow::Done)
}

fn randomkey(context: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let mut random = Random::new(draws::draw());
    match context.random_key(&mut random) {
        Ok(Some(key)) => reply.bulk(&key),
        Ok(None) => reply.null(),
        Err(end) => return Ok(Flow::Wait(Wait::from(end))),
    }
    context.gate_reads_of_everything();
    Ok(Flow::Done)
}

fn dbsize(context: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let totals = match context.totals() {
        Ok(totals) => totals,
        Err(held) => return Ok(Flow::Wait(Wait::from(held))),
    };
    context.gate_reads_of_everything();
    reply.integer(totals.keys as i64);
    Ok(Flow::Done)
}
