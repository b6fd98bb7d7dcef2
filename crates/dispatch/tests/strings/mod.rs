//! The string family.

mod differential;
pub mod random_commands;
mod replay;
mod transcripts;
