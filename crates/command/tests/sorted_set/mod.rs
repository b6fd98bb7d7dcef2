//! The families of sorted sets and of places, which are sorted sets, too.

mod differential;
mod places;
mod random_commands;
