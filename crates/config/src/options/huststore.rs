//! huststore's interface by HTTP.

use super::PORT;
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::values::Values;

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Http, name, kind, default, doc).own()
}

const DATABASES: &str = "hust-databases";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option(
        "hust-interface",
        Kind::Bool,
        "yes",
        "Whether HTTP has the paths of huststore, beside those under `/v1`.",
    ),
    option(
        DATABASES,
        Kind::Text,
        "0 1 2 3",
        "The databases of huststore's items, tables, queues and cache. It keeps apart what has the \
         same name; where two of them are one database, the names are shared. Each must be less than \
         `databases`.",
    ),
    option(
        "hust-mq-port",
        PORT,
        "0",
        "TCP port of huststore's queues, where verbs at the root without a queue's name, such as \
         `/stat_all`, are those of the queues; 0 opens none. It serves all of HTTP.",
    )
    .immutable(),
    option("hust-mq-tls-port", PORT, "0", "The same over TLS; 0 opens none.").immutable(),
    option(
        "hust-versions",
        Kind::Enum(&["counter", "unique"]),
        "counter",
        "The versions that huststore's interface gives: 1, 2, 3 … from the making of an item on, \
         or numbers that no item has had before, not even one that was deleted.",
    ),
    option(
        "hust-ttl-max",
        Kind::Int { min: 0, max: 315_360_000 },
        "2592000",
        "Seconds; what huststore's interface is told to keep for longer, it keeps for ever. 0 is \
         no limit.",
    ),
];

/// The options of this file, ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct HustSettings {
    /// `hust-interface`.
    pub is_on: bool,
    /// `hust-databases`: of items, tables, queues and cache; `None` if they are not four.
    pub databases: Option<[u8; 4]>,
    /// `hust-mq-port`; 0 is none.
    pub queue_port: u16,
    /// `hust-mq-tls-port`; 0 is none.
    pub queue_tls_port: u16,
    /// `hust-versions`: they count.
    pub counts_versions: bool,
    /// `hust-ttl-max`, in seconds; `None` is no limit.
    pub ttl_max_s: Option<u64>,
}

impl HustSettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        let ttl_max_s: u64 = values.number("hust-ttl-max");
        HustSettings {
            is_on: values.bool("hust-interface"),
            databases: databases(values.text(DATABASES)),
            queue_port: values.number("hust-mq-port"),
            queue_tls_port: values.number("hust-mq-tls-port"),
            counts_versions: values.word("hust-versions") == "counter",
            ttl_max_s: (ttl_max_s > 0).then_some(ttl_max_s),
        }
    }
}

/// Why an option cannot have its value, as the others are.
pub(crate) fn contradiction(name: &str, values: &Values) -> Option<String> {
    if name != DATABASES {
        return None;
    }
    let Some(named) = databases(values.text(DATABASES)) else {
        return Some("name four databases, such as 0 1 2 3".to_owned());
    };
    let count: u32 = values.number("databases");
    let beyond = named.into_iter().find(|&db| u32::from(db) >= count)?;
    Some(format!("there is no database {beyond}: 'databases' is {count}"))
}

fn databases(text: &[u8]) -> Option<[u8; 4]> {
    let words = str::from_utf8(text).ok()?.split_whitespace();
    let numbers: Option<Vec<u8>> = words.map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::databases;

    #[test]
    fn databases_are_four() {
        assert_eq!(databases(b" 0 1  2 254"), Some([0, 1, 2, 254]));
        for wrong in ["", "0 1 2", "0 1 2 3 4", "0 1 2 x", "0 1 2 256", "0 1 2 -1"] {
            assert_eq!(databases(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
