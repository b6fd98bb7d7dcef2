//! Commands, and what is about the server itself.

use super::parameters::{ATOMIC, SECTION};
use crate::operation::Part::{Or, Word};
use crate::operation::{Body, Items, Operation, Route, Run, Segment};
use crate::plan::Answer;
use crate::shape::Shape;
use basalt_http1::Method;

pub(super) const COMMAND: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("command")],
    operations: &[Operation {
        method: Method::Post,
        summary: "Runs any command: an array of its words",
        body: Body::Json(Items::Words),
        run: Run::Any,
        statuses: &[200, 404],
        ..Operation::DEFAULT
    }],
};

pub(super) const BATCH: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("batch")],
    operations: &[Operation {
        method: Method::Post,
        summary: "Runs up to 1,000 commands in their order: an array of arrays of words",
        parameters: &[&ATOMIC],
        body: Body::Json(Items::Commands),
        run: Run::Batch,
        statuses: &[200, 404],
        ..Operation::DEFAULT
    }],
};

pub(super) const INFO: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("info")],
    operations: &[Operation {
        summary: "What the server tells of itself, by section (INFO)",
        parameters: &[&SECTION],
        run: Run::Command(&[Word("INFO"), Or(&SECTION, "default")], Answer::Shaped(Shape::Report)),
        ..Operation::DEFAULT
    }],
};

pub(super) const LOGIN: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("login")],
    operations: &[Operation {
        method: Method::Post,
        summary: "A token for the password, which comes as JSON or as Authorization: Basic",
        body: Body::Json(Items::Password),
        run: Run::Login,
        ..Operation::DEFAULT
    }],
};

pub(super) const DOCUMENT: Route = Route {
    path: &[Segment::Text("v1"), Segment::Text("openapi.json")],
    operations: &[Operation {
        summary: "This interface as an OpenAPI 3.1 document",
        run: Run::Document,
        ..Operation::DEFAULT
    }],
};

pub(super) const METRICS: Route = Route {
    path: &[Segment::Text("metrics")],
    operations: &[Operation {
        summary: "What the server counts about itself, for Prometheus",
        run: Run::Metrics,
        statuses: &[200, 503],
        ..Operation::DEFAULT
    }],
};

pub(super) const LIVE: Route = Route {
    path: &[Segment::Text("health"), Segment::Text("live")],
    operations: &[Operation {
        summary: "Whether the process answers",
        run: Run::Live,
        ..Operation::DEFAULT
    }],
};

pub(super) const READY: Route = Route {
    path: &[Segment::Text("health"), Segment::Text("ready")],
    operations: &[Operation {
        summary: "Whether the server takes changes",
        run: Run::Ready,
        statuses: &[200, 503],
        ..Operation::DEFAULT
    }],
};
