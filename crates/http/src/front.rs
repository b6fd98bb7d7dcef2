//! HOT PATH
//! One connection that speaks HTTP.
//!
//! ```text
//! bytes ─▶ intake: head, body ─▶ identity, guard ─▶ routes ─▶ words over the head ─▶ batch
//!                                                     └─▶ plan ─▶ … reply ─▶ respond ─▶ response
//! ```
//! Requests are parsed ahead of those that run, so plans wait in the order of their requests. What
//! no command answers, an error for one, is answered when all before it is.

use crate::feed::{Feed, Opening};
use crate::general::{General, Spelling};
use crate::guard::listed_origin;
use crate::hust::{Port, Said, Talking, Talks};
use crate::identity::{Accepted, Authority};
use crate::intake::{Arrival, Intake};
use crate::logins::Logins;
use crate::patience::{Patience, Progress};
use crate::plan::{Answer, Ending, Plan, Purpose};
use crate::problem::Problem;
use crate::respond::{
    Circumstances, Own, flat, leave_room, respond, respond_hust, respond_self, respond_together,
    take_part,
};
use crate::series::{Batch, Gathered, Series};
use crate::tally::Tally;
use crate::task::{self, Task};
use crate::write::{Writing, Written};
use basalt_config::{HttpSettings, Settings};
use basalt_dispatch::{Dispatcher, Ended, ReplyForm, Terms, Then};
use basalt_env::Instant;
use basalt_http1::{Body, Connection, Date, Head, Status};
use basalt_net::{Beat, Front, Input, Next};
use basalt_observe::counters::ThreadCounters;
use basalt_resp::{Arg, Output, Protocol, Reply, ReplyMark, RequestLimits};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Of a response to bytes of which no request is known.
const OF_NO_REQUEST: Ending =
    Ending { connection: Connection::Closes, is_without_body: false, origin: None };

/// See the head of this file.
pub struct HttpFront {
    server: Arc<Dispatcher>,
    settings: Arc<Settings>,
    settings_version: u64,
    date: Date,
    tally: Tally,
    intake: Intake,
    patience: Patience,
    accepted: Accepted,
    logins: Arc<Logins>,
    /// The listed origin whose page has sent the request at hand.
    origin: Option<u16>,
    /// Requests that are parsed and have not begun to run.
    plans: VecDeque<Plan>,
    /// The request that has begun to run, and where its reply begins.
    current: Option<Plan>,
    mark: Option<ReplyMark>,
    /// Its reply comes later.
    is_late: bool,
    /// The request of several commands that is being parsed.
    under_way: Option<UnderWay>,
    /// Of the first request that is not answered, if it has several commands: their replies, and
    /// the commands themselves, which are read once.
    gathered: Gathered,
    batch: Option<Batch>,
    /// Of huststore's interface.
    talks: Talks,
    port: Port,
    /// What the front itself is about to answer.
    own: Option<(Own, Ending)>,
    /// What the connection is for from its last request on.
    feed: Option<Box<Feed>>,
}

/// A request of several commands that is being parsed.
struct UnderWay {
    series: Series,
    purpose: Purpose,
    plan: Plan,
    /// Of all of it.
    bytes: usize,
}

fn circumstances<'a>(
    date: &'a Date,
    settings: &'a HttpSettings,
    tally: &'a Tally,
) -> Circumstances<'a> {
    let HttpSettings { json_bytes_max, cors_origins, .. } = settings;
    Circumstances { date, json_bytes_max: *json_bytes_max, origins: cors_origins, tally }
}

impl fmt::Debug for HttpFront {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpFront").field("plans", &self.plans).finish_non_exhaustive()
    }
}

impl HttpFront {
    /// The front of a connection to this server, which shares its logins with all others.
    pub fn new(server: Arc<Dispatcher>, logins: Arc<Logins>) -> HttpFront {
        let settings_version = server.config.version();
        HttpFront {
            settings: server.config.settings(),
            settings_version,
            date: Date::new(server.env.clock.unix_ms()),
            tally: Tally::default(),
            intake: Intake::default(),
            patience: Patience::default(),
            accepted: Accepted::default(),
            logins,
            origin: None,
            plans: VecDeque::new(),
            current: None,
            mark: None,
            is_late: false,
            under_way: None,
            gathered: Gathered::default(),
            batch: None,
            talks: Talks::default(),
            port: Port::Http,
            own: None,
            feed: None,
            server,
        }
    }

    /// The front of a connection by the port of huststore's queues.
    #[must_use]
    pub fn for_queues(self) -> HttpFront {
        HttpFront { port: Port::Queues, ..self }
    }

    #[inline]
    fn renew_settings(&mut self) {
        let version = self.server.config.version();
        if version != self.settings_version {
            (self.settings_version, self.settings) = (version, self.server.config.settings());
        }
    }

    /// Parses the request at hand.
    ///
    /// # Errors
    /// The connection cannot go on.
    fn parse(&mut self, input: &mut Input, words: &mut Vec<Arg>) -> Result<Next, Problem> {
        if let Some(under_way) = self.under_way.take() {
            return Ok(self.take_next(under_way, input.parsed(), words));
        }
        if self.talks.is_long() {
            return Ok(self.go_on_talking(input, words));
        }
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
            settings_version: self.settings_version,
            logins: &self.logins,
            clock: &*self.server.env.clock,
        };
        let accepted = &mut self.accepted;
        let port = self.port;
        let circumstances = task::Circumstances { server: &self.server, authority, accepted, port };
        let task = match Task::of(&head, &input.bytes()[input.parsed()..], circumstances) {
            Ok(Task::Own(own)) => return self.answer_instead(input, head, own),
            Ok(Task::Feed(opening)) => return Ok(self.open(input, head, *opening, words)),
            Ok(task) => task,
            Err(problem) => return self.answer_instead(input, head, Own::Problem(problem)),
        };
        let bytes_max = task.body_bytes_max(&self.settings);
        let body = match self.intake.arrive(input, &head, bytes_max)? {
            Arrival::Whole(bytes) => bytes,
            Arrival::Wants(wanted) => {
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

    /// Opens a feed, when all requests before have been answered: what it is told by then decides
    /// what the rest of the client's bytes are.
    fn open(
        &mut self,
        input: &mut Input,
        head: Head,
        opening: Opening,
        words: &mut Vec<Arg>,
    ) -> Next {
        if !self.intake.is_first() {
            self.intake.put_back(head);
            return Next::Passed { bytes: 0 };
        }
        let feed = Feed::open(opening, (input, head.bytes), &self.server);
        self.feed.insert(Box::new(feed)).next(input, words, &self.settings.http)
    }

    /// A command of a feed has run, or begins again.
    fn end_of_feed(&mut self, (ended, mark): (Ended, ReplyMark), out: &mut Output) -> Then {
        let Some(feed) = &mut self.feed else { return Then::Closes };
        if ended != Ended::Answered {
            Reply::new(out, Protocol::Resp3).cut(mark);
            return Then::GoesOn;
        }
        let reply = take_part(mark, out, self.settings.http.json_bytes_max);
        if reply.as_ref().is_some_and(Vec::is_empty) {
            // It has been taken back: the client is about to be disconnected.
            return Then::Closes;
        }
        self.date.set(self.server.env.clock.unix_ms());
        feed.answered(reply, out, circumstances(&self.date, &self.settings.http, &self.tally))
    }

    /// Whether the client that has opened a feed may still have it.
    fn rights_hold(&mut self) -> bool {
        self.renew_settings();
        self.accepted.still_holds(Authority {
            settings: &self.settings,
            settings_version: self.settings_version,
            logins: &self.logins,
            clock: &*self.server.env.clock,
        })
    }

    fn end_rights(&mut self, out: &mut Output) -> Beat {
        self.date.set(self.server.env.clock.unix_ms());
        let circumstances = circumstances(&self.date, &self.settings.http, &self.tally);
        let text = "NOAUTH The password or the token does not hold any more.";
        if let Some(feed) = &mut self.feed {
            feed.fail(Problem::of_error(text.as_bytes()), out, circumstances);
        }
        Beat::Closes
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
        let mut writing = Writing {
            input,
            head: &head,
            body_bytes: body,
            server: &self.server,
            authority: Authority {
                settings: &self.settings,
                settings_version: self.settings_version,
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

    /// Begins a talk of huststore's interface.
    fn talk(
        &mut self,
        input: &mut Input,
        head: Head,
        talking: Talking,
        words: &mut Vec<Arg>,
    ) -> Next {
        if !talking.talk.is_last() {
            if !self.intake.is_first() {
                self.intake.put_back(head);
                return Next::Later;
            }
            self.talks.begin_long(talking);
            return self.go_on_talking(input, words);
        }
        let (bytes, ending) = (talking.bytes(), talking.ending);
        match self.talks.begin_short(talking, input, words) {
            Ok((db, has_room)) => {
                self.plan_hust(db, has_room, ending);
                self.intake.pass();
                Next::Request { bytes }
            }
            Err(problem) => self.pass(&head, bytes - head.bytes, Own::Problem(problem)),
        }
    }

    /// Goes on with a talk of several commands.
    fn go_on_talking(&mut self, input: &mut Input, words: &mut Vec<Arg>) -> Next {
        let before = words.len();
        match self.talks.go_on(input, words) {
            Ok(Said::Waits) => Next::Later,
            Ok(Said::Over(bytes)) => Next::Passed { bytes },
            Ok(Said::Command { db, has_room, ending }) => {
                self.plan_hust(db, has_room, ending);
                Next::Request { bytes: 0 }
            }
            Err(problem) => {
                words.truncate(before);
                self.close_with(Own::Problem(problem), OF_NO_REQUEST)
            }
        }
    }

    fn plan_hust(&mut self, db: u8, has_room: bool, ending: Ending) {
        let general = General { db, spelling: Spelling::Plain };
        self.plans.push_back(Plan::new(Answer::Hust { has_room }, general, ending));
    }

    /// Takes the next command of a request of several, which begins at `start`.
    fn take_next(&mut self, mut of: UnderWay, start: usize, words: &mut Vec<Arg>) -> Next {
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
    fn end_part(
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
        if !is_last {
            return Then::GoesOn;
        }
        let outcome = std::mem::take(&mut self.gathered).outcome(purpose, bytes_max);
        self.batch = None;
        self.date.set(self.server.env.clock.unix_ms());
        let circumstances = circumstances(&self.date, &self.settings.http, &self.tally);
        respond_together(outcome, plan.ending, out, circumstances)
    }

    /// A command has run, whether its reply is there or not.
    fn note_run(&mut self) {
        match self.current.as_ref().map(|plan| plan.answer) {
            Some(Answer::Part { is_last: false, .. }) => self.gathered.ran += 1,
            Some(Answer::Hust { .. }) if self.talks.is_long() => {}
            _ => self.intake.note_answer(),
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
    fn pass(&mut self, head: &Head, body_bytes: usize, own: Own) -> Next {
        let ending = Ending::of(head, self.origin);
        let closes = matches!(&own, Own::Problem(problem) if problem.closes);
        if closes || ending.closes() {
            return self.close_with(own, ending);
        }
        self.intake.pass();
        self.own = Some((own, ending));
        Next::Passed { bytes: head.bytes + body_bytes }
    }

    /// The last response of the connection is the front's own.
    fn close_with(&mut self, own: Own, ending: Ending) -> Next {
        self.own = Some((own, Ending { connection: Connection::Closes, ..ending }));
        Next::Refused
    }

    fn respond_self(&mut self, own: &Own, ending: Ending, out: &mut Output) {
        self.date.set(self.server.env.clock.unix_ms());
        let circumstances = circumstances(&self.date, &self.settings.http, &self.tally);
        respond_self(own, ending, out, circumstances);
    }
}

impl Front for HttpFront {
    fn next(&mut self, input: &mut Input, _: &RequestLimits, words: &mut Vec<Arg>) -> Next {
        self.renew_settings();
        if let Some(feed) = &mut self.feed {
            return feed.next(input, words, &self.settings.http);
        }
        match self.parse(input, words) {
            Ok(next) => next,
            Err(problem) => self.close_with(Own::Problem(problem), OF_NO_REQUEST),
        }
    }

    fn rewind(&mut self) {
        if let Some(feed) = &mut self.feed {
            return feed.rewind();
        }
        self.intake.rewind();
        self.plans.clear();
        self.under_way = None;
        self.talks.rewind(self.is_late);
        if let Some((Own::Continue, _)) = self.own.take() {
            self.intake.was_not_told();
        }
        if !self.is_late {
            self.current = None;
        }
    }

    fn answer(&mut self, out: &mut Output) {
        if let Some(feed) = &mut self.feed {
            return feed.answer(out);
        }
        if self.talks.pass() {
            self.intake.pass();
            self.intake.note_answer();
            return;
        }
        let Some((own, ending)) = self.own.take() else { return };
        if own != Own::Continue {
            self.intake.note_answer();
        }
        self.respond_self(&own, ending, out);
    }

    fn refuse(&mut self, out: &mut Output) {
        if let Some(feed) = &mut self.feed {
            return feed.refuse(out);
        }
        if let Some((own, ending)) = self.own.take() {
            self.respond_self(&own, ending, out);
        }
    }

    fn dismiss(&mut self, error: &str, out: &mut Output) {
        let problem = Problem::of_error(error.as_bytes());
        let is_for_now = problem.code == "ERR";
        let status = if is_for_now { Status::ServiceUnavailable } else { problem.status };
        let own = Own::Problem(Problem { status, ..problem }.closing());
        self.respond_self(&own, OF_NO_REQUEST, out);
    }

    fn deliver(&mut self, message: Output, out: &mut Output) {
        if let Some(feed) = &mut self.feed {
            feed.deliver(&flat(message), out);
        }
    }

    fn protocol(&self) -> Protocol {
        Protocol::Resp3
    }

    fn count(&mut self, counters: &ThreadCounters) {
        self.tally.hand_over(&counters.responses);
    }

    fn name(&self) -> Option<&'static str> {
        Some("http")
    }

    fn lets_in(&self) -> bool {
        true
    }

    #[inline]
    fn database(&self, selected: u8) -> u8 {
        match &self.feed {
            Some(feed) => feed.db(),
            None => self.plans.back().map_or(selected, |plan| plan.general.db),
        }
    }

    fn is_late(&mut self, now: Instant, unparsed: usize) -> bool {
        if self.feed.is_some() {
            return false;
        }
        let (request, body_bytes) = self.intake.progress(unparsed);
        let is_sent = unparsed > 0 || body_bytes.is_some();
        let progress = is_sent.then_some(Progress { request, body_bytes });
        if !self.patience.is_over(now, progress, &self.settings.http) {
            return false;
        }
        let text = "the request has not come in time";
        let problem = Problem::new(Status::RequestTimeout, "TIMEOUT", text).closing();
        self.own = Some((Own::Problem(problem), OF_NO_REQUEST));
        true
    }

    fn idle_max(&self) -> Option<Duration> {
        if self.feed.is_some() { None } else { self.settings.http.idle_time_max }
    }

    fn stands(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.stands())
    }

    fn listens(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.listens())
    }

    fn hear(&mut self, input: &mut Input, out: &mut Output) -> bool {
        self.renew_settings();
        let told = (&self.settings.http, out);
        self.feed.as_mut().is_some_and(|feed| feed.hear(input, told))
    }

    fn give_up(&mut self, input: &mut Input) -> bool {
        self.feed.as_mut().is_some_and(|feed| feed.give_up(input))
    }

    fn say_goodbye(&mut self, out: &mut Output) {
        if let Some(feed) = &mut self.feed {
            feed.say_goodbye(out);
        }
    }

    fn part(&mut self, input: &mut Input) -> bool {
        self.feed.as_mut().is_some_and(|feed| feed.part(input))
    }

    fn miss(&mut self, reply: Output) {
        if let Some(feed) = &mut self.feed {
            feed.miss(&flat(reply));
        }
    }

    fn beat(&mut self, now: Instant, owed_bytes: usize, out: &mut Output) -> Beat {
        if self.feed.is_none() {
            return Beat::Nothing;
        }
        if !self.rights_hold() {
            return self.end_rights(out);
        }
        let Some(feed) = &mut self.feed else { return Beat::Nothing };
        feed.beat(now, owed_bytes, (&self.settings.http, out))
    }
}

impl ReplyForm for HttpFront {
    #[inline]
    fn begin(&mut self, out: &mut Output) -> Option<Terms> {
        if let Some(feed) = &self.feed {
            self.mark = Some(Reply::new(out, Protocol::Resp3).mark());
            // It waits as long as its client is there.
            return Some(Terms { db: feed.db(), key_wait_max: Duration::MAX });
        }
        self.current = self.current.take().or_else(|| self.plans.pop_front());
        self.mark = Some(Reply::new(out, Protocol::Resp3).mark());
        leave_room(self.current.as_ref(), out);
        let plan = self.current.as_ref()?;
        // Of several commands none waits, as between MULTI and EXEC.
        let key_wait_max = match plan.answer {
            Answer::Part { .. } => Duration::ZERO,
            _ => self.settings.http.key_wait_max,
        };
        Some(Terms { db: plan.general.db, key_wait_max })
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
