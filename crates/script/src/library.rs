//! A library of functions: its text, what the first line says of it, and its functions.
//!
//! A Lua state runs the text once, in which it registers its functions (`redis.register_function`).
//! Each state does that for itself; what they are called and declare is known of the first.

use crate::script::{Script, ScriptFlags};
use crate::trust::Trust;
use std::sync::Arc;

const BAD_NAME: &str = "Library names can only contain letters, numbers, or underscores(_) and must be at least one \
                        character long";
const NO_METADATA: &str = "Missing library metadata";
const BAD_METADATA: &str = "Invalid library metadata";

/// A library's text.
#[derive(Clone, Debug)]
pub struct LibrarySource {
    /// Its number, which no other one has had in this process: a library that replaces another one
    /// begins from the start, even with the same text.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The whole text.
    pub code: Arc<Vec<u8>>,
    /// Where the first line ends.
    body: usize,
}

/// What a function is called and declares.
#[derive(Debug)]
pub struct FunctionInfo {
    /// Its name.
    pub name: String,
    /// What it says of itself.
    pub description: Option<Vec<u8>>,
    /// What it declares.
    pub flags: ScriptFlags,
    /// Which keys it has been seen to use.
    pub trust: Trust,
}

/// A library with its functions.
#[derive(Debug)]
pub struct Library {
    /// Its text.
    pub source: LibrarySource,
    /// In the order in which they were registered.
    pub functions: Vec<FunctionInfo>,
}

/// What a call runs.
#[derive(Clone, Debug)]
pub enum Program {
    /// A script.
    Script(Arc<Script>),
    /// A function of a library, by its place there.
    Function(Arc<Library>, usize),
}

impl Program {
    /// What it declares.
    pub fn flags(&self) -> ScriptFlags {
        match self {
            Program::Script(script) => script.flags,
            Program::Function(library, index) => library.functions[*index].flags,
        }
    }

    /// Which keys it has been seen to use.
    pub fn trust(&self) -> &Trust {
        match self {
            Program::Script(script) => &script.trust,
            Program::Function(library, index) => &library.functions[*index].trust,
        }
    }
}

impl LibrarySource {
    /// Reads the first line: `#!lua name=mylib`.
    ///
    /// # Errors
    /// What is wrong with it, in Redis' words.
    pub fn read(code: Arc<Vec<u8>>, id: u64) -> Result<LibrarySource, String> {
        if !code.starts_with(b"#!") {
            return Err(NO_METADATA.to_owned());
        }
        let body = memchr::memchr(b'\n', &code).ok_or(BAD_METADATA)?;
        let parts = split_arguments(&code[..body]).ok_or(BAD_METADATA)?;
        let (engine, rest) = parts.split_first().ok_or(BAD_METADATA)?;
        let mut name: Option<&[u8]> = None;
        for part in rest {
            match part.split_at_checked(5) {
                Some((key, value)) if key.eq_ignore_ascii_case(b"name=") => {
                    if name.replace(value).is_some() {
                        let text = "Invalid metadata value, name argument was given multiple times";
                        return Err(text.to_owned());
                    }
                }
                _ => {
                    let part = String::from_utf8_lossy(part);
                    return Err(format!("Invalid metadata value given: {part}"));
                }
            }
        }
        let name = checked_name(name.ok_or("Library name was not given")?)?;
        let engine = &engine[2..];
        if !engine.eq_ignore_ascii_case(b"lua") {
            return Err(format!("Engine '{}' not found", String::from_utf8_lossy(engine)));
        }
        Ok(LibrarySource { id, name, code, body })
    }

    /// What is compiled. The line end stays, so that lines keep their numbers.
    pub(crate) fn body(&self) -> &[u8] {
        &self.code[self.body..]
    }
}

/// A name of a library or of a function.
///
/// # Errors
/// It is none; Redis says the same of both.
pub(crate) fn checked_name(name: &[u8]) -> Result<String, &'static str> {
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match std::str::from_utf8(name) {
        Ok(text) if !name.is_empty() && name.iter().all(is_in_name) => Ok(text.to_owned()),
        _ => Err(BAD_NAME),
    }
}

/// The words of a line, of which each may stand in quotes, as in Redis' configuration. `None` if a
/// quote does not end, or something follows it.
fn split_arguments(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut words, mut at) = (Vec::new(), 0);
    loop {
        while line.get(at).is_some_and(|byte| is_space(*byte)) {
            at += 1;
        }
        if at == line.len() {
            return Some(words);
        }
        let mut word = Vec::new();
        while let Some(&byte) = line.get(at) {
            match byte {
                b'"' | b'\'' => at = quoted(line, at, &mut word)?,
                byte if is_space(byte) => break,
                byte => {
                    word.push(byte);
                    at += 1;
                }
            }
        }
        words.push(word);
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

/// Reads what stands in the quotes that begin at `at`; returns where they end.
fn quoted(line: &[u8], mut at: usize, word: &mut Vec<u8>) -> Option<usize> {
    let quote = line[at];
    at += 1;
    loop {
        let byte = *line.get(at)?;
        at += 1;
        match (byte, line.get(at)) {
            (b'\\', Some(b'x')) if quote == b'"' && hexadecimal(line, at + 1).is_some() => {
                word.extend(hexadecimal(line, at + 1));
                at += 3;
            }
            (b'\\', Some(&escaped)) if quote == b'"' || escaped == quote => {
                word.push(match escaped {
                    b'n' if quote == b'"' => b'\n',
                    b'r' if quote == b'"' => b'\r',
                    b't' if quote == b'"' => b'\t',
                    b'b' if quote == b'"' => 0x08,
                    b'a' if quote == b'"' => 0x07,
                    other => other,
                });
                at += 1;
            }
            (byte, next) if byte == quote => {
                return next.is_none_or(|next| is_space(*next)).then_some(at);
            }
            (byte, _) => word.push(byte),
        }
    }
}

fn hexadecimal(line: &[u8], at: usize) -> Option<u8> {
    let digits = std::str::from_utf8(line.get(at..at + 2)?).ok()?;
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| are_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(code: &str) -> Result<String, String> {
        LibrarySource::read(Arc::new(code.as_bytes().to_vec()), 1).map(|source| source.name)
    }

    #[test]
    fn the_first_line_names_the_library() {
        assert_eq!(name("#!lua name=lib_1\nx"), Ok("lib_1".to_owned()));
        assert_eq!(name("#!LUA  'NAME=a'  \n"), Ok("a".to_owned()));
        assert_eq!(name("#!lua \"name=\\x61b\"\n"), Ok("ab".to_owned()));
    }

    #[test]
    fn what_the_first_line_cannot_say_is_refused_in_redis_words() {
        for (code, error) in [
            ("return 1", NO_METADATA),
            ("#!lua name=a", BAD_METADATA),
            ("#!lua name='a\n", BAD_METADATA),
            ("#!lua name=\"a\"b\n", BAD_METADATA),
            ("#!lua\n", "Library name was not given"),
            ("#!lua name=\n", BAD_NAME),
            ("#!lua name=a-b\n", BAD_NAME),
            ("#!lua name=a x=1\n", "Invalid metadata value given: x=1"),
            ("#!js name=a\n", "Engine 'js' not found"),
            ("#! name=a\n", "Engine '' not found"),
        ] {
            assert_eq!(name(code), Err(error.to_owned()), "{code}");
        }
        assert!(name("#!lua name=a name=b\n").unwrap_err().contains("multiple times"));
    }

    #[test]
    fn no_line_makes_the_reader_fail() {
        for first in 0..=255_u8 {
            for second in [b'"', b'\'', b'\\', b'x', b' ', b'4'] {
                for third in [b'"', b'\'', b'\\', b'x', b' ', b'1'] {
                    let _ = split_arguments(&[b'"', first, second, third, first]);
                    let _ = split_arguments(&[first, second, third]);
                }
            }
        }
    }
}
