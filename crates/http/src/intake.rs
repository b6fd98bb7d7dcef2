//! The bytes of a connection's requests as they arrive: which head is under way, and what has
//! become of bodies that could not stay as they came.
//!
//! A body in chunks loses its chunks as it arrives, and a body that nobody wants is thrown away.
//! Neither can be had again, but a request may be parsed again. So what has become of it is noted
//! by the request's number, until the request is answered.

use crate::own::Own;
use crate::plan::Ending;
use crate::problem::Problem;
use basalt_config::HttpSettings;
use basalt_http1::{Body, ChunkedBody, Head, HeadLimits, HeadReader, Refusal};
use basalt_net::Input;
use std::collections::VecDeque;

/// As far as a body that is thrown away is asked for at once.
const DISCARDED_AT_ONCE: usize = 64 << 10;

/// See the head of this file.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    reader: HeadReader,
    /// The head of the request at hand, while its body is not there.
    head: Option<Box<Head>>,
    /// What is there of its head, if that is not known, begins as that of a HEAD.
    is_for_head: bool,
    /// Bytes of the request at hand that were removed.
    removed: u64,
    /// Bodies that are not as they came, of requests that are not answered.
    changed: VecDeque<Changed>,
    /// The number of the request at hand, and of the first that is not answered.
    at_hand: u64,
    unanswered: u64,
    /// The request whose client was told to go on.
    continued: Option<u64>,
}

#[derive(Debug)]
struct Changed {
    request: u64,
    how: How,
}

#[derive(Debug)]
enum How {
    /// Its chunks are gone, and this many bytes are left.
    Unchunked { body: ChunkedBody, bytes: usize, is_whole: bool },
    /// This many bytes are to be thrown away, and then this is the answer.
    Discarded { left: u64, own: Own },
}

/// Whether a body is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// It has this many bytes.
    Whole(usize),
    /// The request at hand needs this many bytes.
    Wants(usize),
}

impl Intake {
    /// Takes the head of the request at hand; `None` if it is not there.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn take_head(
        &mut self,
        input: &Input,
        settings: &HttpSettings,
    ) -> Result<Option<Head>, Problem> {
        if let Some(head) = self.head.take() {
            return Ok(Some(*head));
        }
        let limits = HeadLimits {
            head_bytes_max: settings.head_bytes_max,
            target_bytes_max: settings.path_bytes_max,
        };
        let bytes = &input.bytes()[input.parsed()..];
        let read = self.reader.read(bytes, &limits);
        if !matches!(read, Ok(Some(_))) {
            self.is_for_head = is_for_head(bytes);
        }
        read.map_err(|refusal| Problem::from(refusal).closing())
    }

    /// Whether nothing has been done yet with the request at hand, and no body that is not answered
    /// was changed.
    #[inline]
    pub(crate) fn is_untouched(&self) -> bool {
        self.head.is_none() && self.changed.is_empty() && self.reader.is_at_start()
    }

    /// How a response ends that refuses the request at hand, whose head may never have come.
    pub(crate) fn ending(&self, origin: Option<u16>) -> Ending {
        match &self.head {
            Some(head) => Ending::of(head, origin),
            None => Ending { is_without_body: self.is_for_head, ..Ending::OF_NO_REQUEST },
        }
    }

    /// Keeps the head of the request at hand until more of its body is there.
    pub(crate) fn put_back(&mut self, head: Head) {
        self.head = Some(Box::new(head));
    }

    /// Looks whether the body of the request at hand is there; takes its chunks out.
    ///
    /// # Errors
    /// It is too large, or its chunks are none.
    pub(crate) fn arrive(
        &mut self,
        input: &mut Input,
        head: &Head,
        bytes_max: usize,
    ) -> Result<Arrival, Problem> {
        let start = input.parsed() + head.bytes;
        let there = input.bytes().len() - start;
        match head.body {
            Body::Length(length) if length > bytes_max as u64 => {
                Err(Problem::from(Refusal::BodyTooLarge).closing())
            }
            Body::Length(length) if length <= there as u64 => Ok(Arrival::Whole(length as usize)),
            Body::Length(length) => Ok(Arrival::Wants(head.bytes + length as usize)),
            Body::Chunked => self.unchunk(input, head, bytes_max),
        }
    }

    fn unchunk(
        &mut self,
        input: &mut Input,
        head: &Head,
        bytes_max: usize,
    ) -> Result<Arrival, Problem> {
        let start = input.parsed() + head.bytes;
        if self.changed_at_hand().is_none() {
            let how = How::Unchunked { body: ChunkedBody::new(), bytes: 0, is_whole: false };
            self.changed.push_back(Changed { request: self.at_hand, how });
        }
        let at_hand = self.at_hand;
        let Some(Changed { how: How::Unchunked { body, bytes, is_whole }, .. }) =
            self.changed.iter_mut().find(|changed| changed.request == at_hand)
        else {
            return Err(Problem::from(Refusal::ChunkMalformed).closing());
        };
        if !*is_whole {
            let decoded = body
                .decode(&mut input.bytes_mut()[start..], bytes_max)
                .map_err(|refusal| Problem::from(refusal).closing())?;
            self.removed += decoded.spent.len() as u64;
            input.remove(start + decoded.spent.start..start + decoded.spent.end);
            (*bytes, *is_whole) = (decoded.body_bytes, decoded.wanted == 0);
            if decoded.wanted > 0 {
                let there = input.bytes().len() - input.parsed();
                return Ok(Arrival::Wants(there.saturating_add(decoded.wanted)));
            }
        }
        Ok(Arrival::Whole(*bytes))
    }

    fn changed_at_hand(&self) -> Option<&Changed> {
        self.changed.iter().find(|changed| changed.request == self.at_hand)
    }

    /// Has the body of the request at hand thrown away as it arrives; then `own` is the answer.
    pub(crate) fn discard(&mut self, length: u64, own: Own) {
        let how = How::Discarded { left: length, own };
        self.changed.push_back(Changed { request: self.at_hand, how });
    }

    /// If the body of the request at hand is thrown away, goes on with that: returns what the
    /// request needs, or its answer.
    pub(crate) fn go_on_discarding(
        &mut self,
        input: &mut Input,
        head: &Head,
    ) -> Option<Result<Own, usize>> {
        let at_hand = self.at_hand;
        let changed = self.changed.iter_mut().find(|changed| changed.request == at_hand)?;
        let How::Discarded { left, own } = &mut changed.how else { return None };
        let start = input.parsed() + head.bytes;
        let there = (input.bytes().len() - start) as u64;
        let gone = there.min(*left);
        input.remove(start..start + gone as usize);
        *left -= gone;
        self.removed += gone;
        if *left == 0 {
            return Some(Ok(own.clone()));
        }
        Some(Err(head.bytes + DISCARDED_AT_ONCE.min(*left as usize)))
    }

    /// Whether the client waits to be told to go on, and has not been told yet; it counts as told.
    pub(crate) fn continues(&mut self, head: &Head) -> bool {
        let is_due = head.expects_continue && !head.is_old && self.continued != Some(self.at_hand);
        if is_due {
            self.continued = Some(self.at_hand);
        }
        is_due
    }

    /// The client was not told to go on after all.
    pub(crate) fn was_not_told(&mut self) {
        self.continued = None;
    }

    /// The request at hand is parsed.
    pub(crate) fn pass(&mut self) {
        self.at_hand += 1;
        self.removed = 0;
    }

    /// The first request that was not answered is.
    pub(crate) fn note_answer(&mut self) {
        self.unanswered += 1;
        while self.changed.front().is_some_and(|changed| changed.request < self.unanswered) {
            self.changed.pop_front();
        }
    }

    /// Whether all requests before the one at hand are answered.
    pub(crate) fn is_first(&self) -> bool {
        self.at_hand == self.unanswered
    }

    /// All requests that are not answered are parsed again.
    pub(crate) fn rewind(&mut self) {
        self.at_hand = self.unanswered;
        self.reader = HeadReader::new();
        self.head = None;
    }

    /// The number of the request at hand, and the bytes of its body that have come, if its head is
    /// there; `unparsed` bytes of it are.
    pub(crate) fn progress(&self, unparsed: usize) -> (u64, Option<u64>) {
        let body = self
            .head
            .as_ref()
            .map(|head| (unparsed as u64 + self.removed).saturating_sub(head.bytes as u64));
        (self.at_hand, body)
    }
}

/// Whether what may be no head begins as that of a HEAD: a client that has sent such a request
/// reads no body.
fn is_for_head(bytes: &[u8]) -> bool {
    let start = bytes.iter().position(|&byte| byte != b'\r' && byte != b'\n').unwrap_or(0);
    bytes[start..].starts_with(b"HEAD ")
}
