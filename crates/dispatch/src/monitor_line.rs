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

/// Values may be long: this many bytes of a word are looked at together.
const CHUNK_BYTES: usize = 16;

/// What a byte takes at most: `\x00`.
const SHOWN_BYTES_MAX: usize = 4;

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

    /// The lines that are written next are of calls by this client.
    pub(super) fn turn_to(&mut self, session: &Session, sender: Sender) {
        let says = Some((self.now_us, session.client.id, session.db, sender));
        if self.says != says {
            self.make(session, sender);
            self.says = says;
        }
    }

    /// Writes the line of a call.
    #[inline]
    pub(super) fn write(&self, secrets: Secrets, args: &Args<'_>, line: &mut Vec<u8>) {
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
    if is_plain(word) {
        line.extend_from_slice(word);
    } else {
        put_escaped(word, line);
    }
    line.push(b'"');
}

/// Whether each byte of a word stands for itself.
#[inline]
fn is_plain(word: &[u8]) -> bool {
    let (chunks, rest) = word.as_chunks::<CHUNK_BYTES>();
    chunks.iter().all(|chunk| !has_special(chunk)) && ends_plain(word, rest)
}

/// Whether a word, of which all chunks are plain, has no special byte in the rest behind them. The
/// rest is looked at together with bytes before it.
#[inline]
fn ends_plain(word: &[u8], rest: &[u8]) -> bool {
    const HALF_BYTES: usize = CHUNK_BYTES / 2;
    if rest.is_empty() {
        return true;
    }
    if let Some(last) = word.last_chunk::<CHUNK_BYTES>() {
        return !has_special(last);
    }
    match (rest.first_chunk::<HALF_BYTES>(), rest.last_chunk::<HALF_BYTES>()) {
        (Some(first), Some(last)) => !has_special(first) && !has_special(last),
        _ => !rest.iter().any(|&byte| is_special(byte)),
    }
}

/// Whether a byte among these is special. All are looked at, so that the compiler looks at them
/// together.
#[inline]
fn has_special<const BYTES: usize>(bytes: &[u8; BYTES]) -> bool {
    bytes.iter().fold(0, |found, &byte| found | u8::from(is_special(byte))) != 0
}

/// Whether a byte does not stand for itself. Without branches.
#[inline]
const fn is_special(byte: u8) -> bool {
    let is_printable = byte.wrapping_sub(b' ') <= b'~' - b' ';
    !is_printable | (byte == b'"') | (byte == b'\\')
}

/// How a byte stands in a line.
#[derive(Clone, Copy)]
struct Shown {
    text: [u8; SHOWN_BYTES_MAX],
    /// This many bytes of `text` are it.
    len: u8,
}

static SHOWN: [Shown; 256] = {
    let mut shown = [Shown { text: [0; SHOWN_BYTES_MAX], len: 0 }; 256];
    let mut byte = 0;
    while byte < shown.len() {
        shown[byte] = show(byte as u8);
        byte += 1;
    }
    shown
};

const fn show(byte: u8) -> Shown {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let letter = match byte {
        b'\\' | b'"' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x07 => b'a',
        0x08 => b'b',
        byte if is_special(byte) => {
            let (high, low) = (DIGITS[byte as usize >> 4], DIGITS[byte as usize & 15]);
            return Shown { text: [b'\\', b'x', high, low], len: 4 };
        }
        byte => return Shown { text: [byte, 0, 0, 0], len: 1 },
    };
    Shown { text: [b'\\', letter, 0, 0], len: 2 }
}

/// Bytes of which some are special. In values that are no text most are, so each byte of a chunk
/// with one is looked up: asking which are would be guessing.
#[inline(never)]
fn put_escaped(bytes: &[u8], line: &mut Vec<u8>) {
    let mut text = [0; CHUNK_BYTES * SHOWN_BYTES_MAX];
    for chunk in bytes.chunks(CHUNK_BYTES) {
        if chunk.as_array().is_some_and(|chunk| !has_special::<CHUNK_BYTES>(chunk)) {
            line.extend_from_slice(chunk);
            continue;
        }
        let mut len = 0;
        for &byte in chunk {
            let shown = &SHOWN[usize::from(byte)];
            text[len..len + SHOWN_BYTES_MAX].copy_from_slice(&shown.text);
            len += usize::from(shown.len);
        }
        line.extend_from_slice(&text[..len]);
    }
}

#[cfg(test)]
mod tests {
    use super::{put_number, put_word};
    use basalt_env::random::Random;

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

    /// As `sdscatrepr` of Redis does it, byte by byte.
    fn quoted_slowly(word: &[u8]) -> Vec<u8> {
        let mut line = b" \"".to_vec();
        for &byte in word {
            match byte {
                b'\\' | b'"' => line.extend([b'\\', byte]),
                b'\n' => line.extend(b"\\n"),
                b'\r' => line.extend(b"\\r"),
                b'\t' => line.extend(b"\\t"),
                7 => line.extend(b"\\a"),
                8 => line.extend(b"\\b"),
                byte if byte == b' ' || byte.is_ascii_graphic() => line.push(byte),
                byte => line.extend(format!("\\x{byte:02x}").bytes()),
            }
        }
        line.push(b'"');
        line
    }

    #[test]
    fn values_that_are_no_text_are_quoted_as_byte_by_byte() {
        let mut random = Random::new(1);
        for len in 0..100 {
            for one_in in [1, 4, 30] {
                let mut byte = || match random.below(one_in) {
                    0 => random.below(256) as u8,
                    _ => b'a',
                };
                let word: Vec<u8> = (0..len).map(|_| byte()).collect();
                assert_eq!(quoted(&word), quoted_slowly(&word), "{word:?}");
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
