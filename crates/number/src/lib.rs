//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beneath all of them: \[number\]
//!
//! Numbers that are kept and sent as text: reading them as strictly as Redis does, and its
//! arithmetic, digit for digit as on x86-64. It owns the integers ([`parse_i64`]), the doubles
//! ([`parse_f64`] and its freer brothers) and the extended double ([`LongDouble`]), in which
//! INCRBYFLOAT and HINCRBYFLOAT add.
//! It must never know commands, keys or where a number is stored.
//! Its one invariant is that a number's text is the same on every machine.
//! Read `long_double.rs` next.

#![forbid(unsafe_code)]

mod double;
mod integer;
mod long_double;

pub use double::{parse_bound, parse_f64, parse_weight};
pub use integer::parse_i64;
pub use long_double::LongDouble;
