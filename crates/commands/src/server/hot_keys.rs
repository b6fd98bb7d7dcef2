//! HOTKEYS: which keys are used most.

use super::key_report::{Extent, KeyReport};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group};
use std::cmp::Reverse;

pub(super) const HOTKEYS: Entry = Entry {
    spec: CommandSpec {
        name: "hotkeys",
        synopsis: "[COUNT count] [SAMPLES samples]",
        group: Group::Server,
        // It shows names of keys whatever patterns its user has.
        flags: Flags::of(&[Flag::Admin, Flag::Noscript]),
        acl: Some(Categories::of(&[Category::Keyspace])),
        since: "7.2.4",
        complexity: "O(N) with N samples, 100000 unless told, at most 1000000",
        summary: "Tells which keys of the selected database are used most, of a sample of those in memory: by the frequency that OBJECT FREQ knows, then by the seconds since the last use. Basalt's own.",
        examples: &[
            "HOTKEYS => [\"keys\", (integer) 0, \"sampled\", (integer) 0, \"hotkeys\", []]",
            "SET k v => OK",
            "HOTKEYS COUNT 1 => (any)",
            "HOTKEYS COUNT 0 => (error) ERR COUNT must be between 1 and 1000",
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(hot_keys),
    traits: Traits { locks_partitions: true, ..Traits::LONG },
    ..Entry::DEFAULT
};

fn hot_keys(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let mut extent = Extent::DEFAULT;
    for at in (1..args.len()).step_by(2) {
        if !extent.read(args, at)? {
            return Err(CommandError::SYNTAX);
        }
    }
    let now_s = (ctx.now_ms / 1000) as u32;
    let report = KeyReport::make(ctx, extent, |object| {
        let access = object.access();
        let (frequency, idle_s) = (access.frequency(now_s), access.idle_seconds(now_s));
        Some(((frequency, Reverse(idle_s)), (frequency, idle_s)))
    });
    let Ok(report) = report else { return Ok(Flow::Wait(Wait::Held)) };
    report.reply("hotkeys", 2, reply, |(frequency, idle_s), reply| {
        reply.bulk(b"frequency");
        reply.integer(frequency.into());
        reply.bulk(b"idle_seconds");
        reply.integer(idle_s.into());
    });
    Ok(Flow::Done)
}
