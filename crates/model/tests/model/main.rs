//! The engine against its model, over the cold tier in memory.

mod belonging;
mod stress;
mod suspicions;
mod versions;
mod walk;
