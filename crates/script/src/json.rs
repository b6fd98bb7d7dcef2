//! The library `cjson`, as Redis has it, with its default settings.
//!
//! Settings cannot be changed: they would outlive the script.

mod decode;
mod encode;

pub(crate) use decode::decode;
pub(crate) use encode::encode;

/// Deepest nesting. Redis allows 1,000; here each level is one of Rust's stack.
const NESTING_MAX: usize = 128;
/// Values that are read or written between two looks at whether the script may go on.
const VALUES_BETWEEN_LOOKS: u32 = 4096;
