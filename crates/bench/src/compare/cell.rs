//! One test of a comparison, and the tests of the suites `cpu` and `always`.

use std::time::Duration;

use serde::Serialize;

use crate::compare::server::Server;
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::progress::{Display, Watch};
use crate::report::TestReport;
use crate::run::run;
use crate::target::Target;
use crate::template::{Vocabulary, Wire};
use crate::workload::Workload;

/// Load before each test that is not counted.
const WARMUP: Duration = Duration::from_millis(300);
const SEED: u64 = 1;
/// How much longer `set-sustained` is than `set-p50`. With the default number of requests the log
/// grows by 3 GB, which is ten times what starts a checkpoint or a rewrite.
const SUSTAINED_FACTOR: u64 = 10;

/// One test.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Cell {
    pub(crate) name: &'static str,
    test: &'static str,
    pub(crate) value_bytes: usize,
    connections: usize,
    pipeline: u32,
    keys_per_request: usize,
    keys: u64,
    requests: u64,
}

/// The tests of `compare cpu`. Those with equal value sizes are neighbours: the keyspace is filled
/// again where the size changes.
///
/// `set-sustained` overwrites for so long that checkpoints, merges and rewrites of the append-only
/// file happen many times within it: its figure is the CPU time in all.
pub(crate) fn cpu_cells(requests: u64, keys: u64) -> Vec<Cell> {
    let cell = |name, test, value_bytes, pipeline, divisor: u64| Cell {
        name,
        test,
        value_bytes,
        connections: 50,
        pipeline,
        keys_per_request: 1000,
        keys,
        requests: (requests / divisor).max(1),
    };
    let sustained = Cell {
        requests: requests.saturating_mul(SUSTAINED_FACTOR),
        ..cell("set-sustained", "set", 64, 50, 1)
    };
    vec![
        cell("get-p50", "get", 64, 50, 1),
        cell("set-p50", "set", 64, 50, 1),
        sustained,
        cell("get-p1", "get", 64, 1, 10),
        cell("set-p1", "set", 64, 1, 10),
        cell("mget-1000", "mget", 64, 1, 500),
        cell("get-p1000", "get", 3, 1000, 1),
        cell("set-p1000", "set", 3, 1000, 1),
    ]
}

/// The test of `compare always`.
pub(crate) fn always_cells(requests: u64, keys: u64) -> Vec<Cell> {
    vec![Cell {
        name: "set-always-c256",
        test: "set",
        value_bytes: 64,
        connections: 256,
        pipeline: 1,
        keys_per_request: 1,
        keys,
        requests,
    }]
}

/// What one test measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sample {
    pub(crate) test: TestReport,
    /// CPU time that the server, children included, used after the load had ended and before it
    /// came to rest, per request: work put off rather than saved.
    pub(crate) deferred_cpu_us_per_request: f64,
}

impl Sample {
    /// CPU time of the server per request with nothing left out: its own, that of its children, and
    /// what it put off until after the load.
    pub(crate) fn cpu_us_per_request_in_all(&self) -> f64 {
        self.test.server_cpu_us_per_request.unwrap_or(0.0)
            + self.test.server_children_cpu_us_per_request.unwrap_or(0.0)
            + self.deferred_cpu_us_per_request
    }
}

impl Cell {
    /// The conditions, for people.
    pub(crate) fn title(&self) -> String {
        format!(
            "{}{}, {} keys of 16 bytes, values of {} bytes, {} connections, pipeline {}",
            self.test.to_uppercase(),
            if self.test == "mget" { " of 1000 keys" } else { "" },
            self.keys,
            self.value_bytes,
            self.connections,
            self.pipeline
        )
    }

    /// Writes every key once, with values of this cell's size.
    pub(crate) fn fill(&self, server: &Server, display: Display) -> Result<(), BenchError> {
        let plan = self.plan(server.target())?.into_fill()?;
        run(&plan, &mut Watch::new("filling", display, None))?;
        server.wait_quiet();
        Ok(())
    }

    /// Runs the test against `server`.
    pub(crate) fn measure(&self, server: &Server, display: Display) -> Result<Sample, BenchError> {
        let plan = self.plan(server.target())?;
        let mut watch = Watch::new(self.name, display, Some(server.pid()));
        let outcome = run(&plan, &mut watch)?;
        let deferred = server.wait_quiet();
        let deferred_ns = deferred.own_ns + deferred.children_ns;
        Ok(Sample {
            deferred_cpu_us_per_request: deferred_ns as f64 / 1e3 / outcome.stats.completed as f64,
            test: TestReport::new(&plan, &outcome, watch.server_cpu),
        })
    }

    fn plan(&self, target: Target) -> Result<Plan, BenchError> {
        let vocabulary = vocabulary(self.keys, self.value_bytes, self.keys_per_request);
        Ok(Plan {
            target,
            workload: Workload::named(self.test, &vocabulary)?,
            vocabulary,
            distribution: Distribution::Uniform,
            connections: self.connections,
            threads: 1,
            pipeline: self.pipeline,
            load: Load::Closed(Limit::Requests(self.requests)),
            warmup: WARMUP,
            seed: SEED,
        })
    }
}

/// 16-byte keys and values of one size.
pub(crate) fn vocabulary(keys: u64, value_bytes: usize, keys_per_request: usize) -> Vocabulary {
    Vocabulary {
        key_prefix: "key:".into(),
        key_bytes: 16,
        keyspace: keys,
        value_bytes_min: value_bytes,
        value_bytes_max: value_bytes,
        keys_per_request,
        wire: Wire::Resp,
    }
}
