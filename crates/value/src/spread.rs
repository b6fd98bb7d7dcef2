//! Collections of which every element has a row of its own on disk.
//!
//! ```text
//! kind        element            name                                 content
//! list        some elements      place:u64be                          item …
//! set         a member           its bytes
//! sorted set  a member           its bytes                            score
//! hash        a field            the bytes of its name                value:item [expire_ms:u64le]
//! stream      a node of entries  00 first id                          node
//!             a group            01 name                              place, consumers
//!             a pending entry    02 length of the name:u32be name id  times, consumer
//! queue       some messages      00 lane first sequence               records
//!             a message's entry  01 id                                state, times, deliveries
//!             a name             02 name                              id, until when it is known
//! ```
//! A list and a stream have rows of 4 to 7 KiB of their elements, as they stand together in memory:
//! their elements have no names that would last. A sorted set has a second row for each member,
//! named by score and member ([`order_name`]): in it they stand in order, and from it the set is
//! read back.
//!
//! What is drawn here by name is drawn by the byte in `docs/formats/collections.md`.

pub(crate) mod elements;
mod gathering;
mod order;
pub(crate) mod parts;

#[cfg(test)]
mod tests;

pub use elements::{Spread, Visit, WalkPlace};
pub use gathering::{Gathering, Row, RowSink};
pub use order::{is_ordered, order_name, put_order_content};
