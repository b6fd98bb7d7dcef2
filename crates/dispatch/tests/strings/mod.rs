//! The string family.

mod copies;
mod differential;
pub mod random_commands;
mod replay;
mod transcripts;
