//! What a request for a feed says.

use super::Form;
use super::channel::ChannelFeed;
use super::queue::QueueFeed;
use super::stream::StreamFeed;
use super::subject::Subject;
use crate::general::{General, Spelling};
use crate::operation::FeedKind;
use crate::plan::Ending;
use crate::problem::Problem;
use crate::table::{AFTER, CREDIT, LEASE_MS, NOACK, PATTERN, WORKER};
use crate::translate::{Named, Spelled};
use basalt_config::HttpSettings;
use basalt_http1::base64::{self, Alphabet};
use basalt_http1::percent;
use basalt_http1::{Body, Field, Head};

/// Longest ID of an entry that a client may say: two numbers of 64 bits.
const ID_BYTES_MAX: usize = 64;

/// A request for a feed that is known to be in order.
pub(crate) struct Opening {
    pub(super) subject: Subject,
    pub(super) general: General,
    pub(super) ending: Ending,
    pub(super) form: Form,
}

impl Opening {
    /// The feed that the request with this head asks for.
    ///
    /// # Errors
    /// A parameter is wrong.
    pub(crate) fn of(
        (kind, form): (FeedKind, Form),
        (head, bytes): (&Head, &[u8]),
        named: &Named<'_>,
        (ending, settings): (Ending, &HttpSettings),
    ) -> Result<Opening, Problem> {
        if head.body != Body::Length(0) {
            return Err(Problem::bad_request("what opens a feed has no body").closing());
        }
        let subject = match kind {
            FeedKind::Stream => {
                let after = after(head, bytes, named)?;
                Subject::Stream(StreamFeed::new(owned(named.key.as_ref(), bytes)?, after))
            }
            FeedKind::Channel => Subject::Channel(ChannelFeed {
                name: owned(named.name.as_ref(), bytes)?,
                is_pattern: named.query.flag(PATTERN.name)?,
            }),
            FeedKind::Queue => Subject::Queue(queue(bytes, named, settings)?),
        };
        Ok(Opening { subject, general: named.general, ending, form })
    }
}

/// A queue, and on which terms its messages are wanted.
fn queue(bytes: &[u8], named: &Named<'_>, settings: &HttpSettings) -> Result<QueueFeed, Problem> {
    let query = &named.query;
    let credit = credit(query.number(CREDIT.name, 0)?.unwrap_or(1), settings)?;
    let mut queue = QueueFeed::new(owned(named.key.as_ref(), bytes)?, credit);
    queue.lease_ms = query.number(LEASE_MS.name, 1)?.map(|lease_ms| lease_ms as u64);
    queue.worker = query.text(WORKER.name)?.map(String::into_bytes);
    queue.is_taken = query.flag(NOACK.name)?;
    Ok(queue)
}

/// How many messages a client may hold that wants to hold this many.
///
/// # Errors
/// That are too many.
pub(super) fn credit(wanted: i64, settings: &HttpSettings) -> Result<usize, Problem> {
    let credit = usize::try_from(wanted).ok().filter(|&credit| credit <= settings.credit_max);
    credit.ok_or_else(|| {
        let most = settings.credit_max;
        Problem::bad_request(format!("credit must be {most} at most (http-credit-max)"))
    })
}

/// Behind which ID a client wants to go on: that of the last event that it has got, or the one that
/// it names. `None` is behind the last one that there is.
fn after(head: &Head, bytes: &[u8], named: &Named<'_>) -> Result<Option<Vec<u8>>, Problem> {
    let id = match head.field(Field::LastEventId).filter(|range| !range.is_empty()) {
        Some(range) if range.len() > ID_BYTES_MAX => {
            return Err(Problem::bad_request("Last-Event-ID is too long"));
        }
        Some(range) => Some(bytes[range].to_vec()),
        None => named.query.text(AFTER.name)?.map(String::into_bytes),
    };
    Ok(id.filter(|id| id != b"$"))
}

/// A name in the head, decoded.
fn owned(spelled: Option<&Spelled>, bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let Some(Spelled { range, plus, spelling }) = spelled else { return Ok(Vec::new()) };
    let mut name = bytes[range.clone()].to_vec();
    let all = 0..name.len();
    let len = percent::decode(&mut name, all, 0, *plus)?;
    name.truncate(len);
    if *spelling == Spelling::Base64 {
        let len = base64::decode(&mut name, Alphabet::Url)?;
        name.truncate(len);
    }
    Ok(name)
}
