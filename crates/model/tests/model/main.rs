//! The engine against its model, over the cold tier in memory.

mod belonging;
mod pieces;
mod stress;
mod suspicions;
mod unread;
mod versions;
mod walk;
