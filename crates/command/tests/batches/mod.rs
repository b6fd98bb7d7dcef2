//! Many requests in one batch, as they come from sockets.

mod owed;
mod random_batches;
mod short_ways;
mod slow_calls;
