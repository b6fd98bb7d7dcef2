//! HyperLogLogs against a plain array of registers, and strings from anywhere.

use basalt_value::hll::{Corrupted, Element, Encoding, Hll, HllBuf, REGISTERS, Registers};
use proptest::collection::vec;
use proptest::prelude::*;

const SPARSE_BYTES_MAX: usize = 3000;
const HEADER: &[u8; 15] = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0";

fn element(number: u32) -> Element {
    Element::new(&number.to_le_bytes())
}

fn registers(buf: &HllBuf) -> Vec<u8> {
    buf.hll().registers().expect("whole").values().to_vec()
}

/// Adds elements one by one, to a plain array too; the sparse form is left at `sparse_bytes_max`.
fn fill(numbers: &[u32], sparse_bytes_max: usize) -> (HllBuf, Vec<u8>) {
    let (mut buf, mut model) = (HllBuf::default(), vec![0; REGISTERS]);
    for &number in numbers {
        let mut one = HllBuf::default();
        assert!(one.add(element(number), SPARSE_BYTES_MAX).expect("whole"));
        let single = registers(&one);
        let index = single.iter().position(|&value| value > 0).expect("one register");
        let is_higher = single[index] > model[index];
        assert_eq!(buf.add(element(number), sparse_bytes_max), Ok(is_higher));
        model[index] = single[index].max(model[index]);
    }
    (buf, model)
}

/// Everything that reads a string, and what changes one.
fn exercise(string: &[u8], numbers: &[u32], sparse_bytes_max: usize) {
    let Ok(hll) = Hll::new(string) else { return };
    let whole = hll.registers().is_ok();
    assert_eq!(hll.count().is_ok(), whole);
    let _ = (hll.cached_count(), hll.runs_as_text(), hll.invalidation());
    let mut buf = HllBuf::from(hll);
    for &number in numbers {
        let result = buf.add(element(number), sparse_bytes_max);
        assert!(!whole || result.is_ok());
    }
    assert_eq!(buf.hll().registers().is_ok(), whole, "adding neither mends nor breaks");
    let mut dense = buf.clone();
    assert_eq!(dense.make_dense().is_ok(), whole);
    if whole {
        assert_eq!(dense.hll().encoding(), Encoding::Dense);
        assert_eq!(registers(&dense), registers(&buf));
        assert_eq!(dense.hll().count(), buf.hll().count());
    }
}

#[test]
fn an_empty_one_counts_nothing() {
    let empty = HllBuf::default();
    assert_eq!(empty.hll().cached_count(), Some(0));
    assert_eq!(empty.hll().count(), Ok(0));
    assert_eq!(empty.hll().runs_as_text().as_deref(), Some("Z:16384"));
    assert_eq!(Registers::default().count(), 0);
}

#[test]
fn the_error_stays_small() {
    const ELEMENTS: u32 = 200_000;
    const ERROR_MAX: f64 = 0.03;
    let mut buf = HllBuf::default();
    for number in 1..=ELEMENTS {
        buf.add(element(number), SPARSE_BYTES_MAX).expect("whole");
        if number.is_power_of_two() || number == ELEMENTS {
            let count = buf.hll().count().expect("whole") as f64;
            let error = (count - f64::from(number)).abs() / f64::from(number);
            assert!(error <= ERROR_MAX, "{count} of {number}");
        }
    }
    assert_eq!(buf.hll().encoding(), Encoding::Dense);
}

#[test]
fn runs_that_do_not_make_up_all_registers_are_noticed() {
    for runs in [&b"\x7f\xfe"[..], b"\x7f\xff\x00", b"\x80", b"", b"\x7f", b"\x7f\xff\x7f\xff"] {
        let string = [HEADER, &[0x80][..], runs].concat();
        let hll = Hll::new(&string).expect("the header is right");
        assert_eq!(hll.count(), Err(Corrupted), "{runs:x?}");
        assert_eq!(HllBuf::from(hll).make_dense(), Err(Corrupted), "{runs:x?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_forms_hold_what_a_plain_array_holds(
        numbers in vec(prop_oneof![0..200u32, any::<u32>()], 0..600),
        sparse_bytes_max in prop_oneof![Just(0), Just(100), Just(SPARSE_BYTES_MAX)],
    ) {
        let (buf, model) = fill(&numbers, sparse_bytes_max);
        prop_assert_eq!(registers(&buf), &model[..]);
        let (dense, _) = fill(&numbers, 0);
        prop_assert_eq!(dense.hll().count(), buf.hll().count());
        prop_assert!(buf.hll().encoding() == Encoding::Dense || buf.bytes().len() <= SPARSE_BYTES_MAX);
    }

    #[test]
    fn a_union_is_the_higher_of_each_register(
        a in vec(0..5000u32, 0..300), b in vec(0..5000u32, 0..300),
        a_max in prop_oneof![Just(0), Just(SPARSE_BYTES_MAX)],
        b_max in prop_oneof![Just(0), Just(SPARSE_BYTES_MAX)],
    ) {
        let ((first, first_model), (second, second_model)) = (fill(&a, a_max), fill(&b, b_max));
        let model: Vec<u8> =
            first_model.iter().zip(&second_model).map(|(a, b)| *a.max(b)).collect();
        let mut union = Registers::default();
        first.hll().merge_into(&mut union).expect("whole");
        second.hll().merge_into(&mut union).expect("whole");
        prop_assert_eq!(&union.values()[..], &model[..]);
        for encoding in [Encoding::Sparse, Encoding::Dense] {
            let mut merged = first.clone();
            merged.raise(&union, encoding, SPARSE_BYTES_MAX).expect("whole");
            prop_assert_eq!(registers(&merged), &model[..]);
            prop_assert_eq!(merged.hll().count(), Ok(union.count()));
            prop_assert_eq!(merged.hll().cached_count(), None);
        }
    }

    #[test]
    fn foreign_bytes_never_panic(
        bytes in vec(any::<u8>(), 0..80), numbers in vec(any::<u32>(), 0..20),
        headed: bool, dense: bool, sparse_bytes_max in 0..200usize,
    ) {
        let mut string = bytes.clone();
        if headed {
            string = [HEADER, &[0x80][..], &bytes].concat();
            if dense {
                string[4] = 0;
                string.resize(basalt_value::hll::DENSE_BYTES, 0x5A);
            }
        }
        exercise(&string, &numbers, sparse_bytes_max);
    }
}
