//! The string family.

mod copies;
mod differential;
mod pieces;
pub mod random_commands;
mod replay;
mod transcripts;
