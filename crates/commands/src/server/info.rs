//! INFO: sections of `name:value` lines.

mod commands;
mod keysizes;
mod keyspace;
mod lines;
mod memory;
mod persistence;
mod replication;
mod server;
mod stats;
mod tier;

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_config::Settings;
use basalt_engine::{Census, Held, LockWait};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::clients::ClientHandle;
use basalt_service::server::Server;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group};
use lines::Lines;
use std::cell::{Cell, OnceCell};
use std::sync::Arc;

pub(super) const INFO: Entry = Entry {
    spec: CommandSpec {
        name: "info",
        synopsis: "[section [section ...]]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        acl: Some(Categories::of(&[Category::Dangerous])),
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Describes the server in sections of name:value lines.",
        examples: &["INFO => (any)", "INFO server memory => (any)", r#"INFO nosuch => """#],
        tips: &["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
        history: &[("7.0.0", "Several sections in one call.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(info),
    traits: Traits { locks_partitions: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

/// What sections are written from. What takes a walk is gathered once, and only if it is asked for.
struct Source<'a> {
    server: &'a Server,
    settings: &'a Settings,
    now_ms: u64,
    lock_wait: LockWait,
    census: OnceCell<Census>,
    /// A partition is held for long: what has been written is not true.
    held: Cell<bool>,
    clients: OnceCell<Vec<Arc<ClientHandle>>>,
}

impl Source<'_> {
    fn census(&self) -> &Census {
        self.census.get_or_init(|| {
            self.server.engine.census(self.lock_wait).unwrap_or_else(|Held| {
                self.held.set(true);
                Census::default()
            })
        })
    }

    /// How many keys clients wait for, and how many of which they await the end.
    fn keys_waited_for(&self) -> (usize, usize) {
        self.server.engine.keys_waited_for(self.lock_wait).unwrap_or_else(|Held| {
            self.held.set(true);
            (0, 0)
        })
    }

    fn clients(&self) -> &[Arc<ClientHandle>] {
        self.clients.get_or_init(|| self.server.clients.all())
    }
}

/// A section: its title, which calls get it without its name, and what writes it.
struct Section {
    title: &'static str,
    part_of: PartOf,
    write: fn(&Source<'_>, &mut Lines),
}

/// The smallest of Redis' words that includes a section.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PartOf {
    /// `default`, and thus also the others.
    Default,
    /// `all`
    All,
    /// `everything`
    Everything,
}

/// In the order in which they are shown.
const SECTIONS: &[Section] = &[
    Section { title: "Server", part_of: PartOf::Default, write: server::server },
    Section { title: "Clients", part_of: PartOf::Default, write: server::clients },
    Section { title: "Memory", part_of: PartOf::Default, write: memory::memory },
    Section { title: "Persistence", part_of: PartOf::Default, write: persistence::persistence },
    Section { title: "Stats", part_of: PartOf::Default, write: stats::stats },
    Section { title: "Replication", part_of: PartOf::Default, write: replication::replication },
    Section { title: "CPU", part_of: PartOf::Default, write: server::cpu },
    Section { title: "Modules", part_of: PartOf::Default, write: |_, _| () },
    Section { title: "Commandstats", part_of: PartOf::All, write: commands::command_stats },
    Section { title: "Errorstats", part_of: PartOf::Default, write: commands::error_stats },
    Section { title: "Latencystats", part_of: PartOf::All, write: commands::latency_stats },
    Section { title: "Cluster", part_of: PartOf::Default, write: replication::cluster },
    Section { title: "Keyspace", part_of: PartOf::Default, write: keyspace::keyspace },
    Section { title: "Keysizes", part_of: PartOf::Everything, write: keysizes::keysizes },
    Section { title: "Tier", part_of: PartOf::Everything, write: tier::tier },
];

fn info(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let source = Source {
        server: ctx.server,
        settings: ctx.settings,
        now_ms: ctx.now_ms,
        lock_wait: ctx.lock_wait,
        census: OnceCell::new(),
        held: Cell::new(false),
        clients: OnceCell::new(),
    };
    let mut lines = Lines::default();
    for section in SECTIONS.iter().filter(|section| section.is_asked_for(args)) {
        lines.title(section.title);
        (section.write)(&source, &mut lines);
    }
    if source.held.get() {
        return Ok(Flow::Wait(Wait::Held));
    }
    reply.verbatim(*b"txt", lines.text().as_bytes());
    Ok(Flow::Done)
}

impl Section {
    fn is_asked_for(&self, args: &Args<'_>) -> bool {
        if args.len() == 1 {
            return self.part_of == PartOf::Default;
        }
        (1..args.len()).any(|at| {
            let part_of = [
                ("default", PartOf::Default),
                ("all", PartOf::All),
                ("everything", PartOf::Everything),
            ];
            let word = part_of.into_iter().find(|(word, _)| args.is(at, word));
            match word {
                Some((_, part_of)) => self.part_of <= part_of,
                None => args.is(at, self.title),
            }
        })
    }
}
