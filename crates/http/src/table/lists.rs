//! `/v1/lists/{key}`, and what is in it.

use super::parameters::{POP_SIDE, PUSH_SIDE, START, STOP, TAKEN, WAIT};
use crate::operation::Part::{Body as Raw, Choice, Key, Name, Or, Stop, Wait, Word};
use crate::operation::{Body, Items, Operation, Route, Run, Segment, Unit};
use crate::plan::Answer;
use crate::shape::Shape;
use basalt_http1::Method;

pub(super) const LIST: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("lists"), Segment::Key],
    operations: &[
        Operation {
            summary: "Elements, by place (LRANGE)",
            parameters: &[&START, &STOP],
            run: Run::Command(
                &[Word("LRANGE"), Key, Or(&START, "0"), Stop(&START, &STOP)],
                Answer::Shaped(Shape::Named("elements")),
            ),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            summary: "Adds the body, or the elements of an array in JSON (RPUSH, LPUSH)",
            parameters: &[&PUSH_SIDE],
            body: Body::BytesOrJson(Items::Words),
            run: Run::Command(&[Choice(&PUSH_SIDE), Key, Raw], Answer::Member("length")),
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "pop")),
            summary: "Removes elements of an end, and returns them; waits for one (BLMPOP)",
            parameters: &[&POP_SIDE, &TAKEN, &WAIT],
            run: Run::Command(
                &[
                    Wait(&WAIT, ("BLMPOP", "LMPOP"), Unit::Seconds),
                    Word("1"),
                    Key,
                    Choice(&POP_SIDE),
                    Word("COUNT"),
                    Or(&TAKEN, "1"),
                ],
                Answer::Shaped(Shape::Popped),
            ),
            statuses: &[200, 204],
            ..Operation::DEFAULT
        },
    ],
};

pub(super) const ELEMENT: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("lists"), Segment::Key, Segment::Name("index")],
    operations: &[
        Operation {
            summary: "The element at a place (LINDEX)",
            run: Run::Command(
                &[Word("LINDEX"), Key, Name],
                Answer::Value { range: None, is_document: false },
            ),
            statuses: &[200, 206, 304, 404, 416],
            ..Operation::DEFAULT
        },
        Operation {
            method: Method::Put,
            summary: "Overwrites the element at a place (LSET)",
            body: Body::Bytes,
            run: Run::Command(&[Word("LSET"), Key, Name, Raw], Answer::Done),
            statuses: &[204, 404],
            ..Operation::DEFAULT
        },
    ],
};
