//! `/v1/queues/{key}`, and the messages in it.
//!
//! Taking a message is a POST: clients and proxies repeat a GET by themselves.

use super::parameters::{
    COUNT, CREDIT, CURSOR, DEAD, DEDUP, DELAY_MS, FROM_MESSAGE, LEASE_MS, MATCH, MESSAGES,
    NEW_LEASE_MS, NOACK, OF_PRIORITY, PRIORITY, PURGED_STATE, STATE, TTL_MS, WAIT, WINDOW_MS,
    WORKER,
};
use crate::operation::Part::{
    Body as Raw, Choice, Key, Name, Option, Or, Switch, Value, Wait, Word,
};
use crate::operation::{Body, FeedKind, Items, Operation, Route, Run, Segment, Unit};
use crate::plan::Answer;
use crate::shape::Shape;
use basalt_http1::Method;

pub(super) const QUEUES: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("queues")],
    operations: &[Operation {
        summary: "Queues, part by part (SCAN)",
        parameters: &[&CURSOR, &MATCH, &COUNT],
        run: Run::Command(
            &[
                Word("SCAN"),
                Or(&CURSOR, "0"),
                Option("MATCH", &MATCH),
                Word("TYPE queue COUNT"),
                Or(&COUNT, "1000"),
            ],
            Answer::Shaped(Shape::Page("queues")),
        ),
        ..Operation::DEFAULT
    }],
};

pub(super) const QUEUE: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("queues"), Segment::Key],
    operations: &[
        Operation {
            summary: "Counts by state, sizes, totals (Q.STAT)",
            run: Run::Command(&[Word("Q.STAT"), Key], Answer::Shaped(Shape::Whole)),
            statuses: &[200, 404],
            ..Operation::DEFAULT
        },
        Operation {
            summary: "Messages as the client has room for them, as events (Q.GET)",
            parameters: &[&CREDIT, &LEASE_MS, &WORKER, &NOACK],
            run: Run::Events(FeedKind::Queue),
            ..Operation::DEFAULT
        },
        Operation {
            summary: "Messages as the client has room for them (Q.GET); takes `get`, `ack`, \
                      `nack`, `extend` and `put`",
            parameters: &[&CREDIT, &LEASE_MS, &WORKER, &NOACK],
            run: Run::Socket(FeedKind::Queue),
            statuses: &[101, 426],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Patch,
            summary: "Changes settings, and makes the queue if there is none (Q.CONFIG SET)",
            body: Body::Json(Items::Fields),
            run: Run::Command(&[Word("Q.CONFIG SET"), Key, Raw], Answer::Done),
            statuses: &[204],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "get")),
            summary: "Delivers messages, to be acknowledged while their lease lasts; waits for one \
                      (Q.GET)",
            parameters: &[&MESSAGES, &LEASE_MS, &WAIT, &WORKER, &NOACK],
            run: Run::Command(
                &[
                    Word("Q.GET"),
                    Option("COUNT", &MESSAGES),
                    Option("LEASE", &LEASE_MS),
                    Wait(&WAIT, ("BLOCK", ""), Unit::Milliseconds),
                    Option("WORKER", &WORKER),
                    Switch(&NOACK, "NOACK"),
                    Word("QUEUES"),
                    Key,
                ],
                Answer::Shaped(Shape::Deliveries),
            ),
            statuses: &[200, 204],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "call")),
            summary: "Puts the body as a message and waits for the answer to it (Q.CALL)",
            parameters: &[&WAIT],
            body: Body::Bytes,
            run: Run::Command(
                &[Word("Q.CALL"), Key, Raw, Wait(&WAIT, ("TIMEOUT", ""), Unit::Milliseconds)],
                Answer::Called,
            ),
            statuses: &[200, 204, 423, 429],
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "purge")),
            summary: "Removes the messages of a state, or all that nobody holds (Q.PURGE)",
            parameters: &[&PURGED_STATE, &OF_PRIORITY],
            run: Run::Command(
                &[
                    Word("Q.PURGE"),
                    Key,
                    Option("STATE", &PURGED_STATE),
                    Option("PRIORITY", &OF_PRIORITY),
                ],
                Answer::Member("removed"),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "revive")),
            summary: "Makes all dead messages ready again (Q.REVIVE)",
            run: Run::Command(&[Word("Q.REVIVE"), Key, Word("ALL")], Answer::Member("revived")),
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const SETTINGS: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("queues"), Segment::Key, Segment::Text("settings")],
    operations: &[Operation {
        summary: "The settings of a queue (Q.CONFIG GET)",
        run: Run::Command(&[Word("Q.CONFIG GET"), Key], Answer::Shaped(Shape::Whole)),
        statuses: &[200, 404],
        ..Operation::DEFAULT
    }],
};

pub(super) const WORKERS: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("queues"), Segment::Key, Segment::Text("workers")],
    operations: &[Operation {
        summary: "The consumers of a queue (Q.WORKERS)",
        run: Run::Command(&[Word("Q.WORKERS"), Key], Answer::Shaped(Shape::Named("workers"))),
        ..Operation::DEFAULT
    }],
};

pub(super) const MESSAGES_OF_QUEUE: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("queues"), Segment::Key, Segment::Text("messages")],
    operations: &[
        Operation {
            summary: "Messages of a state, which stay where they are (Q.PEEK)",
            parameters: &[&STATE, &FROM_MESSAGE, &MESSAGES],
            run: Run::Command(
                &[
                    Word("Q.PEEK"),
                    Key,
                    Word("STATE"),
                    Choice(&STATE),
                    Option("FROM", &FROM_MESSAGE),
                    Option("COUNT", &MESSAGES),
                ],
                Answer::Shaped(Shape::Named("messages")),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            summary: "Puts the body as a message (Q.PUT)",
            parameters: &[&PRIORITY, &DELAY_MS, &TTL_MS, &DEDUP, &WINDOW_MS],
            body: Body::Bytes,
            run: Run::Command(
                &[
                    Word("Q.PUT"),
                    Key,
                    Raw,
                    Option("PRIORITY", &PRIORITY),
                    Option("DELAY", &DELAY_MS),
                    Option("TTL", &TTL_MS),
                    Option("DEDUP", &DEDUP),
                    Option("WINDOW", &WINDOW_MS),
                ],
                Answer::Queued,
            ),
            statuses: &[201, 423, 429],
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const DELIVERY: Route = Route {
    path: &[
        Segment::Text("v1"),
        Segment::Text("queues"),
        Segment::Key,
        Segment::Text("messages"),
        Segment::Name("token"),
    ],
    operations: &[
        Operation {
            method: Method::Delete,
            summary: "Acknowledges a delivery: the message is done (Q.ACK)",
            run: Run::Command(&[Word("Q.ACK"), Key, Name], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "nack")),
            summary: "Hands a message back: to its place, after a delay, or to the dead ones (Q.NACK)",
            parameters: &[&DELAY_MS, &DEAD],
            run: Run::Command(
                &[Word("Q.NACK"), Key, Name, Option("DELAY", &DELAY_MS), Switch(&DEAD, "DEAD")],
                Answer::Found,
            ),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "reply")),
            summary: "Acknowledges a delivery, and answers the client that waits with the body (Q.REPLY)",
            body: Body::Bytes,
            run: Run::Command(&[Word("Q.REPLY"), Key, Name, Raw], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "extend")),
            summary: "Has the lease of a message end that long from now (Q.EXTEND)",
            parameters: &[&NEW_LEASE_MS],
            run: Run::Command(&[Word("Q.EXTEND"), Key, Name, Value(&NEW_LEASE_MS)], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
    ],
};
