//! Collections against a real Redis, through crashes and checkpoints.

mod differential;
mod templates;
