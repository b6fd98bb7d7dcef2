//! `/v1/strings/{key}`.

use super::parameters::{BY, EXPIRE_AT, KEEP_TTL, OFFSET, TTL, TTL_MS, VERSIONED};
use crate::operation::{Body, Operation, Route, Run, Segment};
use basalt_http1::Method;

const OPERATION: Operation = Operation { run: Run::String, ..Operation::DEFAULT };

pub(super) const STRING: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("strings"), Segment::Key],
    operations: &[
        Operation {
            summary: "The value with its tag, or the part that Range asks for (CAS.GET)",
            statuses: &[200, 206, 304, 404, 412, 416],
            ..OPERATION
        },
        Operation {
            method: Method::Put,
            summary: "Sets the value; If-None-Match: * only if there is none, If-Match only if \
                      there is one, or the one with this tag (SET, CAS.SET)",
            parameters: &[&TTL, &TTL_MS, &EXPIRE_AT, &KEEP_TTL, &VERSIONED],
            body: Body::Bytes,
            statuses: &[201, 204, 412],
            ..OPERATION
        },
        Operation {
            method: Method::Delete,
            summary: "Removes it; If-Match only if it has this tag (GETDEL, CAS.DEL)",
            statuses: &[204, 404, 412],
            ..OPERATION
        },
        Operation {
            method: Method::Patch,
            summary: "Overwrites a part (SETRANGE)",
            parameters: &[&OFFSET],
            body: Body::Bytes,
            ..OPERATION
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "append")),
            summary: "Appends the body (APPEND)",
            body: Body::Bytes,
            ..OPERATION
        },
        Operation {
            method: Method::Post,
            when: Some(("op", "increment")),
            summary: "Adds to a number (INCRBY, INCRBYFLOAT)",
            parameters: &[&BY],
            ..OPERATION
        },
    ],
};
