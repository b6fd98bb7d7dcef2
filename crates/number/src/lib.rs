//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beneath all of them: \[number\]
//!
//! The arithmetic of numbers that are kept as text, digit for digit as Redis does it on x86-64.
//! It owns the extended double ([`LongDouble`]), in which INCRBYFLOAT and HINCRBYFLOAT add.
//! It must never know commands, keys or where a number is stored.
//! Its one invariant is that a number's text is the same on every machine.
//! Read `long_double.rs` next.

#![forbid(unsafe_code)]

mod long_double;

pub use long_double::LongDouble;
