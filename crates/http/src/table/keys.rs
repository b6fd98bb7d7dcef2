//! `/v1/keys` and `/v1/keys/{key}`.

use super::parameters::{COUNT, CURSOR, MATCH, REPLACE, TO, TYPE};
use crate::operation::Part::{Either, Key, Option, Or, Value, Word};
use crate::operation::{Operation, Route, Run, Segment};
use crate::plan::Answer;
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
            method: Method::Delete,
            summary: "Removes a key of any type (UNLINK)",
            run: Run::Command(&[Word("UNLINK"), Key], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
    ],
};
