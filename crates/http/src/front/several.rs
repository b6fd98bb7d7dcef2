//! Requests of several commands: each of these is a request of its own to the dispatch, and the
//! last one's reply brings the response.

use super::{HttpFront, circumstances};
use crate::plan::{Answer, Ending, Plan, Purpose};
use crate::respond::{respond_together, take_part};
use crate::series::Series;
use basalt_dispatch::Then;
use basalt_http1::Connection;
use basalt_net::Next;
use basalt_resp::{Arg, Output, ReplyMark};

/// A request of several commands that is being parsed.
pub(super) struct UnderWay {
    pub(super) series: Series,
    pub(super) purpose: Purpose,
    pub(super) plan: Plan,
    /// Of all of it.
    pub(super) bytes: usize,
}

impl HttpFront {
    /// Takes the next command of a request of several, which begins at `start`.
    pub(super) fn take_next(
        &mut self,
        mut of: UnderWay,
        start: usize,
        words: &mut Vec<Arg>,
    ) -> Next {
        let is_last = of.series.take(start, words);
        let answer = Answer::Part { purpose: of.purpose, is_last };
        self.plans.push_back(Plan { answer, ..of.plan.clone() });
        if is_last {
            self.intake.pass();
            return Next::Request { bytes: of.bytes };
        }
        self.under_way = Some(of);
        Next::Request { bytes: 0 }
    }

    /// One of several commands has run; `is_last` if it was the last of its request.
    pub(super) fn end_part(
        &mut self,
        (plan, mark): (Plan, ReplyMark),
        (purpose, is_last): (Purpose, bool),
        out: &mut Output,
    ) -> Then {
        let bytes_max = self.settings.http.json_bytes_max;
        let reply = take_part(mark, out, self.gathered.room(bytes_max));
        if reply.as_ref().is_some_and(Vec::is_empty) {
            // It has been taken back: the client is about to be disconnected.
            return Then::Closes;
        }
        self.gathered.add(reply.as_deref(), purpose, bytes_max);
        // The commands behind it are parsed already: only the end of the connection keeps them from
        // running.
        let ends = !is_last && self.gathered.cannot_begin(purpose);
        if !is_last && !ends {
            return Then::GoesOn;
        }
        let connection = if ends { Connection::Closes } else { plan.ending.connection };
        let ending = Ending { connection, ..plan.ending };
        let outcome = std::mem::take(&mut self.gathered).outcome(purpose, bytes_max);
        self.batch = None;
        self.date.set(self.server.env.clock.unix_ms());
        let circumstances = circumstances(&self.date, &self.settings.http, &self.tally);
        respond_together(outcome, ending, out, circumstances)
    }
}
