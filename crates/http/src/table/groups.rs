//! `/v1/streams/{key}/groups`: consumers that share the entries of a stream.
//!
//! Reading for a group is a POST, as taking a message of a queue is: it changes what others get,
//! and clients and proxies repeat a GET by themselves. `PUT` of a group makes the stream, too:
//! consumers are often there before the first entry is.

use super::parameters::{
    AGAIN_AFTER, CLAIM_CURSOR, CLAIMED, CONSUMER, COUNT, FROM_ID, FROM_PENDING, IDLE_MS,
    OF_CONSUMER, READ_NOACK, TO_PENDING, WAIT,
};
use crate::operation::Part::{
    Body as Raw, Key, Name, Option, Or, Switch, Value, Wait, Within, Word,
};
use crate::operation::{Body, Items, Operation, Route, Run, Segment, Unit};
use crate::plan::Answer;
use crate::shape::Shape;
use basalt_http1::Method;

const STREAMS: Segment = Segment::Text("streams");
const OF_STREAM: Segment = Segment::Text("groups");

pub(super) const GROUPS: Route = Route {
    path: &[Segment::Text("v1"), STREAMS, Segment::Key, OF_STREAM],
    operations: &[Operation {
        summary: "The groups of a stream: consumers, pending entries, last entry delivered (XINFO \
                  GROUPS)",
        run: Run::Command(&[Word("XINFO GROUPS"), Key], Answer::Shaped(Shape::Named("groups"))),
        statuses: &[200, 404],
        ..Operation::DEFAULT
    }],
};

pub(super) const GROUP: Route = Route {
    path: &[Segment::Text("v1"), STREAMS, Segment::Key, OF_STREAM, Segment::Name("group")],
    operations: &[
        Operation {
            summary: "What is delivered and not acknowledged, in numbers (XPENDING)",
            run: Run::Command(&[Word("XPENDING"), Key, Name], Answer::Shaped(Shape::Pending)),
            statuses: &[200, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Put,
            summary: "Makes a group, and the stream if there is none; 409 if there is one already \
                      (XGROUP CREATE)",
            parameters: &[&FROM_ID],
            run: Run::Command(
                &[Word("XGROUP CREATE"), Key, Name, Or(&FROM_ID, "$"), Word("MKSTREAM")],
                Answer::Created,
            ),
            statuses: &[201],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Delete,
            summary: "Removes a group with all that it knows (XGROUP DESTROY)",
            run: Run::Command(&[Word("XGROUP DESTROY"), Key, Name], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "read")),
            summary: "Delivers entries that no consumer of the group has got, to be acknowledged; \
                      waits for one (XREADGROUP)",
            parameters: &[&CONSUMER, &COUNT, &WAIT, &READ_NOACK, &AGAIN_AFTER],
            run: Run::Command(
                &[
                    Word("XREADGROUP GROUP"),
                    Name,
                    Value(&CONSUMER),
                    Option("COUNT", &COUNT),
                    Wait(&WAIT, ("BLOCK", ""), Unit::Milliseconds),
                    Switch(&READ_NOACK, "NOACK"),
                    Word("STREAMS"),
                    Key,
                    Or(&AGAIN_AFTER, ">"),
                ],
                Answer::Shaped(Shape::Entries),
            ),
            statuses: &[200, 204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "ack")),
            summary: "Acknowledges the entries of an array of IDs (XACK)",
            body: Body::Json(Items::Words),
            run: Run::Command(&[Word("XACK"), Key, Name, Raw], Answer::Member("acknowledged")),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "claim")),
            summary: "Takes over the entries of an array of IDs from other consumers (XCLAIM)",
            parameters: &[&CONSUMER, &IDLE_MS],
            body: Body::Json(Items::Words),
            run: Run::Command(
                &[Word("XCLAIM"), Key, Name, Value(&CONSUMER), Or(&IDLE_MS, "0"), Raw],
                Answer::Shaped(Shape::Claimed),
            ),
            statuses: &[200, 404],
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "autoclaim")),
            summary: "Takes over entries from other consumers, part by part (XAUTOCLAIM)",
            parameters: &[&CONSUMER, &IDLE_MS, &CLAIM_CURSOR, &CLAIMED],
            run: Run::Command(
                &[
                    Word("XAUTOCLAIM"),
                    Key,
                    Name,
                    Value(&CONSUMER),
                    Or(&IDLE_MS, "0"),
                    Or(&CLAIM_CURSOR, "0-0"),
                    Option("COUNT", &CLAIMED),
                ],
                Answer::Shaped(Shape::AutoClaimed),
            ),
            statuses: &[200, 404],
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const PENDING: Route = Route {
    path: &[
        Segment::Text("v1"),
        STREAMS,
        Segment::Key,
        OF_STREAM,
        Segment::Name("group"),
        Segment::Text("pending"),
    ],
    operations: &[Operation {
        summary: "Entries that are delivered and not acknowledged (XPENDING)",
        parameters: &[&FROM_PENDING, &TO_PENDING, &COUNT, &OF_CONSUMER, &IDLE_MS],
        run: Run::Command(
            &[
                Word("XPENDING"),
                Key,
                Name,
                Option("IDLE", &IDLE_MS),
                Or(&FROM_PENDING, "-"),
                Or(&TO_PENDING, "+"),
                Or(&COUNT, "1000"),
                Option("", &OF_CONSUMER),
            ],
            Answer::Shaped(Shape::PendingEntries),
        ),
        statuses: &[200, 404],
        ..Operation::DEFAULT
    }],
};

pub(super) const DELIVERED: Route = Route {
    path: &[
        Segment::Text("v1"),
        STREAMS,
        Segment::Key,
        OF_STREAM,
        Segment::Name("group"),
        Segment::Text("pending"),
        Segment::Within("id"),
    ],
    operations: &[Operation {
        method: Method::Delete,
        summary: "Acknowledges an entry (XACK)",
        run: Run::Command(&[Word("XACK"), Key, Name, Within], Answer::Found),
        statuses: &[204, 404],
        ..Operation::DEFAULT
    }],
};

pub(super) const CONSUMERS: Route = Route {
    path: &[
        Segment::Text("v1"),
        STREAMS,
        Segment::Key,
        OF_STREAM,
        Segment::Name("group"),
        Segment::Text("consumers"),
    ],
    operations: &[Operation {
        summary: "The consumers of a group: pending entries, milliseconds of silence (XINFO \
                  CONSUMERS)",
        run: Run::Command(
            &[Word("XINFO CONSUMERS"), Key, Name],
            Answer::Shaped(Shape::Named("consumers")),
        ),
        statuses: &[200, 404],
        ..Operation::DEFAULT
    }],
};

pub(super) const ONE_CONSUMER: Route = Route {
    path: &[
        Segment::Text("v1"),
        STREAMS,
        Segment::Key,
        OF_STREAM,
        Segment::Name("group"),
        Segment::Text("consumers"),
        Segment::Within("consumer"),
    ],
    operations: &[Operation {
        method: Method::Delete,
        summary: "Removes a consumer, and forgets what it has not acknowledged: how many entries \
                  (XGROUP DELCONSUMER)",
        run: Run::Command(
            &[Word("XGROUP DELCONSUMER"), Key, Name, Within],
            Answer::Member("forgotten"),
        ),
        statuses: &[200, 404],
        ..Operation::DEFAULT
    }],
};
