//! Where entries live: pages cut from 2 MiB chunks, slabs of equal cells in those pages, and runs of
//! all sizes in others.

mod free_rows;
mod grains;
mod page_list;
pub mod pages;
mod region;
mod runs;
pub mod slab;
