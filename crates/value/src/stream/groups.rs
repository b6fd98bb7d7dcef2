//! Changing groups: making and removing them and their consumers, delivering, claiming,
//! acknowledging.

use super::bytes::put_ids;
use super::edit::{self, Visit};
use super::group::{Delivery, Group, GroupPlace};
use super::id::EntryId;
use super::native::{Native, Stream};
use super::reader::{Acknowledgement, Attempt, Reader};
use super::spread;
use crate::edits::Edits;
use crate::item::Item;
use basalt_stdx::varint;

impl Stream {
    /// Makes a group; returns true if there was none of this name.
    pub fn create_group(&mut self, name: &[u8], at: GroupPlace, edits: &mut Edits<'_>) -> bool {
        if self.group(name).is_some() {
            return false;
        }
        spread::touch_new_group(name, edits);
        self.native_mut().create_group(name, at);
        write_place(edit::CREATE_GROUP, name, at, edits);
        true
    }

    /// Removes a group with its consumers and what is pending; returns true if it was there.
    pub fn destroy_group(&mut self, name: &[u8], edits: &mut Edits<'_>) -> bool {
        let native = self.native_mut();
        native.touch_group(name, edits);
        native.touch_all_pending(name, edits);
        let destroyed = native.destroy_group(name);
        if destroyed {
            edits.write(|out| {
                out.push(edit::DESTROY_GROUP);
                Item::of(name).put(out);
            });
        }
        destroyed
    }

    /// Sets how far a group is; returns true if it is there.
    pub fn set_group(&mut self, name: &[u8], at: GroupPlace, edits: &mut Edits<'_>) -> bool {
        let native = self.native_mut();
        native.touch_group(name, edits);
        let found = native.with_group(name, |group| group.set_place(at)).is_some();
        if found {
            write_place(edit::SET_GROUP, name, at, edits);
        }
        found
    }

    /// Notes that a consumer tries to get something; returns true if it was made for that. `None`
    /// if there is no such group.
    pub fn see(
        &mut self,
        reader: Reader<'_>,
        attempt: Attempt,
        edits: &mut Edits<'_>,
    ) -> Option<bool> {
        let visit = Visit::new(reader, attempt);
        let native = self.native_mut();
        native.touch_group(reader.group, edits);
        let made = native.with_group(reader.group, |group| visit.make(group).1)?;
        edits.write(|out| visit.put(edit::SEE, out));
        Some(made)
    }

    /// Makes a consumer; returns true if there was none of this name. `None` if there is no such
    /// group.
    pub fn create_consumer(&mut self, reader: Reader<'_>, edits: &mut Edits<'_>) -> Option<bool> {
        if self.group(reader.group)?.consumer(reader.consumer).is_some() {
            return Some(false);
        }
        self.see(reader, Attempt::Fruitless, edits)
    }

    /// Removes a consumer with what is pending for it; returns how much that was, `None` if it is
    /// not there.
    pub fn delete_consumer(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        edits: &mut Edits<'_>,
    ) -> Option<usize> {
        let delete = |group: &mut Group| group.delete_consumer(consumer);
        let native = self.native_mut();
        native.touch_group(group, edits);
        native.touch_pending_of(group, consumer, edits);
        let pending = native.with_group(group, delete)??;
        edits.write(|out| {
            out.push(edit::DELETE_CONSUMER);
            Item::of(group).put(out);
            Item::of(consumer).put(out);
        });
        Some(pending)
    }

    /// Delivers entries, new to the group and ascending, to a consumer.
    pub fn deliver(
        &mut self,
        reader: Reader<'_>,
        ids: &[EntryId],
        acknowledgement: Acknowledgement,
        edits: &mut Edits<'_>,
    ) {
        let native = self.native_mut();
        let Some(group) = native.groups.get(reader.group) else { return };
        let at = native.place_after(group, ids);
        let pending = match acknowledgement {
            Acknowledgement::Expected => ids,
            Acknowledgement::Waived => &[],
        };
        let attempt = if pending.is_empty() { Attempt::Fruitless } else { Attempt::Fruitful };
        native.touch_group(reader.group, edits);
        native.touch_pending(reader.group, pending.iter().copied(), edits);
        let visit = Visit::new(reader, attempt);
        native.with_group(reader.group, |group| {
            let (number, _) = visit.make(group);
            group.set_place(at);
            let delivery = Delivery { delivered_ms: reader.now_ms, deliveries: 1 };
            pending.iter().for_each(|&id| group.assign(id, number, delivery));
        });
        for pending in in_edits(pending) {
            edits.write(|out| {
                visit.put(edit::DELIVER, out);
                at.put(out);
                put_ids(pending, out);
            });
        }
    }

    /// Makes entries pending for a consumer, whosever they were, each delivered so often, all at
    /// one time.
    pub fn claim(
        &mut self,
        reader: Reader<'_>,
        attempt: Attempt,
        delivered_ms: u64,
        claims: &[(EntryId, u64)],
        edits: &mut Edits<'_>,
    ) {
        let visit = Visit::new(reader, attempt);
        let native = self.native_mut();
        native.touch_group(reader.group, edits);
        native.touch_pending(reader.group, claims.iter().map(|&(id, _)| id), edits);
        let claimed = native.with_group(reader.group, |group| {
            let (number, _) = visit.make(group);
            for &(id, deliveries) in claims {
                group.assign(id, number, Delivery { delivered_ms, deliveries });
            }
        });
        if claimed.is_none() {
            return;
        }
        for claims in in_edits(claims) {
            edits.write(|out| {
                visit.put(edit::CLAIM, out);
                varint::put(out, delivered_ms);
                varint::put(out, claims.len() as u64);
                let mut before = EntryId::MIN;
                for &(id, deliveries) in claims {
                    id.put_after(before, out);
                    varint::put(out, deliveries);
                    before = id;
                }
            });
        }
    }

    /// Removes entries from what is pending in a group. Keeps of `ids` those that were.
    pub fn acknowledge(&mut self, group: &[u8], ids: &mut Vec<EntryId>, edits: &mut Edits<'_>) {
        let native = self.native_mut();
        native.touch_pending(group, ids.iter().copied(), edits);
        let found = native.with_group(group, |group| ids.retain(|&id| group.release(id)));
        if found.is_none() {
            ids.clear();
        }
        for ids in ids.chunks(edit::IDS_AN_EDIT) {
            edits.write(|out| {
                out.push(edit::ACKNOWLEDGE);
                Item::of(group).put(out);
                put_ids(ids, out);
            });
        }
    }
}

/// What goes into one edit each. Nothing goes into one edit, too, which notes the visit.
fn in_edits<T>(all: &[T]) -> impl Iterator<Item = &[T]> {
    let (first, rest) = all.split_at(all.len().min(edit::IDS_AN_EDIT));
    std::iter::once(first).chain(rest.chunks(edit::IDS_AN_EDIT))
}

fn write_place(tag: u8, name: &[u8], at: GroupPlace, edits: &mut Edits<'_>) {
    edits.write(|out| {
        out.push(tag);
        Item::of(name).put(out);
        at.put(out);
    });
}

impl Native {
    /// Makes a group. There is none of this name.
    pub(super) fn create_group(&mut self, name: &[u8], at: GroupPlace) {
        let mut group = Group::default();
        group.set_place(at);
        self.group_bytes += group_bytes(name, &group);
        self.groups.insert(name.into(), group);
    }

    pub(super) fn destroy_group(&mut self, name: &[u8]) -> bool {
        let Some(group) = self.groups.remove(name) else { return false };
        self.group_bytes -= group_bytes(name, &group);
        true
    }

    /// Changes a group, if it is there.
    pub(super) fn with_group<R>(
        &mut self,
        name: &[u8],
        change: impl FnOnce(&mut Group) -> R,
    ) -> Option<R> {
        let group = self.groups.get_mut(name)?;
        let before = group.heap_bytes();
        let result = change(group);
        self.group_bytes = self.group_bytes - before + group.heap_bytes();
        Some(result)
    }

    /// Where a group is when it has read some entries more.
    fn place_after(&self, group: &Group, ids: &[EntryId]) -> GroupPlace {
        let mut at = group.place();
        for &id in ids {
            if id > at.last_id {
                at.entries_read = self.entries_read_after(at.entries_read, id);
                at.last_id = id;
            }
        }
        at
    }
}

fn group_bytes(name: &[u8], group: &Group) -> usize {
    // Of a B-tree with few elements, which are the common case.
    const GROUP_BYTES: usize = 11 * (size_of::<Group>() + 16) / 4;
    GROUP_BYTES + name.len() + group.heap_bytes()
}
