//! HOT PATH
//! How many bytes Redis would need for a node.
//!
//! Redis closes a node when its listpack would exceed `stream-node-max-bytes`, and `MAXLEN ~`
//! removes whole nodes: how many entries are left depends on where nodes end. So nodes here end
//! where Redis' do, although they take fewer bytes; this file counts Redis'. A listpack element is
//! its encoding and, behind it, the length of that encoding, for walking backwards.

use crate::item::{Item, Items};

/// Header and end of a listpack.
pub(super) const FRAME_BYTES: usize = 7;

/// What some items would take.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sizes {
    /// As elements of a listpack.
    pub(super) listpack_bytes: usize,
    /// As strings one after the other.
    pub(super) string_bytes: usize,
    /// How many there are.
    pub(super) count: usize,
}

impl Sizes {
    /// Sizes of a row of items; `None` if the last is not whole.
    pub(super) fn of(bytes: &[u8]) -> Option<Sizes> {
        let mut sizes = Sizes::default();
        let mut items = Items(bytes);
        for item in items.by_ref() {
            let (element, string) = match item {
                Item::Bytes(string) => (of_string(string.len()), string.len()),
                Item::Number(number) => (of_integer(number), characters(number)),
            };
            sizes.listpack_bytes += element;
            sizes.string_bytes += string;
            sizes.count += 1;
        }
        items.0.is_empty().then_some(sizes)
    }
}

fn of_string(len: usize) -> usize {
    let encoding = match len {
        0..64 => 1 + len,
        64..4096 => 2 + len,
        _ => 5 + len,
    };
    let length = match encoding {
        0..128 => 1,
        128..16_384 => 2,
        16_384..2_097_152 => 3,
        2_097_152..268_435_456 => 4,
        _ => 5,
    };
    encoding + length
}

/// What an integer takes.
pub(super) fn of_integer(value: i64) -> usize {
    let encoding = match value {
        0..=127 => 1,
        -4096..=4095 => 2,
        -32_768..=32_767 => 3,
        -8_388_608..=8_388_607 => 4,
        -2_147_483_648..=2_147_483_647 => 5,
        _ => 9,
    };
    encoding + 1
}

fn characters(value: i64) -> usize {
    let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(value < 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_strings_and_numbers() {
        let of = |string: &[u8]| {
            let mut bytes = Vec::new();
            Item::of(string).put(&mut bytes);
            Sizes::of(&bytes).unwrap()
        };
        for (string, listpack_bytes) in [("", 2), ("a", 3), ("127", 2), ("128", 3), ("-1", 3)] {
            let sizes = of(string.as_bytes());
            assert_eq!(sizes.listpack_bytes, listpack_bytes, "{string}");
            assert_eq!(sizes.string_bytes, string.len());
        }
        assert_eq!(of(&[b'x'; 63]).listpack_bytes, 65);
        assert_eq!(of(&[b'x'; 64]).listpack_bytes, 67);
        assert_eq!(of(&[b'x'; 126]).listpack_bytes, 130);
        assert_eq!(of(&[b'x'; 4096]).listpack_bytes, 4103);
        assert_eq!(of(b"-9223372036854775808").string_bytes, 20);
        assert!(Sizes::of(&[5, b'a']).is_none());
    }
}
