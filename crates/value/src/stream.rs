//! HOT PATH
//! The stream.

crate::sketch::sketch!(Stream, "stream");
