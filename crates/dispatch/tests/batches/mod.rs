//! Many requests in one batch, as they come from sockets.

mod expected;
mod long_keys;
mod many_elements;
mod memory;
mod others;
mod owed;
mod random_batches;
mod sent_before;
mod short_ways;
mod slow_calls;
mod together;
