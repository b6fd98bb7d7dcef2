//! Where entries live: pages cut from 2 MiB chunks, and slabs of equal cells in those pages.

pub mod pages;
pub mod slab;
