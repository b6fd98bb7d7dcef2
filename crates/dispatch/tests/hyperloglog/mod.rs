//! The HyperLogLog family.

mod differential;
mod engine;
