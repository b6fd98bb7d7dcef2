//! What HOTKEYS and BIGKEYS have in common: the first keys of a sample in some order.

use crate::generic::type_name;
use basalt_call::context::Context;
use basalt_engine::{Held, Object, Sampled};
use basalt_env::Random;
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::draws;
use basalt_service::error::CommandError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keys that are reported when no number is given.
const COUNT_DEFAULT: u64 = 10;
/// Keys that are reported at most.
const COUNT_MAX: u64 = 1_000;
/// Keys that are looked at when no number is given: some ten milliseconds of work.
const SAMPLES_DEFAULT: u64 = 100_000;
/// Keys that are looked at at most.
const SAMPLES_MAX: u64 = 1_000_000;

const COUNT_REFUSED: CommandError = CommandError::fixed("ERR COUNT must be between 1 and 1000");
const SAMPLES_REFUSED: CommandError =
    CommandError::fixed("ERR SAMPLES must be between 1 and 1000000");

/// How much a report asks for.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    count: u64,
    samples: u64,
}

impl Extent {
    pub(super) const DEFAULT: Extent = Extent { count: COUNT_DEFAULT, samples: SAMPLES_DEFAULT };

    /// Reads an option of both reports; false if it is none of theirs.
    pub(super) fn read(&mut self, args: &Args<'_>, at: usize) -> Result<bool, CommandError> {
        if args.is(at, "COUNT") {
            self.count = number(args, at + 1, COUNT_MAX, COUNT_REFUSED)?;
        } else if args.is(at, "SAMPLES") {
            self.samples = number(args, at + 1, SAMPLES_MAX, SAMPLES_REFUSED)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

fn number(
    args: &Args<'_>,
    at: usize,
    max: u64,
    refused: CommandError,
) -> Result<u64, CommandError> {
    let word = args.opt(at).ok_or(CommandError::SYNTAX)?;
    let number = parse_i64(word).and_then(|number| u64::try_from(number).ok());
    number.filter(|number| (1..=max).contains(number)).ok_or(refused)
}

/// The keys that came first, and how much was looked at.
pub(super) struct KeyReport<R, F> {
    sampled: Sampled,
    keys: Vec<Reported<R, F>>,
}

/// A key of a report: its rank, its name, and what is said of it.
struct Reported<R, F> {
    rank: R,
    key: Vec<u8>,
    kind: &'static str,
    figures: F,
}

impl<R: Ord + Copy, F> Reported<R, F> {
    /// Where it stands in the report: the greatest rank first, then by name.
    fn place(&self) -> (Reverse<R>, &[u8]) {
        (Reverse(self.rank), &self.key)
    }
}

impl<R: Ord + Copy, F> PartialEq for Reported<R, F> {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl<R: Ord + Copy, F> Eq for Reported<R, F> {}

impl<R: Ord + Copy, F> PartialOrd for Reported<R, F> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: Ord + Copy, F> Ord for Reported<R, F> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.place().cmp(&other.place())
    }
}

impl<R: Ord + Copy, F> KeyReport<R, F> {
    /// Looks at keys of the selected database. `rank` says where one stands, and what is to be
    /// said of it; `None` leaves it out.
    ///
    /// # Errors
    /// Somebody holds a partition for long.
    pub(super) fn make(
        ctx: &mut Context<'_>,
        extent: Extent,
        mut rank: impl FnMut(Object<'_>) -> Option<(R, F)>,
    ) -> Result<KeyReport<R, F>, Held> {
        let mut random = Random::new(draws::draw());
        // Its greatest is the one that goes when a better one comes.
        let mut first: BinaryHeap<Reported<R, F>> = BinaryHeap::new();
        let engine = &ctx.server.engine;
        let sampled = engine.sample(ctx.walk(), extent.samples, &mut random, |key, object| {
            let Some((rank, figures)) = rank(object) else { return };
            let is_full = first.len() as u64 == extent.count;
            if is_full && first.peek().is_some_and(|last| last.place() < (Reverse(rank), key)) {
                return;
            }
            if first.iter().any(|other| other.key == key) {
                return; // A table that changes meanwhile may show a key twice.
            }
            if is_full {
                first.pop();
            }
            first.push(Reported { rank, key: key.to_vec(), kind: type_name(object), figures });
        })?;
        ctx.gate_reads_of_everything();
        Ok(KeyReport { sampled, keys: first.into_sorted_vec() })
    }

    /// Replies a map: how many keys there are, how many were looked at, and the report; each key is
    /// a map with its name, its type, and what `figures` writes, which is this number of fields.
    pub(super) fn reply(
        self,
        name: &str,
        fields: usize,
        reply: &mut Reply<'_>,
        figures: impl Fn(F, &mut Reply<'_>),
    ) {
        reply.map(3);
        reply.bulk(b"keys");
        reply.integer(self.sampled.keys as i64);
        reply.bulk(b"sampled");
        reply.integer(self.sampled.seen as i64);
        reply.bulk(name.as_bytes());
        reply.array(self.keys.len());
        for reported in self.keys {
            reply.map(2 + fields);
            reply.bulk(b"key");
            reply.bulk(&reported.key);
            reply.bulk(b"type");
            reply.bulk(reported.kind.as_bytes());
            figures(reported.figures, reply);
        }
    }
}
