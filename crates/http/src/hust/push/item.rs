//! An item, as its entry has it.

use basalt_resp::Value;

/// See the head of this file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Item {
    pub(super) index: u64,
    /// `None` if the entry has none, which another client may have added.
    body: Option<Vec<u8>>,
    life: Option<Life>,
}

/// When it was published, and how long it lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Life {
    pub(super) since_ms: u64,
    pub(super) seconds: u64,
}

impl Life {
    /// As an entry has it.
    pub(super) fn text(self) -> Vec<u8> {
        format!("{}.{}", self.since_ms, self.seconds).into_bytes()
    }

    fn parse(text: &[u8]) -> Option<Life> {
        let (since_ms, seconds) = str::from_utf8(text).ok()?.split_once('.')?;
        Some(Life { since_ms: since_ms.parse().ok()?, seconds: seconds.parse().ok()? })
    }
}

impl Item {
    /// Reads an entry; `None` if it is none of a push queue.
    pub(super) fn of_entry(entry: Value) -> Option<Item> {
        let Value::Array(parts) = entry else { return None };
        let mut parts = parts.into_iter();
        let (Value::Bulk(id), Value::Array(fields)) = (parts.next()?, parts.next()?) else {
            return None;
        };
        let mut item = Item { index: index(&id)?, body: None, life: None };
        let mut fields = fields.into_iter();
        while let (Some(Value::Bulk(name)), Some(Value::Bulk(value))) =
            (fields.next(), fields.next())
        {
            match name.as_slice() {
                b"item" => item.body = Some(value),
                b"at" => item.life = Life::parse(&value),
                _ => {}
            }
        }
        Some(item)
    }

    /// An entry whose life nobody has told stays until it is trimmed.
    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        self.life.is_some_and(|life| {
            now_ms >= life.since_ms.saturating_add(life.seconds.saturating_mul(1000))
        })
    }

    pub(super) fn published_ms(&self) -> Option<u64> {
        self.life.map(|life| life.since_ms)
    }

    /// Its bytes, unless it is over.
    pub(super) fn into_body(self, now_ms: u64) -> Option<Vec<u8>> {
        if self.is_over(now_ms) { None } else { self.body }
    }
}

/// The index that an ID stands for.
pub(super) fn index(id: &[u8]) -> Option<u64> {
    let (milliseconds, sequence) = str::from_utf8(id).ok()?.split_once('-')?;
    (milliseconds == "0").then(|| sequence.parse().ok())?
}

#[cfg(test)]
pub(super) fn entry(id: &str, fields: &[&str]) -> Value {
    let bulk = |text: &str| Value::Bulk(text.as_bytes().to_vec());
    let fields = fields.iter().map(|field| bulk(field)).collect();
    Value::Array(vec![bulk(id), Value::Array(fields)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_lives_as_long_as_it_was_told() {
        let life = Life { since_ms: 1_000, seconds: 2 };
        let life = String::from_utf8(life.text()).unwrap();
        let item = Item::of_entry(entry("0-7", &["item", "a", "at", &life])).unwrap();
        assert_eq!((item.index, item.is_over(2_999), item.is_over(3_000)), (7, false, true));
        assert_eq!(item.clone().into_body(2_999), Some(b"a".to_vec()));
        assert_eq!(item.into_body(3_000), None);
    }

    #[test]
    fn what_others_have_added_stays() {
        let item = Item::of_entry(entry("0-7", &["item", "a"])).unwrap();
        assert!(!item.is_over(u64::MAX));
        let greatest = format!("{0}.{0}", u64::MAX);
        let item = Item::of_entry(entry("0-7", &["item", "a", "at", &greatest])).unwrap();
        assert!(!item.is_over(u64::MAX - 1));
        let item = Item::of_entry(entry("0-7", &["colour", "blue"])).unwrap();
        assert_eq!(item.into_body(0), None);
        assert_eq!(Item::of_entry(entry("1764000000000-0", &["item", "a"])), None);
        assert_eq!(Item::of_entry(Value::Null), None);
    }
}
