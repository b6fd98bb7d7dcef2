//! CONFIG REWRITE for TOML, through `toml_edit`, which keeps comments and layout.

use crate::option::{Kind, OptionId};
use crate::rewrite::{Draft, RewriteError};
use crate::toml_file::{syntax_error, utf8};
use crate::value::Value;
use toml_edit::{Array, DocumentMut, Item, Table};

pub(crate) fn updated(draft: &Draft<'_>, old: &[u8]) -> Result<Vec<u8>, RewriteError> {
    let stale = draft.differing(old)?;
    let users = draft.users_to_write(old)?;
    if stale.is_empty() && users.is_none() {
        return Ok(old.to_vec());
    }
    let text = utf8(&draft.place, old)?;
    let mut document: DocumentMut =
        text.parse().map_err(|error| syntax_error(&draft.place, text, &error))?;
    for id in stale {
        let kind = id.spec().kind;
        let value = toml_value(kind, draft.wanted.get(id))
            .ok_or(RewriteError::Inexpressible(id.spec().name))?;
        store(document.as_table_mut(), id, value);
    }
    if let Some(users) = users {
        let mut array = Array::new();
        for words in users {
            let text = String::from_utf8(words.join(&b' '));
            array.push(text.map_err(|_| RewriteError::Inexpressible("user"))?);
        }
        let table = document.as_table_mut();
        let is_user =
            |(name, _): (&str, &Item)| name.eq_ignore_ascii_case("user").then(|| name.to_owned());
        let name = table.iter().find_map(is_user).unwrap_or_else(|| "user".to_owned());
        table.insert(&name, Item::Value(array.into()));
    }
    Ok(document.to_string().into_bytes())
}

/// Puts a value under the key that the file uses for the option, or under a new key.
fn store(table: &mut Table, id: OptionId, mut value: toml_edit::Value) {
    let names: Vec<String> = table
        .iter()
        .map(|(name, _)| name.to_owned())
        .filter(|name| OptionId::find(name) == Some(id))
        .collect();
    // The last of several spellings is the one that counts.
    let Some(name) = names.last() else {
        table.insert(id.spec().name, Item::Value(value));
        return;
    };
    let Some(item) = table.get_mut(name) else { return };
    if let Some(old) = item.as_value() {
        *value.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(value);
}

/// The value as TOML; `None` for text that is not UTF-8, which TOML cannot hold.
fn toml_value(kind: Kind, value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Int(number) => (*number).into(),
        Value::Bytes(bytes) => match i64::try_from(*bytes) {
            Ok(bytes) => bytes.into(),
            Err(_) => bytes.to_string().into(),
        },
        Value::List(_) | Value::OutputLimits(_) | Value::SavePoints(_)
            if kind != Kind::HostPort =>
        {
            let mut array = Array::new();
            for item in items(value) {
                array.push(item);
            }
            array.into()
        }
        other => String::from_utf8(other.text()).ok()?.into(),
    })
}

/// What an array holds: one address each, or one line each of those that redis.conf would have.
fn items(value: &Value) -> Vec<String> {
    match value {
        Value::List(words) => words.clone(),
        Value::SavePoints(points) if points.is_empty() => Vec::new(),
        other => {
            let line =
                |words: Vec<Vec<u8>>| String::from_utf8_lossy(&words.join(&b' ')).into_owned();
            other.lines().into_iter().map(line).collect()
        }
    }
}
