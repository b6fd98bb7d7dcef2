//! Q.GET.

use super::options::{lease_ms, name, value};
use super::{edit, reply_number};
use crate::timeout;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Absent, Key, Service, Txn, WaitAnswer};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, at};
use basalt_value::Queue;
use basalt_value::queue::{Delivery, Demand, Hold, MESSAGES_MAX};
use std::time::Duration;

pub(super) const Q_GET: Entry = Entry {
    spec: CommandSpec {
        name: "q.get",
        synopsis: "[COUNT count] [LEASE milliseconds] [BLOCK milliseconds] [WORKER name] [NOACK] QUEUES key [key ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Blocking]),
        keys: &[KeyUse::TAKE],
        overrides: &[at("QUEUES").named("queues")],
        since: "0.1.0",
        complexity: "O(N*log(M)) with N messages delivered of M",
        summary: "Delivers messages, those of the first queue first, to be acknowledged while their lease lasts; waits for one if told so.",
        examples: &[
            "Q.GET QUEUES q => (nil)",
            r#"Q.MPUT q 3 a b c => ["0-1", "0-2", "0-3"]"#,
            "Q.GET COUNT 2 NOACK QUEUES absent q => (any)",
            "Q.LEN q => (integer) 1",
            "Q.GET LEASE 60000 WORKER w1 QUEUES q => (any)",
            "Q.GET BLOCK 10 QUEUES q => (nil)",
            "Q.GET LEASE 0 QUEUES q => (error) ERR lease is out of range: from 1 millisecond to 12 hours",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(get),
    traits: Traits { slight_words_max: WORDS_MAX, ..Traits::NONE },
    ..Entry::DEFAULT
};

/// Words of a call that has each option once, and one key.
const WORDS_MAX: u16 = 12;

/// What is asked for.
struct Asked<'a> {
    demand: Demand<'a>,
    /// Whether it waits, and how long; `None` inside is for ever.
    block: Option<Option<Duration>>,
}

impl<'a> Asked<'a> {
    fn parse(args: &Args<'a>) -> Result<Asked<'a>, CommandError> {
        let demand = Demand { count: 1, hold: Hold::Lease(None), worker: b"" };
        let mut asked = Asked { demand, block: None };
        let mut index = 1;
        while !args.is(index, "queues") {
            index = asked.option(args, index)?;
        }
        // The keys were found by the first word that says QUEUES, which may be a consumer's name.
        let keys = args.keys().iter().map(|key| key.bytes);
        if keys.eq(args.from(index + 1)) { Ok(asked) } else { Err(CommandError::SYNTAX) }
    }

    /// Reads one option; returns where the next one is.
    fn option(&mut self, args: &Args<'a>, index: usize) -> Result<usize, CommandError> {
        if args.is(index, "noack") {
            self.demand.hold = Hold::None;
            return Ok(index + 1);
        }
        let value = value(args, index)?;
        if args.is(index, "count") {
            let count = basalt_number::parse_i64(value).and_then(|it| usize::try_from(it).ok());
            self.demand.count = count
                .filter(|count| (1..=MESSAGES_MAX).contains(count))
                .ok_or(CommandError::fixed("ERR count is out of range: from 1 to 1000"))?;
        } else if args.is(index, "lease") {
            let lease_ms = lease_ms(value)?;
            if self.demand.hold != Hold::None {
                self.demand.hold = Hold::Lease(Some(lease_ms));
            }
        } else if args.is(index, "block") {
            self.block = Some(timeout::milliseconds(value)?);
        } else if args.is(index, "worker") {
            self.demand.worker = name(value)?;
        } else {
            return Err(CommandError::SYNTAX);
        }
        Ok(index + 2)
    }
}

/// The queue under a key. A client that has waited passes over a key that has got something of
/// another kind.
fn queue_of<'a>(txn: &'a Txn<'_>, key: &Key<'_>) -> Result<Option<&'a Queue>, CommandError> {
    match txn.collection::<Queue>(key) {
        Err(_) if txn.has_waited() => Ok(None),
        found => Ok(found?),
    }
}

fn get(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let asked = Asked::parse(args)?;
    if args.keys().len() > 1 {
        // A wrong kind is found before anything is taken.
        args.keys().iter().try_for_each(|key| queue_of(txn, key).map(drop))?;
    }
    let Demand { count: wanted, worker, .. } = asked.demand;
    let (mut count, mut place) = (0, None);
    for key in args.keys() {
        let (before, demand) = (count, Demand { count: wanted - count, ..asked.demand });
        // With others that wait, a client that may wait joins them.
        let is_in_turn = asked.block.is_none() || txn.is_in_turn(key);
        let is_there = if count < wanted && is_in_turn {
            take(txn, key, &demand, &mut |delivery| {
                match (count, wanted) {
                    (0, 1) => reply.array(1),
                    (0, _) => place = Some(reply.array_deferred()),
                    _ => {}
                }
                count += 1;
                reply_delivery(key, &delivery, reply);
            })?
        } else {
            queue_of(txn, key)?.is_some()
        };
        // One that has waited has said that it is there when it began to.
        if is_there && !worker.is_empty() && (count > before || !txn.has_waited()) {
            txn.note_worker(key, worker);
        }
    }
    match (place, asked.block) {
        (Some(place), _) => reply.array_end(place, count),
        _ if count > 0 => {}
        (None, Some(time)) if txn.wait(args.keys(), Service::InTurn, time) == WaitAnswer::Waits => {
        }
        (None, _) => reply.null_array(),
    }
    Ok(())
}

/// Takes what the queue under a key has, which may have come by time alone; returns true if there
/// is a queue. One that has nothing is left as it is.
fn take(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    demand: &Demand<'_>,
    visit: &mut dyn FnMut(Delivery<'_>),
) -> Result<bool, CommandError> {
    let taken = edit(txn, key, Absent::Skip, "q.get", |queue, now_ms, edits| {
        if queue.has_ready(now_ms) {
            queue.deliver(demand, now_ms, edits, visit);
        }
    });
    match taken {
        Err(_) if txn.has_waited() => Ok(false),
        taken => Ok(taken?.is_some()),
    }
}

fn reply_delivery(key: &Key<'_>, delivery: &Delivery<'_>, reply: &mut Reply<'_>) {
    reply.array(6);
    reply.bulk(key.bytes);
    reply.bulk(delivery.token.text().as_bytes());
    reply.bulk(delivery.body);
    reply_number(delivery.deliveries, reply);
    reply_number(delivery.put_ms, reply);
    reply.integer(delivery.token.id.lane().number().into());
}
