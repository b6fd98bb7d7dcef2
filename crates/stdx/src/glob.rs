//! Redis' glob patterns: names of keys, of options, of files to include.
//!
//! ```text
//! *        any bytes, also none        [abc]    one of these
//! ?        any byte                    [a-c]    one of this range, whichever end comes first
//! \x       x itself                    [^a]     none of these
//! ```
//! Odd corners are Redis 7.2's (`stringmatchlen` in its `util.c`): a class that is not closed ends
//! with the pattern, `[a-]` is such a class (a range up to `]`), `[]` matches nothing and `[^]` any
//! byte, a last `\` is itself, ranges compare bytes as signed numbers, and when case is ignored an
//! escaped byte in a class still counts as it stands. The empty name is matched by the empty
//! pattern and by `*` alone, not by `**`.
//!
//! **Idea.** A pattern is compiled once: at its stars it falls into segments of a fixed length. The
//! first must stand at the name's beginning, the last at its end, and each one between them at the
//! first place after the one before: a later place could only leave less room for the rest. So
//! there is no backtracking over stars, and `*a*a*a*b` cannot blow up. Segments of plain bytes are
//! searched by `memchr`'s two-way search, in linear time.
//!
//! A segment with `?` or classes is tried place by place, which is linear for segments of up to
//! `EFFORT_A_BYTE` bytes. A longer one that nearly matches at many places of a long name would
//! take the product of both lengths; such a search is given up after that many comparisons a byte
//! of the name, as not matching. Redis gives up on patterns that are too deep in the same way.

use memchr::memmem::Finder;
use std::ops::Range;

/// Comparisons that a search may use for each byte of the name.
const EFFORT_A_BYTE: usize = 64;

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// They do: keys, files.
    Differs,
    /// They do not: options. Only ASCII letters have a case.
    Ignored,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// What stands before, between and after the stars; at least one.
    segments: Vec<Segment>,
    classes: Vec<Class>,
    /// It is `*` and nothing else.
    all: bool,
    /// It is these bytes, of which there is at least one, and a star: what most patterns are.
    prefix: Option<Box<[u8]>>,
}

#[derive(Debug, Clone)]
enum Segment {
    Plain(Box<Finder<'static>>),
    Mixed(Vec<Token>),
}

/// What one byte of a name must be.
#[derive(Debug, Clone, Copy)]
enum Token {
    Byte(u8),
    Any,
    /// Index into [`Pattern::classes`].
    Class(u32),
}

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Class {
    bits: [u64; 4],
}

/// Whether Redis treats the text as a pattern rather than as a plain name.
pub fn is_pattern(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

/// Whether a name matches a pattern that is used once.
pub fn matches(pattern: &[u8], name: &[u8], case: Case) -> bool {
    Pattern::new(pattern, case).matches(name)
}

impl Pattern {
    /// Compiles a pattern. Any bytes are one.
    pub fn new(pattern: &[u8], case: Case) -> Pattern {
        let (segments, classes, all) = (Vec::new(), Vec::new(), pattern == b"*");
        let mut compiled = Pattern { segments, classes, all, prefix: None };
        let mut tokens = Vec::new();
        let mut rest = pattern;
        while let [first, after @ ..] = rest {
            rest = after;
            match first {
                b'*' => {
                    rest = &rest[rest.iter().take_while(|&&byte| byte == b'*').count()..];
                    compiled.segments.push(Segment::new(std::mem::take(&mut tokens)));
                }
                b'?' => tokens.push(Token::Any),
                b'[' => {
                    let (class, taken) = Class::parse(rest, case);
                    rest = &rest[taken..];
                    tokens.push(compiled.class(class));
                }
                b'\\' if !rest.is_empty() => {
                    tokens.push(compiled.literal(rest[0], case));
                    rest = &rest[1..];
                }
                literal => tokens.push(compiled.literal(*literal, case)),
            }
        }
        compiled.segments.push(Segment::new(tokens));
        compiled.prefix = compiled.only_prefix().map(Box::from);
        compiled
    }

    /// The bytes before its only star, if it is nothing else.
    fn only_prefix(&self) -> Option<&[u8]> {
        let [Segment::Plain(first), last] = &self.segments[..] else { return None };
        let prefix = first.needle();
        (last.len() == 0 && !prefix.is_empty()).then_some(prefix)
    }

    /// Every name matches, and there is no need to ask.
    pub fn matches_all(&self) -> bool {
        self.all
    }

    /// Whether a name matches as a whole.
    #[inline]
    pub fn matches(&self, name: &[u8]) -> bool {
        match &self.prefix {
            Some(prefix) => name.starts_with(prefix),
            None => self.matches_segments(name),
        }
    }

    fn matches_segments(&self, name: &[u8]) -> bool {
        if name.is_empty() {
            let empty = matches!(&self.segments[..], [only] if only.len() == 0);
            return self.all || empty;
        }
        let (first, rest) = self.segments.split_first().expect("there is at least one segment");
        let Some((last, between)) = rest.split_last() else {
            return first.len() == name.len() && self.stands(first, name);
        };
        if name.len() < first.len() + last.len() {
            return false;
        }
        let mut open = first.len()..name.len() - last.len();
        self.stands(first, &name[..open.start])
            && self.stands(last, &name[open.end..])
            && self.all_in_order(between, name, &mut open)
    }

    /// Finds each segment after the one before.
    fn all_in_order(&self, segments: &[Segment], name: &[u8], open: &mut Range<usize>) -> bool {
        let mut effort = name.len().saturating_mul(EFFORT_A_BYTE);
        segments.iter().all(|segment| match self.find(segment, &name[open.clone()], &mut effort) {
            Some(place) => {
                open.start += place + segment.len();
                true
            }
            None => false,
        })
    }

    /// The first place of a segment.
    fn find(&self, segment: &Segment, name: &[u8], effort: &mut usize) -> Option<usize> {
        let tokens = match segment {
            Segment::Plain(finder) => return finder.find(name),
            Segment::Mixed(tokens) => tokens,
        };
        for (place, window) in name.windows(tokens.len()).enumerate() {
            let equal = self.equal_bytes(tokens, window);
            if equal == tokens.len() {
                return Some(place);
            }
            *effort = effort.checked_sub(equal + 1)?;
        }
        None
    }

    /// A segment matches a name of its own length.
    fn stands(&self, segment: &Segment, name: &[u8]) -> bool {
        match segment {
            Segment::Plain(finder) => finder.needle() == name,
            Segment::Mixed(tokens) => self.equal_bytes(tokens, name) == tokens.len(),
        }
    }

    /// How many bytes match before one does not.
    fn equal_bytes(&self, tokens: &[Token], name: &[u8]) -> usize {
        tokens
            .iter()
            .zip(name)
            .take_while(|&(token, byte)| self.matches_byte(*token, *byte))
            .count()
    }

    fn matches_byte(&self, token: Token, byte: u8) -> bool {
        match token {
            Token::Byte(wanted) => wanted == byte,
            Token::Any => true,
            Token::Class(index) => self.classes[index as usize].has(byte),
        }
    }

    fn literal(&mut self, byte: u8, case: Case) -> Token {
        if case == Case::Differs || !byte.is_ascii_alphabetic() {
            return Token::Byte(byte);
        }
        let mut class = Class::default();
        class.insert(byte.to_ascii_lowercase());
        class.insert(byte.to_ascii_uppercase());
        self.class(class)
    }

    fn class(&mut self, class: Class) -> Token {
        // Patterns repeat themselves; a table of a few kinds stays in the cache.
        let known = self.classes.iter().take(64).position(|known| known.bits == class.bits);
        let index = known.unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        });
        u32::try_from(index).map_or(Token::Any, Token::Class)
    }
}

impl Segment {
    fn new(tokens: Vec<Token>) -> Segment {
        let byte = |token: &Token| match token {
            Token::Byte(byte) => Some(*byte),
            Token::Any | Token::Class(_) => None,
        };
        match tokens.iter().map(byte).collect::<Option<Vec<u8>>>() {
            Some(plain) => Segment::Plain(Box::new(Finder::new(&plain).into_owned())),
            None => Segment::Mixed(tokens),
        }
    }

    fn len(&self) -> usize {
        match self {
            Segment::Plain(finder) => finder.needle().len(),
            Segment::Mixed(tokens) => tokens.len(),
        }
    }
}

impl Class {
    /// Reads what follows `[`; returns how much of it was taken.
    fn parse(pattern: &[u8], case: Case) -> (Class, usize) {
        let negated = pattern.first() == Some(&b'^');
        let mut class = Class::default();
        let mut at = usize::from(negated);
        while let Some(&first) = pattern.get(at) {
            match (first, &pattern[at + 1..]) {
                (b'\\', [escaped, ..]) => {
                    class.insert(*escaped);
                    at += 2;
                }
                (b']', _) => {
                    at += 1;
                    break;
                }
                (low, [b'-', high, ..]) => {
                    class.insert_range(low, *high, case);
                    at += 3;
                }
                (literal, _) => {
                    class.insert(literal);
                    if case == Case::Ignored {
                        class.insert(literal.to_ascii_lowercase());
                        class.insert(literal.to_ascii_uppercase());
                    }
                    at += 1;
                }
            }
        }
        if negated {
            class.bits = class.bits.map(|word| !word);
        }
        (class, at)
    }

    fn insert(&mut self, byte: u8) {
        self.bits[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    /// The ends are put in order before case is ignored: so does Redis.
    fn insert_range(&mut self, low: u8, high: u8, case: Case) {
        let signed = |byte: u8| i8::from_ne_bytes([byte]);
        let fold = |byte: u8| match case {
            Case::Differs => signed(byte),
            Case::Ignored => signed(byte.to_ascii_lowercase()),
        };
        let (low, high) = if signed(low) > signed(high) { (high, low) } else { (low, high) };
        for byte in 0..=u8::MAX {
            if (fold(low)..=fold(high)).contains(&fold(byte)) {
                self.insert(byte);
            }
        }
    }

    fn has(&self, byte: u8) -> bool {
        self.bits[usize::from(byte / 64)] >> (byte % 64) & 1 != 0
    }
}
