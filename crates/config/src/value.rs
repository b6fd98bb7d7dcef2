//! The value of an option, and its text as CONFIG GET reports it.

use std::fmt;
use std::hint::black_box;

/// The word for a size that the server works out.
pub(crate) const AUTO: &[u8] = b"auto";

/// A checked value. Which variant an option holds follows from its kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `yes` or `no`.
    Bool(bool),
    /// A number, already in range.
    Int(i64),
    /// Bits of a file mode.
    Octal(u32),
    /// A number of bytes.
    Bytes(u64),
    /// `auto`: a number of bytes that follows from what the option's kind says.
    Auto,
    /// A share of `maxmemory`.
    Percent(u8),
    /// One of the words of an enumeration.
    Word(&'static str),
    /// Several words of an enumeration, in its order.
    Words(Vec<&'static str>),
    /// Text, which need not be UTF-8.
    Text(Vec<u8>),
    /// As `Text`, but kept out of logs.
    Secret(Secret),
    /// Several words.
    List(Vec<String>),
    /// Limits by class of client.
    OutputLimits(OutputLimits),
    /// Pairs of seconds and changes.
    SavePoints(Vec<(i64, i64)>),
    /// Percentiles.
    Percentiles(Vec<f64>),
    /// The three OOM scores.
    Scores([i64; 3]),
}

/// Bytes that must not reach a log: its `Debug` form hides them.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Secret(bytes)
    }

    /// The bytes, for a comparison or for CONFIG GET.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Whether `given` is the same, found out in a time that depends on the length of what was
    /// given and on nothing else, so that nobody can find a password byte by byte.
    pub fn is(&self, given: &[u8]) -> bool {
        let mut differing = u8::from(self.0.len() != given.len());
        for (index, byte) in given.iter().enumerate() {
            // An empty password is no password, so there is always something to compare with.
            let own = self.0[index % self.0.len().max(1)];
            differing |= black_box(own ^ byte);
        }
        black_box(differing) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// The classes of clients that have output limits of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientClass {
    /// Everybody else.
    Normal,
    /// Replicas.
    Replica,
    /// Subscribers.
    PubSub,
}

impl ClientClass {
    /// All classes in the order in which CONFIG GET reports them.
    pub const ALL: [ClientClass; 3] =
        [ClientClass::Normal, ClientClass::Replica, ClientClass::PubSub];

    /// The word of the class as CONFIG GET reports it.
    pub fn word(self) -> &'static str {
        match self {
            ClientClass::Normal => "normal",
            ClientClass::Replica => "slave",
            ClientClass::PubSub => "pubsub",
        }
    }

    pub(crate) fn parse(word: &[u8]) -> Option<ClientClass> {
        if word.eq_ignore_ascii_case(b"replica") {
            return Some(ClientClass::Replica);
        }
        Self::ALL.into_iter().find(|class| word.eq_ignore_ascii_case(class.word().as_bytes()))
    }
}

/// When a client that does not read its replies is disconnected. 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputLimit {
    /// Bytes waiting at which it is disconnected at once.
    pub hard_bytes: u64,
    /// Bytes waiting at which it is disconnected when that lasts.
    pub soft_bytes: u64,
    /// For how long.
    pub soft_s: u64,
}

/// The limits of all classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputLimits([OutputLimit; 3]);

impl OutputLimits {
    /// The limit of one class.
    pub fn of(&self, class: ClientClass) -> OutputLimit {
        self.0[class as usize]
    }

    pub(crate) fn set(&mut self, class: ClientClass, limit: OutputLimit) {
        self.0[class as usize] = limit;
    }
}

impl Value {
    /// The text that CONFIG GET reports and that reads back as this value.
    pub fn text(&self) -> Vec<u8> {
        match self {
            Value::Text(bytes) => bytes.clone(),
            Value::Secret(secret) => secret.expose().to_vec(),
            Value::Bool(true) => b"yes".to_vec(),
            Value::Bool(false) => b"no".to_vec(),
            Value::Int(number) => number.to_string().into_bytes(),
            Value::Octal(mode) => format!("{mode:o}").into_bytes(),
            Value::Bytes(bytes) => bytes.to_string().into_bytes(),
            Value::Auto => AUTO.to_vec(),
            Value::Percent(percent) => format!("{percent}%").into_bytes(),
            Value::Word(word) => word.as_bytes().to_vec(),
            Value::Words(words) => words.join(" ").into_bytes(),
            Value::List(words) => words.join(" ").into_bytes(),
            Value::OutputLimits(limits) => {
                spaced(ClientClass::ALL.iter().map(|&class| class_line(class, limits.of(class))))
            }
            Value::SavePoints(points) => {
                spaced(points.iter().map(|(seconds, changes)| format!("{seconds} {changes}")))
            }
            Value::Percentiles(list) => spaced(list.iter()),
            Value::Scores(scores) => spaced(scores.iter()),
        }
    }

    /// The lines (each a list of words after the option's name) by which redis.conf states it.
    pub(crate) fn lines(&self) -> Vec<Vec<Vec<u8>>> {
        let one = |text: String| text.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        match self {
            Value::OutputLimits(limits) => ClientClass::ALL
                .iter()
                .map(|&class| one(class_line(class, limits.of(class))))
                .collect(),
            Value::SavePoints(points) if !points.is_empty() => points
                .iter()
                .map(|(seconds, changes)| one(format!("{seconds} {changes}")))
                .collect(),
            Value::List(words) if !words.is_empty() => {
                vec![words.iter().map(|word| word.as_bytes().to_vec()).collect()]
            }
            Value::Words(_) | Value::Scores(_) => {
                vec![one(String::from_utf8_lossy(&self.text()).into_owned())]
            }
            Value::Percentiles(list) if !list.is_empty() => {
                vec![list.iter().map(|p| p.to_string().into_bytes()).collect()]
            }
            _ => vec![vec![self.text()]],
        }
    }
}

fn class_line(class: ClientClass, limit: OutputLimit) -> String {
    format!("{} {} {} {}", class.word(), limit.hard_bytes, limit.soft_bytes, limit.soft_s)
}

fn spaced(parts: impl Iterator<Item = impl fmt::Display>) -> Vec<u8> {
    let parts: Vec<String> = parts.map(|part| part.to_string()).collect();
    parts.join(" ").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn only_the_same_bytes_are_the_secret() {
        let secret = Secret::new(b"secret".to_vec());
        assert!(secret.is(b"secret"));
        for wrong in [&b""[..], b"secre", b"secreT", b"secrets", b"secretsecret"] {
            assert!(!secret.is(wrong));
        }
    }
}
