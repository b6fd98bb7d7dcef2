//! HOT PATH
//! Elements, members, fields and values in replies.

use basalt_resp::Reply;
use basalt_value::item::{Item, NUMBER_CHARS_MAX};

/// Replies with an item; room to spell in is made for numbers only.
#[inline]
pub(super) fn reply_item(item: Item<'_>, reply: &mut Reply<'_>) {
    match item {
        Item::Bytes(bytes) => reply.bulk(bytes),
        number => reply.bulk(number.spell(&mut [0; NUMBER_CHARS_MAX])),
    }
}
