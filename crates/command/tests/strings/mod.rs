//! The string family.

mod differential;
mod random_commands;
mod replay;
mod transcripts;
