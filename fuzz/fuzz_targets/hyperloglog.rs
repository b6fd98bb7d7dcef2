//! Strings as a client may SET them, read and changed as HyperLogLogs: nothing panics, what is whole
//! stays whole, and both forms count alike.
#![no_main]

use basalt_value::hll::{Element, Hll, HllBuf, Registers};
use libfuzzer_sys::fuzz_target;

/// Behind these, the input is the elements; a byte before says how long the string is.
const HEADER: &[u8] = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80";

fuzz_target!(|data: &[u8]| {
    let Some((&len, rest)) = data.split_first() else { return };
    let (string, elements) = rest.split_at(rest.len().min(usize::from(len)));
    exercise(string, elements);
    exercise(&[HEADER, string].concat(), elements);
});

fn exercise(string: &[u8], elements: &[u8]) {
    let Ok(hll) = Hll::new(string) else { return };
    let whole = hll.merge_into(&mut Registers::default()).is_ok();
    assert_eq!(hll.count().is_ok(), whole);
    let _ = (hll.cached_count(), hll.runs_as_text());
    let mut buf = HllBuf::from(hll);
    for element in elements.chunks(2) {
        let result = buf.add(Element::new(element), string.len() + 8);
        assert!(result.is_ok() || !whole);
    }
    let mut dense = buf.clone();
    assert_eq!(dense.make_dense().is_ok(), whole);
    if whole {
        assert_eq!(dense.hll().count(), buf.hll().count());
    }
}
