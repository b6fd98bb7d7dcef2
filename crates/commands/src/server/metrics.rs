//! METRICS: a report for monitoring systems, which HTTP serves under `/metrics`.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_observe::exposition::Form;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group};
use std::sync::Arc;

pub(super) const METRICS: Entry = Entry {
    spec: CommandSpec {
        name: "metrics",
        synopsis: "[OPENMETRICS]",
        group: Group::Server,
        // The rights of INFO: it tells as much. It needs no partition, and answers beside a script.
        flags: Flags::of(&[Flag::Loading, Flag::Stale, Flag::Noscript, Flag::AllowBusy]),
        acl: Some(Categories::of(&[Category::Dangerous])),
        since: "7.2.4",
        complexity: "O(1); the text is written on a thread of its own, at most once a second",
        summary: "Describes the server in the text format of Prometheus, or in OpenMetrics. Basalt's own.",
        examples: &["METRICS nosuch => (error) ERR syntax error"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(metrics),
    ..Entry::DEFAULT
};

/// Waits for a report, unless there is one that is young enough.
fn metrics(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let form = match args.len() {
        1 => Form::Prometheus,
        2 if args.is(1, "openmetrics") => Form::OpenMetrics,
        _ => return Err(CommandError::SYNTAX),
    };
    let reports = &ctx.server.reports;
    match reports.latest(form, ctx.server.env.clock.now()) {
        Some(text) => {
            reply.bulk_shared(text);
            Ok(Flow::Done)
        }
        None => Ok(Flow::Wait(Wait::Report(Arc::clone(reports), form))),
    }
}
