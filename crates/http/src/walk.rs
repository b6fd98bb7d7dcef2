//! Replies in Redis' protocol, version 3, value by value.

/// Deepest nesting of replies that are gone through.
const DEPTH_MAX: usize = 8;

/// Goes through a reply, value by value.
pub(crate) struct Walk<'a> {
    reply: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(reply: &'a [u8]) -> Walk<'a> {
        Walk { reply, at: 0 }
    }

    /// The kind of the value that begins here, and the rest of its line.
    fn line(&mut self) -> Option<(u8, &'a [u8])> {
        let rest = self.reply.get(self.at..)?;
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        self.at += end + 2;
        rest[..end].split_first().map(|(kind, text)| (*kind, text))
    }

    /// How many values an array, a set or a push has, whose first is next.
    pub(crate) fn array(&mut self) -> Option<usize> {
        match self.line()? {
            (b'*' | b'~' | b'>', text) => number(text),
            _ => None,
        }
    }

    /// How many pairs a map has, whose first is next.
    pub(crate) fn map(&mut self) -> Option<usize> {
        match self.line()? {
            (b'%', text) => number(text),
            _ => None,
        }
    }

    /// The bytes of a string.
    pub(crate) fn bulk(&mut self) -> Option<&'a [u8]> {
        let (kind, text) = self.line()?;
        match kind {
            b'$' | b'=' => {
                let len = number(text)?;
                let bytes = self.reply.get(self.at..self.at + len)?;
                self.at += len + 2;
                Some(bytes)
            }
            b'+' => Some(text),
            _ => None,
        }
    }

    /// A value of any kind, as it stands in the reply.
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.pass(0)?;
        self.reply.get(start..self.at)
    }

    fn pass(&mut self, depth: usize) -> Option<()> {
        let (kind, text) = self.line()?;
        let values = match kind {
            b'$' | b'=' => {
                self.at += number(text)? + 2;
                0
            }
            b'*' | b'~' | b'>' => number(text)?,
            b'%' => 2 * number(text)?,
            _ => 0,
        };
        if depth == DEPTH_MAX {
            return None;
        }
        (0..values).try_for_each(|_| self.pass(depth + 1))
    }
}

fn number(text: &[u8]) -> Option<usize> {
    str::from_utf8(text).ok()?.parse().ok()
}
