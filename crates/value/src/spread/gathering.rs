//! Gathering the rows of a spread collection, as of one moment, while it changes.
//!
//! ```text
//! moment ─▶ what was touched before is taken; from now on contents are kept
//!    step ─▶ some elements: from the collection, or, if changed since, what they were
//!    step …
//!    end  ─▶ all of the moment's rows have been given
//! ```
//! Between the steps the collection may change in any way, but it must remain: a caller that takes
//! it away has the gathering given up.

use super::elements::WalkPlace;
use super::order::{order_name, put_order_content};
use crate::dirty::{DirtyElements, Element, Keeping, Was};
use crate::kind::Kind;
use crate::value::ValueRef;

/// A row of an element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Row {
    /// The one by its name.
    Name,
    /// The one by its place in the order.
    Order,
}

/// Receives rows: which, its name, and its content, or `None` if it is to be deleted.
pub type RowSink<'a> = dyn FnMut(Row, &[u8], Option<&[u8]>) + 'a;

/// Rows being gathered. See the head of this file.
#[derive(Debug)]
pub struct Gathering {
    kind: Kind,
    work: Work,
}

#[derive(Debug)]
enum Work {
    /// All elements, on a walk.
    All(WalkPlace),
    /// What had changed.
    Changed(hashbrown::hash_table::IntoIter<Element>),
    /// Nothing any more.
    Done,
}

impl Gathering {
    /// Of all elements, from nothing. `touched` is the collection's from here on.
    pub fn all(kind: Kind, dirty: &mut DirtyElements) -> Gathering {
        *dirty = DirtyElements::new(Keeping::Contents);
        dirty.begin_listing();
        Gathering { kind, work: Work::All(WalkPlace::Start) }
    }

    /// Of what is dirty.
    pub fn changed(kind: Kind, dirty: &mut DirtyElements) -> Gathering {
        let changed = dirty.take(Keeping::Contents);
        Gathering { kind, work: Work::Changed(changed.into_iter()) }
    }

    /// Returns the rows of at least `count` elements, if there are as many; false if those were the
    /// last. What has been touched since is `since`.
    pub fn step(
        &mut self,
        value: ValueRef<'_>,
        since: &mut DirtyElements,
        count: usize,
        sink: &mut RowSink<'_>,
    ) -> bool {
        let kind = self.kind;
        match &mut self.work {
            Work::All(place) => {
                let from = std::mem::replace(place, WalkPlace::End);
                *place = value.visit_elements(from, count, &mut |name, content| {
                    // What has been touched is listed.
                    if since.get(name).is_none() {
                        put(kind, name, content, sink);
                    }
                });
                if *place == WalkPlace::End {
                    self.work = Work::Done;
                }
                for element in since.take_listed() {
                    if let Was::Content(content) = &element.was {
                        put(kind, &element.name, content, sink);
                    }
                }
            }
            Work::Changed(elements) => {
                let mut content = Vec::new();
                for element in elements.by_ref().take(count) {
                    content.clear();
                    let now = match since.get(&element.name) {
                        Some(Was::Absent) => None,
                        Some(Was::Content(then)) => Some(&**then),
                        Some(Was::Unknown) | None => {
                            let is_there = value.put_content(&element.name, &mut content);
                            is_there.then_some(&content[..])
                        }
                    };
                    change(kind, &element, now, sink);
                }
                if elements.len() == 0 {
                    self.work = Work::Done;
                }
            }
            Work::Done => {}
        }
        let goes_on = !matches!(self.work, Work::Done);
        if !goes_on {
            since.end_listing();
            since.keep(value.keeping());
        }
        goes_on
    }
}

/// Returns the rows of an element that is there.
fn put(kind: Kind, name: &[u8], content: &[u8], sink: &mut RowSink<'_>) {
    sink(Row::Name, name, Some(content));
    let mut order = Vec::new();
    if order_name(kind, name, content, &mut order) {
        let mut order_content = Vec::new();
        put_order_content(content, &mut order_content);
        sink(Row::Order, &order, Some(&order_content));
    }
}

/// Returns the rows of an element that has changed.
fn change(kind: Kind, element: &Element, now: Option<&[u8]>, sink: &mut RowSink<'_>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    if let Was::Content(then) = &element.was {
        order_name(kind, &element.name, then, &mut before);
    }
    if let Some(now) = now {
        order_name(kind, &element.name, now, &mut after);
    }
    if !before.is_empty() && before != after {
        sink(Row::Order, &before, None);
    }
    match now {
        Some(now) => put(kind, &element.name, now, sink),
        None => sink(Row::Name, &element.name, None),
    }
}
