//! The journal against its promises, mostly on a simulated disk.

mod crashes;
mod damage;
mod durability;
mod model;
mod real_disk;
mod space;
mod support;
