//! What commands write to the log: how large its records are, and that they suffice.

mod lent;
mod records;
mod shards;
mod space;
