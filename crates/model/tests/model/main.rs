//! The engine against its model, over the cold tier in memory.

mod stress;
mod suspicions;
mod walk;
