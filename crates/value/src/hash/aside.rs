//! What few native hashes have beside their fields.

use super::expiries::Expiries;
use crate::attributes::Attributes;
use crate::item::Item;

/// See the head of this file.
#[derive(Default)]
pub(super) struct Aside {
    pub(super) expiries: Expiries,
    /// Made with the first field that gets a version.
    pub(super) versions: Option<Attributes>,
}

impl Aside {
    /// No field expires, and none has a version.
    pub(super) fn is_empty(&self) -> bool {
        self.expiries.len() == 0 && self.versions.is_none()
    }

    /// A field is gone, and its version with it.
    pub(super) fn forget_version(&mut self, name: Item<'_>) {
        if let Some(versions) = &mut self.versions {
            versions.remove(name);
            if versions.is_empty() {
                self.versions = None;
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Aside>()
            + self.expiries.heap_bytes()
            + self.versions.as_ref().map_or(0, Attributes::heap_bytes)
    }
}
