//! KEYS, RANDOMKEY and DBSIZE: a database as a whole.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Cursor, WalkEnd, WalkLimits};
use basalt_env::Random;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::draws;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_service::walking::{Names, Walking};
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
    let pattern = Pattern::new(args.word(1), Case::Differs);
    let mut walking =
        Walking::resume(context.session.walking.take(), args, Cursor::START, WalkLimits::NONE);
    loop {
        let Walking { at, left, names, rows, .. } = &mut *walking;
        let step = context.walk_keys(*at, left, rows, &mut |key, _| {
            if pattern.matches(key) {
                names.push(key);
            }
        });
        match step {
            Ok(Cursor::START) => break,
            Ok(next) => *at = next,
            Err(end) => return Ok(Flow::Wait(wait_for(context, walking, end))),
        }
    }
    context.gate_reads_of_everything();
    reply_names(&walking.names, reply);
    Ok(Flow::Done)
}

/// The command goes on with its walk when this is over.
pub(super) fn wait_for(context: &mut Context<'_>, walking: Box<Walking>, end: WalkEnd) -> Wait {
    let wait = walking.wait(end);
    context.session.walking = Some(walking);
    wait
}

pub(super) fn reply_names(names: &Names, reply: &mut Reply<'_>) {
    let names = names.iter();
    reply.array(names.len());
    names.for_each(|name| reply.bulk(name));
}

fn randomkey(context: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let mut random = Random::new(draws::draw());
    let key = match context.random_key_within(&mut random) {
        Some(key) => key,
        None => match walk_from_random(context, args, &mut random)? {
            Ok(key) => key,
            Err(wait) => return Ok(Flow::Wait(wait)),
        },
    };
    match key {
        Some(key) => reply.bulk(&key),
        None => reply.null(),
    }
    context.gate_reads_of_everything();
    Ok(Flow::Done)
}

/// The first live key from some place on, over the end if need be; or what to wait for.
fn walk_from_random(
    context: &mut Context<'_>,
    args: &Args<'_>,
    random: &mut Random,
) -> Result<Result<Option<Vec<u8>>, Wait>, CommandError> {
    /// Buckets that are looked at between two looks at the partition's lock.
    const STEP: WalkLimits = WalkLimits { keys: 1, buckets: 256 };
    let left = context.session.walking.take();
    let from = match context.random_place(random) {
        Ok(Some(place)) => place,
        Ok(None) => return Ok(Ok(None)),
        Err(held) => return Ok(Err(Wait::from(held))),
    };
    let mut walking = Walking::resume(left, args, from, STEP);
    loop {
        let Walking { at, left, names, rows, has_wrapped, .. } = &mut *walking;
        *left = STEP;
        let step = context.walk_keys(*at, left, rows, &mut |key, _| names.push(key));
        let last = names.len();
        if last > 0 {
            // A bucket is visited whole.
            let which = random.below(last as u64) as usize;
            return Ok(Ok(names.iter().nth(which).map(<[u8]>::to_vec)));
        }
        match step {
            Ok(Cursor::START) if *has_wrapped => return Ok(Ok(None)),
            Ok(next) => {
                *has_wrapped |= next == Cursor::START;
                *at = next;
            }
            Err(end) => return Ok(Err(wait_for(context, walking, end))),
        }
    }
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
