//! The bitmap family.

mod combine;
mod differential;
mod engine;
mod rows;
