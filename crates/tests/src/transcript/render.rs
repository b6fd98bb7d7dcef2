//! A reply as the lines of a transcript.

use super::quote::quote;
use basalt_resp::Value;

/// Writes a reply in the notation of the transcripts; at least one line.
pub fn render(value: &Value) -> Vec<String> {
    let line = match value {
        Value::Simple(text) => line_of(text),
        Value::Error(text) => format!("(error) {}", line_of(text)),
        Value::Integer(number) => format!("(integer) {number}"),
        Value::Bulk(bytes) => quote(bytes),
        Value::Null => "(nil)".to_owned(),
        Value::NullArray => "(nil array)".to_owned(),
        Value::Double(number) => format!("(double) {number}"),
        Value::Boolean(true) => "(true)".to_owned(),
        Value::Boolean(false) => "(false)".to_owned(),
        Value::BigNumber(text) => format!("(big number) {}", line_of(text)),
        Value::Verbatim { format, text } => {
            format!("(verbatim {}) {}", String::from_utf8_lossy(format), quote(text))
        }
        Value::Array(items) => return list(items, ") ", "(empty array)"),
        Value::Set(items) => return list(items, "~ ", "(empty set)"),
        Value::Push(items) => return list(items, "> ", "(empty push)"),
        Value::Map(pairs) => return map(pairs),
    };
    vec![line]
}

/// Sorts arrays and sets that hold no further arrays, so that replies without an order compare.
pub fn sort(value: &mut Value) {
    match value {
        Value::Array(items) | Value::Set(items) => {
            let flat = !items.iter().any(|item| matches!(item, Value::Array(_) | Value::Set(_)));
            if flat {
                items.sort_by_key(render);
            } else {
                items.iter_mut().for_each(sort);
            }
        }
        Value::Map(pairs) => {
            pairs.iter_mut().for_each(|(_, value)| sort(value));
            pairs.sort_by_key(|(key, _)| render(key));
        }
        _ => {}
    }
}

/// A line without a space at its end, which editors and people lose: that one is written `\x20`.
fn line_of(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.strip_suffix(' ') {
        Some(rest) => format!("{rest}\\x20"),
        None => text.into_owned(),
    }
}

fn list(items: &[Value], mark: &str, empty: &str) -> Vec<String> {
    if items.is_empty() {
        return vec![empty.to_owned()];
    }
    let mut lines = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let prefix = format!("{}{mark}", index + 1);
        push_item(&mut lines, &prefix, "", item);
    }
    lines
}

fn map(pairs: &[(Value, Value)]) -> Vec<String> {
    if pairs.is_empty() {
        return vec!["(empty map)".to_owned()];
    }
    let mut lines = Vec::new();
    for (index, (key, value)) in pairs.iter().enumerate() {
        let prefix = format!("{}# ", index + 1);
        let key = format!("{} => ", render(key).join(" "));
        push_item(&mut lines, &prefix, &key, value);
    }
    lines
}

/// The first line carries the number (and key), the others are indented by the number's width.
fn push_item(lines: &mut Vec<String>, prefix: &str, key: &str, item: &Value) {
    for (index, line) in render(item).into_iter().enumerate() {
        if index == 0 {
            lines.push(format!("{prefix}{key}{line}"));
        } else {
            lines.push(format!("{}{line}", " ".repeat(prefix.len())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nests_by_indentation() {
        let inner = Value::Array(vec![Value::Bulk(b"a".to_vec()), Value::Integer(1)]);
        let map = Value::Map(vec![(Value::Bulk(b"k".to_vec()), inner.clone())]);
        let lines = render(&Value::Array(vec![inner, map, Value::Array(Vec::new())]));
        let expected = [
            "1) 1) \"a\"",
            "   2) (integer) 1",
            "2) 1# \"k\" => 1) \"a\"",
            "      2) (integer) 1",
            "3) (empty array)",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_space_at_the_end_is_shown() {
        assert_eq!(render(&Value::Error(b"ERR with: ".to_vec())), ["(error) ERR with:\\x20"]);
    }

    #[test]
    fn sorts_the_innermost_arrays_only() {
        let text = |text: &str| Value::Bulk(text.as_bytes().to_vec());
        let mut reply = Value::Array(vec![text("7"), Value::Array(vec![text("b"), text("a")])]);
        sort(&mut reply);
        assert_eq!(reply, Value::Array(vec![text("7"), Value::Array(vec![text("a"), text("b")])]));
    }
}
