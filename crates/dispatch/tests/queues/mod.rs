//! Commands on queues.

mod life;
mod random_commands;
mod replay;
