//! `compare http`: what HTTP costs the server beside Redis' protocol, and beside nginx.
//!
//! Strings of one server are read and written by both protocols in turn, in one life, so that both
//! meet the same memory. nginx, with one process, answers the same GETs with the same bytes: from
//! its configuration (`return`), and from a file.

use std::path::Path;

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::cell::vocabulary;
use crate::compare::nginx::{self, Source};
use crate::compare::paced::{Paced, paced, table as paced_table};
use crate::compare::peer::Peer;
use crate::compare::server::{Contender, Server, free_port};
use crate::compare::table::summarise;
use crate::compare::wrk;
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::progress::Watch;
use crate::report::TestReport;
use crate::run::run as run_load;
use crate::target::{Address, Target};
use crate::template::Wire;
use crate::workload::Workload;

/// Load before each test that is not counted, in requests of the test.
const WARMUP_DIVISOR: u64 = 10;

/// One test.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct HttpCell {
    pub(crate) name: &'static str,
    test: &'static str,
    value_bytes: usize,
    connections: usize,
    pipeline: u32,
    keys: u64,
    requests: u64,
    /// nginx runs it, too.
    has_peer: bool,
    /// Measures how long answers take at a pace.
    is_paced: bool,
}

/// All tests: the unpipelined ones of small values have this number of requests.
pub(crate) fn cells(requests: u64, keys: u64) -> Vec<HttpCell> {
    let small = |name, test, value_bytes, pipeline| HttpCell {
        name,
        test,
        value_bytes,
        connections: 50,
        pipeline,
        keys: keys.max(1),
        requests: requests.max(1),
        has_peer: false,
        is_paced: false,
    };
    let large = |name, test, value_bytes, connections, keys, divisor: u64| HttpCell {
        connections,
        keys,
        requests: (requests / divisor).max(1),
        ..small(name, test, value_bytes, 1)
    };
    vec![
        HttpCell { has_peer: true, ..small("get-1k", "get", 1024, 1) },
        small("put-1k", "set", 1024, 1),
        small("get-64", "get", 64, 1),
        small("put-64", "set", 64, 1),
        HttpCell { requests: requests.max(1) * 3, ..small("get-1k-p16", "get", 1024, 16) },
        HttpCell { requests: requests.max(1) * 3, ..small("get-64-p16", "get", 64, 16) },
        // Before the large values, which stay under the keys that this asks for, too.
        HttpCell { is_paced: true, ..small("scrape", "get", 1024, 1) },
        large("get-64k", "get", 64 << 10, 20, 1000, 10),
        large("put-64k", "set", 64 << 10, 20, 1000, 10),
        large("get-16m", "get", 16 << 20, 4, 4, 1000),
        large("put-16m", "set", 16 << 20, 4, 4, 1000),
    ]
}

/// One measurement.
#[derive(Debug, Serialize)]
struct Sample {
    round: usize,
    cell: &'static str,
    /// How the requests came: `resp`, `http`, or a source of nginx.
    way: &'static str,
    test: TestReport,
}

const RESP: &str = "resp";
const HTTP: &str = "http";

pub(super) fn run(arena: &Arena<'_>, cells: &[HttpCell], nginx: &Path) -> Result<(), BenchError> {
    if cells.is_empty() {
        return Err(BenchError::Usage("no test has that name".into()));
    }
    let servers = arena.introduce()?;
    let mut samples = Vec::new();
    let mut paces = Paces::default();
    arena.rounds(|round, contender| {
        one_life(arena, cells, round, contender, (&mut samples, &mut paces))
    })?;
    let has_nginx = Peer::is_there(nginx);
    if !has_nginx {
        let program = nginx.display();
        arena.print(&format!("{program} cannot be started: nginx is not compared\n"))?;
    }
    for cell in cells.iter().filter(|cell| cell.has_peer && has_nginx) {
        for round in 0..arena.common.runs {
            for source in Source::ALL {
                samples.push(measure_nginx(arena, cell, round, (nginx, source))?);
            }
        }
    }
    arena.print(&table(cells, &samples))?;
    arena.print(&paces.table())?;
    arena.write_json(servers, &samples)
}

fn one_life(
    arena: &Arena<'_>,
    cells: &[HttpCell],
    round: usize,
    contender: &Contender,
    (samples, paces): (&mut Vec<Sample>, &mut Paces),
) -> Result<(), BenchError> {
    let (port, mut contender) = (free_port()?, contender.clone());
    contender.extra.extend(["--http-port".into(), port.to_string()]);
    let life = arena.start(&contender)?;
    let mut ways = [RESP, HTTP];
    if round % 2 == 1 {
        ways.reverse();
    }
    for cell in cells {
        let fill = cell.plan(Wire::Resp, life.server.target())?.into_fill()?;
        run_load(&fill, &mut Watch::new("filling", arena.display, None))?;
        life.server.wait_quiet();
        if cell.is_paced {
            paces.measure(arena, cell, &life.server, (ways, port))?;
            continue;
        }
        for way in ways {
            let test = cell.measure_way(arena, &life.server, (way, port))?;
            samples.push(Sample { round, cell: cell.name, way, test });
        }
    }
    life.server.stop()
}

fn measure_nginx(
    arena: &Arena<'_>,
    cell: &HttpCell,
    round: usize,
    (program, source): (&Path, Source),
) -> Result<Sample, BenchError> {
    let dir = arena.temp_dir()?;
    let nginx = nginx::start(program, source, cell.value_bytes, arena.setting.pins, dir.path())?;
    let target = with_http(Target::local(nginx.port()), nginx.port());
    let test = cell.measure(arena, (target, Wire::Http), nginx.pid())?;
    Ok(Sample { round, cell: cell.name, way: source.name(), test })
}

/// A server whose load comes by HTTP.
fn with_http(target: Target, port: u16) -> Target {
    Target { http: Some(Address::Tcp { host: "127.0.0.1".into(), port }), ..target }
}

/// A server by one of its protocols.
fn asked(server: &Server, (way, port): (&'static str, u16)) -> (Target, Wire) {
    match way {
        HTTP => (with_http(server.target(), port), Wire::Http),
        _ => (server.target(), Wire::Resp),
    }
}

/// What the paced tests found.
#[derive(Debug, Default)]
struct Paces {
    resp: Vec<Paced>,
    http: Vec<Paced>,
    wrk: Vec<wrk::Turn>,
}

impl Paces {
    fn measure(
        &mut self,
        arena: &Arena<'_>,
        cell: &HttpCell,
        server: &Server,
        (ways, port): ([&'static str; 2], u16),
    ) -> Result<(), BenchError> {
        for way in ways {
            let one = paced(arena, cell, asked(server, (way, port)), (server.pid(), port))?;
            if way == HTTP { &mut self.http } else { &mut self.resp }.push(one);
        }
        // wrk knows one URL.
        let (target, wire) = asked(server, (HTTP, port));
        let plan = HttpCell { keys: 1, ..*cell }.plan(wire, target)?;
        let path = format!("/v1/strings/{}", vocabulary(cell.keys, cell.value_bytes, 1).key(0));
        self.wrk.extend(wrk::compare(arena, &plan, &path, (server.pid(), port))?);
        Ok(())
    }

    fn table(&self) -> String {
        if self.http.is_empty() {
            return String::new();
        }
        let mut text = paced_table(&[(RESP, &self.resp), (HTTP, &self.http)]);
        text.push_str(&wrk::line(&self.wrk));
        text
    }
}

impl HttpCell {
    fn measure_way(
        &self,
        arena: &Arena<'_>,
        server: &Server,
        (way, port): (&'static str, u16),
    ) -> Result<TestReport, BenchError> {
        let test = self.measure(arena, asked(server, (way, port)), server.pid())?;
        server.wait_quiet();
        Ok(test)
    }

    fn measure(
        &self,
        arena: &Arena<'_>,
        (target, wire): (Target, Wire),
        pid: u32,
    ) -> Result<TestReport, BenchError> {
        let plan = self.plan(wire, target)?;
        let requests = (self.requests / WARMUP_DIVISOR).max(1);
        let warmup = Plan { load: Load::Closed(Limit::Requests(requests)), ..plan.clone() };
        run_load(&warmup, &mut Watch::new("warming up", arena.display, None))?;
        let mut watch = Watch::new(self.name, arena.display, Some(pid));
        let outcome = run_load(&plan, &mut watch)?;
        let report = TestReport::new(&plan, &outcome, watch.server_cpu);
        match report.first_error {
            Some(reply) => Err(BenchError::Handshake { command: self.name.into(), reply }),
            None if report.nulls > 0 => {
                Err(BenchError::Absent { test: self.name, nulls: report.nulls })
            }
            None => Ok(report),
        }
    }

    pub(crate) fn plan(&self, wire: Wire, target: Target) -> Result<Plan, BenchError> {
        let mut vocabulary = vocabulary(self.keys, self.value_bytes, 1);
        vocabulary.wire = wire;
        Ok(Plan {
            target,
            workload: Workload::named(self.test, &vocabulary)?,
            vocabulary,
            distribution: Distribution::Uniform,
            connections: self.connections,
            threads: 1,
            pipeline: self.pipeline,
            load: Load::Closed(Limit::Requests(self.requests)),
            warmup: std::time::Duration::ZERO,
            seed: 1,
        })
    }
}

/// One line for each test, with HTTP's ratio to Redis' protocol, then one for each source of nginx,
/// with HTTP's ratio to it.
fn table(cells: &[HttpCell], samples: &[Sample]) -> String {
    let mut text =
        format!("  {:18}{:>16}{:>16}{:>9}\n", "server cpu µs/op", "resp", "http", "http");
    for cell in cells.iter().filter(|cell| !cell.is_paced) {
        let of = |way| cpu_us(samples, cell.name, way);
        let (resp, http) = (of(RESP), of(HTTP));
        text.push_str(&line(cell.name, &[resp, http], http.0 / resp.0));
        for source in Source::ALL.map(Source::name) {
            let peer = of(source);
            if peer.0 > 0.0 {
                text.push_str(&line(&format!("  nginx {source}"), &[peer, http], http.0 / peer.0));
            }
        }
    }
    text
}

fn line(name: &str, sides: &[(f64, f64)], ratio: f64) -> String {
    let mut text = format!("  {name:18}");
    for (median, spread) in sides {
        text.push_str(&format!("{:>16}", format!("{median:.3} ±{:2.0}%", spread * 100.0)));
    }
    text.push_str(&format!("{:>9}\n", format!("{ratio:.2}x")));
    text
}

/// Median and spread; zeroes if there is nothing.
fn cpu_us(samples: &[Sample], cell: &str, way: &str) -> (f64, f64) {
    let of_way = samples.iter().filter(|sample| sample.cell == cell && sample.way == way);
    let summary = summarise(of_way.filter_map(|sample| sample.test.server_cpu_us_per_request));
    (summary.median, summary.spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_name_of_its_own_and_work_at_any_size() {
        for size in [1, 100_000] {
            let mut names: Vec<&str> = Vec::new();
            for cell in cells(size, size) {
                assert!(cell.requests > 0 && cell.keys > 0, "{}", cell.name);
                assert!(!names.contains(&cell.name), "{}", cell.name);
                names.push(cell.name);
            }
        }
    }

    #[test]
    fn what_a_test_reads_is_written_before_it() {
        for cell in cells(1000, 100) {
            let fill = cell.plan(Wire::Resp, Target::local(1)).unwrap().into_fill().unwrap();
            assert_eq!(fill.workload.name, "SET", "{}", cell.name);
            assert_eq!(fill.vocabulary.value_bytes_min, cell.value_bytes, "{}", cell.name);
        }
    }

    #[test]
    fn a_peer_has_a_line_if_it_was_measured() {
        let cells = cells(1, 1);
        let measured = cells.iter().filter(|cell| !cell.is_paced).count();
        assert_eq!(table(&cells, &[]).lines().count(), measured + 1);
    }
}
