//! What is known of the messages of a queue that a server has been killed with.

use super::Delivery;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// What the log may lose of what was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Loses {
    /// Nothing: `always`.
    Nothing,
    /// What was answered so shortly before the end of the process: `everysec`. The log is written
    /// every few milliseconds; a machine with much to do may take longer.
    Last(Duration),
}

/// See the head of this file. Bodies are unique.
pub(super) struct Ledger {
    loses: Loses,
    kills: Vec<Instant>,
    /// Messages whose put was answered, and when.
    put: BTreeMap<String, Instant>,
    /// Messages whose acknowledgement was answered, when, and which of their deliveries it was.
    done: BTreeMap<String, (Instant, i64)>,
    /// Acknowledgements that were sent and not answered: they count or not.
    unsure: BTreeSet<String>,
    /// When each came as a first delivery.
    first: BTreeMap<String, Instant>,
    pub(super) redelivered: u64,
    wrong: Vec<String>,
}

impl Ledger {
    pub(super) fn new(loses: Loses) -> Ledger {
        Ledger {
            loses,
            kills: Vec::new(),
            put: BTreeMap::new(),
            done: BTreeMap::new(),
            unsure: BTreeSet::new(),
            first: BTreeMap::new(),
            redelivered: 0,
            wrong: Vec::new(),
        }
    }

    pub(super) fn put(&mut self, body: String) {
        self.put.insert(body, Instant::now());
    }

    pub(super) fn done(&mut self, delivery: &Delivery) {
        self.done.insert(delivery.body.clone(), (Instant::now(), delivery.deliveries));
    }

    pub(super) fn unsure(&mut self, body: &str) {
        self.unsure.insert(body.to_owned());
    }

    pub(super) fn wrong(&mut self, what: String) {
        self.wrong.push(what);
    }

    /// The server is about to be killed.
    pub(super) fn killed(&mut self) {
        self.kills.push(Instant::now());
    }

    /// A message has come.
    pub(super) fn came(&mut self, delivery: &Delivery) {
        let body = &delivery.body;
        // An earlier delivery that its consumer has noted late did not come back.
        let came_back = |&(at, acknowledged): &(Instant, i64)| {
            delivery.deliveries >= acknowledged && !self.may_be_lost(at)
        };
        if self.done.get(body).is_some_and(came_back) {
            self.wrong.push(format!("{body} came back after its acknowledgement"));
        }
        if delivery.deliveries > 1 {
            self.redelivered += 1;
        } else if let Some(at) = self.first.insert(body.clone(), Instant::now())
            && !self.may_be_lost(at)
        {
            self.wrong.push(format!("{body} came twice as a first delivery"));
        }
    }

    /// Whether a crash may have taken back what was answered then.
    fn may_be_lost(&self, at: Instant) -> bool {
        let Loses::Last(time) = self.loses else { return false };
        self.kills.iter().any(|&kill| at + time > kill && at < kill + time)
    }

    /// All messages have been taken: nothing is lost that must not be, and nothing was wrong.
    pub(super) fn check(&self) {
        let is_lost = |(body, at): &(&String, &Instant)| {
            !self.done.contains_key(*body)
                && !self.unsure.contains(*body)
                && !self.may_be_lost(**at)
        };
        let lost: Vec<&String> = self.put.iter().filter(is_lost).map(|(body, _)| body).collect();
        eprintln!(
            "{} put, {} done, {} redelivered",
            self.put.len(),
            self.done.len(),
            self.redelivered
        );
        assert!(lost.is_empty(), "{} lost, {:?} for one", lost.len(), lost[0]);
        assert!(self.wrong.is_empty(), "{:?}", &self.wrong[..self.wrong.len().min(5)]);
    }
}
