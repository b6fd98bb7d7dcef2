//! Where entries live: pages cut from 2 MiB chunks, with equal cells, or with runs of all sizes.

mod chunks;
mod free_rows;
mod grains;
mod page_list;
pub mod pages;
mod region;
mod runs;
mod scattered;
pub mod slab;
pub mod sparse;
