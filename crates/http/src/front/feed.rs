//! A connection that has become a feed.

use super::{HttpFront, circumstances};
use crate::feed::{Feed, Opening};
use crate::identity::Authority;
use crate::problem::Problem;
use crate::respond::take_part;
use basalt_dispatch::{Ended, Then};
use basalt_http1::Head;
use basalt_net::{Beat, Input, Next};
use basalt_resp::{Arg, Output, Protocol, Reply, ReplyMark};

impl HttpFront {
    /// Opens a feed, when all requests before have been answered: what it is told by then decides
    /// what the rest of the client's bytes are.
    pub(super) fn open(
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
    pub(super) fn end_of_feed(
        &mut self,
        (ended, mark): (Ended, ReplyMark),
        out: &mut Output,
    ) -> Then {
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
    pub(super) fn rights_hold(&mut self) -> bool {
        self.renew_settings();
        self.accepted.still_holds(Authority {
            settings: &self.settings,
            access: &self.server.access,
            logins: &self.logins,
            clock: &*self.server.env.clock,
        })
    }

    pub(super) fn end_rights(&mut self, out: &mut Output) -> Beat {
        self.date.set(self.server.env.clock.unix_ms());
        let circumstances = circumstances(&self.date, &self.settings.http, &self.tally);
        let text = "NOAUTH The password or the token does not hold any more.";
        if let Some(feed) = &mut self.feed {
            feed.fail(Problem::of_error(text.as_bytes()), out, circumstances);
        }
        Beat::Closes
    }
}
