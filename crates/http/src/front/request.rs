//! HOT PATH
//! The request at hand: from its bytes to the words of its command, or to an answer of the
//! front's own.

use super::HttpFront;
use super::several::UnderWay;
use crate::guard::listed_origin;
use crate::identity::Authority;
use crate::intake::Arrival;
use crate::own::Own;
use crate::plan::{Ending, Plan};
use crate::problem::Problem;
use crate::repeats::Repeated;
use crate::task::{self, Task};
use crate::words::Words;
use crate::write::{Writing, Written};
use basalt_http1::{Body, Connection, Head};
use basalt_net::{Input, Next};
use basalt_resp::Arg;

impl HttpFront {
    /// Parses the request at hand.
    ///
    /// # Errors
    /// The connection cannot go on.
    pub(super) fn parse(
        &mut self,
        input: &mut Input,
        words: &mut Vec<Arg>,
    ) -> Result<Next, Problem> {
        if let Some(under_way) = self.under_way.take() {
            return Ok(self.take_next(under_way, input.parsed(), words));
        }
        if self.talks.is_long() {
            return Ok(self.go_on_talking(input, words));
        }
        if let Some(next) = self.repeat(input, words) {
            return Ok(next);
        }
        self.repeats.forget();
        let Some(head) = self.intake.take_head(input, &self.settings.http)? else {
            let there = input.bytes().len() - input.parsed();
            return Ok(Next::Incomplete { wanted: there + 1 });
        };
        if let Some(gone_on) = self.intake.go_on_discarding(input, &head) {
            return Ok(self.answer_or_wait(head, gone_on));
        }
        self.origin = listed_origin(&head, &input.bytes()[input.parsed()..], &self.settings.http);
        let authority = Authority {
            settings: &self.settings,
            access: &self.server.access,
            logins: &self.logins,
            clock: &*self.server.env.clock,
        };
        let accepted = &mut self.accepted;
        let port = self.port;
        let circumstances = task::Circumstances { server: &self.server, authority, accepted, port };
        let task = match Task::of(&head, &input.bytes()[input.parsed()..], circumstances) {
            Ok(Task::Own(own)) => return self.answer_instead(input, head, own),
            Ok(_) if !self.is_of_user_at_hand() => {
                // Its rights are another's: those before it come first.
                self.intake.put_back(head);
                return Ok(Next::Passed { bytes: 0 });
            }
            Ok(Task::Feed(opening)) => return Ok(self.open(input, head, *opening, words)),
            Ok(task) => task,
            Err(problem) => return self.answer_instead(input, head, Own::Problem(problem)),
        };
        let bytes_max = task.body_bytes_max(&self.settings);
        let body = match self.intake.arrive(input, &head, bytes_max) {
            Ok(Arrival::Whole(bytes)) => bytes,
            Err(problem) => {
                let ending = Ending::of(&head, self.origin);
                return Ok(self.close_with(Own::Problem(problem), ending));
            }
            Ok(Arrival::Wants(wanted)) => {
                let continues = self.intake.continues(&head);
                let ending = Ending::of(&head, self.origin);
                self.intake.put_back(head);
                if continues {
                    self.own = Some((Own::Continue, ending));
                    return Ok(Next::Passed { bytes: 0 });
                }
                return Ok(Next::Incomplete { wanted });
            }
        };
        Ok(self.write(input, (head, body), task, words))
    }

    /// Takes the request at hand if it repeats the one before.
    #[inline]
    fn repeat(&mut self, input: &mut Input, words: &mut Vec<Arg>) -> Option<Next> {
        let start = input.parsed();
        let Repeated { call, key, head_bytes, body_bytes, plan } =
            self.repeats.find(&input.bytes()[start..])?;
        let authority = Authority {
            settings: &self.settings,
            access: &self.server.access,
            logins: &self.logins,
            clock: &*self.server.env.clock,
        };
        if !self.intake.is_untouched() || !self.accepted.is_current(authority) {
            return None;
        }
        self.origin = plan.ending.origin;
        self.plans.push_back(Plan::new(plan.answer, plan.general, plan.ending));
        input.keep(start..start + key.start);
        let (head_end, key) = (start + head_bytes, start + key.start..start + key.end);
        let mut words = Words::over(input.bytes_mut(), start..key.start, words);
        call.write(&mut words, key, head_end..head_end + body_bytes);
        self.intake.pass();
        Some(Next::Request { bytes: head_bytes + body_bytes })
    }

    /// Whether the request at hand is of the user that those before it run for. If it is
    /// the first that is not answered, its user is that one from now on.
    fn is_of_user_at_hand(&mut self) -> bool {
        let Some(rights) = self.accepted.rights() else { return true };
        let id = Some(rights.user().id());
        if self.user_at_hand == id {
            return true;
        }
        if !self.intake.is_first() {
            return false;
        }
        (self.user_at_hand, self.new_rights) = (id, Some(rights.clone()));
        true
    }

    /// Writes the words of the request at hand, whose body of this many bytes is there.
    fn write(
        &mut self,
        input: &mut Input,
        (head, body): (Head, usize),
        task: Task,
        words: &mut Vec<Arg>,
    ) -> Next {
        let before = words.len();
        let bytes = head.bytes + body;
        let is_first = self.intake.is_first();
        if let Task::String(call) = &task
            && let Some(plain) = call.plain()
        {
            let head_bytes = &input.bytes()[input.parsed()..][..head.bytes];
            let plan = Plan::new(call.answer(), call.general, Ending::of(&head, self.origin));
            self.repeats.note((&head, head_bytes), plain, plan, &self.settings.http);
        }
        let mut writing = Writing {
            input,
            head: &head,
            body_bytes: body,
            server: &self.server,
            authority: Authority {
                settings: &self.settings,
                access: &self.server.access,
                logins: &self.logins,
                clock: &*self.server.env.clock,
            },
            ending: Ending::of(&head, self.origin),
        };
        let mut read = if is_first { self.batch.take() } else { None };
        match writing.write(task, &mut read, words) {
            Ok(Written::One(plan)) => {
                self.plans.push_back(plan);
                self.intake.pass();
                Next::Request { bytes }
            }
            Ok(Written::Answered(own)) => self.pass(&head, body, own),
            Ok(Written::Talk(talking)) => self.talk(input, head, talking, words),
            Ok(Written::Several(mut series, purpose, plan)) => {
                if is_first {
                    series.skip(self.gathered.ran);
                    self.batch = read;
                }
                let start = input.parsed();
                self.take_next(UnderWay { series, purpose, plan, bytes }, start, words)
            }
            Err(problem) => {
                words.truncate(before);
                self.pass(&head, body, Own::Problem(problem))
            }
        }
    }

    /// Answers a request itself, when its body is out of the way.
    ///
    /// # Errors
    /// It is not known where the body ends, or it would take too long to wait for that.
    fn answer_instead(&mut self, input: &mut Input, head: Head, own: Own) -> Result<Next, Problem> {
        let length = match head.body {
            Body::Length(length) if length <= self.settings.http.body_bytes_max as u64 => length,
            _ => return Ok(self.close_with(own, Ending::of(&head, self.origin))),
        };
        if length == 0 {
            return Ok(self.pass(&head, 0, own));
        }
        if head.expects_continue {
            // The body may come or not: nobody can tell what the next bytes are.
            return Ok(self.close_with(own, Ending::of(&head, self.origin)));
        }
        self.intake.discard(length, own);
        match self.intake.go_on_discarding(input, &head) {
            Some(gone_on) => Ok(self.answer_or_wait(head, gone_on)),
            None => Ok(Next::Refused),
        }
    }

    fn answer_or_wait(&mut self, head: Head, gone_on: Result<Own, usize>) -> Next {
        match gone_on {
            Ok(own) => self.pass(&head, 0, own),
            Err(wanted) => {
                self.intake.put_back(head);
                Next::Incomplete { wanted }
            }
        }
    }

    /// The request at hand is answered by the front itself.
    pub(super) fn pass(&mut self, head: &Head, body_bytes: usize, own: Own) -> Next {
        let ending = Ending::of(head, self.origin);
        let closes = matches!(&own, Own::Problem(problem) if problem.closes);
        if closes || ending.closes() {
            let next = self.close_with(own, ending);
            self.is_cut = closes;
            return next;
        }
        self.intake.pass();
        self.own = Some((own, ending));
        Next::Passed { bytes: head.bytes + body_bytes }
    }

    /// The last response of the connection is the front's own. The request may go on for longer
    /// than has been read of it.
    pub(super) fn close_with(&mut self, own: Own, ending: Ending) -> Next {
        self.is_cut = true;
        self.own = Some((own, Ending { connection: Connection::Closes, ..ending }));
        Next::Refused
    }
}
