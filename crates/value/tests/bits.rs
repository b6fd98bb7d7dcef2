//! Bits against a plain vector of booleans, which cannot be clever.

use basalt_value::bits::{
    Bit, FieldType, Indexes, Operation, Overflow, Unit, bit, combine, count_ones, first,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn bools(bytes: &[u8]) -> Vec<bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |shift| byte & 0x80 >> shift != 0)).collect()
}

/// Long runs of equal bytes, too: position searches skip those.
fn string() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0), Just(0xFF), any::<u8>()];
    vec((byte, 1..30usize), 0..12)
        .prop_map(|runs| runs.into_iter().flat_map(|(b, n)| std::iter::repeat_n(b, n)).collect())
}

fn indexes() -> impl Strategy<Value = Indexes> {
    let index = || prop_oneof![4 => -400..400i64, 1 => any::<i64>()];
    let unit = prop_oneof![Just(Unit::Byte), Just(Unit::Bit)];
    (index(), index(), unit).prop_map(|(start, end, unit)| Indexes { start, end, unit })
}

fn field_type() -> impl Strategy<Value = (FieldType, bool, u32)> {
    (any::<bool>(), 1..=64u32).prop_map(|(signed, width)| {
        let width = if signed { width } else { width.min(63) };
        let name = format!("{}{width}", if signed { 'i' } else { 'u' });
        (FieldType::parse(name.as_bytes()).expect("a type"), signed, width)
    })
}

/// The bits of a field, then its number.
fn naive_read(bits: &[bool], offset: usize, width: u32, signed: bool) -> i128 {
    let at = |index: usize| i128::from(bits.get(index).copied().unwrap_or(false));
    let value = (0..width as usize).fold(0, |value, index| value << 1 | at(offset + index));
    if signed && at(offset) == 1 { value - (1 << width) } else { value }
}

proptest! {
    #[test]
    fn counts_and_positions(bytes in string(), indexes in indexes()) {
        let range = indexes.resolve(bytes.len());
        let bits = bools(&bytes);
        let slice = &bits[range.start as usize..range.end as usize];
        let expected = slice.iter().filter(|bit| **bit).count() as u64;
        prop_assert_eq!(count_ones(&bytes, range.clone()), expected);
        for (value, wanted) in [(Bit::One, true), (Bit::Zero, false)] {
            let expected = slice.iter().position(|bit| *bit == wanted);
            let expected = expected.map(|index| range.start + index as u64);
            prop_assert_eq!(first(&bytes, range.clone(), value), expected);
        }
        for (position, expected) in bits.iter().enumerate() {
            prop_assert_eq!(bit(&bytes, position as u64), u8::from(*expected));
        }
    }

    #[test]
    fn combinations(strings in vec(string(), 1..5)) {
        let longest = strings.iter().map(Vec::len).max().unwrap_or(0) * 8;
        let all: Vec<Vec<bool>> = strings.iter().map(|string| bools(string)).collect();
        let ones = |index: usize| {
            all.iter().filter(|bits| bits.get(index).copied().unwrap_or(false)).count()
        };
        for operation in [Operation::And, Operation::Or, Operation::Xor, Operation::Not] {
            let result = bools(&combine(operation, strings.iter().map(Vec::as_slice)));
            let expected: Vec<bool> = match operation {
                Operation::And => (0..longest).map(|index| ones(index) == all.len()).collect(),
                Operation::Or => (0..longest).map(|index| ones(index) > 0).collect(),
                Operation::Xor => (0..longest).map(|index| ones(index) % 2 == 1).collect(),
                Operation::Not => all[0].iter().map(|bit| !bit).collect(),
            };
            prop_assert_eq!(result, expected, "{:?}", operation);
        }
    }

    #[test]
    fn fields_are_read_and_written(
        bytes in vec(any::<u8>(), 0..40), offset in 0..400u64, kind in field_type(), value: i64,
    ) {
        let (field, signed, width) = kind;
        let expected = naive_read(&bools(&bytes), offset as usize, width, signed);
        prop_assert_eq!(i128::from(field.read(&bytes, offset)), expected);

        let mut long = bytes.clone();
        long.resize(long.len().max((offset as usize + width as usize).div_ceil(8)), 0);
        let mut expected = bools(&long);
        for index in 0..width {
            expected[offset as usize + index as usize] = value >> (width - 1 - index) & 1 == 1;
        }
        let patch = field.write(&long, offset, value);
        long[patch.at()..patch.at() + patch.bytes().len()].copy_from_slice(patch.bytes());
        prop_assert_eq!(bools(&long), expected);
    }

    #[test]
    fn sums_wrap_saturate_or_fail(kind in field_type(), old: i64, increment: i64) {
        let (field, signed, width) = kind;
        let old = field.fit(old, Overflow::Wrap).expect("wrapping always fits");
        let (min, max) = match signed {
            true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
            false => (0, (1i128 << width) - 1),
        };
        prop_assert!((min..=max).contains(&i128::from(old)));
        let exact = i128::from(old) + i128::from(increment);
        let inside = (min..=max).contains(&exact);
        let fail = field.add(old, increment, Overflow::Fail).map(i128::from);
        prop_assert_eq!(fail, inside.then_some(exact));
        let saturated = field.add(old, increment, Overflow::Saturate).map(i128::from);
        prop_assert_eq!(saturated, Some(exact.clamp(min, max)));
        let wrapped = min + (exact - min).rem_euclid(max - min + 1);
        prop_assert_eq!(field.add(old, increment, Overflow::Wrap).map(i128::from), Some(wrapped));
    }
}

#[test]
fn types_are_read_strictly() {
    for text in ["i1", "i8", "i64", "u1", "u9", "u10", "u63"] {
        assert!(FieldType::parse(text.as_bytes()).is_some(), "{text}");
    }
    for text in
        ["", "i", "u", "i0", "u0", "i65", "u64", "u100", "i01", "I8", "U8", "x8", "i8 ", "-8"]
    {
        assert!(FieldType::parse(text.as_bytes()).is_none(), "{text}");
    }
}
