//! `cjson.decode`
//!
//! `null` is `cjson.null`, a value that no table element can be mistaken for; numbers are doubles.

use super::settings::Settings;
use super::{NESTING_MAX, VALUES_BETWEEN_LOOKS, number};
use crate::current::Current;
use mlua::{Lua, LuaString, Table, Value};

/// Reads JSON as a value.
///
/// # Errors
/// Outside: Lua has no memory, or the script is to end. Inside: it is not JSON.
pub(super) fn decode(
    lua: &Lua,
    text: &[u8],
    settings: Settings,
    current: &Current,
) -> mlua::Result<Result<Value, String>> {
    if text.len() >= 2 && (text[0] == 0 || text[1] == 0) {
        return Ok(Err("JSON parser does not support UTF-16 or UTF-32".to_owned()));
    }
    let mut reader =
        Reader { lua, text, settings, current, at: 0, containers: Vec::new(), tokens: 0 };
    match reader.document() {
        Ok(value) => Ok(Ok(value)),
        Err(Stop::Lua(error)) => Err(error),
        Err(Stop::NotJson(text)) => Ok(Err(text)),
    }
}

enum Stop {
    NotJson(String),
    Lua(mlua::Error),
}

impl From<mlua::Error> for Stop {
    fn from(error: mlua::Error) -> Stop {
        Stop::Lua(error)
    }
}

enum Token {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    Colon,
    Comma,
    End,
    Null,
    Boolean(bool),
    Number(f64),
    String(Vec<u8>),
    /// What is wrong, and where.
    Error(&'static str, usize),
}

/// An array.
enum Begun {
    Empty(Value),
    /// Its first value has this token.
    With((usize, Token)),
}

/// What has been begun. Nesting costs no stack of the thread.
enum Container {
    Array { table: Table, index: usize },
    Object { table: Table, key: LuaString },
}

struct Reader<'a> {
    lua: &'a Lua,
    text: &'a [u8],
    settings: Settings,
    current: &'a Current,
    at: usize,
    containers: Vec<Container>,
    tokens: u32,
}

impl Reader<'_> {
    /// The only value of the text.
    fn document(&mut self) -> Result<Value, Stop> {
        let value = self.value()?;
        let (start, token) = self.next();
        match token {
            Token::End => Ok(value),
            token => Err(unexpected("the end", &token, start)),
        }
    }

    fn value(&mut self) -> Result<Value, Stop> {
        let (mut start, mut token) = self.next();
        loop {
            self.tokens = self.tokens.wrapping_add(1);
            if self.tokens.is_multiple_of(VALUES_BETWEEN_LOOKS) {
                self.current.go_on()?;
            }
            let begun = match token {
                Token::Null => Some(Value::NULL),
                Token::Boolean(truth) => Some(Value::Boolean(truth)),
                Token::Number(number) => Some(Value::Number(number)),
                Token::String(bytes) => Some(Value::String(self.lua.create_string(bytes)?)),
                Token::ObjectBegin => self.begin_object()?,
                Token::ArrayBegin => match self.begin_array()? {
                    // The token that is not its end is that of its first value.
                    Begun::Empty(value) => Some(value),
                    Begun::With(first) => {
                        (start, token) = first;
                        continue;
                    }
                },
                token => return Err(unexpected("value", &token, start)),
            };
            if let Some(value) = begun
                && let Some(whole) = self.place(value)?
            {
                return Ok(whole);
            }
            (start, token) = self.next();
        }
    }

    /// Puts a value where it belongs; a container that ends with it is itself a value. Returns the
    /// outermost.
    fn place(&mut self, mut value: Value) -> Result<Option<Value>, Stop> {
        loop {
            match self.containers.pop() {
                None => return Ok(Some(value)),
                Some(Container::Array { table, index }) => {
                    table.raw_set(index, value)?;
                    let (start, token) = self.next();
                    match token {
                        Token::ArrayEnd => value = Value::Table(table),
                        Token::Comma => {
                            self.containers.push(Container::Array { table, index: index + 1 });
                            return Ok(None);
                        }
                        token => return Err(unexpected("comma or array end", &token, start)),
                    }
                }
                Some(Container::Object { table, key }) => {
                    table.raw_set(key, value)?;
                    let (start, token) = self.next();
                    match token {
                        Token::ObjectEnd => value = Value::Table(table),
                        Token::Comma => {
                            let (start, token) = self.next();
                            let key = self.key(start, token)?;
                            self.containers.push(Container::Object { table, key });
                            return Ok(None);
                        }
                        token => return Err(unexpected("comma or object end", &token, start)),
                    }
                }
            }
        }
    }

    fn table(&self) -> Result<Table, Stop> {
        let depth = self.containers.len() + 1;
        if depth > (self.settings.decode_max_depth as usize).min(NESTING_MAX) {
            return Err(Stop::NotJson(format!(
                "Found too many nested data structures ({depth}) at character {}",
                self.at
            )));
        }
        Ok(self.lua.create_table()?)
    }

    /// An object up to its first value; `None` if it has one.
    fn begin_object(&mut self) -> Result<Option<Value>, Stop> {
        let table = self.table()?;
        let (start, token) = self.next();
        if matches!(token, Token::ObjectEnd) {
            return Ok(Some(Value::Table(table)));
        }
        let key = self.key(start, token)?;
        self.containers.push(Container::Object { table, key });
        Ok(None)
    }

    fn begin_array(&mut self) -> Result<Begun, Stop> {
        let table = self.table()?;
        match self.next() {
            (_, Token::ArrayEnd) => Ok(Begun::Empty(Value::Table(table))),
            first => {
                self.containers.push(Container::Array { table, index: 1 });
                Ok(Begun::With(first))
            }
        }
    }

    /// A key and its colon.
    fn key(&mut self, start: usize, token: Token) -> Result<LuaString, Stop> {
        let Token::String(key) = token else {
            return Err(unexpected("object key string", &token, start));
        };
        match self.next() {
            (_, Token::Colon) => Ok(self.lua.create_string(key)?),
            (start, token) => Err(unexpected("colon", &token, start)),
        }
    }

    /// The next token and where it begins.
    fn next(&mut self) -> (usize, Token) {
        let start = self.skip_blanks();
        (start, self.token())
    }

    /// Returns where the next token begins.
    fn skip_blanks(&mut self) -> usize {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.at
    }

    fn token(&mut self) -> Token {
        let Some(&byte) = self.text.get(self.at) else { return Token::End };
        let single = match byte {
            b'{' => Some(Token::ObjectBegin),
            b'}' => Some(Token::ObjectEnd),
            b'[' => Some(Token::ArrayBegin),
            b']' => Some(Token::ArrayEnd),
            b':' => Some(Token::Colon),
            b',' => Some(Token::Comma),
            _ => None,
        };
        if let Some(token) = single {
            self.at += 1;
            return token;
        }
        match byte {
            b'"' => self.string(),
            b'-' | b'0'..=b'9' if self.settings.decode_invalid || !self.is_invalid_number() => {
                self.number()
            }
            b'-' | b'0'..=b'9' => Token::Error("invalid number", self.at),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Token {
        let words = [
            ("true", Token::Boolean(true)),
            ("false", Token::Boolean(false)),
            ("null", Token::Null),
        ];
        for (word, token) in words {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return token;
            }
        }
        match self.settings.decode_invalid && self.is_invalid_number() {
            true => self.number(),
            false => Token::Error("invalid token", self.at),
        }
    }

    /// Whether a number begins here that is none of JSON's.
    fn is_invalid_number(&self) -> bool {
        let rest = &self.text[self.at..];
        if rest.first() == Some(&b'+') {
            return true;
        }
        let rest = rest.strip_prefix(b"-").unwrap_or(rest);
        let begins = |word: &[u8]| {
            rest.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
        };
        match rest {
            [b'0', next, ..] => next.eq_ignore_ascii_case(&b'x') || next.is_ascii_digit(),
            _ => begins(b"inf") || begins(b"nan"),
        }
    }

    fn number(&mut self) -> Token {
        match number::read(&self.text[self.at..]) {
            (_, 0) => Token::Error("invalid number", self.at),
            (number, len) => {
                self.at += len;
                Token::Number(number)
            }
        }
    }

    fn string(&mut self) -> Token {
        let mut bytes = Vec::new();
        self.at += 1;
        loop {
            let Some(&byte) = self.text.get(self.at) else {
                return Token::Error("unexpected end of string", self.at);
            };
            let start = self.at;
            self.at += 1;
            match byte {
                b'"' => return Token::String(bytes),
                b'\\' => match self.escape(&mut bytes) {
                    Ok(()) => {}
                    Err(problem) => return Token::Error(problem, start),
                },
                byte => bytes.push(byte),
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), &'static str> {
        let byte = self.text.get(self.at).copied();
        self.at += 1;
        bytes.push(match byte {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => return self.unicode(bytes),
            _ => return Err("invalid escape code"),
        });
        Ok(())
    }

    /// The four digits of a unit of UTF-16, or of two that belong together.
    fn unicode(&mut self, bytes: &mut Vec<u8>) -> Result<(), &'static str> {
        const PROBLEM: &str = "invalid unicode escape code";
        let first = self.unit().ok_or(PROBLEM)?;
        let decoded = if (0xD800..0xDC00).contains(&first) {
            if self.text.get(self.at..self.at + 2) != Some(b"\\u") {
                return Err(PROBLEM);
            }
            self.at += 2;
            let second = self.unit().ok_or(PROBLEM)?;
            char::decode_utf16([first, second]).next()
        } else {
            char::decode_utf16([first]).next()
        };
        let Some(Ok(decoded)) = decoded else { return Err(PROBLEM) };
        bytes.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        self.at += 4;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}

fn unexpected(expected: &str, token: &Token, at: usize) -> Stop {
    let mut place = at;
    let found = match token {
        Token::ObjectBegin => "T_OBJ_BEGIN",
        Token::ObjectEnd => "T_OBJ_END",
        Token::ArrayBegin => "T_ARR_BEGIN",
        Token::ArrayEnd => "T_ARR_END",
        Token::Colon => "T_COLON",
        Token::Comma => "T_COMMA",
        Token::End => "T_END",
        Token::Null => "T_NULL",
        Token::Boolean(_) => "T_BOOLEAN",
        Token::Number(_) => "T_NUMBER",
        Token::String(_) => "T_STRING",
        Token::Error(problem, at) => {
            place = *at;
            problem
        }
    };
    Stop::NotJson(format!("Expected {expected} but found {found} at character {}", place + 1))
}
