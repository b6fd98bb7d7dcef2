//! Encodings made by hand, byte by byte: those that Redis 7.0 no longer writes, and those that it
//! cannot know.

use super::*;

/// A ziplist from entries that already have their previous lengths, with the last at `tail`.
fn ziplist(tail: u32, count: u16, entries: &[u8]) -> Vec<u8> {
    let mut out = (entries.len() as u32 + 11).to_le_bytes().to_vec();
    out.extend_from_slice(&tail.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(entries);
    out.push(0xff);
    out
}

/// Every encoding of an entry once: "ab", a string of 14 bits length, one of 32, then 5, -1, -300,
/// 70000, 2^40 and -70000.
fn ziplist_of_all() -> Vec<u8> {
    let mut entries = b"\x00\x02ab".to_vec();
    entries.extend_from_slice(b"\x04\x40\x03cde");
    entries.extend_from_slice(b"\x06\x80\0\0\0\x02fg");
    entries.extend_from_slice(b"\x08\xf6");
    entries.extend_from_slice(b"\x02\xfe\xff");
    entries.extend_from_slice(b"\x03\xc0\xd4\xfe");
    entries.extend_from_slice(b"\x04\xd0\x70\x11\x01\x00");
    entries.extend_from_slice(b"\x06\xe0\0\0\0\0\0\x01\0\0");
    let tail = 10 + entries.len() as u32;
    // The long form of a previous length, though the short one would do.
    entries.extend_from_slice(b"\xfe\x0a\0\0\0\xf0\x90\xee\xfe");
    ziplist(tail, 9, &entries)
}

const ALL: [&str; 9] = ["ab", "cde", "fg", "5", "-1", "-300", "70000", "1099511627776", "-70000"];

#[test]
fn lists_of_ziplists() {
    let expected = Payload::List(strings(&ALL));
    assert_eq!(read(10, &string(&ziplist_of_all())), Ok(expected));

    let two = [vec![3], string(&ziplist_of_all()), string(&ziplist(10, 0, b""))];
    let mut body = two.concat();
    body.extend(string(&ziplist(10, 1, b"\x00\xf1")));
    let mut expected = strings(&ALL);
    expected.push(b"0"[..].into());
    assert_eq!(read(14, &body), Ok(Payload::List(expected)));
    assert_eq!(read(10, &string(&ziplist(10, 0, b""))), Err(DecodeError::Empty));
    let empty_node = [vec![1], string(&ziplist(10, 0, b""))].concat();
    assert_eq!(read(14, &empty_node), Err(DecodeError::Empty));
}

#[test]
fn every_wrong_byte_of_a_ziplists_structure_is_refused() {
    let good = ziplist_of_all();
    // Letters, digits, and the byte of which only the two upper bits count.
    let free = [
        12, 13, 17, 18, 19, 21, 26, 27, 32, 35, 36, 39, 40, 41, 42, 45, 46, 47, 48, 49, 50, 51, 52,
    ];
    for index in (0..good.len() - 4).filter(|index| !free.contains(index)) {
        let mut bad = good.clone();
        bad[index] ^= 0x09;
        assert!(matches!(read(10, &string(&bad)), Err(DecodeError::Corrupt(_))), "byte {index}");
    }
    for length in 0..good.len() {
        let cut = string(&good[..length]);
        assert!(matches!(read(10, &cut), Err(DecodeError::Corrupt(_))), "{length} bytes");
    }
    let unknown_count = ziplist(10, 0xffff, b"\x00\xf1");
    assert_eq!(read(10, &string(&unknown_count)), Ok(Payload::List(strings(&["0"]))));
    let bad = "ziplist: entry";
    assert_corrupt(10, &string(&ziplist(10, 1, b"\x00\xff")), bad);
    assert_corrupt(10, &string(&ziplist(10, 1, b"\x00\x80\xff\xff\xff\xff")), bad);
    assert_corrupt(10, &string(&ziplist(10, 2, b"\x00\xf1\x02\xf1")), "ziplist: tail");
    assert_corrupt(10, &string(&ziplist(12, 1, b"\x00\xf1\x02\xf1")), "ziplist: count");
}

#[test]
fn plain_collections_of_every_age() {
    let expected = Payload::List(strings(&["a", "12", "a"]));
    assert_eq!(read(1, b"\x03\x01a\xc0\x0c\x01a"), Ok(expected));
    assert_eq!(read(2, b"\x02\x01b\x01a"), Ok(Payload::Set(strings(&["b", "a"]))));
    assert_corrupt(2, b"\x03\x01b\x01a\x01b", "set: member stands twice");
    // The number 7 and the string "7" are the same member.
    assert_corrupt(2, b"\x02\xc0\x07\x017", "set: member stands twice");
    let fields = vec![field("a", "1", None), field("b", "", None)];
    assert_eq!(read(4, b"\x02\x01a\xc0\x01\x01b\x00"), Ok(Payload::Hash(fields)));
    assert_corrupt(4, b"\x02\x01a\x011\x01a\x012", "hash: field stands twice");
    for kind in [1, 2, 3, 4, 5, 14, 18, 22] {
        assert_eq!(read(kind, b"\x00"), Err(DecodeError::Empty), "type {kind}");
    }
    let body = b"\x04\x01c\xfe\x01a\x041e-1\x01b\xff\x01d\x020.";
    let members = [("b", f64::NEG_INFINITY), ("d", 0.0), ("a", 0.1), ("c", f64::INFINITY)];
    let expected = members.map(|(member, score)| (member.as_bytes().into(), score));
    assert_eq!(read(3, body), Ok(Payload::SortedSet(expected.to_vec())));
    assert_corrupt(3, b"\x01\x01a\xfd", "sorted set: score is not a number");
    assert_corrupt(3, b"\x01\x01a\x03nan", "sorted set: score");
    assert_corrupt(3, b"\x01\x01a\x02x1", "sorted set: score");
    let nan = [b"\x01\x01a".to_vec(), f64::NAN.to_le_bytes().to_vec()].concat();
    assert_corrupt(5, &nan, "sorted set: score is not a number");
}

#[test]
fn sorted_sets_and_hashes_of_ziplists() {
    let entries = b"\x00\x01b\x03\x031.5\x05\x01a\x03\xf1";
    let members = vec![(b"a"[..].into(), 0.0), (b"b"[..].into(), 1.5)];
    let body = string(&ziplist(21, 4, entries));
    assert_eq!(read(12, &body), Ok(Payload::SortedSet(members)));
    let fields = vec![field("b", "1.5", None), field("a", "0", None)];
    assert_eq!(read(13, &body), Ok(Payload::Hash(fields)));
    let odd = string(&ziplist(13, 2, b"\x00\x01b\x03\xf1"));
    assert!(read(13, &odd).is_ok());
    let odd = string(&ziplist(10, 1, b"\x00\x01b"));
    assert_corrupt(12, &odd, "sorted set: member without score");
    assert_corrupt(13, &odd, "hash: field without value");
    let twice = string(&ziplist(18, 4, b"\x00\x01b\x03\xf1\x02\x01b\x03\xf2"));
    assert_corrupt(12, &twice, "sorted set: member stands twice");
    assert_corrupt(13, &twice, "hash: field stands twice");
    let no_score = string(&ziplist(13, 2, b"\x00\x01b\x03\x01x"));
    assert_corrupt(12, &no_score, "sorted set: score");
}

#[test]
fn zipmaps() {
    // One free byte behind "v1", and a length of 32 bits.
    let map = b"\x02\x02k1\x02\x01v1.\xfe\x02\0\0\0k2\x01\x00v\xff";
    let fields = vec![field("k1", "v1", None), field("k2", "v", None)];
    assert_eq!(read(9, &string(map)), Ok(Payload::Hash(fields.clone())));
    let mut unknown = map.to_vec();
    unknown[0] = 0xfe;
    assert_eq!(read(9, &string(&unknown)), Ok(Payload::Hash(fields)));
    assert_corrupt(9, &string(b"\x03\x02k1\x02\x01v1.\xff"), "zipmap: count");
    assert_corrupt(9, &string(b"\x01\x02k1\x02\x02v1.\xff"), "zipmap: entry");
    assert_corrupt(9, &string(b"\x01\x02k1\xfe\xff\xff\xff\xff\x00v\xff"), "zipmap: entry");
    assert_corrupt(9, &string(b"\x01\x02k1\x02\x00v1"), "zipmap: no end");
    assert_corrupt(9, &string(b"\x02\x01k\x01\x00v\x01k\x01\x00w\xff"), "hash: field stands twice");
    assert_eq!(read(9, &string(b"\x00\xff")), Err(DecodeError::Empty));
}

#[test]
fn intsets() {
    let short = b"\x02\0\0\0\x03\0\0\0\x00\x80\xff\xff\x05\x00";
    let expected = Payload::Set(strings(&["-32768", "-1", "5"]));
    assert_eq!(read(11, &string(short)), Ok(expected));
    let wide = b"\x08\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\x80";
    let expected = Payload::Set(strings(&["-9223372036854775808"]));
    assert_eq!(read(11, &string(wide)), Ok(expected));
    let order = "intset: order";
    assert_corrupt(11, &string(b"\x02\0\0\0\x02\0\0\0\x05\0\x05\0"), order);
    assert_corrupt(11, &string(b"\x02\0\0\0\x02\0\0\0\x05\0\x04\0"), order);
    assert_corrupt(11, &string(b"\x02\0\0\0\x03\0\0\0\x05\0\x06\0"), "intset: length");
    assert_corrupt(11, &string(b"\x04\0\0\0\xff\xff\xff\xff\x05\0\x06\0"), "intset: length");
    assert_corrupt(11, &string(b"\x03\0\0\0\0\0\0\0"), "intset: width");
    assert_eq!(read(11, &string(b"\x02\0\0\0\0\0\0\0")), Err(DecodeError::Empty));
}

/// A listpack of entries that already have their back lengths.
fn listpack(count: u16, entries: &[u8]) -> Vec<u8> {
    let mut out = (entries.len() as u32 + 7).to_le_bytes().to_vec();
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(entries);
    out.push(0xff);
    out
}

#[test]
fn sets_of_listpacks() {
    let body = string(&listpack(3, b"\x81a\x02\x05\x01\xdf\xff\x02"));
    assert_eq!(read(20, &body), Ok(Payload::Set(strings(&["a", "5", "-1"]))));
    assert_corrupt(20, &string(&listpack(2, b"\x81a\x02\x81a\x02")), "set: member stands twice");
    // "5" as a string, which Redis never writes but reads.
    assert_corrupt(20, &string(&listpack(2, b"\x05\x01\x815\x02")), "set: member stands twice");
    assert_eq!(read(20, &string(&listpack(0, b""))), Err(DecodeError::Empty));
    assert_corrupt(20, &string(&listpack(1, b"\x81a\x02\x81b\x02")), "listpack: count");
    assert_corrupt(20, &string(&listpack(1, b"\x81a\x03")), "listpack: back length");
    assert_corrupt(20, &string(&listpack(1, b"\xf0\xff\xff\xff\xffa\x02")), "listpack: entry");
    assert_corrupt(20, &string(&listpack(1, b"\xf5a\x02")), "listpack: entry");
}

#[test]
fn nodes_of_both_kinds_in_a_list() {
    let packed = [vec![2], string(&listpack(1, b"\x81a\x02"))].concat();
    let body = [vec![3], packed.clone(), b"\x01\x02bc".to_vec(), packed.clone()].concat();
    assert_eq!(read(18, &body), Ok(Payload::List(strings(&["a", "bc", "a"]))));
    assert_corrupt(18, b"\x01\x01\x00", "list: node");
    assert_corrupt(18, b"\x01\x03\x01a", "list: node");
    let empty = [vec![2], string(&listpack(0, b""))].concat();
    let body = [vec![2], empty.clone(), packed].concat();
    assert_eq!(read(18, &body), Ok(Payload::List(strings(&["a"]))));
    assert_eq!(read(18, &[vec![1], empty].concat()), Err(DecodeError::Empty));
}

#[test]
fn hashes_with_expiry_in_listpacks() {
    // Three fields: 1000, 4000 and none.
    let entries =
        b"\x81a\x02\x01\x01\xc3\xe8\x02\x81b\x02\x02\x01\xcf\xa0\x02\x81c\x02\x03\x01\x00\x01";
    let lp = string(&listpack(9, entries));
    let fields =
        vec![field("a", "1", Some(1000)), field("b", "2", Some(4000)), field("c", "3", None)];
    assert_eq!(read(23, &lp), Ok(Payload::Hash(fields.clone())));
    let with_earliest = [1000u64.to_le_bytes().to_vec(), lp].concat();
    assert_eq!(read(25, &with_earliest), Ok(Payload::Hash(fields)));
    let order = "hash: order of expiries";
    let late = b"\x81b\x02\x02\x01\x7f\x01\x81a\x02\x01\x01\x05\x01";
    assert_corrupt(23, &string(&listpack(6, late)), order);
    let none_first = b"\x81b\x02\x02\x01\x00\x01\x81a\x02\x01\x01\x05\x01";
    assert_corrupt(23, &string(&listpack(6, none_first)), order);
    let expiry = "hash: expiry of a field";
    let negative = b"\x81b\x02\x02\x01\xdf\xff\x02";
    assert_corrupt(23, &string(&listpack(3, negative)), expiry);
    let text = b"\x81b\x02\x02\x01\x815\x02";
    assert_corrupt(23, &string(&listpack(3, text)), expiry);
    let beyond = b"\x81b\x02\x02\x01\xf4\0\0\0\0\0\0\x01\0\x09";
    assert_corrupt(23, &string(&listpack(3, beyond)), expiry);
    let cut = b"\x81b\x02\x02\x01";
    assert_corrupt(23, &string(&listpack(2, cut)), "hash: field without value or expiry");
}

#[test]
fn hashes_with_expiry_field_by_field() {
    let fields =
        vec![field("a", "1", Some(1000)), field("b", "2", None), field("c", "3", Some(1062))];
    let body = b"\x03\x01\x01a\xc0\x01\x00\x01b\xc0\x02\x3f\x01c\xc0\x03";
    let relative = [1000u64.to_le_bytes().to_vec(), body.to_vec()].concat();
    assert_eq!(read(24, &relative), Ok(Payload::Hash(fields.clone())));
    let absolute = b"\x03\x43\xe8\x01a\xc0\x01\x00\x01b\xc0\x02\x44\x26\x01c\xc0\x03";
    assert_eq!(read(22, absolute), Ok(Payload::Hash(fields)));
    let expiry = "hash: expiry of a field";
    let wrapping = [u64::MAX.to_le_bytes().to_vec(), b"\x01\x02\x01a\xc0\x01".to_vec()].concat();
    assert_corrupt(24, &wrapping, expiry);
    let beyond = [(1u64 << 48).to_le_bytes().to_vec(), b"\x01\x01\x01a\xc0\x01".to_vec()].concat();
    assert_corrupt(24, &beyond, expiry);
    let twice = b"\x02\x00\x01a\xc0\x01\x00\x01a\xc0\x02";
    assert_corrupt(22, twice, "hash: field stands twice");
}
