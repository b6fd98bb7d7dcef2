//! Strings as a client may SET them, read and changed as HyperLogLogs: nothing panics, what is
//! whole stays whole, unless its end is missing, and both forms count alike.
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

fn is_whole(hll: Hll<'_>) -> bool {
    hll.merge_into(&mut Registers::default()).is_ok()
}

fn exercise(string: &[u8], elements: &[u8]) {
    let Ok(hll) = Hll::new(string) else { return };
    let whole = is_whole(hll);
    assert_eq!(hll.count().is_ok(), whole);
    // A last opcode that is cut off counts as if the byte were there, but a change of it does not
    // put it there: the bytes stay those that Redis has.
    let is_cut = Hll::new(&[string, b"\0"].concat()).is_ok_and(is_whole);
    let _ = (hll.cached_count(), hll.runs_as_text());
    let mut buf = HllBuf::from(hll);
    for element in elements.chunks(2) {
        let result = buf.add(Element::new(element), string.len() + 8);
        assert!(result.is_ok() || !whole || is_cut);
    }
    let mut dense = buf.clone();
    let is_dense = dense.make_dense().is_ok();
    if whole && !is_cut {
        assert!(is_dense);
        assert_eq!(dense.hll().count(), buf.hll().count());
    }
}
