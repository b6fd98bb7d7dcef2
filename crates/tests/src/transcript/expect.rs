//! Compares a reply's lines with what a transcript expects, wildcards and captures included.

use std::collections::HashMap;

/// Values captured by `$name`, as the bytes to send.
pub type Captures = HashMap<String, Vec<u8>>;

/// Whether the reply is as expected; what `$name` stands for is put into `captures`.
pub fn matches(expected: &[String], actual: &[String], captures: &mut Captures) -> bool {
    let mut at = 0;
    for line in expected {
        if line == "..." {
            return true;
        }
        let (prefix, pattern) = split_prefix(line);
        let Some(value) = actual.get(at).and_then(|line| line.strip_prefix(prefix)) else {
            return false;
        };
        at += 1;
        if pattern == "*" {
            at += nested_lines(&actual[at..], indentation(prefix));
        } else if !value_matches(pattern, value, captures) {
            return false;
        }
    }
    at == actual.len()
}

/// Splits off the item numbers (`1) `, `2# "key" => `, …) and the indentation before a value.
fn split_prefix(line: &str) -> (&str, &str) {
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let number = &rest[spaces..];
        let digits =
            number.len() - number.trim_start_matches(|char: char| char.is_ascii_digit()).len();
        let mark = number.get(digits..digits + 2).unwrap_or("");
        let length = match mark {
            _ if digits == 0 => 0,
            ") " | "~ " | "> " => spaces + digits + 2,
            "# " => spaces + number.find(" => ").map_or(0, |found| found + 4),
            _ => 0,
        };
        if length == 0 {
            return line.split_at(at);
        }
        at += length;
    }
}

/// The width of the numbers in a prefix, without the keys of maps.
fn indentation(prefix: &str) -> usize {
    let keys = prefix.split("# ").skip(1);
    let keys = keys.filter_map(|part| part.find(" => ").map(|at| at + " => ".len()));
    prefix.len() - keys.sum::<usize>()
}

/// How many lines belong to the value before them: those that are indented further.
fn nested_lines(rest: &[String], indentation: usize) -> usize {
    let spaces = " ".repeat(indentation);
    rest.iter().take_while(|line| line.starts_with(&spaces)).count()
}

fn value_matches(pattern: &str, value: &str, captures: &mut Captures) -> bool {
    if let Some((name, captured)) = capture(pattern, value) {
        captures.insert(name.to_owned(), captured.as_bytes().to_vec());
        return true;
    }
    if let Some(range) = pattern.strip_prefix("(integer) ~") {
        let number = value.strip_prefix("(integer) ").and_then(|number| number.parse().ok());
        return number.is_some_and(|number| in_range(range, number));
    }
    match pattern.strip_prefix('~') {
        Some(glob) => glob_matches(glob.as_bytes(), value.as_bytes()),
        None => pattern == value,
    }
}

/// `(integer) $name` or `"$name"`: the name, and the value without its decoration.
fn capture<'a>(pattern: &'a str, value: &'a str) -> Option<(&'a str, &'a str)> {
    if let Some(name) = pattern.strip_prefix("(integer) $") {
        return Some((name, value.strip_prefix("(integer) ")?));
    }
    let name = pattern.strip_prefix("\"$")?.strip_suffix('"')?;
    Some((name, value.strip_prefix('"')?.strip_suffix('"')?))
}

/// `>=1`, `<=5` or `1..5` (both ends included).
fn in_range(range: &str, number: i64) -> bool {
    let parse = |text: &str| text.parse::<i64>().ok();
    if let Some(least) = range.strip_prefix(">=").and_then(parse) {
        return number >= least;
    }
    if let Some(most) = range.strip_prefix("<=").and_then(parse) {
        return number <= most;
    }
    let ends = range.split_once("..").and_then(|(from, to)| Some(parse(from)?..=parse(to)?));
    ends.is_some_and(|ends| ends.contains(&number))
}

/// `*` stands for any text; everything else for itself.
fn glob_matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut in_glob, mut in_text) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_text < text.len() {
        if glob.get(in_glob) == Some(&b'*') {
            star = Some((in_glob, in_text));
            in_glob += 1;
        } else if glob.get(in_glob) == Some(&text[in_text]) {
            in_glob += 1;
            in_text += 1;
        } else if let Some((star_at, taken)) = star {
            in_glob = star_at + 1;
            in_text = taken + 1;
            star = Some((star_at, taken + 1));
        } else {
            return false;
        }
    }
    glob[in_glob..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, actual: &str) -> bool {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        matches(&lines(expected), &lines(actual), &mut Captures::new())
    }

    #[test]
    fn compares_line_by_line() {
        assert!(check("OK", "OK"));
        assert!(!check("OK", "OK\nOK"));
        assert!(!check("1) \"a\"\n2) \"b\"", "1) \"a\""));
    }

    #[test]
    fn a_star_matches_a_nested_value_and_no_more() {
        let actual = "1) 1) \"a\"\n   2) \"b\"\n2) \"c\"";
        assert!(check("1) *\n2) \"c\"", actual));
        assert!(!check("1) *\n2) \"d\"", actual));
        assert!(check("*", actual));
        assert!(check("1) 1) \"a\"\n...", actual));
        assert!(check(
            "1# \"k\" => *\n2# \"l\" => \"m\"",
            "1# \"k\" => 1) 1\n   2) 3\n2# \"l\" => \"m\""
        ));
        assert!(check(
            "1# \"k\" => 1# \"l\" => *\n   2# \"m\" => 3",
            "1# \"k\" => 1# \"l\" => 1) 1\n         2) 2\n   2# \"m\" => 3"
        ));
    }

    #[test]
    fn ranges_and_globs() {
        assert!(check("(integer) ~>=2", "(integer) 2") && !check("(integer) ~>=2", "(integer) 1"));
        assert!(
            check("(integer) ~1..3", "(integer) 3") && !check("(integer) ~1..3", "(integer) 4")
        );
        assert!(!check("(integer) ~<=5", "\"5\""));
        assert!(check("~\"a*c*\"", "\"abcd\"") && !check("~\"a*c*\"", "\"abd\""));
        assert!(check("1) ~(error) ERR *", "1) (error) ERR x"));
    }

    #[test]
    fn captures_a_value() {
        let mut captures = Captures::new();
        let lines = |text: &str| vec![text.to_owned()];
        assert!(matches(&lines("1) \"$cursor\""), &lines("1) \"17\""), &mut captures));
        assert!(matches(&lines("(integer) $id"), &lines("(integer) 5"), &mut captures));
        assert_eq!(
            (captures["cursor"].as_slice(), captures["id"].as_slice()),
            (&b"17"[..], &b"5"[..])
        );
    }
}
