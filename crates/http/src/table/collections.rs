//! `/v1/hashes/{key}`, `/v1/sets/{key}`, and what is in them.
//!
//! Deliberately not here: `DELETE` of a whole collection. A path of one type refuses keys of
//! another, and Redis has no command that removes a key if it is a hash; so keys are removed by
//! `/v1/keys/{key}`, whatever they are. Nor is there a listing of all of a hash: each is a page,
//! whose size is bounded, and a small hash is on the first one.

use super::parameters::{BY, COUNT, CURSOR, MATCH, TAKEN};
use crate::operation::Part::{Body as Raw, Key, Name, Option, Or, Whole, Word};
use crate::operation::{Body, Items, Operation, Route, Run, Segment};
use crate::plan::Answer;
use crate::shape::Shape;
use basalt_http1::Method;

pub(super) const HASH: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("hashes"), Segment::Key],
    operations: &[
        Operation {
            summary: "Fields and their values, part by part (HSCAN)",
            parameters: &[&CURSOR, &MATCH, &COUNT],
            run: Run::Command(
                &[
                    Word("HSCAN"),
                    Key,
                    Or(&CURSOR, "0"),
                    Option("MATCH", &MATCH),
                    Word("COUNT"),
                    Or(&COUNT, "1000"),
                ],
                Answer::Shaped(Shape::Fields),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Patch,
            summary: "Sets the fields of an object (HSET)",
            body: Body::Json(Items::Fields),
            run: Run::Command(&[Word("HSET"), Key, Raw], Answer::Member("added")),
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const FIELD: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("hashes"), Segment::Key, Segment::Name("field")],
    operations: &[
        Operation {
            summary: "The value of a field (HGET)",
            run: Run::Command(
                &[Word("HGET"), Key, Name],
                Answer::Value { range: None, is_document: false },
            ),
            statuses: &[200, 206, 304, 404, 416],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Put,
            summary: "Sets a field (HSET)",
            body: Body::Bytes,
            run: Run::Command(&[Word("HSET"), Key, Name, Raw], Answer::Added),
            statuses: &[201, 204],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Delete,
            summary: "Removes a field (HDEL)",
            run: Run::Command(&[Word("HDEL"), Key, Name], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "increment")),
            summary: "Adds to the number in a field (HINCRBY, HINCRBYFLOAT)",
            parameters: &[&BY],
            run: Run::Command(
                &[Whole(&BY, "HINCRBY", "HINCRBYFLOAT"), Key, Name, Or(&BY, "1")],
                Answer::Number,
            ),
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const SET: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("sets"), Segment::Key],
    operations: &[
        Operation {
            summary: "Members, part by part (SSCAN)",
            parameters: &[&CURSOR, &MATCH, &COUNT],
            run: Run::Command(
                &[
                    Word("SSCAN"),
                    Key,
                    Or(&CURSOR, "0"),
                    Option("MATCH", &MATCH),
                    Word("COUNT"),
                    Or(&COUNT, "1000"),
                ],
                Answer::Shaped(Shape::Page("members")),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            summary: "Adds the members of an array (SADD)",
            body: Body::Json(Items::Words),
            run: Run::Command(&[Word("SADD"), Key, Raw], Answer::Member("added")),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "pop")),
            summary: "Removes members that chance picks, and returns them (SPOP)",
            parameters: &[&TAKEN],
            run: Run::Command(
                &[Word("SPOP"), Key, Or(&TAKEN, "1")],
                Answer::Shaped(Shape::Taken("members")),
            ),
            statuses: &[200, 204],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "random")),
            summary: "Members that chance picks (SRANDMEMBER)",
            parameters: &[&TAKEN],
            run: Run::Command(
                &[Word("SRANDMEMBER"), Key, Or(&TAKEN, "1")],
                Answer::Shaped(Shape::Taken("members")),
            ),
            statuses: &[200, 204],
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const MEMBER: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("sets"), Segment::Key, Segment::Name("member")],
    operations: &[
        Operation {
            summary: "Whether it is a member (SISMEMBER)",
            run: Run::Command(&[Word("SISMEMBER"), Key, Name], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Put,
            summary: "Adds a member (SADD)",
            run: Run::Command(&[Word("SADD"), Key, Name], Answer::Added),
            statuses: &[201, 204],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Delete,
            summary: "Removes a member (SREM)",
            run: Run::Command(&[Word("SREM"), Key, Name], Answer::Found),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
    ],
};
