//! What a feed runs next: its own command, or what its client asks for.

use super::Feed;
use super::request::{Asked, Request};
use basalt_config::HttpSettings;
use basalt_net::{Input, Next};
use basalt_resp::Arg;

impl Feed {
    /// Whether it has a command to run.
    pub(crate) fn stands(&self) -> bool {
        self.request.is_none()
            && match &self.parting {
                Some(tokens) => !tokens.is_empty(),
                None => !self.is_open || self.subject.wants(),
            }
    }

    /// Finds what is to run next, as [`basalt_net::Front::next`] does.
    pub(crate) fn next(
        &mut self,
        input: &mut Input,
        words: &mut Vec<Arg>,
        settings: &HttpSettings,
    ) -> Next {
        if self.request.is_none()
            && self.parting.is_none()
            && let Some(next) = self.next_of_client(input, settings)
        {
            return next;
        }
        if self.request.is_none() {
            let Some((said, asked)) = self.own() else {
                return Next::Incomplete { wanted: 1 };
            };
            self.request = Some(Request::place(input, 0, &said, asked));
        }
        match &mut self.request {
            Some(request) => request.next(input.parsed(), words),
            None => Next::Refused,
        }
    }

    /// A command that the client has not asked for.
    fn own(&mut self) -> Option<(Vec<Vec<u8>>, Asked)> {
        if let Some(tokens) = &mut self.parting {
            let (token, queue) = (tokens.pop()?, self.subject.queue()?);
            let words = vec![b"Q.NACK".to_vec(), queue.key.clone(), token];
            return Some((words, Asked::Release));
        }
        if !self.is_open {
            return Some((self.subject.opening(), Asked::Opening));
        }
        Some((self.subject.standing()?, Asked::Standing))
    }

    /// What has not run is parsed again.
    pub(crate) fn rewind(&mut self) {
        if let Some(request) = &mut self.request {
            request.rewind();
        }
    }
}
