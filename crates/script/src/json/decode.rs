//! `cjson.decode`
//!
//! `null` is `cjson.null`, a value that no table element can be mistaken for; numbers are doubles.

use super::{NESTING_MAX, VALUES_BETWEEN_LOOKS};
use crate::current::Current;
use mlua::{Lua, Value};

/// Reads JSON as a value.
///
/// # Errors
/// Outside: Lua has no memory. Inside: it is not JSON.
pub(crate) fn decode(
    lua: &Lua,
    text: &[u8],
    current: &Current,
) -> mlua::Result<Result<Value, String>> {
    let mut reader = Reader { lua, text, current, at: 0, depth: 0, tokens: 0 };
    let value = match reader.value() {
        Ok(value) => value,
        Err(Stop::Lua(error)) => return Err(error),
        Err(Stop::NotJson(text)) => return Ok(Err(text)),
    };
    let start = reader.skip_blanks();
    match reader.token() {
        Token::End => Ok(Ok(value)),
        token => Ok(Err(unexpected("the end", &token, start))),
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

struct Reader<'a> {
    lua: &'a Lua,
    text: &'a [u8],
    current: &'a Current,
    at: usize,
    depth: usize,
    tokens: u32,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Value, Stop> {
        let start = self.skip_blanks();
        let token = self.token();
        self.value_of(token, start)
    }

    fn value_of(&mut self, token: Token, start: usize) -> Result<Value, Stop> {
        self.tokens += 1;
        if self.tokens.is_multiple_of(VALUES_BETWEEN_LOOKS) {
            self.current.go_on()?;
        }
        Ok(match token {
            Token::Null => Value::NULL,
            Token::Boolean(truth) => Value::Boolean(truth),
            Token::Number(number) => Value::Number(number),
            Token::String(bytes) => Value::String(self.lua.create_string(bytes)?),
            Token::ObjectBegin => return self.nested(Reader::object),
            Token::ArrayBegin => return self.nested(Reader::array),
            token => return Err(Stop::NotJson(unexpected("value", &token, start))),
        })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value, Stop>) -> Result<Value, Stop> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            let text = format!(
                "Found too many nested data structures ({}) at character {}",
                self.depth, self.at
            );
            return Err(Stop::NotJson(text));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, Stop> {
        let table = self.lua.create_table()?;
        let mut start = self.skip_blanks();
        let mut token = self.token();
        if matches!(token, Token::ObjectEnd) {
            return Ok(Value::Table(table));
        }
        loop {
            let Token::String(key) = token else {
                return Err(Stop::NotJson(unexpected("object key string", &token, start)));
            };
            start = self.skip_blanks();
            token = self.token();
            if !matches!(token, Token::Colon) {
                return Err(Stop::NotJson(unexpected("colon", &token, start)));
            }
            let value = self.value()?;
            table.raw_set(self.lua.create_string(key)?, value)?;
            start = self.skip_blanks();
            match self.token() {
                Token::ObjectEnd => return Ok(Value::Table(table)),
                Token::Comma => {}
                token => {
                    return Err(Stop::NotJson(unexpected("comma or object end", &token, start)));
                }
            }
            start = self.skip_blanks();
            token = self.token();
        }
    }

    fn array(&mut self) -> Result<Value, Stop> {
        let table = self.lua.create_table()?;
        let mut start = self.skip_blanks();
        let mut token = self.token();
        if matches!(token, Token::ArrayEnd) {
            return Ok(Value::Table(table));
        }
        for index in 1.. {
            let value = self.value_of(token, start)?;
            table.raw_set(index, value)?;
            start = self.skip_blanks();
            match self.token() {
                Token::ArrayEnd => break,
                Token::Comma => {}
                token => {
                    return Err(Stop::NotJson(unexpected("comma or array end", &token, start)));
                }
            }
            start = self.skip_blanks();
            token = self.token();
        }
        Ok(Value::Table(table))
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
            b'-' | b'0'..=b'9' => self.number(),
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
        Token::Error("invalid token", self.at)
    }

    fn number(&mut self) -> Token {
        let rest = &self.text[self.at..];
        let len = number_len(rest);
        match std::str::from_utf8(&rest[..len]).unwrap_or_default().parse() {
            Ok(number) => {
                self.at += len;
                Token::Number(number)
            }
            Err(_) => Token::Error("invalid number", self.at),
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

/// How many bytes at the beginning are a number, as many as possible.
fn number_len(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(text.first() == Some(&b'-'));
    let whole = digits(sign);
    let mut len = sign + whole;
    let mut any = whole > 0;
    if text.get(len) == Some(&b'.') {
        let fraction = digits(len + 1);
        any |= fraction > 0;
        if any {
            len += 1 + fraction;
        }
    }
    if any && matches!(text.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(len + 1), Some(b'+' | b'-')));
        let exponent = digits((len + 1 + sign).min(text.len()));
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    if any { len } else { 0 }
}

fn unexpected(expected: &str, token: &Token, at: usize) -> String {
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
    format!("Expected {expected} but found {found} at character {}", place + 1)
}
