//! Commands on queues.

mod figures;
mod life;
mod random_commands;
mod replay;
mod together;
