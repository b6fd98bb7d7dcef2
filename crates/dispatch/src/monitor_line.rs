//! HOT PATH
//! A line for clients that monitor: `+1700000000.123456 [0 127.0.0.1:50000] "set" "k" "v"`
//!
//! What lines begin with is the same for many of them. The time is read again when the thread has
//! read its clock for anything else: at the beginning of a batch, and after calls that may have
//! taken long. It is some tens of microseconds old at most.

use super::redact::redact;
use basalt_call::entry::Secrets;
use basalt_env::{Clock, Instant};
use basalt_service::args::Args;
use basalt_service::session::Session;

/// What a word takes besides its bytes.
const WORD_BYTES: usize = 3;

/// The sender of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sender {
    /// The client.
    Client,
    /// A script that it has called.
    Script,
}

/// What a thread's latest line began with.
#[derive(Default)]
pub(super) struct LineHead {
    bytes: Vec<u8>,
    /// What it says: the time, the client's number, its database, the sender.
    says: Option<(u64, u64, u8, Sender)>,
    now_us: u64,
    /// When the thread's clock had been read, by the time that this one was.
    read_with: Option<Instant>,
}

impl LineHead {
    /// Reads the time if the thread has read its clock since; the latest time it did is given.
    #[inline]
    pub(super) fn follow_clock(&mut self, clock: &dyn Clock, clock_was_read: Instant) {
        if self.read_with != Some(clock_was_read) {
            self.read_clock(clock, clock_was_read);
        }
    }

    /// Reads the time.
    pub(super) fn read_clock(&mut self, clock: &dyn Clock, clock_was_read: Instant) {
        self.now_us = clock.unix_us();
        self.read_with = Some(clock_was_read);
    }

    /// Writes the line of a call.
    pub(super) fn write(
        &mut self,
        secrets: Secrets,
        session: &Session,
        args: &Args<'_>,
        sender: Sender,
        line: &mut Vec<u8>,
    ) {
        let says = Some((self.now_us, session.client.id, session.db, sender));
        if self.says != says {
            self.make(session, sender);
            self.says = says;
        }
        let words_bytes: usize = args.from(0).map(|word| word.len() + WORD_BYTES).sum();
        line.reserve(self.bytes.len() + words_bytes + 2);
        line.extend_from_slice(&self.bytes);
        match secrets {
            Secrets::None => args.from(0).for_each(|word| put_word(word, line)),
            _ => {
                redact(secrets, args.from(0)).into_iter().for_each(|word| put_word(word, line));
            }
        }
        line.extend_from_slice(b"\r\n");
    }

    #[inline(never)]
    fn make(&mut self, session: &Session, sender: Sender) {
        let head = &mut self.bytes;
        head.clear();
        head.push(b'+');
        put_number(self.now_us / 1_000_000, 1, head);
        head.push(b'.');
        put_number(self.now_us % 1_000_000, 6, head);
        head.extend_from_slice(b" [");
        put_number(u64::from(session.db), 1, head);
        head.push(b' ');
        let client = &session.client;
        match (sender, client.is_unix()) {
            (Sender::Script, _) => head.extend_from_slice(b"lua"),
            (Sender::Client, true) => {
                head.extend_from_slice(b"unix:");
                head.extend_from_slice(client.address.trim_end_matches(":0").as_bytes());
            }
            (Sender::Client, false) => head.extend_from_slice(client.address.as_bytes()),
        }
        head.push(b']');
    }
}

/// A number in decimal, with zeros before it until it has `digits_min` digits.
fn put_number(number: u64, digits_min: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let (mut first, mut rest) = (digits.len(), number);
    while rest > 0 {
        first -= 1;
        digits[first] += (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[first.min(digits.len() - digits_min)..]);
}

/// A space and the word, as Redis quotes words: what is not printable by its number.
#[inline]
fn put_word(word: &[u8], line: &mut Vec<u8>) {
    line.extend_from_slice(b" \"");
    let plain = plain_bytes(word);
    line.extend_from_slice(&word[..plain]);
    if plain < word.len() {
        put_escaped(&word[plain..], line);
    }
    line.push(b'"');
}

/// How many bytes a word begins with that stand for themselves. Values may be long, so eight are
/// looked at together.
#[inline]
fn plain_bytes(word: &[u8]) -> usize {
    let mut plain = 0;
    while let Some(bytes) = word[plain..].first_chunk() {
        let special = special_among(*bytes);
        if special < size_of::<u64>() {
            return plain + special;
        }
        plain += size_of::<u64>();
    }
    match word.last_chunk() {
        // Those among them that were looked at are plain.
        Some(bytes) => word.len() - size_of::<u64>() + special_among(*bytes),
        None => word.iter().position(|&byte| is_special(byte)).unwrap_or(word.len()),
    }
}

/// Which of these bytes is the first special one; their count if none is.
#[inline]
fn special_among(bytes: [u8; 8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = 0x80 * ONES;
    // Subtracting borrows from a byte's neighbour above: what is below the first one is right.
    let below = |word: u64, limit: u8| word.wrapping_sub(u64::from(limit) * ONES) & !word;
    let equal = |word: u64, byte: u8| below(word ^ (u64::from(byte) * ONES), 1);
    let word = u64::from_le_bytes(bytes);
    let special = word | below(word, b' ') | equal(word, 0x7f);
    let special = (special | equal(word, b'"') | equal(word, b'\\')) & HIGH;
    special.trailing_zeros() as usize / 8
}

#[inline]
fn is_special(byte: u8) -> bool {
    !matches!(byte, b' '..=b'~') || matches!(byte, b'\\' | b'"')
}

/// Bytes of which the first is a special one.
#[cold]
fn put_escaped(mut rest: &[u8], line: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    while let Some((&byte, behind)) = rest.split_first() {
        match byte {
            b'\\' | b'"' => line.extend([b'\\', byte]),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            b'\t' => line.extend(b"\\t"),
            0x07 => line.extend(b"\\a"),
            0x08 => line.extend(b"\\b"),
            byte => {
                let [high, low] = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
                line.extend([b'\\', b'x', high, low]);
            }
        }
        let plain = plain_bytes(behind);
        line.extend_from_slice(&behind[..plain]);
        rest = &behind[plain..];
    }
}

#[cfg(test)]
mod tests {
    use super::{put_number, put_word};

    fn quoted(word: &[u8]) -> Vec<u8> {
        let mut line = Vec::new();
        put_word(word, &mut line);
        line
    }

    #[test]
    fn words_are_quoted_as_redis_quotes_them() {
        assert_eq!(
            quoted(b"a \"b\"\\\n\r\t\x07\x08\x00\xff~"),
            br#" "a \"b\"\\\n\r\t\a\b\x00\xff~""#
        );
        assert_eq!(quoted(b""), br#" """#);
    }

    #[test]
    fn each_byte_is_quoted_the_same_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            let alone = quoted(&[byte]);
            let escaped = &alone[2..alone.len() - 1];
            for before in 0..40 {
                let word = [&b"x".repeat(before)[..], &[byte], &b"y".repeat(40 - before)].concat();
                let expected =
                    [&b" \""[..], &b"x".repeat(before), escaped, &b"y".repeat(40 - before), b"\""];
                assert_eq!(quoted(&word), expected.concat(), "{byte} behind {before}");
            }
        }
    }

    #[test]
    fn numbers_have_their_digits() {
        let of = |number, digits_min| {
            let mut out = Vec::new();
            put_number(number, digits_min, &mut out);
            String::from_utf8(out).expect("digits")
        };
        assert_eq!([of(0, 1), of(7, 6), of(123_456, 6)], ["0", "000007", "123456"]);
        assert_eq!(of(u64::MAX, 1), u64::MAX.to_string());
    }
}
