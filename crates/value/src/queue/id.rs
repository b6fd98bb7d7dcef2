//! HOT PATH
//! Identities of messages, and tokens of deliveries.
//!
//! ```text
//! id     = lane-sequence         4 and 60 bits of a word; in a lane in the order of puts
//! token  = lane-sequence-stamp   the stamp is the time of the delivery, and greater than
//!                                that of the delivery before
//! ```

use basalt_stdx::varint;
use std::fmt;

/// How many lanes a queue has.
pub const LANES: usize = 10;

/// Digits of the greatest number.
const DIGITS_MAX: usize = 20;
/// Lane, sequence and stamp, and what stands between them.
const TEXT_BYTES_MAX: usize = 3 + 2 * DIGITS_MAX;

const SEQUENCE_BITS: u32 = 60;
const SEQUENCE_MAX: u64 = (1 << SEQUENCE_BITS) - 1;

/// One of the priorities of a queue: 9 is delivered first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct LaneNumber(u8);

impl LaneNumber {
    /// The lane of this number, if there is one.
    #[inline]
    pub fn new(number: u64) -> Option<LaneNumber> {
        (number < LANES as u64).then_some(LaneNumber(number as u8))
    }

    /// Its number.
    #[inline]
    pub fn number(self) -> u8 {
        self.0
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0.into()
    }

    /// All lanes, by their numbers.
    #[inline]
    pub(super) fn all() -> impl DoubleEndedIterator<Item = LaneNumber> {
        (0..LANES as u8).map(LaneNumber)
    }

    /// All lanes, the one that is delivered first before the others.
    #[inline]
    pub fn by_precedence() -> impl Iterator<Item = LaneNumber> {
        LaneNumber::all().rev()
    }
}

/// The two digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// A message of a queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct MessageId(u64);

impl MessageId {
    /// None comes before it.
    pub const FIRST: MessageId = MessageId(0);
    /// None comes after it.
    pub const LAST: MessageId = MessageId(u64::MAX);

    /// The message of this lane and sequence; `None` if there can be none.
    #[inline]
    pub fn new(lane: LaneNumber, sequence: u64) -> Option<MessageId> {
        let fits = sequence <= SEQUENCE_MAX;
        fits.then_some(MessageId(u64::from(lane.0) << SEQUENCE_BITS | sequence))
    }

    /// Its lane.
    #[inline]
    pub fn lane(self) -> LaneNumber {
        LaneNumber((self.0 >> SEQUENCE_BITS) as u8)
    }

    /// Its number in the lane.
    #[inline]
    pub fn sequence(self) -> u64 {
        self.0 & SEQUENCE_MAX
    }

    /// The first one that a lane can have.
    pub(super) fn first_of(lane: LaneNumber) -> MessageId {
        MessageId(u64::from(lane.0) << SEQUENCE_BITS)
    }

    /// The one that comes next, in its lane or the next one.
    pub(super) fn next(self) -> MessageId {
        MessageId(self.0.saturating_add(1))
    }

    /// Reads `lane-sequence`.
    pub fn parse(text: &[u8]) -> Option<MessageId> {
        let (id, rest) = MessageId::take_text(text)?;
        rest.is_empty().then_some(id)
    }

    fn take_text(text: &[u8]) -> Option<(MessageId, &[u8])> {
        let (lane, text) = take_number(text)?;
        let (sequence, rest) = take_number(text.strip_prefix(b"-")?)?;
        Some((MessageId::new(LaneNumber::new(lane)?, sequence)?, rest))
    }

    #[inline]
    pub(super) fn put(self, out: &mut Vec<u8>) {
        // The lane last: it stands in the lowest bits, so that few bytes hold a small sequence.
        varint::put(out, self.sequence() << 4 | u64::from(self.lane().0));
    }

    #[inline]
    pub(super) fn take(rest: &mut &[u8]) -> Option<MessageId> {
        let word = varint::take(rest)?;
        MessageId::new(LaneNumber::new(word & 0xF)?, word >> 4)
    }

    pub(super) fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<MessageId> {
        let word = u64::from_be_bytes(bytes.try_into().ok()?);
        MessageId::new(LaneNumber::new(word >> SEQUENCE_BITS)?, word & SEQUENCE_MAX)
    }
}

/// An id or a token as text, on the stack: a reply has one for each message.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    bytes: [u8; TEXT_BYTES_MAX],
    start: u8,
}

impl Text {
    const EMPTY: Text = Text { bytes: [0; TEXT_BYTES_MAX], start: TEXT_BYTES_MAX as u8 };

    /// Its bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[usize::from(self.start)..]
    }

    /// Puts a byte before what is there.
    #[inline]
    fn push_front(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[usize::from(self.start)] = byte;
    }

    /// Puts a number before what is there, two digits at a time.
    #[inline]
    fn number(&mut self, mut number: u64) {
        let mut start = usize::from(self.start);
        while number >= 100 {
            start -= 2;
            self.bytes[start..start + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
            number /= 100;
        }
        self.start = start as u8;
        let [tens, ones] = PAIRS[number as usize];
        self.push_front(ones);
        if number >= 10 {
            self.push_front(tens);
        }
    }

    #[inline]
    fn id(&mut self, id: MessageId) {
        self.number(id.sequence());
        self.push_front(b'-');
        self.push_front(b'0' + id.lane().0);
    }
}

impl MessageId {
    /// It as text.
    #[inline]
    pub fn text(self) -> Text {
        let mut text = Text::EMPTY;
        text.id(self);
        text
    }
}

impl Token {
    /// It as text.
    #[inline]
    pub fn text(self) -> Text {
        let mut text = Text::EMPTY;
        text.number(self.stamp);
        text.push_front(b'-');
        text.id(self.id);
        text
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.lane().0, self.sequence())
    }
}

/// One delivery of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// The message.
    pub id: MessageId,
    /// Which of its deliveries.
    pub stamp: u64,
}

impl Token {
    /// Reads `lane-sequence-stamp`.
    pub fn parse(text: &[u8]) -> Option<Token> {
        let (id, rest) = MessageId::take_text(text)?;
        let (stamp, rest) = take_number(rest.strip_prefix(b"-")?)?;
        rest.is_empty().then_some(Token { id, stamp })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.id, self.stamp)
    }
}

/// Takes a decimal number off the front, written as numbers are: one way for each.
#[inline]
fn take_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut digits) = (0u64, 0);
    // A number of 19 digits fits.
    for &byte in text.iter().take(DIGITS_MAX - 1).take_while(|byte| byte.is_ascii_digit()) {
        number = number * 10 + u64::from(byte - b'0');
        digits += 1;
    }
    if digits == DIGITS_MAX - 1 {
        for &byte in text[digits..].iter().take_while(|byte| byte.is_ascii_digit()) {
            number = number.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
            digits += 1;
        }
    }
    let rest = &text[digits..];
    let is_plain = digits == 1 || digits > 1 && text[0] != b'0';
    is_plain.then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_tokens_are_read_as_they_are_written() {
        for (lane, sequence, stamp) in [(0, 0, 0), (9, SEQUENCE_MAX, u64::MAX), (3, 70, 1)] {
            let id = MessageId::new(LaneNumber::new(lane).unwrap(), sequence).unwrap();
            let token = Token { id, stamp };
            assert_eq!(MessageId::parse(id.to_string().as_bytes()), Some(id));
            assert_eq!(Token::parse(token.to_string().as_bytes()), Some(token));
            assert_eq!(id.text().as_bytes(), id.to_string().as_bytes());
            assert_eq!(token.text().as_bytes(), token.to_string().as_bytes());
            assert_eq!(MessageId::from_bytes(&id.to_bytes()), Some(id));
            let mut bytes = Vec::new();
            id.put(&mut bytes);
            assert_eq!(MessageId::take(&mut &bytes[..]), Some(id));
        }
        for text in ["", "-", "10-1", "1-", "01-1", "1-01", "1-1-", "1-1x", "1-1152921504606846976"]
        {
            assert_eq!(MessageId::parse(text.as_bytes()), None, "{text}");
        }
        for text in ["1-1", "1-1-", "1-1-1-1", "1-1-18446744073709551616", "1-1--1"] {
            assert_eq!(Token::parse(text.as_bytes()), None, "{text}");
        }
    }
}
