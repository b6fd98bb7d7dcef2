//! MEMORY: how much is used, by what.

use crate::help::{container, help};
use crate::number::integer;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Subcommands};
use std::sync::atomic::Ordering::Relaxed;

pub(super) const MEMORY: Entry = Entry {
    spec: CommandSpec {
        name: "memory",
        group: Group::Server,
        subcommands: Subcommands::Required,
        since: "4.0.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about memory.",
        examples: &["MEMORY NOSUCH => (error) ERR unknown subcommand 'NOSUCH'. Try MEMORY HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const MEMORY_DOCTOR: Entry = Entry {
    spec: CommandSpec {
        name: "memory|doctor",
        group: Group::Server,
        since: "4.0.0",
        complexity: "O(1)",
        summary: "Says in words what is conspicuous about the use of memory.",
        examples: &["MEMORY DOCTOR => (any)"],
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(doctor),
    ..Entry::DEFAULT
};
const HELP: &[&str] = &[
    "DOCTOR",
    "    Say in words what is conspicuous about the use of memory.",
    "MALLOC-STATS",
    "    Return the statistics of the allocator.",
    "PURGE",
    "    Have the allocator return memory.",
    "STATS",
    "    Tell how much memory is used by what.",
    "USAGE <key> [SAMPLES <count>]",
    "    Return the bytes that a key and its value take. All of the value is",
    "    counted, whatever SAMPLES says.",
];

pub(super) const MEMORY_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "memory|help",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "4.0.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of MEMORY.",
        examples: &["MEMORY HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};
pub(super) const MEMORY_MALLOC_STATS: Entry = Entry {
    spec: CommandSpec {
        name: "memory|malloc-stats",
        group: Group::Server,
        since: "4.0.0",
        complexity: "O(1)",
        summary: "Returns the statistics of the allocator, which is built without them.",
        examples: &["MEMORY MALLOC-STATS => \"Stats not supported for the current allocator\""],
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(malloc_stats),
    ..Entry::DEFAULT
};
pub(super) const MEMORY_PURGE: Entry = Entry {
    spec: CommandSpec {
        name: "memory|purge",
        group: Group::Server,
        since: "4.0.0",
        complexity: "O(N) with N bytes that are free",
        summary: "Has the allocator return what is free to the system, which it does by itself after a second.",
        examples: &["MEMORY PURGE => OK"],
        tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(purge),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};
pub(super) const MEMORY_STATS: Entry = Entry {
    spec: CommandSpec {
        name: "memory|stats",
        group: Group::Server,
        since: "4.0.0",
        complexity: "O(1)",
        summary: "Tells how much memory is used by what.",
        examples: &["MEMORY STATS => (any)"],
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(stats),
    traits: Traits { locks_partitions: true, ..Traits::NONE },
    ..Entry::DEFAULT
};
pub(super) const MEMORY_USAGE: Entry = Entry {
    spec: CommandSpec {
        name: "memory|usage",
        synopsis: "key [SAMPLES count]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::INSPECT],
        since: "4.0.0",
        complexity: "O(1)",
        summary: "Tells how many bytes of memory a key and its value take. All of the value is counted, whatever SAMPLES says.",
        examples: &[
            "MEMORY USAGE k => (nil)",
            "SET k v => OK",
            "MEMORY USAGE k => (any)",
            "MEMORY USAGE k SAMPLES -1 => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(usage),
    traits: Traits { inspects_keys: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn usage(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let mut at = 3;
    while at < args.len() {
        if !args.is(at, "samples") || at + 1 >= args.len() || integer(args.word(at + 1))? < 0 {
            return Err(CommandError::SYNTAX);
        }
        at += 2;
    }
    match view.inspect(args.key(0)) {
        Some(object) => reply.integer(object.memory_bytes() as i64),
        None => reply.null(),
    }
    Ok(())
}

fn purge(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    ctx.server.host.give_memory_back();
    reply.ok();
    Ok(Flow::Done)
}

fn malloc_stats(_: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    reply.bulk(b"Stats not supported for the current allocator");
    Ok(Flow::Done)
}

/// A figure of MEMORY STATS.
enum Figure {
    Count(u64),
    Difference(i64),
    Ratio(f64),
}

fn stats(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    use Figure::{Count, Difference, Ratio};
    let server = ctx.server;
    let Ok(census) = server.engine.census(ctx.lock_wait) else {
        return Ok(Flow::Wait(Wait::Held));
    };
    let (memory, host) = (census.memory, server.host.memory());
    let used = memory.bytes_used();
    let dataset = memory.entry_bytes + memory.apart_bytes;
    let peak = server.memory_bytes_peak.load(Relaxed).max(used);
    let keys: u64 = census.databases.iter().map(|totals| totals.keys).sum();
    let clients: u64 = server.clients.all().iter().map(|client| client.buffer_bytes()).sum();
    let ratio = |part: u64, whole: u64| Ratio(part as f64 / whole.max(1) as f64);
    let percent = |part: u64, whole: u64| Ratio(part as f64 * 100.0 / whole.max(1) as f64);
    let difference = |more: u64, less: u64| Difference(more as i64 - less as i64);
    let figures = [
        ("peak.allocated", Count(peak)),
        ("total.allocated", Count(used)),
        ("startup.allocated", Count(0)),
        ("replication.backlog", Count(0)),
        ("clients.slaves", Count(0)),
        ("clients.normal", Count(clients)),
        ("cluster.links", Count(0)),
        ("aof.buffer", Count(server.host.journal_buffer_bytes())),
        ("lua.caches", Count(server.scripts.known.text_bytes() as u64)),
        ("functions.caches", Count(server.scripts.functions.now().text_bytes() as u64)),
        ("overhead.total", Count(used.saturating_sub(dataset))),
        ("keys.count", Count(keys)),
        ("keys.bytes-per-key", Count(dataset / keys.max(1))),
        ("dataset.bytes", Count(dataset)),
        ("dataset.percentage", percent(dataset, used)),
        ("peak.percentage", percent(used, peak)),
        ("allocator.allocated", Count(host.allocated)),
        ("allocator.active", Count(host.active)),
        ("allocator.resident", Count(host.resident)),
        ("allocator-fragmentation.ratio", ratio(host.active, host.allocated)),
        ("allocator-fragmentation.bytes", difference(host.active, host.allocated)),
        ("allocator-rss.ratio", ratio(host.resident, host.active)),
        ("allocator-rss.bytes", difference(host.resident, host.active)),
        ("rss-overhead.ratio", ratio(host.rss, host.resident)),
        ("rss-overhead.bytes", difference(host.rss, host.resident)),
        ("fragmentation", ratio(host.rss, used)),
        ("fragmentation.bytes", difference(host.rss, used)),
    ];
    reply.map(figures.len());
    for (name, figure) in figures {
        reply.bulk(name.as_bytes());
        match figure {
            Count(count) => reply.integer(count as i64),
            Difference(bytes) => reply.integer(bytes),
            Ratio(ratio) => reply.double(ratio),
        }
    }
    Ok(Flow::Done)
}

/// Memory below which there is nothing to say.
const LITTLE_BYTES: u64 = 5 << 20;
/// Use of memory against its peak, in percent, below which much has been given back.
const PEAK_PERCENT: u64 = 66;
/// Bytes that clients' buffers take on average before they are conspicuous.
const CLIENT_BYTES: u64 = 200 << 10;

fn doctor(ctx: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let server = ctx.server;
    let Ok(census) = server.engine.census(ctx.lock_wait) else {
        return Ok(Flow::Wait(Wait::Held));
    };
    let used = census.memory.bytes_used();
    let (limit, resident) = (ctx.settings.memory.memory_bytes_max, server.host.memory().rss);
    let peak = server.memory_bytes_peak.load(Relaxed).max(used);
    let clients = server.clients.all();
    let buffers: u64 = clients.iter().map(|client| client.buffer_bytes()).sum();
    let mut findings = Vec::new();
    if used >= LITTLE_BYTES && used * 100 < peak * PEAK_PERCENT {
        findings.push("The peak of memory use was much higher than now: pages may be sparse.");
    }
    if limit != 0 && resident > limit {
        findings.push("The process takes more than maxmemory: see memory_part_* in INFO memory.");
    }
    if server.is_out_of_memory(ctx.settings) {
        findings.push("The keyspace takes all that maxmemory leaves it: commands may be refused.");
    }
    if buffers > CLIENT_BYTES * clients.len().max(1) as u64 {
        findings.push("The clients' buffers are large: look at CLIENT LIST for slow readers.");
    }
    let text = match (used < LITTLE_BYTES, findings.is_empty()) {
        (_, false) => findings.join("\n"),
        (true, true) => "There is so little data that nothing can be said of its memory.".into(),
        (false, true) => "Nothing is conspicuous about the use of memory.".to_owned(),
    };
    reply.verbatim(*b"txt", format!("{text}\n").as_bytes());
    Ok(Flow::Done)
}
