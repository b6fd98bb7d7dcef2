//! The stream family: against a real Redis, and through crashes.

mod differential;
pub mod random_commands;
mod replay;
