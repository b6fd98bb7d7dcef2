//! Q.STAT and Q.WORKERS.

use super::{queue_at, reply_number};
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::queue::{LaneNumber, Totals};
use std::collections::BTreeMap;

pub(super) const Q_STAT: Entry = Entry {
    spec: CommandSpec {
        name: "q.stat",
        synopsis: "key",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(log(N)) with N messages, O(M) with M that have come due since the queue was changed",
        summary: "Returns how many messages a queue has by state and priority, their bytes, the age of the oldest ready one in milliseconds, and what has happened to all that were put.",
        examples: &[
            "Q.STAT q => (nil)",
            r#"Q.MPUT q 2 a b => ["0-1", "0-2"]"#,
            "Q.STAT q => (any)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(stat),
    ..Entry::DEFAULT
};

pub(super) const Q_WORKERS: Entry = Entry {
    spec: CommandSpec {
        name: "q.workers",
        synopsis: "key",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(N+M) with N consumers and M messages that are leased",
        summary: "Returns the consumers of a queue that gave a name: when each asked last, if that was in the last 512 seconds, and how many messages it holds.",
        examples: &[
            "Q.GET WORKER w1 QUEUES q => (nil)",
            "Q.WORKERS q => []",
            r#"Q.PUT q a => "0-1""#,
            "Q.GET WORKER w1 QUEUES q => (any)",
            "Q.WORKERS q => (any)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(workers),
    ..Entry::DEFAULT
};

fn stat(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(queue) = queue_at(view, args.key(0))? else {
        reply.null();
        return Ok(());
    };
    let now_ms = view.now_ms();
    let counts = queue.counts(now_ms);
    let oldest_ms = queue.oldest_ready_ms(now_ms).map_or(0, |put_ms| now_ms.saturating_sub(put_ms));
    let Totals { put, delivered, redelivered, acknowledged, .. } = *queue.totals();
    let Totals { buried, expired, dropped, purged, .. } = *queue.totals();
    let numbers = [
        ("messages", counts.all()),
        ("ready", counts.all_ready()),
        ("delayed", counts.delayed),
        ("leased", counts.leased),
        ("dead", counts.dead),
        ("bytes", queue.body_bytes()),
        ("oldest-ready", oldest_ms),
        ("dedup-names", queue.known_names() as u64),
        ("total-put", put),
        ("total-delivered", delivered),
        ("total-redelivered", redelivered),
        ("total-acknowledged", acknowledged),
        ("total-dead", buried),
        ("total-expired", expired),
        ("total-dropped", dropped),
        ("total-purged", purged),
    ];
    reply.map(numbers.len() + 1);
    for (name, number) in numbers {
        reply.bulk(name.as_bytes());
        reply_number(number, reply);
    }
    reply.bulk(b"ready-by-priority");
    let lanes = || LaneNumber::by_precedence().zip(counts.ready.iter().rev());
    reply.map(lanes().filter(|(_, count)| **count > 0).count());
    for (lane, &count) in lanes().filter(|(_, count)| **count > 0) {
        reply.integer(lane.number().into());
        reply_number(count, reply);
    }
    Ok(())
}

fn workers(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let mut workers: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
    let Some(queue) = queue_at(view, args.key(0))? else {
        reply.array(0);
        return Ok(());
    };
    queue.visit_leases(view.now_ms(), &mut |name| {
        if !name.is_empty() {
            workers.entry(name.into()).or_default().1 += 1;
        }
    });
    view.visit_workers(args.key(0), &mut |name, seen_ms| {
        workers.entry(name.into()).or_default().0 = seen_ms;
    });
    reply.array(workers.len());
    for (name, (seen_ms, leased)) in workers {
        reply.map(3);
        reply.bulk(b"worker");
        reply.bulk(&name);
        reply.bulk(b"last-seen");
        reply_number(seen_ms, reply);
        reply.bulk(b"leased");
        reply_number(leased, reply);
    }
    Ok(())
}
