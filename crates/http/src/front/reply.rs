//! HOT PATH
//! What stands around the reply of a command: room for the head of a response, and the response.

use super::{HttpFront, circumstances};
use crate::general::General;
use crate::plan::Answer;
use crate::respond::{respond, respond_hust};
use crate::response::stencil;
use crate::response::value::leave_room;
use basalt_dispatch::{Ended, ReplyForm, Terms, Then};
use basalt_http1::Status;
use basalt_resp::{Output, Protocol, Reply};
use basalt_service::session::Session;
use std::time::Duration;

impl ReplyForm for HttpFront {
    #[inline]
    fn begin(&mut self, out: &mut Output, now_ms: u64) -> Option<Terms> {
        if let Some(feed) = &self.feed {
            self.mark = Some(Reply::new(out, Protocol::Resp3).mark());
            // It waits as long as its client is there.
            let General { db, durability, .. } = feed.general();
            return Some(Terms { db, key_wait_max: Duration::MAX, durability });
        }
        self.current = self.current.take().or_else(|| self.plans.pop_front());
        self.mark = Some(Reply::new(out, Protocol::Resp3).mark());
        self.date.set(now_ms);
        leave_room(self.current.as_ref(), out);
        let plan = self.current.as_ref()?;
        // Of several commands none waits, as between MULTI and EXEC.
        let key_wait_max = match plan.answer {
            Answer::Part { .. } => Duration::ZERO,
            _ => self.settings.http.key_wait_max,
        };
        let General { db, durability, .. } = plan.general;
        Some(Terms { db, key_wait_max, durability })
    }

    #[inline]
    fn log_in(&mut self, session: &mut Session) {
        if let Some(rights) = self.new_rights.take() {
            session.log_in(rights);
        }
    }

    #[inline]
    fn end(&mut self, ended: Ended, out: &mut Output) -> Then {
        let Some(mark) = self.mark.take() else { return Then::Closes };
        if self.feed.is_some() {
            return self.end_of_feed((ended, mark), out);
        }
        if ended != Ended::Answered {
            Reply::new(out, Protocol::Resp3).cut(mark);
            if ended == Ended::AnsweredLater {
                self.is_late = true;
                self.note_run();
            }
            return Then::GoesOn;
        }
        if !std::mem::take(&mut self.is_late) {
            self.note_run();
        }
        if self.current.as_ref().is_some_and(stencil::is_for)
            && stencil::finish(mark, &self.date, out)
        {
            self.current = None;
            self.tally.note(Status::Ok);
            return Then::GoesOn;
        }
        let Some(plan) = self.current.take() else {
            Reply::new(out, Protocol::Resp3).cut(mark);
            return Then::Closes;
        };
        if let Answer::Part { purpose, is_last } = plan.answer {
            return self.end_part((plan, mark), (purpose, is_last), out);
        }
        self.date.set(self.server.env.clock.unix_ms());
        if let Answer::Hust { .. } = plan.answer {
            let circumstances = circumstances(&self.date, &self.settings.http, &self.tally);
            let then = respond_hust(&plan, mark, &mut self.talks, out, circumstances);
            return then.unwrap_or(Then::GoesOn);
        }
        respond(plan, mark, out, circumstances(&self.date, &self.settings.http, &self.tally))
    }
}

impl HttpFront {
    /// A command has run, whether its reply is there or not.
    fn note_run(&mut self) {
        match self.current.as_ref().map(|plan| plan.answer) {
            Some(Answer::Part { is_last: false, .. }) => self.gathered.ran += 1,
            Some(Answer::Hust { .. }) if self.talks.is_long() => {}
            _ => self.intake.note_answer(),
        }
    }
}
