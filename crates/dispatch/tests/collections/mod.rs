//! Collections against a real Redis, through crashes and checkpoints.

mod differential;
mod field_expiry;
mod payloads;
mod spread;
pub mod templates;
