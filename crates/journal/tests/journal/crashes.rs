//! Random histories, cut off by power failures, against the model.
//!
//! One thread appends, so the order of calls is total, every group ends between two calls, and what
//! is found after a crash must be exactly the first `k` calls for some `k` that covers all durable
//! groups. The calls and the losses follow from the seed; when the writer cuts depends on the
//! scheduler.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use basalt_env::{Env, Random, SimDisk};
use basalt_journal::{Acknowledge, FsyncPolicy, Group, Journal, Options, Seq, StreamId};
use basalt_stdx::lent::{LentBytes, Parts};

use crate::model::{Model, Op};
use crate::support::{DIR, open, options};

const STREAMS: u64 = 4;
const LIVES: u64 = 6;
const CALLS_MAX: u64 = 60;

/// One history: a few lives of a journal, each ended by a crash.
struct History {
    random: Random,
    disk: SimDisk,
    options: Options,
    /// What the last recovery found.
    base: Model,
    /// Calls since then, with their groups.
    calls: Vec<(Op, Group)>,
    /// How many of them were announced as durable before the crash.
    durable_calls: usize,
    now: Model,
    trimmed: Vec<u64>,
}

fn run_history(seed: u64, options: Options) -> Result<(), String> {
    let model = Model::new(STREAMS as usize);
    let mut history = History {
        random: Random::new(seed),
        disk: SimDisk::new(),
        options,
        base: model.clone(),
        calls: Vec::new(),
        durable_calls: 0,
        now: model,
        trimmed: vec![0; STREAMS as usize],
    };
    (0..LIVES).try_for_each(|life| {
        let story = format!("seed {seed}, life {life}");
        history.live().map_err(|what| format!("{story}: {what}"))
    })
}

impl History {
    fn live(&mut self) -> Result<(), String> {
        let journal = self.reopen()?;
        for _ in 0..self.random.below(CALLS_MAX) {
            self.call(&journal);
        }
        if self.random.chance(1, 2) {
            journal.kick();
            let last = self.calls.last().map_or(Group(0), |(_, group)| *group);
            while journal.written() < last {
                std::thread::yield_now();
            }
        }
        let durable = if self.random.chance(1, 8) {
            // A clean end, now and then: nothing at all may be missing.
            journal.close().map_err(|error| error.to_string())?;
            Group(u64::MAX)
        } else {
            journal.durable()
        };
        // The crash comes while the journal's threads are at work.
        self.disk.crash(self.random.next_u64());
        self.durable_calls = self.calls.iter().take_while(|(_, group)| *group <= durable).count();
        Ok(())
    }

    /// Opens and finds the number of calls that survived.
    fn reopen(&mut self) -> Result<Journal, String> {
        let mut heard = Model::new(STREAMS as usize);
        let disk = Arc::new(self.disk.clone());
        let options = self.options.clone();
        let journal = Journal::open(&Env::system(), disk, Path::new(DIR), options, &mut heard)
            .map_err(|error| error.to_string())?;
        let calls = std::mem::take(&mut self.calls);
        let durable = self.durable_calls;
        let mut candidate = self.base.clone();
        let mut why = String::new();
        for survivors in 0..=calls.len() {
            if survivors >= durable {
                match candidate.differs(&journal, &heard, &self.trimmed) {
                    None => {
                        self.now = candidate.clone();
                        self.base = candidate;
                        return Ok(journal);
                    }
                    Some(difference) => why = difference,
                }
            }
            if let Some((op, _)) = calls.get(survivors) {
                candidate.apply(op);
            }
        }
        let total = calls.len();
        Err(format!("neither of the first {durable} to {total} calls explains it: {why}"))
    }

    fn call(&mut self, journal: &Journal) {
        match self.random.below(20) {
            0 => drop(journal.sync().expect("a healthy disk")),
            1 => self.trim(journal),
            2 => journal.kick(),
            3 => std::thread::yield_now(),
            4 => {
                let policies = [FsyncPolicy::Always, FsyncPolicy::EverySecond, FsyncPolicy::Never];
                journal.set_policy(policies[self.random.below(3) as usize]);
            }
            _ => {
                let op = self.draw_op();
                let group = perform(journal, &op);
                self.now.apply(&op);
                self.calls.push((op, group));
            }
        }
    }

    fn draw_op(&mut self) -> Op {
        let stream = self.random.below(STREAMS) as u16;
        let last = self.now.streams[usize::from(stream)].last;
        match self.random.below(20) {
            0 => {
                let from = last.saturating_sub(self.random.below(5)) + 1;
                Op::Truncate(stream, from.max(self.trimmed[usize::from(stream)] + 1))
            }
            1 => Op::Raise(stream, last + self.random.below(3)),
            2 | 3 => Op::HardState(stream, self.draw_bytes(40)),
            4..8 => Op::Append((0..1 + self.random.below(6)).map(|_| self.draw_record()).collect()),
            _ => Op::Append(vec![self.draw_record()]),
        }
    }

    fn draw_record(&mut self) -> (u16, Vec<u8>) {
        let bytes_max = match self.random.below(30) {
            0 => 40_000,
            1..5 => 5_000,
            _ => 200,
        };
        (self.random.below(STREAMS) as u16, self.draw_bytes(bytes_max))
    }

    fn draw_bytes(&mut self, bytes_max: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.random.below(bytes_max) as usize];
        self.random.fill(&mut bytes);
        bytes
    }

    /// As after a checkpoint: only what is durable is given back.
    fn trim(&mut self, journal: &Journal) {
        journal.sync().expect("a healthy disk");
        let mut through = Vec::new();
        for (stream, trimmed) in self.now.streams.iter().zip(&mut self.trimmed) {
            let wanted = stream.last - self.random.below(10).min(stream.last);
            *trimmed = wanted.max(*trimmed).min(stream.last);
            through.push(Seq(*trimmed));
        }
        journal.trim(&through).expect("a healthy disk");
    }
}

fn perform(journal: &Journal, op: &Op) -> Group {
    match op {
        Op::Append(records) if records.len() == 1 => {
            let (stream, bytes) = &records[0];
            let (head, tail) = bytes.split_at(bytes.len() / 2);
            journal.append(StreamId(*stream), &[head, tail]).1
        }
        Op::Append(records) => {
            // Of every other record the second half is lent.
            let lent: Vec<LentBytes> = records
                .iter()
                .map(|(_, bytes)| LentBytes::new(Arc::new(bytes.clone()), half(bytes)))
                .collect();
            let mut parts: Vec<(StreamId, Parts<'_>)> = Vec::new();
            for (index, ((stream, bytes), lent)) in records.iter().zip(&lent).enumerate() {
                let halves = Parts { copied: &bytes[..half(bytes).start], lent: Some(lent) };
                let part = if index % 2 == 0 { Parts::from(&bytes[..]) } else { halves };
                parts.push((StreamId(*stream), part));
            }
            let mut seqs = Vec::new();
            let group = journal.append_atomically(&parts, &mut seqs);
            assert_eq!(seqs.len(), records.len());
            group
        }
        Op::Truncate(stream, from) => journal.truncate_suffix(StreamId(*stream), Seq(*from)),
        Op::Raise(stream, last) => journal.raise_stream(StreamId(*stream), Seq(*last)),
        Op::HardState(stream, state) => journal.set_hard_state(StreamId(*stream), state),
    }
}

/// The second half of a record.
fn half(bytes: &[u8]) -> Range<usize> {
    bytes.len() / 2..bytes.len()
}

fn run_histories(policy: FsyncPolicy) {
    let base = std::env::var("BASALT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    for seed in (0..histories()).map(|number| number + base) {
        if let Err(what) = run_history(seed, options(policy)) {
            panic!("{policy:?}: {what}");
        }
    }
}

/// How many histories a test runs; the environment may ask for more.
fn histories() -> u64 {
    let asked = std::env::var("BASALT_JOURNAL_HISTORIES").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(150)
}

#[test]
fn always_keeps_every_durable_call_and_a_prefix_of_the_rest() {
    run_histories(FsyncPolicy::Always);
}

#[test]
fn every_second_keeps_every_durable_call_and_a_prefix_of_the_rest() {
    run_histories(FsyncPolicy::EverySecond);
}

#[test]
fn never_keeps_every_durable_call_and_a_prefix_of_the_rest() {
    run_histories(FsyncPolicy::Never);
}

/// The canary: if this journal, which lies about durability, passed, the tests above would prove
/// nothing.
#[test]
fn a_journal_that_acknowledges_before_the_sync_is_caught() {
    let lying =
        Options { acknowledge: Acknowledge::BeforeSyncForCrashTest, ..options(FsyncPolicy::Never) };
    let caught = (0..50).filter(|seed| run_history(*seed, lying.clone()).is_err()).count();
    assert!(caught > 25, "only {caught} of 50 lying histories were caught");
}

/// Whether what is appended is on disk before the power fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Synced {
    Yes,
    No,
}

#[test]
fn an_atomic_append_larger_than_buffers_and_segment_survives_whole_or_not_at_all() {
    const RECORDS: u16 = 60;
    for seed in 0..40 {
        let synced = if seed % 2 == 0 { Synced::Yes } else { Synced::No };
        let disk = SimDisk::new();
        let options = options(FsyncPolicy::EverySecond);
        let (journal, _) = open(&disk, options.clone()).expect("a new journal");
        let record = vec![7; options.segment_bytes as usize / 4];
        let lent = LentBytes::whole(Arc::new(record.clone()));
        journal.append(StreamId(0), &[b"before"]);
        journal.sync().expect("a healthy disk");
        let streams = 0..RECORDS;
        let parts = |number| match number % 2 {
            0 => Parts::from(&record[..]),
            _ => Parts { copied: &[], lent: Some(&lent) },
        };
        let records: Vec<(StreamId, Parts<'_>)> =
            streams.map(|number| (StreamId(number % STREAMS as u16), parts(number / 3))).collect();
        let group = journal.append_atomically(&records, &mut Vec::new());
        match synced {
            Synced::Yes => drop(journal.sync().expect("a healthy disk")),
            Synced::No => {
                while journal.written() < group {
                    std::thread::yield_now();
                }
            }
        }
        disk.crash(seed);
        drop(journal);
        let (_journal, heard) = open(&disk, options).expect("a torn tail is cut");
        let found = heard.0.iter().filter(|(_, _, bytes)| *bytes == record).count();
        assert!(heard.0.iter().any(|(_, _, bytes)| bytes == b"before"), "seed {seed}");
        assert!(found == 0 || found == usize::from(RECORDS), "seed {seed}: {found} records");
        assert!(found > 0 || synced == Synced::No, "seed {seed}: synced records are gone");
    }
}
