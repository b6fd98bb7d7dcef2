//! huststore's interface by HTTP.

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

pub(super) const OPTIONS: &[OptionSpec] = &[
    option(
        "hust-interface",
        Kind::Bool,
        "yes",
        "Whether HTTP has the paths of huststore, beside those under `/v1`.",
    ),
    option(
        "hust-databases",
        Kind::Text,
        "0 1 2 3",
        "The databases of huststore's items, tables, queues and cache. It keeps apart what has the \
         same name; where two of them are one database, the names are shared.",
    ),
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
            databases: databases(values.text("hust-databases")),
            counts_versions: values.word("hust-versions") == "counter",
            ttl_max_s: (ttl_max_s > 0).then_some(ttl_max_s),
        }
    }
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
