//! `/v1/sorted-sets/{key}`, and what is in it.

use super::parameters::{
    BY, EXPIRE_AT, EXTREME, FROM, FROM_RANK, GT, KEEP_TTL, LIMIT, LT, NX, ORDER, REVERSE, SKIPPED,
    TAKEN, THROUGH, TO_RANK, TTL, TTL_MS, XX,
};
use crate::operation::Part::{
    Body as Raw, Bound, Choice, Condition, Key, Name, Option, Or, Stop, Switch, Word,
};
use crate::operation::{Body, Digests, Items, Operation, Part, Route, Run, Segment};
use crate::plan::Answer;
use crate::shape::Shape;
use basalt_http1::Method;

pub(super) const SORTED_SET: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("sorted-sets"), Segment::Key],
    operations: &[
        Operation {
            when: Some(("by", "score")),
            summary: "Members with their scores, by score (ZRANGE BYSCORE)",
            parameters: &[&FROM, &THROUGH, &REVERSE, &SKIPPED, &LIMIT],
            run: Run::Command(
                &[
                    Word("ZRANGE"),
                    Key,
                    Bound(&FROM, "-inf", "+inf"),
                    Bound(&THROUGH, "+inf", "-inf"),
                    Word("BYSCORE"),
                    Switch(&REVERSE, "REV"),
                    Word("LIMIT"),
                    Or(&SKIPPED, "0"),
                    Or(&LIMIT, "1000"),
                    Word("WITHSCORES"),
                ],
                Answer::Shaped(Shape::Named("members")),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            when: Some(("by", "lex")),
            summary: "Members by name, where all scores are equal (ZRANGE BYLEX)",
            parameters: &[&FROM, &THROUGH, &REVERSE, &SKIPPED, &LIMIT],
            run: Run::Command(
                &[
                    Word("ZRANGE"),
                    Key,
                    Bound(&FROM, "-", "+"),
                    Bound(&THROUGH, "+", "-"),
                    Word("BYLEX"),
                    Switch(&REVERSE, "REV"),
                    Word("LIMIT"),
                    Or(&SKIPPED, "0"),
                    Or(&LIMIT, "1000"),
                ],
                Answer::Shaped(Shape::Named("members")),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            summary: "Members with their scores, by place (ZRANGE)",
            parameters: &[&ORDER, &FROM_RANK, &TO_RANK, &REVERSE],
            run: Run::Command(
                &[
                    Word("ZRANGE"),
                    Key,
                    Or(&FROM_RANK, "0"),
                    Stop(&FROM_RANK, &TO_RANK),
                    Choice(&ORDER),
                    Switch(&REVERSE, "REV"),
                    Word("WITHSCORES"),
                ],
                Answer::Shaped(Shape::Named("members")),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            summary: "Sets scores: an object of members (ZADD)",
            parameters: &[&NX, &XX, &GT, &LT],
            body: Body::Json(Items::Scores),
            run: Run::Command(
                &[
                    Word("ZADD"),
                    Key,
                    Switch(&NX, "NX"),
                    Switch(&XX, "XX"),
                    Switch(&GT, "GT"),
                    Switch(&LT, "LT"),
                    Raw,
                ],
                Answer::Member("added"),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "pop")),
            summary: "Removes members with the lowest or highest scores, and returns them \
                      (ZPOPMIN, ZPOPMAX)",
            parameters: &[&EXTREME, &TAKEN],
            run: Run::Command(
                &[Choice(&EXTREME), Key, Or(&TAKEN, "1")],
                Answer::Shaped(Shape::Taken("members")),
            ),
            statuses: &[200, 204],
            ..Operation::DEFAULT
        },
    ],
};

/// Sets a score under a condition, or one that expires.
const PUT_MEMBER: &[Part] = &[
    Word("CAS.ZADD"),
    Key,
    Raw,
    Name,
    Condition(Digests::NotHad),
    Option("EX", &TTL),
    Option("PX", &TTL_MS),
    Option("PXAT", &EXPIRE_AT),
    Switch(&KEEP_TTL, "KEEPTTL"),
];

pub(super) const MEMBER: Route = Route {
    path: &[
        Segment::Text("v1"),
        Segment::Text("sorted-sets"),
        Segment::Key,
        Segment::Name("member"),
    ],
    operations: &[
        Operation {
            when: Some(("versioned", "1")),
            summary: "Score of a member, with its tag (CAS.ZSCORE)",
            run: Run::Tagged(&[Word("CAS.ZSCORE"), Key, Name], Answer::Element),
            statuses: &[200, 304, 404, 412],
            ..Operation::DEFAULT
        },
        Operation {
            summary: "Score and rank of a member (ZRANK WITHSCORE)",
            run: Run::Command(
                &[Word("ZRANK"), Key, Name, Word("WITHSCORE")],
                Answer::Shaped(Shape::Rank),
            ),
            statuses: &[200, 404],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Put,
            summary: "Sets the score of a member: the body is the number; If-None-Match: * only if \
                      it is none, If-Match only if it is one, or has this tag (ZADD, CAS.ZADD). \
                      With an expiry it has a tag from then on",
            parameters: &[&NX, &XX, &GT, &LT, &TTL, &TTL_MS, &EXPIRE_AT, &KEEP_TTL],
            body: Body::Bytes,
            run: Run::Conditional {
                plain: (
                    &[
                        Word("ZADD"),
                        Key,
                        Switch(&NX, "NX"),
                        Switch(&XX, "XX"),
                        Switch(&GT, "GT"),
                        Switch(&LT, "LT"),
                        Raw,
                        Name,
                    ],
                    Answer::Added,
                ),
                expiring: Some((PUT_MEMBER, Answer::Outcome)),
                under: PUT_MEMBER,
            },
            statuses: &[201, 204, 412],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Delete,
            summary: "Removes a member; If-Match only if it has this tag (ZREM, CAS.ZREM)",
            run: Run::Conditional {
                plain: (&[Word("ZREM"), Key, Name], Answer::Found),
                expiring: None,
                under: &[Word("CAS.ZREM"), Key, Name, Condition(Digests::NotHad)],
            },
            statuses: &[204, 404, 412],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "increment")),
            summary: "Adds to the score of a member (ZINCRBY)",
            parameters: &[&BY],
            run: Run::Command(&[Word("ZINCRBY"), Key, Or(&BY, "1"), Name], Answer::Number),
            ..Operation::DEFAULT
        },
    ],
};
