//! `/v1/strings/{key}`.

use super::parameters::{BY, EXPIRE_AT, KEEP_TTL, OFFSET, TTL, TTL_MS};
use crate::operation::{Body, Operation, Route, Run, Segment};
use basalt_http1::Method;

const OPERATION: Operation = Operation { run: Run::String, ..Operation::DEFAULT };

pub(super) const STRING: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("strings"), Segment::Key],
    operations: &[
        Operation {
            summary: "The value, or the part that Range asks for (GET)",
            statuses: &[200, 206, 304, 404, 412, 416],
            ..OPERATION
        },
        Operation {
            method: Method::Put,
            summary: "Sets the value; If-None-Match: * only if there is none, If-Match: * only if \
                      there is one (SET)",
            parameters: &[&TTL, &TTL_MS, &EXPIRE_AT, &KEEP_TTL],
            body: Body::Bytes,
            statuses: &[201, 204, 412],
            ..OPERATION
        },
        Operation {
            method: Method::Delete,
            summary: "Removes it (GETDEL)",
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
