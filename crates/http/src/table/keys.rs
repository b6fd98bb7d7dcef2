//! `/v1/keys` and `/v1/keys/{key}`.

use super::parameters::{COUNT, CURSOR, MATCH, REPLACE, TO, TYPE};
use crate::operation::Part::{Body as Raw, Either, Key, Next, Option, Or, Switch, Value, Word};
use crate::operation::{Body, Items, Operation, Route, Run, Segment};
use crate::plan::{Answer, Purpose};
use crate::shape::Shape;
use basalt_http1::Method;

pub(super) const KEYS: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("keys")],
    operations: &[Operation {
        summary: "Keys, part by part (SCAN)",
        parameters: &[&CURSOR, &MATCH, &TYPE, &COUNT],
        run: Run::Command(
            &[
                Word("SCAN"),
                Or(&CURSOR, "0"),
                Option("MATCH", &MATCH),
                Option("TYPE", &TYPE),
                Word("COUNT"),
                Or(&COUNT, "1000"),
            ],
            Answer::Shaped(Shape::Page("keys")),
        ),
        ..Operation::DEFAULT
    }],
};

pub(super) const KEY: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("keys"), Segment::Key],
    operations: &[
        Operation {
            summary: "What a key holds: type, time to live, encoding, size (OBJECT DESCRIBE)",
            run: Run::Command(&[Word("OBJECT DESCRIBE"), Key], Answer::Shaped(Shape::Whole)),
            statuses: &[200, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "rename")),
            summary: "Gives a key another name (RENAMENX, RENAME)",
            parameters: &[&TO, &REPLACE],
            run: Run::Command(
                &[Either(&REPLACE, "RENAME", "RENAMENX"), Key, Value(&TO)],
                Answer::Renamed,
            ),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "copy")),
            summary: "Copies a key (COPY)",
            parameters: &[&TO, &REPLACE],
            run: Run::Several(
                &[
                    Word("MULTI"),
                    Next,
                    Word("EXISTS"),
                    Key,
                    Next,
                    Word("COPY"),
                    Key,
                    Value(&TO),
                    Switch(&REPLACE, "REPLACE"),
                    Next,
                    Word("EXEC"),
                ],
                Purpose::Copy,
            ),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Patch,
            summary: "Sets when a key expires, or, by null, that it never does (PEXPIRE, PERSIST)",
            body: Body::Json(Items::Expiry),
            run: Run::Expiry {
                cleared: &[
                    Word("MULTI"),
                    Next,
                    Word("EXISTS"),
                    Key,
                    Next,
                    Word("PERSIST"),
                    Key,
                    Next,
                    Word("EXEC"),
                ],
                several: Some(Purpose::Persist),
                set: (&[Word("PEXPIRE"), Key, Raw], Answer::Found),
            },
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Delete,
            summary: "Removes a key of any type (UNLINK)",
            run: Run::Command(&[Word("UNLINK"), Key], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
    ],
};
