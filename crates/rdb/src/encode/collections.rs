//! Lists, sets and sorted sets.

use std::borrow::Cow;

use crate::encode::options::EncodeOptions;
use crate::encode::writer::Writer;
use crate::model::{Bytes, by_score, sort_by_score};
use crate::number;
use crate::packed::intset::intset;
use crate::packed::listpack::{self, ListpackWriter};
use crate::types;

/// More are never one intset, as in Redis: its count has 32 bits.
const INTSET_ENTRIES_MAX: usize = 1 << 30;
/// More than an entry of a listpack takes besides its string: five bytes before and five behind.
const ENTRY_OVERHEAD_BYTES: usize = 10;
/// What Redis takes that to be when it looks whether a node of a list is full.
const NODE_ENTRY_OVERHEAD_BYTES: usize = 8;

pub(super) fn list(elements: &[Bytes<'_>], writer: &mut Writer<'_>) -> u8 {
    let nodes = nodes(elements, writer.options);
    writer.count(nodes.len());
    for (container, bytes) in nodes {
        writer.length(container);
        writer.string(&bytes);
    }
    types::LIST_QUICKLIST_2
}

/// Cuts a list into nodes where Redis would, had the elements been pushed one after the other.
fn nodes<'e>(elements: &'e [Bytes<'_>], options: &EncodeOptions) -> Vec<(u64, Cow<'e, [u8]>)> {
    let bytes_max = options.list_node_bytes_max.min(listpack::BYTES_MAX);
    let plain_bytes_min =
        options.list_plain_bytes_min.min(listpack::BYTES_MAX - ENTRY_OVERHEAD_BYTES);
    let pack = |open: ListpackWriter| (types::NODE_PACKED, Cow::Owned(open.finish()));
    let mut nodes = Vec::new();
    let mut open: Option<ListpackWriter> = None;
    for element in elements {
        if element.len() >= plain_bytes_min {
            nodes.extend(open.take().map(pack));
            nodes.push((types::NODE_PLAIN, Cow::Borrowed(&**element)));
            continue;
        }
        let full = |node: &mut ListpackWriter| {
            node.bytes() + element.len() + NODE_ENTRY_OVERHEAD_BYTES > bytes_max
                || node.count() >= options.list_node_entries_max
        };
        nodes.extend(open.take_if(full).map(pack));
        open.get_or_insert_with(ListpackWriter::new).push(element);
    }
    nodes.extend(open.map(pack));
    nodes
}

pub(super) fn set(members: &[Bytes<'_>], writer: &mut Writer<'_>) -> u8 {
    if members.len() <= writer.options.set_intset_entries_max.min(INTSET_ENTRIES_MAX)
        && let Some(mut numbers) = numbers(members)
    {
        numbers.sort_unstable();
        writer.string(&intset(&numbers));
        return types::SET_INTSET;
    }
    writer.count(members.len());
    members.iter().for_each(|member| writer.string(member));
    types::SET
}

fn numbers(members: &[Bytes<'_>]) -> Option<Vec<i64>> {
    members.iter().map(|member| number::integer(member)).collect()
}

pub(super) fn sorted_set(members: &[(Bytes<'_>, f64)], writer: &mut Writer<'_>) -> u8 {
    let options = writer.options;
    let lengths = members.iter().map(|(member, _)| member.len());
    let is_compact = members.len() <= options.zset_listpack_entries_max
        && fit_listpack(lengths, options.zset_listpack_value_bytes_max);
    let members = in_order(members);
    if !is_compact {
        writer.count(members.len());
        // The highest first, as Redis does: it inserts each before those it has.
        for (member, score) in members.iter().rev() {
            writer.string(member);
            writer.bytes(&score.to_le_bytes());
        }
        return types::ZSET_2;
    }
    let mut listpack = ListpackWriter::new();
    for (member, score) in members.iter() {
        listpack.push(member);
        match number::score_integer(*score) {
            Some(integer) => listpack.push_integer(integer),
            None => listpack.push(number::score_text(*score).as_bytes()),
        }
    }
    writer.string(&listpack.finish());
    types::ZSET_LISTPACK
}

/// Sorts what is not sorted: Redis searches listpacks in the belief that they are.
fn in_order<'s, 'b>(members: &'s [(Bytes<'b>, f64)]) -> Cow<'s, [(Bytes<'b>, f64)]> {
    if members.is_sorted_by(|a, b| by_score(a, b).is_lt()) {
        return Cow::Borrowed(members);
    }
    let mut members = members.to_vec();
    sort_by_score(&mut members);
    Cow::Owned(members)
}

/// Whether strings of these lengths may be a listpack together: none is longer than `bytes_max`,
/// and the whole stays within what a listpack may have.
pub(super) fn fit_listpack(lengths: impl Iterator<Item = usize>, bytes_max: usize) -> bool {
    let mut total = 0usize;
    for length in lengths {
        // An entry more for a score or an expiry.
        total = total.saturating_add(length + 4 * ENTRY_OVERHEAD_BYTES);
        if length > bytes_max || total > listpack::BYTES_MAX {
            return false;
        }
    }
    true
}
