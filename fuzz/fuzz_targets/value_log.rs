//! Bytes as a segment of the value log, or a row that points there, would hold them: decoding never
//! panics, and a value that was read is the same when written again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| basalt_value_log::fuzzing::decode(bytes));
