//! A command with what must be there before it: the tests of the suites `types` and `memory-types`.

use std::time::Duration;

use serde::Serialize;

use crate::compare::server::Server;
use crate::compare::table::{Summary, summarise};
use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::progress::{Display, Watch};
use crate::report::TestReport;
use crate::run::run;
use crate::target::Client;
use crate::template::{Vocabulary, Wire};
use crate::workload::Workload;

/// Those of `__key__`: prefix and digits.
const KEY_PREFIX: &str = "key:";
const KEY_BYTES: usize = 16;

/// A command template, and how often it is sent.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sending {
    /// With the placeholders of `basalt bench`.
    pub(crate) command: String,
    /// Numbers that `__key__` and `__rand_int__` are drawn from.
    pub(crate) keyspace: u64,
    /// Size of `__data__`.
    pub(crate) value_bytes: usize,
    pub(crate) requests: u64,
}

/// How a sending goes about it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Manner {
    /// Keys in order, each once.
    Fill { connections: usize },
    /// Random keys; the server's CPU time is measured.
    Measure { connections: usize, pipeline: u32 },
}

/// Unanswered requests on each connection of a filling.
const FILL_PIPELINE: u32 = 64;

impl Sending {
    /// Sends all of it; an error reply is an error.
    pub(crate) fn run(
        &self,
        name: &str,
        server: &Server,
        manner: Manner,
        display: Display,
    ) -> Result<TestReport, BenchError> {
        let plan = self.plan(server, manner)?;
        let mut watch = Watch::new(name, display, Some(server.pid()));
        let outcome = run(&plan, &mut watch)?;
        let report = TestReport::new(&plan, &outcome, watch.server_cpu);
        match report.first_error {
            Some(reply) => Err(BenchError::Handshake { command: self.command.clone(), reply }),
            None => Ok(report),
        }
    }

    fn plan(&self, server: &Server, manner: Manner) -> Result<Plan, BenchError> {
        let vocabulary = Vocabulary {
            key_prefix: KEY_PREFIX.into(),
            key_bytes: KEY_BYTES,
            keyspace: self.keyspace,
            value_bytes_min: self.value_bytes,
            value_bytes_max: self.value_bytes,
            keys_per_request: 1,
            wire: Wire::Resp,
        };
        let name = self.command.clone();
        let workload = Workload::mixed(name, &[(&self.command, 1)], &vocabulary)?;
        let (distribution, connections, pipeline) = match manner {
            Manner::Fill { connections } => (Distribution::Sequential, connections, FILL_PIPELINE),
            Manner::Measure { connections, pipeline } => {
                (Distribution::Uniform, connections, pipeline)
            }
        };
        Ok(Plan {
            target: server.target(),
            workload,
            vocabulary,
            distribution,
            connections,
            threads: 1,
            pipeline,
            load: Load::Closed(Limit::Requests(self.requests)),
            // A warm-up would pop an unknown number of elements; the filling has warmed the server.
            warmup: Duration::ZERO,
            seed: 1,
        })
    }
}

/// Empties the server, so that one scenario does not weigh on the next.
pub(crate) fn empty(server: &Server) -> Result<(), BenchError> {
    Client::connect(&server.target())?.text(&["FLUSHALL"])?;
    server.wait_quiet();
    Ok(())
}

/// One life of one side.
#[derive(Debug, Serialize)]
pub(crate) struct Round {
    pub(crate) round: usize,
    pub(crate) side: &'static str,
    /// In the order of the cells.
    pub(crate) tests: Vec<(&'static str, TestReport)>,
}

/// The server's CPU time an operation in a cell, over the lives of a side.
pub(crate) fn server_cpu_us(rounds: &[Round], side: &str, cell: &str) -> Summary {
    let of_side = rounds.iter().filter(|round| round.side == side);
    let tests = of_side.flat_map(|round| round.tests.iter().filter(|(name, _)| *name == cell));
    summarise(tests.filter_map(|(_, test)| test.server_cpu_us_per_request))
}
