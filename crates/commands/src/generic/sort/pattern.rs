//! What is sorted, and the patterns by which an element names another key, or a field of a hash
//! there.

use super::keys::Keys;
use basalt_engine::Object;
use basalt_value::item::{Item, NUMBER_CHARS_MAX};
use basalt_value::{Collection, Hash, List, Set, SortedSet, Variant};
use std::borrow::Cow;

/// What is sorted.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    List(&'a List),
    Set(&'a Set),
    SortedSet(&'a SortedSet),
}

impl<'a> Source<'a> {
    /// The collection under a key, if it is one that can be sorted.
    pub(super) fn of(object: Object<'a>) -> Option<Source<'a>> {
        let value = object.collection()?;
        List::of(value)
            .map(Source::List)
            .or_else(|| Set::of(value).map(Source::Set))
            .or_else(|| SortedSet::of(value).map(Source::SortedSet))
    }

    pub(super) fn len(self) -> usize {
        match self {
            Source::List(list) => list.len(),
            Source::Set(set) => set.len(),
            Source::SortedSet(set) => set.len(),
        }
    }
}

/// Where something about an element is found.
#[derive(Clone, Copy)]
pub(super) enum Pattern<'a> {
    /// `#`: it is the element.
    Element,
    /// No `*`: nowhere.
    Nowhere,
    /// `before*after` or `before*after->field`, with the element in place of the asterisk.
    Key { before: &'a [u8], after: &'a [u8], field: Option<&'a [u8]> },
}

impl<'a> Pattern<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Pattern<'a> {
        if text == b"#" {
            return Pattern::Element;
        }
        let Some(asterisk) = text.iter().position(|&byte| byte == b'*') else {
            return Pattern::Nowhere;
        };
        let (before, rest) = (&text[..asterisk], &text[asterisk + 1..]);
        // An arrow without a field behind it is part of the key's name.
        match rest.windows(2).position(|two| two == b"->") {
            Some(arrow) if arrow + 2 < rest.len() => {
                Pattern::Key { before, after: &rest[..arrow], field: Some(&rest[arrow + 2..]) }
            }
            _ => Pattern::Key { before, after: rest, field: None },
        }
    }

    /// The key that an element names.
    pub(super) fn key_name(&self, element: &[u8]) -> Option<Vec<u8>> {
        match self {
            Pattern::Element | Pattern::Nowhere => None,
            Pattern::Key { before, after, .. } => Some([before, element, after].concat()),
        }
    }

    /// What is found about an element. The key that it names is held.
    pub(super) fn look_up<'k>(
        &self,
        element: &'k [u8],
        keys: Keys<'k, '_>,
    ) -> Option<Cow<'k, [u8]>> {
        if matches!(self, Pattern::Element) {
            return Some(Cow::Borrowed(element));
        }
        let object = keys.find(&self.key_name(element)?)?;
        match self {
            Pattern::Key { field: Some(field), .. } => field_of(object, field, keys.now_ms()),
            _ => object.string().map(|string| Cow::Borrowed(string.bytes())),
        }
    }
}

/// A field of the hash under a key; nothing if it is no hash.
fn field_of<'k>(object: Object<'k>, field: &[u8], now_ms: u64) -> Option<Cow<'k, [u8]>> {
    let hash = object.as_collection::<Hash>().ok()?;
    Some(match hash.field(Item::of(field), now_ms)?.value {
        Item::Bytes(bytes) => Cow::Borrowed(bytes),
        number => Cow::Owned(number.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec()),
    })
}
