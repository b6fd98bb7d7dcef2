//! The engine against its model, over the cold tier in memory.

mod walk;
