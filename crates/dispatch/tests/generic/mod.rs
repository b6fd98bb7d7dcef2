//! The generic family: against a real Redis, SCAN's guarantee, and what is Basalt's own.

mod differential;
mod engine;
mod migrate;
mod scan;
