//! Two servers, one machine, the same load: `basalt compare`.
//!
//! One server is alive at a time. With both alive, the background work of the one that is not being
//! loaded (a checkpoint, a rewrite of the append-only file) would run on the core of the one that
//! is, and they would share the cache. A *round* is one life of each side: empty directory, start,
//! fill, wait until it is quiet, all tests, stop. Sides take turns at going first, so that a
//! machine that gets slower or faster in the course of the comparison favours neither.
//!
//! The server's CPU time counts all its threads; that of its children (redis-server forks to
//! rewrite its append-only file) is shown apart, and so is what is left to do when the load has
//! ended.

mod absences;
mod beside;
mod cell;
mod cli;
mod figures;
mod flush;
mod http;
mod info;
mod made;
mod memory;
mod memory_group;
mod memory_types;
mod nginx;
mod paced;
mod peer;
mod probe;
mod queue;
mod restart;
mod scenario;
mod scripting;
mod server;
mod shaking;
mod suite;
mod surface;
mod table;
mod tail;
mod tier;
mod types;
mod wrk;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tempfile::TempDir;

pub(crate) use crate::compare::cli::CompareArgs;

use crate::compare::beside::{Burden, Course};
use crate::compare::cli::{CommonArgs, Defaults, Side, Suite};
use crate::compare::server::{Contender, Server, Setting};
use crate::error::BenchError;
use crate::machine::{Machine, file_system};
use crate::progress::Display;
use crate::report;
use crate::server_info::ServerInfo;

const BOTH: &[Side] = &[Side::Basalt, Side::Redis];
const PINNED: Defaults = Defaults { pinned: true, sides: BOTH };
const FREE: Defaults = Defaults { pinned: false, sides: BOTH };
const PINNED_ALONE: Defaults = Defaults { pinned: true, sides: &[Side::Basalt] };
const ALONE: Defaults = Defaults { pinned: false, sides: &[Side::Basalt] };

/// Runs the suite that was asked for.
pub(crate) fn run(args: &CompareArgs) -> Result<(), BenchError> {
    match &args.suite {
        Suite::Cpu { common, appendfsync, requests, keys, tls, always, only } => {
            let mut cells = cell::cpu_cells(*requests, *keys);
            keep(&mut cells, only.as_slice(), |cell| cell.name);
            let mut arena = Arena::new("cpu", common, PINNED, appendfsync.name())?;
            arena.contenders = match (*tls, *always) {
                (true, _) => beside_tls(&arena.contenders),
                (false, true) => beside_always(&arena.contenders),
                (false, false) => arena.contenders,
            };
            suite::run(&arena, &cells)
        }
        Suite::Always { common, requests, keys } => {
            let cells = cell::always_cells(*requests, *keys);
            suite::run(&Arena::new("always", common, FREE, "always")?, &cells)
        }
        Suite::Memory { common, keys, value_bytes } => {
            let fillings = memory::fillings(value_bytes, *keys);
            memory::run(&Arena::new("memory", common, PINNED, "everysec")?, &fillings)
        }
        Suite::Types { common, requests, elements, only } => {
            let mut cells = types::cells(*requests, *elements);
            keep(&mut cells, only, |cell| cell.name);
            types::run(&Arena::new("types", common, PINNED, "everysec")?, &cells)
        }
        Suite::Surface { common, requests, keys, only } => {
            run_surface(common, surface::Amount { requests: *requests, keys: *keys }, only)
        }
        Suite::MemoryTypes { common, scale, only } => {
            let mut holdings = memory_types::holdings(*scale);
            keep(&mut holdings, only, |holding| holding.name);
            memory_types::run(&Arena::new("memory-types", common, PINNED, "everysec")?, &holdings)
        }
        Suite::Flush { common, flushes } => {
            flush::run(&Arena::new("flush", common, PINNED, "everysec")?, *flushes)
        }
        Suite::Handshakes { common, per_second, seconds, io_threads } => {
            let burdens = vec![Burden::Handshakes { per_second: *per_second }];
            run_beside("handshakes", common, burdens, (*seconds, io_threads))
        }
        Suite::Scripts { common, seconds, io_threads, only } => {
            run_beside("scripts", common, scripts(only), (*seconds, io_threads))
        }
        Suite::Http { common, appendfsync, requests, keys, nginx, only } => {
            let mut cells = http::cells(*requests, *keys);
            keep(&mut cells, only, |cell| cell.name);
            http::run(&Arena::new("http", common, PINNED_ALONE, appendfsync.name())?, &cells, nginx)
        }
        Suite::Queue { common, messages, kept, beanstalkd, only } => {
            let mut parts = queue::PARTS.to_vec();
            keep(&mut parts, only, |part| part);
            let arena = Arena::new("queue", common, PINNED, "everysec")?;
            queue::run(&arena, (*messages, *kept), &parts, beanstalkd)
        }
        Suite::Tail { common, keys, rate, seconds } => {
            let pace = tail::Pace { keys: *keys, requests_per_second: *rate, lasts: *seconds };
            tail::run(&Arena::new("tail", common, PINNED, "everysec")?, &pace)
        }
        Suite::Tier(args) => {
            let mut checks = tier::CHECKS.to_vec();
            keep(&mut checks, &args.only, |check| check.name);
            let arena = Arena::new("tier", &args.common, ALONE, "everysec")?;
            tier::run(&arena, &checks, &tier::Amount::of(args))
        }
        Suite::Restart { common, gb } => {
            restart::run(&Arena::new("restart", common, ALONE, "everysec")?, *gb)
        }
    }
}

fn run_surface(
    common: &CommonArgs,
    amount: surface::Amount,
    only: &[String],
) -> Result<(), BenchError> {
    let mut cells = surface::cells();
    keep(&mut cells, only, |cell| cell.name);
    surface::run(&Arena::new("surface", common, PINNED, "everysec")?, &cells, amount)
}

fn scripts(only: &[String]) -> Vec<Burden> {
    let mut scripts: Vec<_> = scripting::SCRIPTS.iter().collect();
    keep(&mut scripts, only, |script| script.name);
    scripts.into_iter().map(Burden::Script).collect()
}

fn run_beside(
    name: &'static str,
    common: &CommonArgs,
    burdens: Vec<Burden>,
    (phase, io_threads): (Duration, &[usize]),
) -> Result<(), BenchError> {
    let course = Course { burdens, phase, io_threads: io_threads.to_vec() };
    beside::run(&Arena::new(name, common, ALONE, "everysec")?, &course)
}

/// Keeps what has one of the names of `only` in its own, or all if there are none.
fn keep<T>(tests: &mut Vec<T>, only: &[String], name: impl Fn(&T) -> &'static str) {
    let wanted = |test: &T| only.iter().any(|part| name(test).contains(part.as_str()));
    tests.retain(|test| only.is_empty() || wanted(test));
}

/// Each side by TLS, and without.
fn beside_tls(contenders: &[Contender]) -> Vec<Contender> {
    let by_tls = |own: &Contender| {
        let name = if own.name == "redis" { "redis, TLS" } else { "basalt, TLS" };
        [Contender { name, tls: true, ..own.clone() }, own.clone()]
    };
    contenders.iter().flat_map(by_tls).collect()
}

/// Each side with every change on disk before it is acknowledged, and as it is told.
fn beside_always(contenders: &[Contender]) -> Vec<Contender> {
    let always = |own: &Contender| {
        let name = if own.name == "redis" { "redis, always" } else { "basalt, always" };
        let mut extra = own.extra.clone();
        // Of an option that is given twice both servers take the last.
        extra.extend(["--appendfsync".to_owned(), "always".to_owned()]);
        [Contender { name, extra, ..own.clone() }, own.clone()]
    };
    contenders.iter().flat_map(always).collect()
}

/// What all suites have: contenders, conditions, and where the results go.
struct Arena<'a> {
    suite: &'static str,
    common: &'a CommonArgs,
    contenders: Vec<Contender>,
    setting: Setting,
    display: Display,
    machine: Machine,
}

/// A fresh server in a directory of its own.
struct Life {
    server: Server,
    dir: TempDir,
}

/// All that a suite has found, for machines.
#[derive(Serialize)]
struct Results<'a, R> {
    suite: &'static str,
    generator_version: &'static str,
    machine: &'a Machine,
    file_system: String,
    appendfsync: &'static str,
    server_cpu: Option<usize>,
    load_cpu: Option<usize>,
    servers: Vec<(&'static str, ServerInfo)>,
    rounds: &'a [R],
}

impl<'a> Arena<'a> {
    fn new(
        suite: &'static str,
        common: &'a CommonArgs,
        defaults: Defaults,
        appendfsync: &'static str,
    ) -> Result<Self, BenchError> {
        Ok(Self {
            suite,
            common,
            contenders: common.contenders(defaults)?,
            setting: Setting {
                appendfsync,
                pins: common.pins(defaults),
                unixsocket: common.unixsocket,
            },
            display: Display::choose(common.progress),
            machine: Machine::look(),
        })
    }

    /// Calls `one_life` for every side of every round, in changing order.
    fn rounds<R>(
        &self,
        mut one_life: impl FnMut(usize, &Contender) -> Result<R, BenchError>,
    ) -> Result<Vec<R>, BenchError> {
        let mut results = Vec::new();
        for round in 0..self.common.runs {
            let mut order: Vec<&Contender> = self.contenders.iter().collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for contender in order {
                results.push(one_life(round, contender)?);
            }
        }
        Ok(results)
    }

    fn temp_dir(&self) -> Result<TempDir, BenchError> {
        temp_dir_in(&self.common.base_dir())
    }

    fn start(&self, contender: &Contender) -> Result<Life, BenchError> {
        let dir = self.temp_dir()?;
        let server = Server::start(contender, self.setting, dir.path())?;
        Ok(Life { server, dir })
    }

    fn text_wanted(&self) -> bool {
        self.common.json.as_deref() != Some(Path::new("-"))
    }

    fn print(&self, text: &str) -> Result<(), BenchError> {
        if self.text_wanted() { report::print(text) } else { Ok(()) }
    }

    /// Says what is compared, on what and how; asks each side for its version.
    fn introduce(&self) -> Result<Vec<(&'static str, ServerInfo)>, BenchError> {
        let pins = match self.setting.pins {
            Some(pins) => {
                format!("server on cpu {}, load on cpu {}", pins.server_cpu, pins.load_cpu)
            }
            None => "not pinned".into(),
        };
        let way = if self.setting.unixsocket { "a Unix socket" } else { "TCP" };
        self.print(&format!(
            "machine: {}\nsuite {}: {} rounds, medians ± half the range; {pins}, over {way}; appendfsync {} on {}\n",
            self.machine.summary(),
            self.suite,
            self.common.runs,
            self.setting.appendfsync,
            file_system(&self.common.base_dir())
        ))?;
        let mut servers = Vec::new();
        for contender in &self.contenders {
            let life = self.start(contender)?;
            let info = ServerInfo::ask(&life.server.target())?;
            life.server.stop()?;
            self.print(&format!("{}: {}\n", contender.name, info.summary()))?;
            servers.push((contender.name, info));
        }
        self.print("\n")?;
        Ok(servers)
    }

    fn write_json<R: Serialize>(
        &self,
        servers: Vec<(&'static str, ServerInfo)>,
        rounds: &[R],
    ) -> Result<(), BenchError> {
        let Some(path) = &self.common.json else { return Ok(()) };
        let results = Results {
            suite: self.suite,
            generator_version: env!("CARGO_PKG_VERSION"),
            machine: &self.machine,
            file_system: file_system(&self.common.base_dir()),
            appendfsync: self.setting.appendfsync,
            server_cpu: self.setting.pins.map(|pins| pins.server_cpu),
            load_cpu: self.setting.pins.map(|pins| pins.load_cpu),
            servers,
            rounds,
        };
        report::write_json(&results, path)
    }
}

/// An empty directory for one server's data.
fn temp_dir_in(base: &Path) -> Result<TempDir, BenchError> {
    let made = tempfile::Builder::new().prefix("basalt-compare-").tempdir_in(base);
    made.map_err(|source| BenchError::Directory { dir: base.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_cannot_be_used_is_named() {
        let error = temp_dir_in(Path::new("/none/such")).expect_err("there is none").to_string();
        assert!(error.contains("/none/such") && error.contains("--dir"), "{error}");
    }
}
