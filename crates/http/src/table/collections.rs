//! `/v1/hashes/{key}`, `/v1/sets/{key}`, and what is in them.
//!
//! Deliberately not here: `DELETE` of a whole collection. A path of one type refuses keys of
//! another, and Redis has no command that removes a key if it is a hash; so keys are removed by
//! `/v1/keys/{key}`, whatever they are. Nor is there a listing of all of a hash: each is a page,
//! whose size is bounded, and a small hash is on the first one.

use super::parameters::{BY, COUNT, CURSOR, EXPIRE_AT, KEEP_TTL, MATCH, TAKEN, TTL, TTL_MS};
use crate::operation::Part::{Body as Raw, Condition, Key, Name, Option, Or, Switch, Whole, Word};
use crate::operation::{Body, Digests, Items, Operation, Part, Route, Run, Segment};
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
            summary: "The value of a field, with its tag (CAS.HGET)",
            run: Run::Tagged(
                &[Word("CAS.HGET"), Key, Name],
                Answer::Tagged { range: None, is_document: false },
            ),
            statuses: &[200, 206, 304, 404, 412, 416],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Put,
            summary: "Sets a field; If-None-Match: * only if there is none, If-Match only if there \
                      is one, or the one with this tag (HSET, HSETEX, CAS.HSET)",
            parameters: &[&TTL, &TTL_MS, &EXPIRE_AT, &KEEP_TTL],
            body: Body::Bytes,
            run: Run::Conditional {
                plain: (&[Word("HSET"), Key, Name, Raw], Answer::Added),
                expiring: Some((
                    &[
                        Word("HSETEX"),
                        Key,
                        Option("EX", &TTL),
                        Option("PX", &TTL_MS),
                        Option("PXAT", &EXPIRE_AT),
                        Switch(&KEEP_TTL, "KEEPTTL"),
                        Word("FIELDS 1"),
                        Name,
                        Raw,
                    ],
                    Answer::Found,
                )),
                under: &[
                    Word("CAS.HSET"),
                    Key,
                    Name,
                    Raw,
                    Condition(Digests::Had),
                    Option("EX", &TTL),
                    Option("PX", &TTL_MS),
                    Option("PXAT", &EXPIRE_AT),
                    Switch(&KEEP_TTL, "KEEPTTL"),
                ],
            },
            statuses: &[201, 204, 412],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Patch,
            summary: "Sets when a field expires, or, by null, that it never does (HPEXPIRE, \
                      HPERSIST)",
            body: Body::Json(Items::Expiry),
            run: Run::Expiry {
                cleared: &[Word("HPERSIST"), Key, Word("FIELDS 1"), Name],
                several: None,
                set: (&[Word("HPEXPIRE"), Key, Raw, Word("FIELDS 1"), Name], Answer::FieldExpiry),
            },
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Delete,
            summary: "Removes a field; If-Match only if it has this tag (HDEL, CAS.HDEL)",
            run: Run::Conditional {
                plain: (&[Word("HDEL"), Key, Name], Answer::Found),
                expiring: None,
                under: &[Word("CAS.HDEL"), Key, Name, Condition(Digests::Had)],
            },
            statuses: &[204, 404, 412],
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

/// Adds a member under a condition, or one that expires.
const PUT_MEMBER: &[Part] = &[
    Word("CAS.SADD"),
    Key,
    Name,
    Condition(Digests::NotHad),
    Option("EX", &TTL),
    Option("PX", &TTL_MS),
    Option("PXAT", &EXPIRE_AT),
    Switch(&KEEP_TTL, "KEEPTTL"),
];

pub(super) const MEMBER: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("sets"), Segment::Key, Segment::Name("member")],
    operations: &[
        Operation {
            summary: "Whether it is a member, with its tag (CAS.SISMEMBER)",
            run: Run::Tagged(&[Word("CAS.SISMEMBER"), Key, Name], Answer::Element),
            statuses: &[204, 304, 404, 412],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Put,
            summary: "Adds a member; If-None-Match: * only if it is none, If-Match only if it is \
                      one, or has this tag (SADD, CAS.SADD). With an expiry it has a tag from \
                      then on",
            parameters: &[&TTL, &TTL_MS, &EXPIRE_AT, &KEEP_TTL],
            run: Run::Conditional {
                plain: (&[Word("SADD"), Key, Name], Answer::Added),
                expiring: Some((PUT_MEMBER, Answer::Outcome)),
                under: PUT_MEMBER,
            },
            statuses: &[201, 204, 412],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Delete,
            summary: "Removes a member; If-Match only if it has this tag (SREM, CAS.SREM)",
            run: Run::Conditional {
                plain: (&[Word("SREM"), Key, Name], Answer::Found),
                expiring: None,
                under: &[Word("CAS.SREM"), Key, Name, Condition(Digests::NotHad)],
            },
            statuses: &[204, 404, 412],
            ..Operation::DEFAULT
        },
    ],
};
