//! Values of several words: addresses, limits by class, save points, event classes and the like.

use crate::option::Kind;
use crate::parse::{Previous, ValueError, choices, find_word, memory_size, refuse};
use crate::peers::PeerRange;
use crate::value::{ClientClass, OutputLimit, OutputLimits, Value};

/// Redis takes no more either.
const ADDRESSES_MAX: usize = 16;
/// Enough for any sensible list, and a limit on what one line can make us keep.
const LIST_ITEMS_MAX: usize = 1024;

/// Reads the words of a kind that takes several; no words (`save ""`) empty a list.
pub(crate) fn parse(
    kind: Kind,
    words: &[Vec<u8>],
    previous: Previous<'_>,
) -> Result<Value, ValueError> {
    if words.len() > LIST_ITEMS_MAX {
        return refuse("wrong number of arguments");
    }
    match kind {
        Kind::EnumSet(known) => parse_enum_set(known, words),
        Kind::Addresses => parse_addresses(words),
        Kind::Peers => parse_peers(words),
        Kind::HostPort => parse_host_port(words),
        Kind::OutputLimits => parse_output_limits(words, previous),
        Kind::SavePoints => parse_save_points(words, previous),
        Kind::Percentiles => parse_percentiles(words),
        _ => parse_scores(words),
    }
}

fn number(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn parse_enum_set(known: &[&'static str], words: &[Vec<u8>]) -> Result<Value, ValueError> {
    let mut found = Vec::new();
    for word in words {
        match find_word(known, word) {
            Some(word) => found.push(word),
            None => return refuse(choices(known)),
        }
    }
    if found.is_empty() {
        return refuse(choices(known));
    }
    if found.contains(&"save") && found.contains(&"nosave") {
        return refuse("shutdown options SAVE and NOSAVE can't be used simultaneously");
    }
    // `default` is the absence of every other word.
    let chosen: Vec<_> =
        known.iter().copied().filter(|word| *word != "default" && found.contains(word)).collect();
    Ok(Value::Words(if chosen.is_empty() { vec!["default"] } else { chosen }))
}

fn parse_addresses(words: &[Vec<u8>]) -> Result<Value, ValueError> {
    if words.len() > ADDRESSES_MAX {
        return refuse("Too many bind addresses specified.");
    }
    let mut list = Vec::with_capacity(words.len());
    for word in words {
        match std::str::from_utf8(word) {
            Ok(text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
                list.push(text.to_owned());
            }
            _ => return refuse("an address must be text without spaces"),
        }
    }
    Ok(Value::List(list))
}

fn parse_peers(words: &[Vec<u8>]) -> Result<Value, ValueError> {
    let mut list = Vec::with_capacity(words.len());
    for word in words {
        let word = String::from_utf8_lossy(word).into_owned();
        if let Err(why) = PeerRange::parse(&word) {
            return refuse(why);
        }
        list.push(word);
    }
    Ok(Value::List(list))
}

fn parse_host_port(words: &[Vec<u8>]) -> Result<Value, ValueError> {
    match words {
        [] => Ok(Value::List(Vec::new())),
        [no, one] if no.eq_ignore_ascii_case(b"no") && one.eq_ignore_ascii_case(b"one") => {
            Ok(Value::List(Vec::new()))
        }
        [host, port] => {
            let host = String::from_utf8(host.clone());
            match (host, number(port)) {
                (Ok(host), Some(port @ 0..=65535)) if !host.is_empty() => {
                    Ok(Value::List(vec![host, port.to_string()]))
                }
                _ => refuse("Invalid master port"),
            }
        }
        _ => refuse("wrong number of arguments"),
    }
}

fn parse_output_limits(words: &[Vec<u8>], previous: Previous<'_>) -> Result<Value, ValueError> {
    if words.is_empty() || !words.len().is_multiple_of(4) {
        return refuse("Wrong number of arguments in buffer limit configuration.");
    }
    let (Previous::Replace(before) | Previous::Extend(before)) = previous;
    let mut limits = match before {
        Value::OutputLimits(limits) => *limits,
        _ => OutputLimits::default(),
    };
    for quad in words.chunks_exact(4) {
        let Some(class) = ClientClass::parse(&quad[0]) else {
            return refuse("Invalid client class specified in buffer limit configuration.");
        };
        let soft_s = number(&quad[3]).and_then(|seconds| u64::try_from(seconds).ok());
        match (memory_size(&quad[1]), memory_size(&quad[2]), soft_s) {
            (Some(hard_bytes), Some(soft_bytes), Some(soft_s)) => {
                limits.set(class, OutputLimit { hard_bytes, soft_bytes, soft_s });
            }
            _ => {
                return refuse(
                    "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
                );
            }
        }
    }
    Ok(Value::OutputLimits(limits))
}

fn parse_save_points(words: &[Vec<u8>], previous: Previous<'_>) -> Result<Value, ValueError> {
    if words.is_empty() {
        return Ok(Value::SavePoints(Vec::new()));
    }
    let mut points = match previous {
        Previous::Extend(Value::SavePoints(points)) => points.clone(),
        _ => Vec::new(),
    };
    if !words.len().is_multiple_of(2) || points.len() + words.len() / 2 > LIST_ITEMS_MAX {
        return refuse("Invalid save parameters");
    }
    for pair in words.chunks_exact(2) {
        match (number(&pair[0]), number(&pair[1])) {
            (Some(seconds @ 1..), Some(changes @ 0..)) => points.push((seconds, changes)),
            _ => return refuse("Invalid save parameters"),
        }
    }
    Ok(Value::SavePoints(points))
}

fn parse_percentiles(words: &[Vec<u8>]) -> Result<Value, ValueError> {
    let mut list = Vec::with_capacity(words.len());
    for word in words {
        let parsed = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
        match parsed {
            // Adding zero turns -0 into 0, which would otherwise be shown with its sign.
            Some(percentile) if (0.0..=100.0).contains(&percentile) => list.push(percentile + 0.0),
            Some(percentile) if !percentile.is_nan() => {
                return refuse(
                    "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]",
                );
            }
            _ => return refuse("Invalid latency-tracking-info-percentiles parameters"),
        }
    }
    Ok(Value::Percentiles(list))
}

fn parse_scores(words: &[Vec<u8>]) -> Result<Value, ValueError> {
    let [a, b, c] = words else { return refuse("wrong number of arguments") };
    match (number(a), number(b), number(c)) {
        (Some(a @ -2000..=2000), Some(b @ -2000..=2000), Some(c @ -2000..=2000)) => {
            Ok(Value::Scores([a, b, c]))
        }
        _ => refuse("Invalid oom-score-adj-values, elements must be between -2000 and 2000."),
    }
}

/// Reads the letters of keyspace events; `A` stands for all classes of keys but `m` and `n`.
pub(crate) fn parse_events(word: &[u8]) -> Result<Value, ValueError> {
    const CLASSES: &[u8] = b"g$lshzxetd";
    const OTHERS: &[u8] = b"nKEm";
    let known =
        |letter: &u8| *letter == b'A' || CLASSES.contains(letter) || OTHERS.contains(letter);
    if !word.iter().all(known) {
        return refuse("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
    }
    let has = |letter: &u8| word.contains(letter);
    let mut text = Vec::new();
    if has(&b'A') || CLASSES.iter().all(has) {
        text.push(b'A');
    } else {
        text.extend(CLASSES.iter().filter(|letter| has(letter)));
    }
    text.extend(OTHERS.iter().filter(|letter| has(letter)));
    Ok(Value::Text(text))
}
