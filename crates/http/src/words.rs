//! HOT PATH
//! The words of a request, written over its head.
//!
//! ```text
//! PUT /v1/strings/a%20b?ttl=60 HTTP/1.1\r\n Host: …\r\n\r\n hello
//! SETa bGETEX60                                             hello
//! ─────────────  SET, a b, GET, EX, 60; hello stays where it is, and is the third word
//! ```
//! They are never longer than the head that they come from: what is decoded gets shorter, and the
//! names of commands and options are shorter than the paths and parameters that stand for them.

use crate::general::Spelling;
use crate::problem::Problem;
use basalt_http1::base64::{self, Alphabet};
use basalt_http1::percent::{self, Plus};
use basalt_resp::Arg;
use std::ops::Range;

/// Writes words over a head, from its start on.
pub(crate) struct Words<'a> {
    /// All that the client has sent; the head is kept as it came.
    bytes: &'a mut [u8],
    /// Where the next word goes.
    at: usize,
    /// Where the head ends.
    end: usize,
    words: &'a mut Vec<Arg>,
}

impl<'a> Words<'a> {
    pub(crate) fn over(
        bytes: &'a mut [u8],
        head: Range<usize>,
        words: &'a mut Vec<Arg>,
    ) -> Words<'a> {
        Words { bytes, at: head.start, end: head.end, words }
    }

    /// Writes a word.
    ///
    /// # Panics
    /// If the head has no room for it: then some path is too short for its command.
    #[inline]
    pub(crate) fn put(&mut self, word: &[u8]) {
        let placed = self.place(word).expect("the words are not longer than the head");
        self.words.push(placed);
    }

    /// Writes a word without making it the next one; `None` if the head has no room for it.
    #[inline]
    pub(crate) fn place(&mut self, word: &[u8]) -> Option<Arg> {
        let placed = Arg { start: self.at, len: word.len() };
        let end = Some(self.at + word.len()).filter(|&end| end <= self.end)?;
        self.bytes[self.at..end].copy_from_slice(word);
        self.at = end;
        Some(placed)
    }

    /// Decodes a part of the head, which is behind all words so far, into a word.
    ///
    /// # Errors
    /// It is not spelled so.
    #[inline]
    pub(crate) fn decode(
        &mut self,
        from: Range<usize>,
        plus: Plus,
        spelling: Spelling,
    ) -> Result<(), Problem> {
        let word = self.decode_apart(from, plus, spelling)?;
        self.words.push(word);
        Ok(())
    }

    /// Decodes a part of the head, which is behind all words so far, without making it the next
    /// word.
    ///
    /// # Errors
    /// It is not spelled so.
    #[inline]
    pub(crate) fn decode_apart(
        &mut self,
        from: Range<usize>,
        plus: Plus,
        spelling: Spelling,
    ) -> Result<Arg, Problem> {
        if self.at > from.start {
            return Err(Problem::bad_request("the head has no room for the command"));
        }
        let mut len = percent::decode(self.bytes, from, self.at, plus)?;
        if spelling == Spelling::Base64 {
            len = base64::decode(&mut self.bytes[self.at..self.at + len], Alphabet::Url)?;
        }
        self.at += len;
        Ok(Arg { start: self.at - len, len })
    }

    /// Makes a word that was placed the next one.
    pub(crate) fn push(&mut self, word: Arg) {
        self.words.push(word);
    }

    /// A word that stands somewhere already.
    #[inline]
    pub(crate) fn refer(&mut self, range: Range<usize>) {
        self.words.push(Arg { start: range.start, len: range.len() });
    }

    /// A word that stands behind the head already, but for its start, which is written over the end
    /// of the head; `None` if there is no room for that.
    pub(crate) fn refer_behind(&mut self, start: &[u8], range: Range<usize>) -> Option<()> {
        let at = self.end.checked_sub(start.len()).filter(|&at| at >= self.at)?;
        self.bytes[at..self.end].copy_from_slice(start);
        self.end = at;
        self.words.push(Arg { start: at, len: start.len() + range.len() });
        Some(())
    }
}
