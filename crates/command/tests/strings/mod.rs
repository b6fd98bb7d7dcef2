//! The string family.

mod differential;
mod random_commands;
mod replay;
mod speed;
mod transcripts;
