//! The TOML form: options are top-level keys under the same names.
//!
//! `port = 7000`, `appendonly = true` (or `"yes"`), `maxmemory = "1gb"`, and where redis.conf takes
//! several words or lines, one string or an array: `bind = ["127.0.0.1", "::1"]`,
//! `save = ["900 1", "300 10"]`. The files of `include` are read before the file that names them,
//! wherever the key stands, so that a file always outranks what it includes. Users are strings:
//! `user = ["alice on >secret ~a:* +@read"]`, and so are commands with other names, which have none
//! behind the first word: `rename-command = ["CONFIG cfg", "FLUSHALL"]`.

use crate::directives::{RENAME_COMMAND, USER};
use crate::load::{Loader, bad_value};
use crate::option::{Kind, OptionId};
use crate::parse::ValueError;
use crate::source::{LoadError, SourcePlace};
use toml_edit::{Document, Item, Table, Value};

pub(crate) fn read(loader: &mut Loader, place: &SourcePlace, text: &[u8]) -> Result<(), LoadError> {
    let text = utf8(place, text)?;
    let document = Document::parse(text).map_err(|error| syntax_error(place, text, &error))?;
    let table = document.as_table();
    let is_include = |name: &str| name.eq_ignore_ascii_case("include");
    for (name, item) in table.iter().filter(|(name, _)| is_include(name)) {
        let place = key_place(place, text, table, name);
        let words = include_words(item).ok_or_else(|| LoadError::Malformed {
            place: place.clone(),
            reason: "include takes a path or an array of paths, in quotes".to_owned(),
        })?;
        loader.assign(&place, name, &words)?;
    }
    for (name, item) in table.iter().filter(|(name, _)| !is_include(name)) {
        let place = key_place(place, text, table, name);
        if name.eq_ignore_ascii_case(USER) {
            for user in lines_of(item).ok_or_else(|| LoadError::Malformed {
                place: place.clone(),
                reason: "user takes an array of strings, each a name and its rules".to_owned(),
            })? {
                loader.assign(&place, name, &user)?;
            }
            continue;
        }
        if name.eq_ignore_ascii_case(RENAME_COMMAND) {
            for mut names in lines_of(item).ok_or_else(|| LoadError::Malformed {
                place: place.clone(),
                reason: "rename-command takes an array of strings, each a name and a new one, if \
                         there is to be one"
                    .to_owned(),
            })? {
                if names.len() == 1 {
                    names.push(Vec::new());
                }
                loader.assign(&place, name, &names)?;
            }
            continue;
        }
        let words = match OptionId::find(name) {
            Some(id) => {
                option_words(text, id, item).map_err(|error| bad_value(&place, id, error))?
            }
            None => Vec::new(),
        };
        loader.assign(&place, name, &words)?;
    }
    Ok(())
}

pub(crate) fn utf8<'a>(place: &SourcePlace, text: &'a [u8]) -> Result<&'a str, LoadError> {
    std::str::from_utf8(text).map_err(|error| LoadError::Malformed {
        place: place.line(line_of(text, error.valid_up_to())),
        reason: "the file is not UTF-8, which TOML demands; save it as UTF-8".to_owned(),
    })
}

/// The message without the excerpt that comes with it: the line may hold a password.
pub(crate) fn syntax_error(
    place: &SourcePlace,
    text: &str,
    error: &toml_edit::TomlError,
) -> LoadError {
    let place = match error.span() {
        Some(span) => place.line(line_of(text.as_bytes(), span.start)),
        None => place.clone(),
    };
    let reason = format!("{}; write options as name = value", error.message().replace('\n', ", "));
    LoadError::Malformed { place, reason }
}

fn key_place(place: &SourcePlace, text: &str, table: &Table, name: &str) -> SourcePlace {
    match table.key(name).and_then(toml_edit::Key::span) {
        Some(span) => place.line(line_of(text.as_bytes(), span.start)),
        None => place.clone(),
    }
}

fn line_of(text: &[u8], offset: usize) -> usize {
    1 + text[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}

fn include_words(item: &Item) -> Option<Vec<Vec<u8>>> {
    match item.as_value()? {
        Value::String(path) => Some(vec![path.value().as_bytes().to_vec()]),
        Value::Array(paths) => {
            paths.iter().map(|path| Some(path.as_str()?.as_bytes().to_vec())).collect()
        }
        _ => None,
    }
}

/// The words of each string of an array.
fn lines_of(item: &Item) -> Option<Vec<Vec<Vec<u8>>>> {
    let words = |line: &Value| {
        let words = line.as_str()?.split_ascii_whitespace();
        Some(words.map(|word| word.as_bytes().to_vec()).collect())
    };
    item.as_array()?.iter().map(words).collect()
}

/// The words that redis.conf would hold, or why the TOML value is not of the option's type.
fn option_words(text: &str, id: OptionId, item: &Item) -> Result<Vec<Vec<u8>>, ValueError> {
    let kind = id.spec().kind;
    match item.as_value() {
        Some(Value::Array(array)) if kind.takes_words() => {
            let mut words = Vec::new();
            for element in array {
                match element {
                    Value::Array(inner) => {
                        for element in inner {
                            push_words(text, kind, element, &mut words)?;
                        }
                    }
                    single => push_words(text, kind, single, &mut words)?,
                }
            }
            Ok(if words.is_empty() { vec![Vec::new()] } else { words })
        }
        Some(value) => {
            let mut words = Vec::new();
            push_words(text, kind, value, &mut words)?;
            Ok(if words.is_empty() { vec![Vec::new()] } else { words })
        }
        None => wrong_type("a table"),
    }
}

fn push_words(
    text: &str,
    kind: Kind,
    value: &Value,
    words: &mut Vec<Vec<u8>>,
) -> Result<(), ValueError> {
    match value {
        Value::String(text) if kind.takes_words() => {
            words
                .extend(text.value().split_ascii_whitespace().map(|word| word.as_bytes().to_vec()));
            Ok(())
        }
        Value::String(_) if kind.is_integer() => wrong_type("a string, so leave the quotes out"),
        Value::String(word) => one(words, word.value()),
        Value::Integer(number) if matches!(kind, Kind::Octal { .. }) => {
            // 0o700 and 700 both mean rwx------, as in redis.conf.
            let written = number.span().and_then(|span| text.get(span)).unwrap_or_default();
            one(words, written.strip_prefix("0o").unwrap_or(written))
        }
        Value::Integer(number) if kind.takes_number() => one(words, &number.value().to_string()),
        Value::Float(number) if matches!(kind, Kind::Percentiles) => {
            one(words, &number.value().to_string())
        }
        Value::Boolean(flag) if kind.takes_bool() => {
            one(words, if *flag.value() { "yes" } else { "no" })
        }
        other => wrong_type(&format!("of the type {}", other.type_name())),
    }
}

fn one(words: &mut Vec<Vec<u8>>, word: &str) -> Result<(), ValueError> {
    words.push(word.as_bytes().to_vec());
    Ok(())
}

fn wrong_type<T>(what: &str) -> Result<T, ValueError> {
    Err(ValueError(format!("the value is {what}")))
}

impl Kind {
    fn is_integer(self) -> bool {
        matches!(self, Kind::Int { .. } | Kind::Clamped { .. } | Kind::Threads { .. })
    }

    fn takes_number(self) -> bool {
        self.is_integer()
            || matches!(
                self,
                Kind::Memory { .. }
                    | Kind::MemoryOrAuto { .. }
                    | Kind::MemoryOrPercent
                    | Kind::HostPort
                    | Kind::OutputLimits
                    | Kind::SavePoints
                    | Kind::Percentiles
                    | Kind::OomScores
            )
    }

    fn takes_bool(self) -> bool {
        match self {
            Kind::Bool => true,
            Kind::Enum(words) => words.contains(&"yes") && words.contains(&"no"),
            _ => false,
        }
    }
}
