//! Where entries live: pages cut from 2 MiB chunks, and slabs of equal cells in those pages.

mod free_rows;
pub mod pages;
mod region;
pub mod slab;
