//! From words to a checked value. Error texts are Redis' own: clients' tests compare them.

use crate::option::{Kind, OptionSpec};
use crate::parse_compound as compound;
use crate::value::{AUTO, Secret, Value};

/// Why words are not a value of an option, in the words that CONFIG SET uses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(pub(crate) String);

pub(crate) fn refuse<T>(text: impl Into<String>) -> Result<T, ValueError> {
    Err(ValueError(text.into()))
}

/// Where the words stand in relation to what the option held before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Previous<'a> {
    /// The words replace everything, but for classes of clients that they do not name.
    Replace(&'a Value),
    /// The words add to what an earlier line of the same source said (`save`).
    Extend(&'a Value),
}

/// Reads one argument, as of CONFIG SET.
pub(crate) fn parse_argument(
    spec: &OptionSpec,
    argument: &[u8],
    previous: Previous<'_>,
) -> Result<Value, ValueError> {
    parse_words(spec, &[argument.to_vec()], previous)
}

/// Reads the words that follow an option's name in a file or on the command line. Options that
/// take several words also take them in one argument, with spaces between them.
pub(crate) fn parse_words(
    spec: &OptionSpec,
    words: &[Vec<u8>],
    previous: Previous<'_>,
) -> Result<Value, ValueError> {
    if words.is_empty() {
        return refuse("wrong number of arguments");
    }
    match words {
        [word] if spec.kind.takes_words() => {
            let words: Vec<Vec<u8>> = word
                .split(u8::is_ascii_whitespace)
                .filter(|part| !part.is_empty())
                .map(<[u8]>::to_vec)
                .collect();
            compound::parse(spec.kind, &words, previous)
        }
        words if spec.kind.takes_words() => compound::parse(spec.kind, words, previous),
        [word] => parse_word(spec, word),
        _ => refuse("wrong number of arguments"),
    }
}

impl Kind {
    /// Whether a value may be several words.
    pub(crate) fn takes_words(self) -> bool {
        matches!(
            self,
            Kind::EnumSet(_)
                | Kind::Addresses
                | Kind::Peers
                | Kind::HostPort
                | Kind::OutputLimits
                | Kind::SavePoints
                | Kind::Percentiles
                | Kind::OomScores
        )
    }
}

fn parse_word(spec: &OptionSpec, word: &[u8]) -> Result<Value, ValueError> {
    match spec.kind {
        Kind::Bool => parse_bool(word),
        Kind::Int { min, max } => Ok(Value::Int(in_range(integer(word)?, min, max)?)),
        Kind::Threads { max } => Ok(Value::Int(in_range(integer(word)?, 0, max)?)),
        Kind::Clamped { low, high } => {
            let number = in_range(integer(word)?, 0, i64::from(i32::MAX))?;
            Ok(Value::Int(number.clamp(low, high)))
        }
        Kind::Octal { max } => parse_octal(word, max),
        Kind::Memory { min, max } => parse_memory(word, min, max),
        Kind::MemoryOrAuto { .. } if word.eq_ignore_ascii_case(AUTO) => Ok(Value::Auto),
        Kind::MemoryOrAuto { min, max, .. } => parse_memory(word, min, max),
        Kind::MemoryOrPercent => parse_memory_or_percent(word),
        Kind::Enum(words) => parse_enum(words, word),
        Kind::FileName => parse_file_name(spec, word),
        Kind::TitleTemplate => parse_template(word),
        Kind::HostName => parse_host_name(word),
        Kind::Events => compound::parse_events(word),
        _ => parse_text(spec, word),
    }
}

fn parse_bool(word: &[u8]) -> Result<Value, ValueError> {
    if word.eq_ignore_ascii_case(b"yes") {
        Ok(Value::Bool(true))
    } else if word.eq_ignore_ascii_case(b"no") {
        Ok(Value::Bool(false))
    } else {
        refuse("argument must be 'yes' or 'no'")
    }
}

/// Reads an integer as strictly as Redis: no spaces, no plus sign, no leading zeros.
fn integer(word: &[u8]) -> Result<i64, ValueError> {
    let number = std::str::from_utf8(word).ok().and_then(|text| text.parse::<i64>().ok());
    match number {
        Some(number) if number.to_string().as_bytes() == word => Ok(number),
        _ => refuse("argument couldn't be parsed into an integer"),
    }
}

fn in_range(number: i64, min: i64, max: i64) -> Result<i64, ValueError> {
    if (min..=max).contains(&number) {
        Ok(number)
    } else {
        refuse(format!("argument must be between {min} and {max} inclusive"))
    }
}

fn parse_octal(word: &[u8], max: u32) -> Result<Value, ValueError> {
    let number = std::str::from_utf8(word).ok().and_then(|text| u32::from_str_radix(text, 8).ok());
    match number {
        Some(mode) if mode <= max => Ok(Value::Octal(mode)),
        Some(_) => refuse(format!("argument must be between 0 and {max:o} inclusive")),
        None => refuse("argument couldn't be parsed as an octal number"),
    }
}

fn parse_memory(word: &[u8], min: u64, max: u64) -> Result<Value, ValueError> {
    match memory_size(word) {
        Some(bytes) if (min..=max).contains(&bytes) => Ok(Value::Bytes(bytes)),
        Some(_) => refuse(format!("argument must be between {min} and {max} inclusive")),
        None => refuse("argument must be a memory value"),
    }
}

fn parse_memory_or_percent(word: &[u8]) -> Result<Value, ValueError> {
    if let Some(digits) = word.strip_suffix(b"%") {
        let percent = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u64>().ok());
        return match percent {
            Some(percent @ 0..=100) => Ok(Value::Percent(percent as u8)),
            Some(_) => refuse("percentage argument must be less or equal to 100"),
            None => refuse("argument must be a memory or percent value"),
        };
    }
    match memory_size(word) {
        Some(bytes) if bytes <= i64::MAX as u64 => Ok(Value::Bytes(bytes)),
        _ => refuse("argument must be a memory or percent value"),
    }
}

/// Reads `64`, `64k` (1000), `64kb` (1024) and so on to `g` and `gb`, in any case. Redis takes the
/// empty word as 0, too.
pub(crate) fn memory_size(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return Some(0);
    }
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = word.split_at(digits);
    let factor: u64 = match unit.to_ascii_lowercase().as_slice() {
        b"" | b"b" => 1,
        b"k" => 1000,
        b"kb" => 1 << 10,
        b"m" => 1000 * 1000,
        b"mb" => 1 << 20,
        b"g" => 1000 * 1000 * 1000,
        b"gb" => 1 << 30,
        _ => return None,
    };
    std::str::from_utf8(number).ok()?.parse::<u64>().ok()?.checked_mul(factor)
}

pub(crate) fn parse_enum(words: &[&'static str], word: &[u8]) -> Result<Value, ValueError> {
    match find_word(words, word) {
        Some(found) => Ok(Value::Word(found)),
        None => refuse(choices(words)),
    }
}

pub(crate) fn find_word(words: &[&'static str], word: &[u8]) -> Option<&'static str> {
    words.iter().copied().find(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

pub(crate) fn choices(words: &[&'static str]) -> String {
    format!("argument(s) must be one of the following: {}", words.join(", "))
}

fn parse_text(spec: &OptionSpec, word: &[u8]) -> Result<Value, ValueError> {
    // A password may be any bytes. Other texts are names of something in the system.
    if spec.is_secret() {
        return Ok(Value::Secret(Secret::new(word.to_vec())));
    }
    if word.contains(&0) {
        return refuse("argument must not contain a zero byte");
    }
    Ok(Value::Text(word.to_vec()))
}

fn parse_file_name(spec: &OptionSpec, word: &[u8]) -> Result<Value, ValueError> {
    if word.contains(&b'/') {
        let what = if spec.name == "appenddirname" { "directory name" } else { "filename" };
        return refuse(format!("{} can't be a path, just a {what}", spec.name));
    }
    if word.is_empty() && spec.name != "dbfilename" {
        return refuse(format!("{} can't be empty", spec.name));
    }
    parse_text(spec, word)
}

fn parse_host_name(word: &[u8]) -> Result<Value, ValueError> {
    if word.len() >= 256 {
        return refuse("Hostnames must be less than 256 characters");
    }
    if !word.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')) {
        return refuse("Hostnames may only contain alphanumeric characters, hyphens or dots");
    }
    Ok(Value::Text(word.to_vec()))
}

/// The template may name these variables and nothing else in braces.
fn parse_template(word: &[u8]) -> Result<Value, ValueError> {
    const VARIABLES: [&str; 7] =
        ["title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket", "config-file"];
    let mut rest = word;
    while let Some(open) = rest.iter().position(|&byte| byte == b'{') {
        let inside = &rest[open + 1..];
        let close = inside.iter().position(|&byte| byte == b'}');
        match close {
            Some(end) if VARIABLES.iter().any(|name| name.as_bytes() == &inside[..end]) => {
                rest = &inside[end + 1..];
            }
            _ => return refuse("template format is invalid or contains unknown variables"),
        }
    }
    Ok(Value::Text(word.to_vec()))
}
