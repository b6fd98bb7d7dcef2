//! HOT PATH. One thread of load: an event loop over its share of the connections.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use crate::connection::Connection;
use crate::error::BenchError;
use crate::pace::Pace;
use crate::plan::Plan;
use crate::scan::LINE_BYTES_MAX;
use crate::shared::{Issue, Shared};
use crate::stats::Stats;
use crate::target::Socket;
use crate::template::Draws;

const EVENTS_MAX: usize = 1024;
/// Bytes of one read; a multiple of the longest unfinished line.
const READ_BYTES: usize = 4 * LINE_BYTES_MAX;
/// The longest sleep, so that an early stop is noticed.
const POLL_TIMEOUT: Duration = Duration::from_millis(50);
/// How long replies are awaited after the end of a timed run.
const DRAIN_NS_MAX: u64 = 10_000_000_000;
/// The token of the timer; connections count from 0.
const TIMER: Token = Token(usize::MAX);

/// A worker's share of a run.
pub(crate) struct Worker<'a> {
    plan: &'a Plan,
    shared: &'a Shared,
    index: usize,
    poll: Poll,
    connections: Vec<Connection>,
    draws: Draws,
    stats: Stats,
    /// Requests of one batch; small enough to stay in the cache, whatever the number of
    /// connections.
    batch: Vec<u8>,
    read_buffer: Vec<u8>,
    /// Thread CPU time when measuring began; `None` during the warm-up.
    cpu_from_ns: Option<u64>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        shared: &'a Shared,
        index: usize,
        sockets: Vec<Socket>,
        draws: Draws,
    ) -> Result<Self, BenchError> {
        let poll = Poll::new()?;
        let mut connections = Vec::with_capacity(sockets.len());
        for (number, socket) in sockets.into_iter().enumerate() {
            connections.push(Connection::new(
                socket,
                plan.vocabulary.wire,
                Token(number),
                poll.registry(),
            )?);
        }
        Ok(Self {
            plan,
            shared,
            index,
            poll,
            connections,
            draws,
            stats: Stats::new(plan.workload.kinds.len()),
            batch: Vec::new(),
            read_buffer: vec![0; READ_BYTES],
            cpu_from_ns: None,
        })
    }

    /// Runs to the end of the plan and returns what was measured.
    pub(crate) fn run(mut self, pace: Option<Pace>) -> Result<Stats, BenchError> {
        match pace {
            None => self.run_closed()?,
            Some(pace) => self.run_open(pace)?,
        }
        self.publish();
        self.stats.client_cpu_ns =
            thread_cpu_ns().saturating_sub(self.cpu_from_ns.unwrap_or_else(thread_cpu_ns));
        Ok(self.stats)
    }

    fn run_closed(&mut self) -> Result<(), BenchError> {
        for number in 0..self.connections.len() {
            self.send_batch(number)?;
        }
        let mut events = Events::with_capacity(EVENTS_MAX);
        while !self.finished() {
            self.wait(&mut events)?;
            for event in &events {
                let number = event.token().0;
                self.serve(number, event.is_writable())?;
                if self.connections[number].outstanding == 0 {
                    self.send_batch(number)?;
                }
            }
            self.publish();
        }
        Ok(())
    }

    fn run_open(&mut self, mut pace: Pace) -> Result<(), BenchError> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)
            .map_err(io::Error::from)?;
        let fd = timer.as_raw_fd();
        self.poll.registry().register(&mut SourceFd(&fd), TIMER, Interest::READABLE)?;
        let mut events = Events::with_capacity(EVENTS_MAX);
        let mut ready = Vec::new();
        loop {
            let now_ns = self.shared.now_ns();
            let stop_at_ns = self.shared.stop_at_ns();
            let count = self.connections.len() as u64;
            for arrival in pace.due(now_ns.min(stop_at_ns.saturating_sub(1))) {
                let number = (arrival % count) as usize;
                let connection = &mut self.connections[number];
                if connection.due == connection.sent {
                    ready.push(number);
                }
                connection.due += 1;
            }
            for number in ready.drain(..) {
                self.send_due(number, &pace)?;
            }
            if now_ns >= stop_at_ns && self.finished() {
                return Ok(());
            }
            arm(&timer, pace.next_due_ns().min(stop_at_ns).saturating_sub(self.shared.now_ns()))?;
            self.wait(&mut events)?;
            for event in &events {
                if event.token() != TIMER {
                    self.serve(event.token().0, event.is_writable())?;
                    self.send_due(event.token().0, &pace)?;
                }
            }
            self.publish();
        }
    }

    fn wait(&mut self, events: &mut Events) -> Result<(), BenchError> {
        match self.poll.poll(events, Some(POLL_TIMEOUT)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn serve(&mut self, number: usize, writable: bool) -> Result<(), BenchError> {
        let connection = &mut self.connections[number];
        if writable {
            connection.flush(self.poll.registry())?;
        }
        connection.receive(&mut self.read_buffer, self.shared, &mut self.stats)
    }

    /// Closed loop: the next batch, if the budget has one.
    fn send_batch(&mut self, number: usize) -> Result<(), BenchError> {
        let now_ns = self.shared.now_ns();
        self.start_measuring(now_ns);
        let Some(issue) = self.shared.take(now_ns, u64::from(self.plan.pipeline)) else {
            return Ok(());
        };
        self.batch.clear();
        self.encode(number, issue, now_ns);
        self.transmit(number)
    }

    /// Open loop: everything that has fallen due, as far as the pipeline depth allows.
    fn send_due(&mut self, number: usize, pace: &Pace) -> Result<(), BenchError> {
        self.start_measuring(self.shared.now_ns());
        let count = self.connections.len() as u64;
        self.batch.clear();
        loop {
            let connection = &mut self.connections[number];
            if connection.sent == connection.due
                || connection.outstanding >= u64::from(self.plan.pipeline)
            {
                break;
            }
            let due_ns = pace.due_ns(connection.sent * count + number as u64);
            connection.sent += 1;
            // The schedule has decided that this request belongs to the run, however late it is.
            let issue = self.shared.take_due(due_ns);
            self.encode(number, issue, due_ns);
        }
        self.transmit(number)
    }

    #[inline]
    fn encode(&mut self, number: usize, issue: Issue, due_ns: u64) {
        let workload = &self.plan.workload;
        let connection = &mut self.connections[number];
        let stride = workload.keys_per_request();
        for request in issue.first..issue.first + issue.count {
            let kind = workload.pick(&mut self.draws.random);
            self.draws.sequence = request * stride;
            workload.kinds[kind].template.encode(&mut self.draws, &mut self.batch);
            connection.expect(kind, due_ns);
        }
    }

    fn transmit(&mut self, number: usize) -> Result<(), BenchError> {
        self.stats.bytes_sent += self.batch.len() as u64;
        self.connections[number].send(&self.batch, self.poll.registry())
    }

    /// At the end of the warm-up, what was counted so far is forgotten.
    fn start_measuring(&mut self, now_ns: u64) {
        if self.cpu_from_ns.is_none() && now_ns >= self.shared.measure_from_ns {
            self.cpu_from_ns = Some(thread_cpu_ns());
            self.stats = Stats::new(self.plan.workload.kinds.len());
        }
    }

    /// Whether all replies are in, or those that are not have been given up.
    fn finished(&mut self) -> bool {
        let idle = |connection: &Connection| {
            connection.outstanding == 0 && connection.sent == connection.due
        };
        if self.connections.iter().all(idle) {
            return true;
        }
        let now_ns = self.shared.now_ns();
        if now_ns < self.shared.stop_at_ns().saturating_add(DRAIN_NS_MAX) {
            return false;
        }
        for connection in &mut self.connections {
            self.stats.unfinished += connection.due - connection.sent;
            connection.abandon(now_ns, self.shared.measure_from_ns, &mut self.stats);
        }
        true
    }

    fn publish(&mut self) {
        let meter = &self.shared.meters[self.index];
        meter.completed.store(self.stats.completed, Ordering::Relaxed);
        meter.errors.store(self.stats.tally.errors, Ordering::Relaxed);
        meter.latency_ns_sum.store(self.stats.latency_ns_sum, Ordering::Relaxed);
        let latency_ns_max = std::mem::take(&mut self.stats.latency_ns_max);
        meter.latency_ns_max.fetch_max(latency_ns_max, Ordering::Relaxed);
    }
}

/// Makes the timer fire once, `after_ns` from now. (mio's own timeouts are whole milliseconds.)
fn arm(timer: &OwnedFd, after_ns: u64) -> Result<(), BenchError> {
    // Zero would disarm it.
    let after_ns = after_ns.max(1);
    let value = Timespec {
        tv_sec: (after_ns / 1_000_000_000) as i64,
        tv_nsec: (after_ns % 1_000_000_000) as i64,
    };
    let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
    timerfd_settime(timer, TimerfdTimerFlags::empty(), &once).map_err(io::Error::from)?;
    Ok(())
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
