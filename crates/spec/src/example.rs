//! The notation of examples: a call and its reply on one line.
//!
//! ```text
//! SET k "two words" => OK                     a simple string: the rest of the line
//! GET k             => "two words"            a bulk string
//! STRLEN k          => (integer) 9
//! GET absent        => (nil)
//! INCR k            => (error) ERR value is not an integer or out of range
//! LPUSH k v         => (error) WRONGTYPE ...  an error that begins so
//! MGET k absent     => ["two words", (nil)]   an array; nests
//! KEYS *            => {"k", "l"}             an array in any order
//! TIME              => [(any), (any)]         whatever it is
//! ```
//!
//! The words of a call are separated by white space; a word in double quotes may hold white space
//! and the escapes `\n`, `\r`, `\t`, `\"`, `\\` and `\xHH`, as may a bulk string. The lines of one
//! command run in order, on one RESP2 connection to an empty database.

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The call.
    pub words: Vec<Vec<u8>>,
    /// What must come back.
    pub reply: Expected,
}

/// A reply, or what must be true of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This simple string.
    Simple(String),
    /// This error.
    Error(String),
    /// An error that begins like this.
    ErrorPrefix(String),
    /// This integer.
    Integer(i64),
    /// This bulk string.
    Bulk(Vec<u8>),
    /// Null, as a bulk string or as an array.
    Nil,
    /// An array of these, in order.
    Array(Vec<Expected>),
    /// An array of these, in any order.
    Unordered(Vec<Expected>),
    /// Any reply that is not an error.
    Any,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExampleError {
    /// No ` => `.
    #[error("no ` => ` between call and reply, add it")]
    NoArrow,
    /// No word before the arrow.
    #[error("no call before ` => `, add it")]
    NoCall,
    /// A quote is not closed, or an escape is unknown.
    #[error("a quoted string is not closed or has an unknown escape, correct it")]
    Quoted,
    /// The reply is in none of the forms.
    #[error("the reply has none of the forms that `basalt_spec::example` lists, correct it")]
    Reply,
    /// Arrays nest more deeply than [`NESTING_MAX`].
    #[error("arrays nest deeper than {NESTING_MAX}, simplify")]
    TooDeep,
}

/// How deeply arrays may nest.
pub const NESTING_MAX: usize = 8;

/// Parses one line.
pub fn parse(line: &str) -> Result<Example, ExampleError> {
    let mut reader = Reader { rest: line.trim() };
    let mut words = Vec::new();
    loop {
        reader.skip_white();
        if reader.take("=> ") {
            break;
        }
        if reader.rest.is_empty() {
            return Err(ExampleError::NoArrow);
        }
        words.push(reader.word()?);
    }
    if words.is_empty() {
        return Err(ExampleError::NoCall);
    }
    let reply = reader.whole_reply()?;
    Ok(Example { words, reply })
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip_white(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, prefix: &str) -> bool {
        let after = self.rest.strip_prefix(prefix);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Everything up to one of `ends`, which stays.
    fn until(&mut self, ends: &[char]) -> &'a str {
        let (before, after) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = after;
        before.trim_end()
    }

    fn word(&mut self) -> Result<Vec<u8>, ExampleError> {
        if self.take("\"") {
            return self.quoted();
        }
        Ok(self.until(&[' ', '\t']).as_bytes().to_vec())
    }

    /// The rest of a string whose opening quote is taken.
    fn quoted(&mut self) -> Result<Vec<u8>, ExampleError> {
        let mut bytes = Vec::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, character)) = chars.next() {
            match character {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(bytes);
                }
                '\\' => {
                    let escape = chars.next().map(|(_, escape)| escape);
                    let byte = match escape.ok_or(ExampleError::Quoted)? {
                        'n' => b'\n',
                        'r' => b'\r',
                        't' => b'\t',
                        '"' => b'"',
                        '\\' => b'\\',
                        'x' => {
                            let mut digit = || chars.next()?.1.to_digit(16);
                            let (high, low) = (digit(), digit());
                            let value = high.zip(low).map(|(high, low)| high * 16 + low);
                            value.and_then(|v| u8::try_from(v).ok()).ok_or(ExampleError::Quoted)?
                        }
                        _ => return Err(ExampleError::Quoted),
                    };
                    bytes.push(byte);
                }
                _ => bytes.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        Err(ExampleError::Quoted)
    }

    fn whole_reply(&mut self) -> Result<Expected, ExampleError> {
        self.skip_white();
        if self.take("(error) ") {
            let text = self.until(&[]);
            return Ok(match text.strip_suffix("...") {
                Some(prefix) => Expected::ErrorPrefix(prefix.trim_end().to_owned()),
                None => Expected::Error(text.to_owned()),
            });
        }
        let reply = self.reply(&[], 0)?;
        self.skip_white();
        if self.rest.is_empty() { Ok(reply) } else { Err(ExampleError::Reply) }
    }

    /// One reply; a simple string in it goes up to one of `ends`.
    fn reply(&mut self, ends: &[char], depth: usize) -> Result<Expected, ExampleError> {
        if depth > NESTING_MAX {
            return Err(ExampleError::TooDeep);
        }
        self.skip_white();
        if self.take("\"") {
            return Ok(Expected::Bulk(self.quoted()?));
        }
        if self.take("[") {
            return Ok(Expected::Array(self.elements(']', depth)?));
        }
        if self.take("{") {
            return Ok(Expected::Unordered(self.elements('}', depth)?));
        }
        if self.take("(integer) ") {
            let value = self.until(ends).parse().map_err(|_| ExampleError::Reply)?;
            return Ok(Expected::Integer(value));
        }
        match self.until(ends) {
            "(nil)" => Ok(Expected::Nil),
            "(any)" => Ok(Expected::Any),
            text if text.is_empty() || text.starts_with('(') => Err(ExampleError::Reply),
            text => Ok(Expected::Simple(text.to_owned())),
        }
    }

    fn elements(&mut self, close: char, depth: usize) -> Result<Vec<Expected>, ExampleError> {
        let mut elements = Vec::new();
        self.skip_white();
        if self.take(close.encode_utf8(&mut [0; 4])) {
            return Ok(elements);
        }
        loop {
            elements.push(self.reply(&[',', close], depth + 1)?);
            self.skip_white();
            if self.take(close.encode_utf8(&mut [0; 4])) {
                return Ok(elements);
            }
            if !self.take(",") {
                return Err(ExampleError::Reply);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> Result<Expected, ExampleError> {
        parse(&format!("X => {text}")).map(|example| example.reply)
    }

    fn bulk(text: &str) -> Expected {
        Expected::Bulk(text.as_bytes().to_vec())
    }

    #[test]
    fn calls_split_into_words() {
        let example = parse(r#"SET "a b" \x "" "\x00\xff\"\\\n" v=>w => OK"#).expect("well formed");
        let words: Vec<&[u8]> = example.words.iter().map(Vec::as_slice).collect();
        let expected: [&[u8]; 6] = [b"SET", b"a b", b"\\x", b"", b"\0\xff\"\\\n", b"v=>w"];
        assert_eq!(words, expected);
        assert_eq!(example.reply, Expected::Simple("OK".to_owned()));
    }

    #[test]
    fn every_form_of_reply_is_read() {
        let simple = |text: &str| Expected::Simple(text.to_owned());
        assert_eq!(reply("Background saving started"), Ok(simple("Background saving started")));
        assert_eq!(reply("(integer) -2"), Ok(Expected::Integer(-2)));
        assert_eq!(reply("(nil)"), Ok(Expected::Nil));
        assert_eq!(reply("[]"), Ok(Expected::Array(vec![])));
        assert_eq!(reply("(error) ERR a, b"), Ok(Expected::Error("ERR a, b".to_owned())));
        assert_eq!(reply("(error) NOAUTH ..."), Ok(Expected::ErrorPrefix("NOAUTH".to_owned())));
        let inner = Expected::Array(vec![simple("PONG"), Expected::Any]);
        let all = vec![bulk("a, ]"), Expected::Integer(1), Expected::Nil, inner];
        let line = r#"["a, ]", (integer) 1, (nil), [PONG, (any)]]"#;
        assert_eq!(reply(line), Ok(Expected::Array(all)));
        assert_eq!(reply(r#"{"k"}"#), Ok(Expected::Unordered(vec![bulk("k")])));
    }

    #[test]
    fn mistakes_are_told_apart() {
        assert_eq!(parse("GET k"), Err(ExampleError::NoArrow));
        assert_eq!(parse("=> OK"), Err(ExampleError::NoCall));
        assert_eq!(parse(r#"GET "k => OK"#), Err(ExampleError::Quoted));
        assert_eq!(parse(r#"GET "\q" => OK"#), Err(ExampleError::Quoted));
        for wrong in ["(integer) x", "(what)", "[OK", "[OK,", "\"a\" b", "[OK}", ""] {
            assert!(reply(wrong).is_err(), "{wrong}");
        }
        assert_eq!(reply(&"[".repeat(NESTING_MAX + 2)), Err(ExampleError::TooDeep));
    }
}
