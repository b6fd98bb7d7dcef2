//! The places of chunks: numbers that ascend along a list, with room between them.
//!
//! A chunk at an end gets a place [`STEP`] beyond its neighbour's, one that splits off another the
//! place in the middle to the next one. Where no number is left, chunks around get new places,
//! evenly far from each other: of as many chunks as it takes to find [`ROOM`] numbers for each.

use super::chunk::Chunk;
use super::side::Side;
use crate::edits::Edits;
use std::collections::VecDeque;

const MIDDLE: u64 = 1 << 63;
/// Numbers between neighbours at an end: 2^39 chunks have room on either side.
const STEP: u64 = 1 << 24;
/// Least numbers between neighbours that have got new places.
const ROOM: u64 = 1 << 12;

/// A place for a chunk beyond the last one of a side.
pub(super) fn beyond(chunks: &mut VecDeque<Chunk>, side: Side, edits: &mut Edits<'_>) -> u64 {
    if let Some(place) = free_beyond(chunks, side) {
        return place;
    }
    let all = 0..chunks.len();
    let first = MIDDLE - STEP * (all.len() as u64 / 2);
    renumber(chunks, all, first, STEP, edits);
    free_beyond(chunks, side).expect("a list has fewer chunks than half of the places")
}

fn free_beyond(chunks: &VecDeque<Chunk>, side: Side) -> Option<u64> {
    let end = if side == Side::Left { chunks.front() } else { chunks.back() };
    match (end, side) {
        (None, _) => Some(MIDDLE),
        (Some(end), Side::Left) => end.place.checked_sub(STEP),
        (Some(end), Side::Right) => end.place.checked_add(STEP),
    }
}

/// A place between a chunk and the next one.
pub(super) fn behind(chunks: &mut VecDeque<Chunk>, number: usize, edits: &mut Edits<'_>) -> u64 {
    if number + 1 == chunks.len() {
        return beyond(chunks, Side::Right, edits);
    }
    let gap = |chunks: &VecDeque<Chunk>| chunks[number + 1].place - chunks[number].place;
    if gap(chunks) < 2 {
        make_room(chunks, number, edits);
    }
    chunks[number].place + gap(chunks) / 2
}

/// Assigns new places to the chunks around one.
fn make_room(chunks: &mut VecDeque<Chunk>, number: usize, edits: &mut Edits<'_>) {
    let mut reach = 8;
    loop {
        let range = number.saturating_sub(reach)..(number + reach).min(chunks.len());
        let before = range.start.checked_sub(1).map_or(0, |before| chunks[before].place);
        let after = chunks.get(range.end).map_or(u64::MAX, |after| after.place);
        let step = (after - before) / (range.len() as u64 + 1);
        if step >= ROOM || range.len() == chunks.len() {
            renumber(chunks, range, before + step, step, edits);
            return;
        }
        reach *= 2;
    }
}

fn renumber(
    chunks: &mut VecDeque<Chunk>,
    range: std::ops::Range<usize>,
    first: u64,
    step: u64,
    edits: &mut Edits<'_>,
) {
    // All old names before the new ones: a new one may be another chunk's old one.
    chunks.range(range.clone()).for_each(|chunk| chunk.touch(edits));
    for (chunk, number) in chunks.range_mut(range).zip(0..) {
        chunk.place = first + step * number;
        edits.touch(&chunk.place.to_be_bytes(), |_| false);
    }
}
