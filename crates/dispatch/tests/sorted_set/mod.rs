//! The families of sorted sets and of places, which are sorted sets, too.

mod differential;
mod places;
pub mod random_commands;
