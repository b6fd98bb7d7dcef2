//! WAIT and WAITAOF: has what was written been written elsewhere, is it on disk?

use crate::number::integer;
use crate::timeout::milliseconds;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Attempt, CommitLog, Fate, Gate, ShardSet};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group, Kind, at};

pub(super) const WAIT: Entry = Entry {
    spec: CommandSpec {
        name: "wait",
        synopsis: "numreplicas timeout",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Noscript]),
        acl: Some(Categories::of(&[Category::Connection])),
        overrides: &[at("timeout").kind(Kind::Integer)],
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Waits until replicas have what was written; as there are none, until its time is over.",
        examples: &[
            "WAIT 0 0 => (integer) 0",
            "WAIT 1 1 => (integer) 0",
            "WAIT x 1 => (error) ERR value is not an integer or out of range",
            "WAIT 1 -1 => (error) ERR timeout is negative",
        ],
        tips: &["request_policy:all_shards", "response_policy:agg_min"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(wait),
    ..Entry::DEFAULT
};
pub(super) const WAITAOF: Entry = Entry {
    spec: CommandSpec {
        name: "waitaof",
        synopsis: "numlocal numreplicas timeout",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Noscript]),
        acl: Some(Categories::of(&[Category::Connection])),
        overrides: &[at("numlocal").kind(Kind::Integer), at("timeout").kind(Kind::Integer)],
        since: "7.2.0",
        complexity: "O(1)",
        summary: "Waits until what was written is on disk here, and on that of replicas.",
        examples: &[
            "WAITAOF 1 0 0 => [(integer) 1, (integer) 0]",
            "WAITAOF 0 1 1 => [(any), (integer) 0]",
            "WAITAOF 2 0 0 => (error) ERR value is out of range, value must between 0 and 1",
            "WAITAOF 0 -1 0 => (error) ERR value is out of range, must be positive",
        ],
        tips: &["request_policy:all_shards", "response_policy:agg_min"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(wait_for_disk),
    ..Entry::DEFAULT
};

fn wait(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let replicas = integer(args.word(1))?;
    let time = milliseconds(args.word(2))?;
    let clock = ctx.server.engine.clock();
    if replicas > 0 && ctx.runs_alone && ctx.session.attempt(clock) != Attempt::Last {
        return Ok(Flow::Wait(ctx.session.stand_by(clock, time, Gate::default())));
    }
    ctx.session.end_standing_by();
    reply.integer(0);
    Ok(Flow::Done)
}

fn wait_for_disk(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    const LOCAL: CommandError =
        CommandError::fixed("ERR value is out of range, value must between 0 and 1");
    const REPLICAS: CommandError =
        CommandError::fixed("ERR value is out of range, must be positive");
    let local = integer(args.word(1))?;
    if !(0..=1).contains(&local) {
        return Err(LOCAL);
    }
    let replicas = integer(args.word(2)).ok().filter(|&count| count >= 0).ok_or(REPLICAS)?;
    let time = milliseconds(args.word(3))?;
    let log = ctx.server.engine.log();
    let clock = ctx.server.engine.clock();
    let mut on_disk = match &ctx.session.waiting {
        Some(waiting) => waiting.on_disk.clone(),
        None => everything_on_disk(log),
    };
    let fate = on_disk.poll(log);
    let synced = i64::from(fate == Fate::Acknowledged);
    let is_enough = synced >= local && replicas == 0;
    if !is_enough && ctx.runs_alone && ctx.session.attempt(clock) != Attempt::Last {
        if let Some(error) = CommandError::of_outcome(fate) {
            ctx.session.end_standing_by();
            return Err(error);
        }
        return Ok(Flow::Wait(ctx.session.stand_by(clock, time, on_disk)));
    }
    ctx.session.end_standing_by();
    reply.array(2);
    reply.integer(synced);
    reply.integer(0);
    Ok(Flow::Done)
}

/// What to wait for until all that has been written so far is on disk.
fn everything_on_disk(log: &dyn CommitLog) -> Gate {
    let mut latest = Gate::default();
    log.latest(ShardSet::ALL, &mut latest);
    latest.demanded_on_disk(log)
}
