//! The items that a push queue still has.

use super::item::{Item, index};
use super::words::no_push_queue;
use crate::hust::answer::Answered;
use basalt_resp::Value;

/// See the head of this file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Window {
    /// The newest index that was given.
    pub(super) newest: u64,
    pub(super) items: u64,
    pub(super) oldest: Option<Item>,
    /// When the newest item was published, if that is known.
    pub(super) published_ms: Option<u64>,
}

impl Window {
    /// Reads what XINFO STREAM replies; `None` if there is nothing.
    ///
    /// # Errors
    /// It is no push queue.
    pub(super) fn of_info(reply: Value) -> Result<Option<Window>, Answered> {
        let members = match reply {
            Value::Map(members) => members,
            Value::Error(text) if text.as_slice() == b"ERR no such key" => return Ok(None),
            Value::Error(text) => return Err(Answered::of_error(&text)),
            _ => return Err(Answered::unexpected()),
        };
        let mut window = Window::default();
        for (name, value) in members {
            let Value::Bulk(name) = name else { continue };
            match (name.as_slice(), value) {
                (b"last-generated-id", Value::Bulk(id)) => {
                    window.newest = index(&id).ok_or_else(no_push_queue)?;
                }
                (b"length", Value::Integer(items)) => window.items = items.cast_unsigned(),
                (b"first-entry", entry @ Value::Array(_)) => {
                    window.oldest = Some(Item::of_entry(entry).ok_or_else(no_push_queue)?);
                }
                (b"last-entry", entry @ Value::Array(_)) => {
                    window.published_ms = Item::of_entry(entry).and_then(|it| it.published_ms());
                }
                _ => {}
            }
        }
        Ok(Some(window))
    }

    /// The newest index of those that are gone.
    pub(super) fn dropped(&self) -> u64 {
        self.oldest.as_ref().map_or(self.newest, |oldest| oldest.index.saturating_sub(1))
    }

    pub(super) fn has(&self, index: u64) -> bool {
        self.dropped() < index && index <= self.newest
    }

    /// `Index`: between which indexes a subscriber finds something.
    pub(super) fn field(&self) -> (&'static str, String) {
        self.field_behind(self.dropped())
    }

    /// `Index`, of a window of which all up to an index is over.
    pub(super) fn field_behind(&self, index: u64) -> (&'static str, String) {
        ("Index", format!("{index}-{}", self.newest))
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::entry;
    use super::*;

    fn info(last: &str, first: Option<&str>) -> Value {
        let bulk = |text: &str| Value::Bulk(text.as_bytes().to_vec());
        let first = first.map_or(Value::Null, |id| entry(id, &["item", "a"]));
        Value::Map(vec![
            (bulk("length"), Value::Integer(3)),
            (bulk("last-generated-id"), bulk(last)),
            (bulk("first-entry"), first),
        ])
    }

    #[test]
    fn a_window_is_what_is_there() {
        let window = Window::of_info(info("0-17", Some("0-15"))).unwrap().unwrap();
        assert_eq!((window.dropped(), window.newest, window.items), (14, 17, 3));
        assert_eq!([14, 15, 17, 18].map(|index| window.has(index)), [false, true, true, false]);
        assert_eq!(window.field(), ("Index", "14-17".to_owned()));
        let empty = Window::of_info(info("0-17", None)).unwrap().unwrap();
        assert_eq!(empty.field(), ("Index", "17-17".to_owned()));
        assert!(!empty.has(17));
        let nothing = Value::Error("ERR no such key".into());
        assert_eq!(Window::of_info(nothing), Ok(None));
    }

    #[test]
    fn what_others_have_made_is_no_push_queue() {
        let status = |reply| Window::of_info(reply).map_err(|it| it.status.code()).unwrap_err();
        assert_eq!(status(info("1764000000000-0", None)), 412);
        assert_eq!(status(Value::Error("WRONGTYPE Operation".into())), 412);
        assert_eq!(status(Value::Error("LOADING".into())), 500);
        assert_eq!(status(Value::Null), 500);
    }
}
