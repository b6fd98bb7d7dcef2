//! The crate's tests through its public face: tables of bytes, and properties.

mod authority;
mod chunked;
mod head;
mod percent;
mod target;
