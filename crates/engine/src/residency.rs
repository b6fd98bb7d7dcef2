//! What is in memory and what is in the cold tier only: rows are read for commands that wait for
//! them, and partition by partition for what walks the keyspace or warms the server up; what memory
//! has no room for leaves it.

pub(crate) mod budget;
mod candidates;
mod cold_keys;
mod cold_removal;
mod delete;
pub(crate) mod evict;
mod expect;
mod filters;
mod head_reads;
mod head_units;
pub(crate) mod heads;
pub(crate) mod holds;
mod keep;
pub(crate) mod load;
pub(crate) mod miss;
pub(crate) mod policy;
pub(crate) mod queue;
mod reaper;
pub(crate) mod ring;
mod room;
pub(crate) mod rows;
pub(crate) mod rows_read;
mod shares;
pub(crate) mod unload;
pub(crate) mod unread;
pub(crate) mod unread_partitions;
mod usage;
