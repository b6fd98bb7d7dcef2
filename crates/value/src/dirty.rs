//! Which elements of a collection have changed since its rows on disk were written.
//!
//! A collection of which every element has a row of its own is *spread*. A caller that changes an
//! element of one says so here first, with what the element was. A checkpoint then writes the rows
//! of those elements, and no others. It does that in slices, between which the collection changes
//! on: an element that is touched meanwhile keeps here what it was when the checkpoint began, and
//! that is what the checkpoint writes.
//!
//! Elements go by the names and contents of their rows ([`crate::spread`]).

use crate::seed::hash_member;
use hashbrown::HashTable;

/// Elements that have changed. See the head of this file.
#[derive(Debug, Default)]
pub struct DirtyElements {
    elements: HashTable<Element>,
    keeping: Keeping,
    /// What was touched for the first time since somebody looked, if somebody does.
    fresh: Option<Vec<Element>>,
}

/// Whether what elements were is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keeping {
    /// Only that they have changed.
    #[default]
    Names,
    /// What they were, too: a checkpoint is under way, or the old row cannot be found without.
    Contents,
}

/// What an element was before the first change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Was {
    /// Nobody has kept it.
    Unknown,
    /// It was not there.
    Absent,
    /// It was there, with this content.
    Content(Box<[u8]>),
}

/// An element that has changed.
#[derive(Clone, Debug)]
pub struct Element {
    /// The name of its row.
    pub name: Box<[u8]>,
    /// What it was.
    pub was: Was,
}

impl DirtyElements {
    /// Nothing yet.
    pub fn new(keeping: Keeping) -> DirtyElements {
        DirtyElements { elements: HashTable::new(), keeping, fresh: None }
    }

    /// How many elements have changed.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// None has.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// From now on keeps this of elements that are touched for the first time.
    pub fn keep(&mut self, keeping: Keeping) {
        self.keeping = keeping;
    }

    /// An element is about to change, or has just done so. `was` appends the content that it had
    /// and returns true if there was one; it is asked only if that is to be kept.
    pub fn note(&mut self, name: &[u8], was: impl FnOnce(&mut Vec<u8>) -> bool) {
        let hash = hash_member(name);
        if self.elements.find(hash, |element| *element.name == *name).is_some() {
            return;
        }
        let was = match self.keeping {
            Keeping::Names => Was::Unknown,
            Keeping::Contents => {
                let mut content = Vec::new();
                if was(&mut content) { Was::Content(content.into()) } else { Was::Absent }
            }
        };
        let element = Element { name: name.into(), was };
        if let Some(fresh) = &mut self.fresh {
            fresh.push(element.clone());
        }
        self.elements.insert_unique(hash, element, |element| hash_member(&element.name));
    }

    /// What an element was, if it has changed.
    pub fn get(&self, name: &[u8]) -> Option<&Was> {
        let found = self.elements.find(hash_member(name), |element| *element.name == *name);
        found.map(|element| &element.was)
    }

    /// From now on lists what is touched for the first time, in that order.
    pub fn begin_listing(&mut self) {
        self.fresh = Some(Vec::new());
    }

    /// What has been listed since the last call.
    pub fn take_listed(&mut self) -> Vec<Element> {
        self.fresh.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Lists no more.
    pub fn end_listing(&mut self) {
        self.fresh = None;
    }

    /// Takes all that have changed out and begins again, keeping `keeping` from now on.
    pub fn take(&mut self, keeping: Keeping) -> DirtyElements {
        std::mem::replace(self, DirtyElements::new(keeping))
    }
}

impl IntoIterator for DirtyElements {
    type Item = Element;
    type IntoIter = hashbrown::hash_table::IntoIter<Element>;

    fn into_iter(self) -> Self::IntoIter {
        self.elements.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(content: &'static [u8]) -> impl FnOnce(&mut Vec<u8>) -> bool {
        move |out| {
            out.extend_from_slice(content);
            true
        }
    }

    #[test]
    fn the_first_content_is_kept_and_only_when_asked_for() {
        let mut touched = DirtyElements::default();
        touched.note(b"a", |_| panic!("nobody wants to know"));
        assert_eq!(touched.get(b"a"), Some(&Was::Unknown));
        touched.keep(Keeping::Contents);
        touched.note(b"b", is(b"1"));
        touched.note(b"b", is(b"2"));
        touched.note(b"c", |_| false);
        assert_eq!(touched.get(b"b"), Some(&Was::Content(b"1"[..].into())));
        assert_eq!(touched.get(b"c"), Some(&Was::Absent));
        assert_eq!(touched.get(b"d"), None);
        assert_eq!(touched.take(Keeping::Names).len(), 3);
        assert!(touched.is_empty());
    }
}
