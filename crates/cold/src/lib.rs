//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ \[cold\]
//!
//! The cold tier: what a store below memory must be able to do, said as a trait, with an in-memory
//! reference and the conformance suite that every back end runs.
//! It owns the promises (atomic and durable checkpoints, snapshot reads, probes without I/O) and
//! the error that a back end may return.
//! It must never know what a key or a value means: both are bytes, ordered byte by byte.
//! Its one invariant: a reader sees the rows of a checkpoint all together or not at all, also
//! after a crash.
//! Read [`ColdTier`] next, then [`conformance`], then the crate `cold-rocks`.
#![forbid(unsafe_code)]

pub mod conformance;
mod error;
mod memory;
mod order;
mod tier;

pub use error::ColdError;
pub use memory::{Fault, MemoryDisk, MemoryTier, Residency};
pub use order::RowCheck;
pub use tier::{
    Beginning, CheckpointWriter, ColdStats, ColdTier, Collecting, Head, IDLE_PERCENT, KeyRange,
    PreparedCheckpoint, Pressure, Probe, ROW_BYTES_MAX, RowPlace, Visit, VisitHead,
};
