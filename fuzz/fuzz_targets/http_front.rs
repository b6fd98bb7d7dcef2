//! Requests by HTTP, drawn from the input, to a whole server over a socket: each has one response,
//! or the connection closes and says so, whatever it is and however it is cut.
//!
//! The same judge looks at seeded requests in the tests of `basalt-http`. Run it with
//! `-detect_leaks=0`, since a server outlives its inputs.
#![no_main]

#[path = "../../crates/http/tests/front/any.rs"]
mod any;
#[allow(dead_code, reason = "other tests need more of it")]
#[path = "../../crates/dispatch/tests/harness/mod.rs"]
mod harness;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

thread_local! {
    static SERVED: RefCell<Option<any::Served>> = const { RefCell::new(None) };
}

fuzz_target!(|data: &[u8]| {
    let mut input = Unstructured::new(data);
    // An input that is used up draws 0.
    let draw = &mut |bound: u64| input.int_in_range(0..=bound - 1).unwrap_or(0);
    let bytes = any::requests(draw);
    let pieces = any::pieces(&bytes, draw);
    SERVED.with_borrow_mut(|served| {
        served.get_or_insert_with(any::Served::start).check(&bytes, &pieces);
    });
});
