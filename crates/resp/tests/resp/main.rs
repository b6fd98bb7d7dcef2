//! The crate's tests through its public face: tables of bytes, and properties.

mod decode;
mod parse;
mod reply;
