//! LATENCY: what took long, and how long commands take.

mod graph;

use crate::help::{container, help};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_observe::histogram::Distribution;
use basalt_observe::latency::Series;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::server::Server;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{Command, CommandSpec, Flag, Flags, Group, Subcommands};

pub(super) const LATENCY: Entry = Entry {
    spec: CommandSpec {
        name: "latency",
        group: Group::Server,
        subcommands: Subcommands::Required,
        since: "2.8.13",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about what takes long.",
        examples: &["LATENCY NOSUCH => (error) ERR unknown subcommand 'NOSUCH'. Try LATENCY HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const LATENCY_DOCTOR: Entry = Entry {
    spec: CommandSpec {
        name: "latency|doctor",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.8.13",
        complexity: "O(1)",
        summary: "Says in words what has taken long.",
        examples: &["LATENCY DOCTOR => (any)"],
        tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(doctor),
    ..Entry::DEFAULT
};
pub(super) const LATENCY_GRAPH: Entry = Entry {
    spec: CommandSpec {
        name: "latency|graph",
        synopsis: "event",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.8.13",
        complexity: "O(1)",
        summary: "Draws the latest durations of an event.",
        examples: &["LATENCY GRAPH nosuch => (error) ERR No samples available for event 'nosuch'"],
        tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(graph),
    ..Entry::DEFAULT
};
const HELP: &[&str] = &[
    "DOCTOR",
    "    Say in words what has taken long.",
    "GRAPH <event>",
    "    Draw the latest durations of an event.",
    "HISTORY <event>",
    "    Return the latest durations of an event.",
    "LATEST",
    "    Return the latest duration of each event.",
    "RESET [<event> ...]",
    "    Forget the durations of these events, or of all.",
    "HISTOGRAM [COMMAND ...]",
    "    Return how the durations of commands are distributed, of all commands",
    "    that have run if none is named.",
];

pub(super) const LATENCY_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "latency|help",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "2.8.13",
        complexity: "O(1)",
        summary: "Lists the subcommands of LATENCY.",
        examples: &["LATENCY HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};
pub(super) const LATENCY_HISTOGRAM: Entry = Entry {
    spec: CommandSpec {
        name: "latency|histogram",
        synopsis: "[command [command ...]]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "7.0.0",
        complexity: "O(N) with N commands",
        summary: "Returns how durations of commands are distributed: how many took no longer than each power of two, in microseconds.",
        examples: &["LATENCY HISTOGRAM nosuch => []"],
        tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(histogram),
    ..Entry::DEFAULT
};
pub(super) const LATENCY_HISTORY: Entry = Entry {
    spec: CommandSpec {
        name: "latency|history",
        synopsis: "event",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.8.13",
        complexity: "O(1)",
        summary: "Returns the latest durations of an event.",
        examples: &["LATENCY HISTORY nosuch => []"],
        tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(history),
    ..Entry::DEFAULT
};
pub(super) const LATENCY_LATEST: Entry = Entry {
    spec: CommandSpec {
        name: "latency|latest",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.8.13",
        complexity: "O(1)",
        summary: "Returns the latest duration of each event.",
        examples: &["LATENCY LATEST => []"],
        tips: &["nondeterministic_output", "request_policy:all_nodes", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(latest),
    ..Entry::DEFAULT
};
pub(super) const LATENCY_RESET: Entry = Entry {
    spec: CommandSpec {
        name: "latency|reset",
        synopsis: "[event [event ...]]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Loading, Flag::Stale]),
        since: "2.8.13",
        complexity: "O(1)",
        summary: "Forgets the durations of these events, or of all.",
        examples: &["LATENCY RESET => (any)", "LATENCY RESET nosuch => (integer) 0"],
        tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(reset),
    ..Entry::DEFAULT
};

fn latest(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let events = ctx.server.latency.all();
    reply.array(events.len());
    for (event, series) in events {
        let last = series.latest();
        reply.array(4);
        reply.bulk(event.as_bytes());
        reply.integer(last.unix_s as i64);
        reply.integer(last.ms as i64);
        reply.integer(series.max_ms() as i64);
    }
    Ok(Flow::Done)
}

fn history(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let series = ctx.server.latency.of(args.word(2)).unwrap_or_default();
    reply.array(series.samples().len());
    for sample in series.samples() {
        reply.array(2);
        reply.integer(sample.unix_s as i64);
        reply.integer(sample.ms as i64);
    }
    Ok(Flow::Done)
}

fn reset(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let forgotten = match args.len() {
        2 => ctx.server.latency.reset_all(),
        _ => args.from(2).filter(|event| ctx.server.latency.reset(event)).count(),
    };
    reply.integer(forgotten as i64);
    Ok(Flow::Done)
}

fn graph(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let event = String::from_utf8_lossy(args.word(2)).into_owned();
    let Some(series) = ctx.server.latency.of(args.word(2)) else {
        return Err(CommandError::new(format!("ERR No samples available for event '{event}'")));
    };
    let text = graph::draw(&event, &series, ctx.now_ms / 1000);
    reply.verbatim(*b"txt", text.as_bytes());
    Ok(Flow::Done)
}

fn doctor(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let events = ctx.server.latency.all();
    let threshold_ms = ctx.settings.server.latency_threshold_ms;
    let mut text = String::new();
    if threshold_ms == 0 {
        text.push_str(
            "Nothing is recorded: CONFIG SET latency-monitor-threshold <milliseconds> begins \
             that.\n",
        );
    } else if events.is_empty() {
        text.push_str(&format!("Nothing has taken {threshold_ms} ms or longer.\n"));
    }
    for (number, (event, series)) in events.iter().enumerate() {
        text.push_str(&finding(number + 1, event, series));
    }
    reply.verbatim(*b"txt", text.as_bytes());
    Ok(Flow::Done)
}

/// What is said of one event.
fn finding(number: usize, event: &str, series: &Series) -> String {
    let advice = match event {
        "command" => "SLOWLOG GET shows which commands take long.",
        "fast-command" => {
            "commands that take little time have waited: for a lock, or because the machine has \
             too little CPU time for the process."
        }
        "expire-cycle" => "many keys or fields have expired at once; commands go on meanwhile.",
        "lock-wait" => {
            "keys were held for long, by a script or a transaction: SLOWLOG GET shows which."
        }
        "checkpoint" => {
            "a checkpoint takes as long as there are changes; commands go on meanwhile."
        }
        _ => "the disk is slow, or others use it, too.",
    };
    let count = series.samples().len();
    let sum: u64 = series.samples().map(|sample| sample.ms).sum();
    format!(
        "{number}. {event}: {count} times of late, {} ms on average, {} ms at most: {advice}\n",
        sum / count.max(1) as u64,
        series.max_ms(),
    )
}

fn histogram(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let table = &ctx.server.table;
    let mut commands: Vec<&Command> = Vec::new();
    if args.len() == 2 {
        commands.extend(table.all());
    }
    for word in args.from(2) {
        let Some(command) = table.lookup_full_name(word) else { continue };
        commands.push(command);
        commands.extend(table.subcommands_of(command));
    }
    let place = reply.array_deferred();
    let mut count = 0;
    for command in commands {
        let times = command_times(ctx.server, command);
        if times.count() > 0 {
            count += 1;
            reply.bulk(command.spec.name.as_bytes());
            write_times(&times, reply);
        }
    }
    reply.map_end(place, count);
    Ok(Flow::Done)
}

/// How long calls of a command took.
pub(super) fn command_times(server: &Server, command: &Command) -> Distribution {
    let mut times = Distribution::default();
    for counters in server.all_counters() {
        counters.by_command[command.id.index()].add_times_to(&mut times);
    }
    times
}

fn write_times(times: &Distribution, reply: &mut Reply<'_>) {
    reply.map(2);
    reply.bulk(b"calls");
    reply.integer(times.count() as i64);
    reply.bulk(b"histogram_usec");
    // Cumulative, and only where something is added, as in Redis.
    let place = reply.array_deferred();
    let (mut seen, mut count) = (0, 0);
    for power in 1..=POWERS {
        let shorter = times.shorter_than_power(power);
        if shorter > seen {
            seen = shorter;
            count += 1;
            reply.integer(1 << power);
            reply.integer(shorter as i64);
        }
    }
    reply.map_end(place, count);
}

/// The longest durations that are told apart are 2^27 µs, two minutes.
const POWERS: usize = 27;
