//! Errors.

use super::Response;
use super::first_line::Line;
use super::lines::OF_PROBLEMS;
use crate::problem::Problem;
use basalt_http1::{Connection, Status, Value};

impl Response<'_> {
    pub(crate) fn problem(&mut self, problem: &Problem) {
        self.problem_with(problem, &[]);
    }

    pub(crate) fn problem_with(&mut self, problem: &Problem, more: &[(&'static str, Value<'_>)]) {
        let mut fields = more.to_vec();
        if let Some(methods) = &problem.allow {
            fields.push(("Allow", Value::Text(methods.as_bytes())));
        }
        if problem.challenges {
            let challenge = b"Basic realm=\"Basalt\", charset=\"UTF-8\"";
            fields.push(("WWW-Authenticate", Value::Text(challenge)));
        }
        if problem.status == Status::ServiceUnavailable {
            fields.push(("Retry-After", Value::Number(1)));
        }
        if problem.closes {
            self.ending.connection = Connection::Closes;
        }
        self.write(problem.status, OF_PROBLEMS, &fields, &problem.body());
    }

    /// A reply that is no answer to what was asked.
    pub(crate) fn unexpected(&mut self, line: Line) {
        match line {
            Line::Nothing => self.problem(&Problem::no_key()),
            Line::Error(text) => self.problem(&Problem::of_error(&text)),
            _ => self.problem(&Problem::bad_request("the command has answered something else")),
        }
    }
}
