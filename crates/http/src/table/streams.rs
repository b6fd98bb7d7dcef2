//! `/v1/streams/{key}` and `/v1/channels/{name}`.

use super::parameters::{AFTER, AGE, COUNT, FROM_NOW, MAX, PATTERN, WAIT};
use crate::operation::Part::{Age, Body as Raw, BodyAs, Key, Name, Option, Or, Wait, Word};
use crate::operation::{Body, FeedKind, Items, Operation, Route, Run, Segment, Unit};
use crate::plan::Answer;
use crate::shape::Shape;
use basalt_http1::Method;

pub(super) const STREAM: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("streams"), Segment::Key],
    operations: &[
        Operation {
            summary: "Entries behind an ID; waits for one (XREAD)",
            parameters: &[&AFTER, &COUNT, &WAIT],
            run: Run::Command(
                &[
                    Word("XREAD"),
                    Word("COUNT"),
                    Or(&COUNT, "1000"),
                    Wait(&WAIT, ("BLOCK", ""), Unit::Milliseconds),
                    Word("STREAMS"),
                    Key,
                    Or(&AFTER, "0"),
                ],
                Answer::Shaped(Shape::Entries),
            ),
            statuses: &[200, 204],
            ..Operation::DEFAULT
        },
        Operation {
            summary: "Entries as they are added, as events (XREAD)",
            parameters: &[&FROM_NOW],
            run: Run::Events(FeedKind::Stream),
            ..Operation::DEFAULT
        },
        Operation {
            summary: "Entries as they are added, as messages (XREAD)",
            parameters: &[&FROM_NOW],
            run: Run::Socket(FeedKind::Stream),
            statuses: &[101, 426],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            summary: "Adds an entry: the body as its field `data`, or the fields of an object in \
                      JSON (XADD)",
            parameters: &[&MAX, &AGE],
            body: Body::BytesOrJson(Items::Fields),
            run: Run::Command(
                &[
                    Word("XADD"),
                    Key,
                    Option("MAXLEN ~", &MAX),
                    Age(&AGE),
                    Word("*"),
                    BodyAs("data"),
                ],
                Answer::Entry,
            ),
            statuses: &[201],
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const ENTRY: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("streams"), Segment::Key, Segment::Name("id")],
    operations: &[
        Operation {
            summary: "An entry (XRANGE)",
            run: Run::Command(&[Word("XRANGE"), Key, Name, Name], Answer::Shaped(Shape::Entry)),
            statuses: &[200, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Delete,
            summary: "Removes an entry (XDEL)",
            run: Run::Command(&[Word("XDEL"), Key, Name], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const CHANNEL: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("channels"), Segment::Name("name")],
    operations: &[
        Operation {
            summary: "Messages as they are published, as events (SUBSCRIBE, PSUBSCRIBE)",
            parameters: &[&PATTERN],
            run: Run::Events(FeedKind::Channel),
            ..Operation::DEFAULT
        },
        Operation {
            summary: "Messages as they are published, as messages; takes `publish`",
            parameters: &[&PATTERN],
            run: Run::Socket(FeedKind::Channel),
            statuses: &[101, 426],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            summary: "Sends the body to the subscribers of a channel (PUBLISH)",
            body: Body::Bytes,
            run: Run::Command(&[Word("PUBLISH"), Name, Raw], Answer::Member("receivers")),
            ..Operation::DEFAULT
        },
    ],
};
