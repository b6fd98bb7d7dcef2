//! HOT PATH
//! The front of a connection: Redis' protocol, or another.

use crate::front::{Front, Next};
use crate::input::Input;
use basalt_dispatch::{Ended, ReplyForm, Terms, Then};
use basalt_resp::{Arg, Output, Parsed, Parser, Protocol, ProtocolError, Reply, RequestLimits};

/// How a connection's requests and replies look.
#[derive(Debug)]
pub(crate) enum Wire {
    /// As Redis' do.
    Resp(Resp),
    /// As its front has it.
    Other(Box<dyn Front>),
}

/// Redis' protocol.
#[derive(Debug, Default)]
pub(crate) struct Resp {
    parser: Parser,
    /// What is wrong with the bytes that were refused.
    refused: Option<ProtocolError>,
}

impl Wire {
    pub(crate) fn front(&mut self) -> &mut dyn Front {
        match self {
            Wire::Resp(resp) => resp,
            Wire::Other(front) => &mut **front,
        }
    }

    /// Its front, if that is not Redis' protocol.
    pub(crate) fn other(&mut self) -> Option<&mut (dyn Front + 'static)> {
        match self {
            Wire::Resp(_) => None,
            Wire::Other(front) => Some(&mut **front),
        }
    }

    /// The form of its replies, if that is not Redis' protocol.
    #[inline(always)]
    pub(crate) fn form(&mut self) -> Option<&mut dyn ReplyForm> {
        match self {
            Wire::Resp(_) => None,
            Wire::Other(front) => Some(&mut **front),
        }
    }
}

impl Default for Wire {
    fn default() -> Wire {
        Wire::Resp(Resp::default())
    }
}

/// Replies stay as commands write them.
impl ReplyForm for Resp {
    fn begin(&mut self, _: &mut Output, _: u64) -> Option<Terms> {
        None
    }

    fn end(&mut self, _: Ended, _: &mut Output) -> Then {
        Then::GoesOn
    }
}

impl Front for Resp {
    #[inline(always)]
    fn next(&mut self, input: &mut Input, limits: &RequestLimits, words: &mut Vec<Arg>) -> Next {
        let start = input.parsed();
        if input.bytes()[start] != b'*' {
            keep_inline(input);
        }
        match self.parser.parse(input.bytes_mut(), start, limits, words) {
            Ok(Parsed::Request { consumed }) => Next::Request { bytes: consumed },
            Ok(Parsed::Empty { consumed }) => Next::Passed { bytes: consumed },
            Ok(Parsed::Incomplete { wanted }) => Next::Incomplete { wanted },
            Err(error) => {
                self.refused = Some(error);
                Next::Refused
            }
        }
    }

    fn rewind(&mut self) {
        *self = Resp::default();
    }

    fn answer(&mut self, _: &mut Output) {}

    fn refuse(&mut self, out: &mut Output) {
        if let Some(error) = self.refused {
            Reply::new(out, Protocol::default()).protocol_error(error);
        }
    }

    fn dismiss(&mut self, error: &str, out: &mut Output) {
        Reply::new(out, Protocol::default()).error(error);
    }

    fn deliver(&mut self, message: Output, out: &mut Output) {
        Reply::new(out, Protocol::default()).append(message);
    }

    fn protocol(&self) -> Protocol {
        Protocol::default()
    }

    #[inline(always)]
    fn parser(&self) -> Option<&Parser> {
        Some(&self.parser)
    }
}

/// The request where parsing stands is inline: keeps what parsing will change of it, which is
/// quotes.
#[cold]
fn keep_inline(input: &mut Input) {
    let start = input.parsed();
    let rest = &input.bytes()[start..];
    let Some(end) = rest.iter().position(|&byte| byte == b'\n') else { return };
    if rest[..end].iter().any(|byte| matches!(byte, b'"' | b'\'')) {
        input.keep(start..start + end);
    }
}
