//! TIME.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group};

pub(super) const TIME: Entry = Entry {
    spec: CommandSpec {
        name: "time",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale, Flag::Fast]),
        since: "2.6.0",
        complexity: "O(1)",
        summary: "Returns the time of the server: seconds since 1970, and microseconds of the second.",
        examples: &["TIME => [(any), (any)]"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(time),
    traits: Traits { is_harmless: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn time(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let now_us = ctx.now_us();
    let mut digits = itoa::Buffer::new();
    reply.array(2);
    reply.bulk(digits.format(now_us / 1_000_000).as_bytes());
    reply.bulk(digits.format(now_us % 1_000_000).as_bytes());
    Ok(Flow::Done)
}
