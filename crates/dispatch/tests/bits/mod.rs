//! The bitmap family.

mod differential;
mod engine;
