//! The stream family: against a real Redis, and through crashes.

mod differential;
mod random_commands;
mod replay;
