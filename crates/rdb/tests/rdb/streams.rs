//! Streams in all three versions, made by hand, and what must not be in them.

use basalt_rdb::{Consumer, Group, Pending, Stream, StreamEntry, StreamId};

use super::*;

const V1: u8 = 15;
const V2: u8 = 19;
const V3: u8 = 21;

const fn id(ms: u64, sequence: u64) -> StreamId {
    StreamId { ms, sequence }
}

fn raw_id(id: StreamId) -> Vec<u8> {
    [id.ms.to_be_bytes(), id.sequence.to_be_bytes()].concat()
}

/// A listpack of small numbers (0 to 127) and strings of up to 63 bytes.
fn listpack(elements: &[&str]) -> Vec<u8> {
    let mut entries = Vec::new();
    for element in elements {
        let start = entries.len();
        match element.parse::<u8>() {
            Ok(number) => entries.push(number),
            Err(_) if element.starts_with('-') => {
                let number: i16 = element.parse().expect("a small number");
                entries.extend_from_slice(&(number as u16 & 0x1fff | 0xc000).to_be_bytes());
            }
            Err(_) => {
                entries.push(0x80 | element.len() as u8);
                entries.extend_from_slice(element.as_bytes());
            }
        }
        entries.push((entries.len() - start) as u8);
    }
    let mut out = (entries.len() as u32 + 7).to_le_bytes().to_vec();
    out.extend_from_slice(&(elements.len() as u16).to_le_bytes());
    out.extend_from_slice(&entries);
    out.push(0xff);
    out
}

/// One node: its master identity, its elements separated by spaces.
fn node(master: StreamId, elements: &str) -> Vec<u8> {
    let elements: Vec<&str> = elements.split(' ').collect();
    [string(&raw_id(master)), string(&listpack(&elements))].concat()
}

/// Two entries with the names of the first, a deleted one and one with a name of its own.
const NODE: &str = "3 1 1 n 0 2 0 0 v1 4 3 0 1 v2 4 2 1 -5 v3 4 0 1 -4 2 n w1 o w2 8";

fn entry(id: StreamId, fields: &[(&'static str, &'static str)]) -> StreamEntry<'static> {
    let bytes = |text: &'static str| text.as_bytes().into();
    let fields = fields.iter().map(|(name, value)| (bytes(name), bytes(value)));
    StreamEntry { id, fields: fields.collect() }
}

fn entries() -> Vec<StreamEntry<'static>> {
    vec![
        entry(id(10, 5), &[("n", "v1")]),
        entry(id(11, 0), &[("n", "v3")]),
        entry(id(11, 1), &[("n", "w1"), ("o", "w2")]),
    ]
}

fn one_node(elements: &str) -> Vec<u8> {
    [vec![1], node(id(10, 5), elements)].concat()
}

#[test]
fn entries_are_read_from_their_nodes() {
    let body = [one_node(NODE), b"\x03\x0b\x01\x0a\x05\x0a\x06\x04\x00".to_vec()].concat();
    let stream = Stream {
        entries: entries(),
        last_id: id(11, 1),
        max_deleted_id: id(10, 6),
        entries_added: 4,
        groups: Vec::new(),
    };
    assert_eq!(read(V2, &body), Ok(Payload::Stream(stream.clone())));
    assert_eq!(read(V3, &body), Ok(Payload::Stream(stream.clone())));
    let body = [one_node(NODE), b"\x03\x0b\x01\x00".to_vec()].concat();
    let first = Stream { max_deleted_id: id(0, 0), entries_added: 3, ..stream };
    assert_eq!(read(V1, &body), Ok(Payload::Stream(first)));
    let empty = Stream { last_id: id(5, 5), entries_added: 7, ..Stream::default() };
    assert_eq!(read(V2, b"\0\0\x05\x05\0\0\0\0\x07\0"), Ok(Payload::Stream(empty)));
}

#[test]
fn nodes_that_break_a_rule_are_refused() {
    let assert_refused = |elements: &str, reason: &str| {
        let body = [one_node(elements), b"\x01\x7f\x00\x00\x00\x00\x00\x01\x00".to_vec()].concat();
        assert_corrupt(V2, &body, reason);
    };
    let count = "stream: number of entries";
    let order = "stream: order of entries";
    let shape = "stream: node";
    assert_refused("2 0 1 n 0 2 0 0 v1 4", count);
    assert_refused("1 1 1 n 0 2 0 0 v1 4", count);
    assert_refused("0 1 1 n 0 2 0 0 v1 4", count);
    assert_refused("2 0 1 n 0 2 0 0 v1 4 2 0 0 v1 4", order);
    assert_refused("2 0 1 n 0 2 1 0 v1 4 2 0 0 v1 4", order);
    assert_refused("1 0 1 n 0 2 0 -1 v1 4", order);
    assert_refused("1 0 1 n 0 2 -1 0 v1 4", order);
    assert_refused("1 0 1 n 1 2 0 0 v1 4", shape);
    assert_refused("1 0 1 n 0 2 0 0 v1 5", shape);
    assert_refused("1 0 1 n 0 2 0 0 v1", shape);
    assert_refused("1 0 9 n 0 2 0 0 v1 4", shape);
    assert_refused("1 0 -1 n 0 2 0 0 v1 4", shape);
    assert_refused("x 0 1 n 0 2 0 0 v1 4", shape);
    assert_refused("1 0 0 0 2 0 0 3", shape);
    assert_refused("1 0 1 n 0 0 0 0 0 4", shape);
    assert_refused("1 0 1 n 0 0 0 0 9 n v 6", shape);
    assert_refused("1 0 1 n 0 0 0 0 -1 n v 6", shape);
    let short_master = [vec![1], string(b"short"), string(&listpack(&["1"]))].concat();
    assert_corrupt(V2, &[short_master, vec![0; 16]].concat(), shape);
}

#[test]
fn counters_and_nodes_must_agree() {
    let node_of_one = "1 0 1 n 0 2 0 0 v1 4";
    let body = [one_node(node_of_one), b"\x02\x0a\x05\x00".to_vec()].concat();
    assert_corrupt(V1, &body, "stream: number of entries");
    let body = [one_node(node_of_one), b"\x01\x0a\x04\x00".to_vec()].concat();
    assert_corrupt(V1, &body, "stream: last identity is below an entry's");
    let twice = [vec![2], one_node(node_of_one)[1..].repeat(2), b"\x02\x0a\x05\x00".to_vec()];
    assert_corrupt(V1, &twice.concat(), "stream: order of entries");
}

/// A stream without entries, up to its groups.
const EMPTY: &[u8] = b"\0\0\x05\x05\0\0\0\0\x07";

struct GroupBytes {
    pending: Vec<StreamId>,
    consumers: Vec<(&'static str, Vec<StreamId>)>,
}

/// A group "g" at 3-4 which has read -1 entries; every entry was delivered at 1000, twice.
fn group_bytes(kind: u8, group: &GroupBytes) -> Vec<u8> {
    let mut out = b"\x01g\x03\x04\x81".to_vec();
    out.extend_from_slice(&[0xff; 8]);
    out.push(group.pending.len() as u8);
    for id in &group.pending {
        out.extend(raw_id(*id));
        out.extend_from_slice(&1000u64.to_le_bytes());
        out.push(2);
    }
    out.push(group.consumers.len() as u8);
    for (name, pending) in &group.consumers {
        out.push(name.len() as u8);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&2000u64.to_le_bytes());
        if kind == V3 {
            out.extend_from_slice(&u64::MAX.to_le_bytes());
        }
        out.push(pending.len() as u8);
        pending.iter().for_each(|id| out.extend(raw_id(*id)));
    }
    out
}

fn with_groups(kind: u8, groups: &[GroupBytes]) -> Vec<u8> {
    let mut out = EMPTY.to_vec();
    out.push(groups.len() as u8);
    groups.iter().for_each(|group| out.extend(group_bytes(kind, group)));
    out
}

#[test]
fn groups_are_read_with_their_pending_entries() {
    let group = GroupBytes {
        pending: vec![id(1, 1), id(1, 2), id(2, 0)],
        consumers: vec![("a", vec![id(1, 2)]), ("b", vec![id(1, 1), id(2, 0)])],
    };
    let pending = |id| Pending { id, delivered_ms: 1000, deliveries: 2 };
    for (kind, active_ms) in [(V2, Some(2000)), (V3, None)] {
        let consumer = |name: &'static str, ids: &[StreamId]| Consumer {
            name: name.as_bytes().into(),
            seen_ms: 2000,
            active_ms,
            pending: ids.iter().copied().map(pending).collect(),
        };
        let expected = Group {
            name: b"g"[..].into(),
            last_id: id(3, 4),
            entries_read: None,
            consumers: vec![consumer("a", &[id(1, 2)]), consumer("b", &[id(1, 1), id(2, 0)])],
        };
        let body = with_groups(kind, std::slice::from_ref(&group));
        let Ok(Payload::Stream(stream)) = read(kind, &body) else { panic!("version {kind}") };
        assert_eq!(stream.groups, [expected]);
    }
}

#[test]
fn pending_entries_that_do_not_fit_together_are_refused() {
    let assert_refused = |group: GroupBytes, reason: &str| {
        assert_corrupt(V2, &with_groups(V2, &[group]), reason);
    };
    let (one, two) = (id(1, 1), id(1, 2));
    let (pending, consumers) = (vec![one, two], vec![("a", vec![one])]);
    let without_consumer = "stream: pending entry without consumer";
    assert_refused(GroupBytes { pending, consumers }, without_consumer);
    let (pending, consumers) = (vec![one], vec![("a", vec![one, two])]);
    assert_refused(GroupBytes { pending, consumers }, "stream: entry is not pending");
    let (pending, consumers) = (vec![one], vec![("a", vec![one]), ("b", vec![one])]);
    assert_refused(GroupBytes { pending, consumers }, "stream: entry is pending twice");
    let order = "stream: order of pending entries";
    let (pending, consumers) = (vec![two, one], vec![("a", vec![one, two])]);
    assert_refused(GroupBytes { pending, consumers }, order);
    let (pending, consumers) = (vec![one, two], vec![("a", vec![two, one])]);
    assert_refused(GroupBytes { pending, consumers }, order);
    let (pending, consumers) = (vec![], vec![("a", vec![]), ("a", vec![])]);
    assert_refused(GroupBytes { pending, consumers }, "stream: consumer stands twice");
    let empty = || GroupBytes { pending: vec![], consumers: vec![] };
    assert_corrupt(V2, &with_groups(V2, &[empty(), empty()]), "stream: group stands twice");
}

#[test]
fn the_first_version_leads_to_the_number_of_entries_read() {
    let read_by = |group: &[u8]| {
        let body = [one_node(NODE), b"\x03\x0b\x01\x01\x01g".to_vec(), group.to_vec()].concat();
        let body = [body, b"\0\0".to_vec()].concat();
        let Ok(Payload::Stream(stream)) = read(V1, &body) else { panic!("{group:?}") };
        stream.groups[0].entries_read
    };
    assert_eq!(read_by(b"\x0b\x01"), Some(3), "at the end");
    assert_eq!(read_by(b"\x0a\x04"), Some(0), "before the first");
    assert_eq!(read_by(b"\x0a\x05"), Some(1), "at the first");
    assert_eq!(read_by(b"\x0b\x00"), None, "between");
    assert_eq!(read_by(b"\x0c\x00"), None, "after the end");
}
