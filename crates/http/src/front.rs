//! HOT PATH
//! One connection that speaks HTTP.
//!
//! ```text
//! bytes ─▶ intake: head, body ─▶ identity, guard ─▶ routes ─▶ words over the head ─▶ batch
//!                                                     └─▶ plan ─▶ … reply ─▶ respond ─▶ response
//! ```
//! Requests are parsed ahead of those that run, so plans wait in the order of their requests. What
//! no command answers, an error for one, is answered when all before it is.
//!
//! Here is what a connection keeps, and what the network asks of it; a file each for what it does
//! with a request, with a reply, and with requests of several commands.

mod feed;
mod hust;
mod reply;
mod request;
mod several;

use crate::feed::Feed;
use crate::flat::flat;
use crate::hust::{Port, Talks};
use crate::identity::Accepted;
use crate::intake::Intake;
use crate::logins::Logins;
use crate::own::Own;
use crate::patience::{Patience, Progress};
use crate::plan::{Ending, Plan};
use crate::problem::Problem;
use crate::repeats::Repeats;
use crate::respond::respond_self;
use crate::response::Circumstances;
use crate::series::{Batch, Gathered};
use crate::tally::Tally;
use basalt_config::{HttpSettings, Settings};
use basalt_dispatch::Dispatcher;
use basalt_env::Instant;
use basalt_http1::{Connection, Date, Status};
use basalt_net::{Beat, Front, Input, Linger, Next};
use basalt_observe::counters::ThreadCounters;
use basalt_resp::{Arg, Output, Protocol, ReplyMark, RequestLimits};
use basalt_service::access::Rights;
use several::UnderWay;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// See the head of this file.
pub struct HttpFront {
    server: Arc<Dispatcher>,
    settings: Arc<Settings>,
    settings_version: u64,
    date: Date,
    tally: Tally,
    intake: Intake,
    repeats: Repeats,
    patience: Patience,
    accepted: Accepted,
    logins: Arc<Logins>,
    /// The number of the user that requests run for, if one has come.
    user_at_hand: Option<u64>,
    /// That user's rights, if the session does not have them yet.
    new_rights: Option<Rights>,
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
    /// The last response answers a request that may not be wholly there.
    is_cut: bool,
    /// What the connection is for from its last request on.
    feed: Option<Box<Feed>>,
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
            repeats: Repeats::default(),
            patience: Patience::default(),
            accepted: Accepted::default(),
            logins,
            user_at_hand: None,
            new_rights: None,
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
            is_cut: false,
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
            self.repeats.forget();
        }
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
            Err(problem) => {
                let ending = self.intake.ending(self.origin);
                self.close_with(Own::Problem(problem), ending)
            }
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
        self.respond_self(&own, Ending::OF_NO_REQUEST, out);
    }

    fn unfinished_bytes_max(&self) -> usize {
        self.settings.http.buffers_bytes_max
    }

    fn turn_away(&mut self, out: &mut Output) {
        if let Some(feed) = &mut self.feed {
            return feed.say_goodbye(out);
        }
        self.is_cut = true;
        let text = "TRYAGAIN there is no room for more requests that are under way \
                    (http-buffers-max): try again later";
        self.dismiss(text, out);
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
            Some(feed) => feed.general().db,
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
        self.is_cut = true;
        let text = "the request has not come in time";
        let problem = Problem::new(Status::RequestTimeout, "TIMEOUT", text).closing();
        let ending = self.intake.ending(self.origin);
        self.own =
            Some((Own::Problem(problem), Ending { connection: Connection::Closes, ..ending }));
        true
    }

    /// What the client of a feed holds goes to others as soon as its connection closes, so that
    /// one does not linger.
    fn linger(&self, is_unread: bool) -> Option<Linger> {
        let HttpSettings { linger_bytes_max, linger_time_max, .. } = self.settings.http;
        let lingers = (is_unread || self.is_cut) && self.feed.is_none();
        let linger = Linger { bytes_max: linger_bytes_max, time_max: linger_time_max };
        Some(linger).filter(|_| lingers && linger_bytes_max > 0 && !linger_time_max.is_zero())
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
