//! HOT PATH
//! The words of a request, and the keys among them.

use basalt_engine::Key;
use basalt_resp::Arg;

/// The words of one request: ranges of the connection's query buffer, nothing copied.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    buffer: &'a [u8],
    words: &'a [Arg],
    keys: &'a [Key<'a>],
}

impl<'a> Args<'a> {
    /// Words of `buffer`, without keys so far.
    #[inline]
    pub fn new(buffer: &'a [u8], words: &'a [Arg]) -> Args<'a> {
        Args { buffer, words, keys: &[] }
    }

    /// These words with their keys.
    #[inline]
    pub fn with_keys<'b>(self, keys: &'b [Key<'b>]) -> Args<'b>
    where
        'a: 'b,
    {
        Args { buffer: self.buffer, words: self.words, keys }
    }

    /// Number of words, the command's name included.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Never true: a request has at least a name.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// A word; 0 is the command's name.
    ///
    /// # Panics
    /// If there is no such word; the arity has been checked before a command runs.
    #[inline]
    pub fn word(&self, index: usize) -> &'a [u8] {
        self.words[index].of(self.buffer)
    }

    /// A word, if there is one.
    #[inline]
    pub fn opt(&self, index: usize) -> Option<&'a [u8]> {
        self.words.get(index).map(|word| word.of(self.buffer))
    }

    /// The words from `index` on.
    pub fn from(&self, index: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone + use<'a> {
        let buffer = self.buffer;
        self.words[index.min(self.words.len())..].iter().map(move |word| word.of(buffer))
    }

    /// The words from `index` on, as ranges of what is returned first.
    #[inline]
    pub fn ranges(&self, index: usize) -> (&'a [u8], &'a [Arg]) {
        (self.buffer, &self.words[index.min(self.words.len())..])
    }

    /// A word equals this option name, in any case of letters.
    #[inline]
    pub fn is(&self, index: usize, name: &str) -> bool {
        self.opt(index).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
    }

    /// The command's keys, in the order of its key specifications.
    #[inline]
    pub fn keys(&self) -> &'a [Key<'a>] {
        self.keys
    }

    /// The command's `index`-th key.
    #[inline]
    pub fn key(&self, index: usize) -> &'a Key<'a> {
        &self.keys[index]
    }
}

impl basalt_spec::Words for Args<'_> {
    fn count(&self) -> usize {
        self.words.len()
    }

    fn word(&self, index: usize) -> &[u8] {
        Args::word(self, index)
    }
}
