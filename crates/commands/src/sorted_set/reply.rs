//! HOT PATH
//! Members and scores in replies.

use crate::item::reply_item;
use basalt_resp::{Protocol, Reply};
use basalt_value::item::Item;
use basalt_value::sorted_set::Element;

/// Whether scores stand beside members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scores {
    /// Members only.
    Without,
    /// Each member with its score: flat in RESP2, pairs in RESP3.
    With,
}

/// A member.
#[inline]
pub(crate) fn member(reply: &mut Reply<'_>, member: Item<'_>) {
    reply_item(member, reply);
}

/// The header of this number of elements.
#[inline]
pub(super) fn header(reply: &mut Reply<'_>, count: usize, scores: Scores) {
    let is_flat = scores == Scores::With && reply.protocol() == Protocol::Resp2;
    reply.array(if is_flat { count * 2 } else { count });
}

/// One element of those that a header announced.
#[inline]
pub(super) fn element(reply: &mut Reply<'_>, element: Element<'_>, scores: Scores) {
    if scores == Scores::With && reply.protocol() == Protocol::Resp3 {
        reply.array(2);
    }
    member(reply, element.member);
    if scores == Scores::With {
        reply.double(element.score);
    }
}

/// All of them.
#[inline]
pub(super) fn elements<'e>(
    reply: &mut Reply<'_>,
    elements: impl ExactSizeIterator<Item = Element<'e>>,
    scores: Scores,
) {
    header(reply, elements.len(), scores);
    elements.for_each(|it| element(reply, it, scores));
}
