//! What metrics are read from, gathered at one moment.
//!
//! Counters are read where they are. What takes a walk is gathered once for all metrics: the
//! clients, the process, the cold tier. Keys and memory are those of the sampler's last census: a
//! walk over the partitions would wait for a script that holds them.

use basalt_cold::{ColdStats, Pressure};
use basalt_config::Settings;
use basalt_engine::{Census, CheckpointStats, MissStats, QueueCensus};
use basalt_observe::counters::{CommandCounters, Counter, ThreadCounters};
use basalt_observe::histogram::{Distribution, Histogram};
use basalt_service::server::{Host, HostCpu, HostFigures, HostMemory, Server};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// See the head of this file.
pub struct Figures<'a> {
    /// The server.
    pub server: &'a Server,
    /// Its settings.
    pub settings: Arc<Settings>,
    /// Seconds since it started.
    pub uptime_s: f64,
    /// Keys and memory; `None` before they were counted for the first time.
    pub census: Option<Arc<Census>>,
    /// What is in queues; `None` before it was counted for the first time.
    pub queues: Option<Arc<QueueCensus>>,
    /// The connected clients.
    pub clients: ClientFigures,
    /// Memory of the process.
    pub memory: HostMemory,
    /// CPU time of the process.
    pub cpu: HostCpu,
    /// More of the process, and the journal.
    pub host: HostFigures,
    /// What checkpoints have done.
    pub checkpoints: CheckpointStats,
    /// What was read from the cold tier for commands that waited.
    pub misses: MissStats,
    /// The cold tier.
    pub cold: ColdStats,
    /// How far its background work lags.
    pub pressure: Pressure,
}

/// Sums over the connected clients.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientFigures {
    /// Connections that speak Redis' protocol.
    pub resp: u64,
    /// Connections with a front of their own, which is HTTP's.
    pub http: u64,
    /// Those whose command waits.
    pub blocked: u64,
    /// Memory of query buffers.
    pub query_bytes: u64,
    /// Memory of what waits to be sent.
    pub output_bytes: u64,
}

impl<'a> Figures<'a> {
    /// How things stand now.
    pub fn gather(server: &'a Server) -> Figures<'a> {
        let (engine, host): (_, &dyn Host) = (&*server.engine, &*server.host);
        Figures {
            settings: server.config.settings(),
            uptime_s: server.env.clock.since(server.started).as_secs_f64(),
            census: server.sampler.census(),
            queues: server.sampler.queues(),
            clients: clients(server),
            memory: host.memory(),
            cpu: host.cpu(),
            host: host.figures(),
            checkpoints: engine.checkpoint_stats(),
            misses: engine.miss_stats(),
            cold: server.sampler.cold_stats(),
            pressure: engine.cold().pressure(),
            server,
        }
    }

    /// A counter of all network threads.
    pub fn sum(&self, counter: impl Fn(&ThreadCounters) -> &Counter) -> f64 {
        self.server.sum(|own| counter(own).value()) as f64
    }

    /// The durations that all network threads have counted in one of their histograms.
    pub fn durations(&self, histogram: impl Fn(&ThreadCounters) -> &Histogram) -> Distribution {
        let mut sum = Distribution::default();
        self.server.all_counters().for_each(|own| histogram(own).add_to(&mut sum));
        sum
    }

    /// A counter of each command for which it is not 0, by the command's name.
    pub fn for_each_command(
        &self,
        counter: fn(&CommandCounters) -> &Counter,
        mut take: impl FnMut(&str, u64),
    ) {
        for command in self.server.table.all() {
            let index = command.id.index();
            let sum = self.server.sum(|own| counter(&own.by_command[index]).value());
            if sum > 0 {
                take(command.spec.name, sum);
            }
        }
    }
}

fn clients(server: &Server) -> ClientFigures {
    let mut figures = ClientFigures::default();
    server.clients.visit(|client| {
        *(if client.front.is_some() { &mut figures.http } else { &mut figures.resp }) += 1;
        figures.blocked += u64::from(client.parked.load(Relaxed));
        figures.query_bytes += client.query_memory_bytes.load(Relaxed);
        figures.output_bytes += client.output_memory_bytes.load(Relaxed);
    });
    figures
}
