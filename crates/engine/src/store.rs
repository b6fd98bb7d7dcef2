//! What commands do with keys: they look, change, walk, and run as one.
//!
//! A command sees a [`Point`](point::Point), a [`View`](view::View) or a [`Txn`](txn::Txn), which
//! decide what it may do, and its changes gather in a [`ChangeSet`](changes::ChangeSet) until they
//! are appended to the log under the locks that it holds. The rules about entries are those of
//! `basalt_keyspace`; this room knows in which order memory, ChangeSet and log are touched.

mod announce;
pub(crate) mod ask;
mod by_itself;
pub(crate) mod census;
pub(crate) mod changes;
pub(crate) mod collections;
mod commit;
pub(crate) mod context;
pub(crate) mod copying;
pub(crate) mod events;
pub(crate) mod flush;
pub(crate) mod held;
pub(crate) mod hold;
pub(crate) mod key;
pub(crate) mod overwrite;
pub(crate) mod point;
pub(crate) mod queue_census;
pub(crate) mod queues;
mod reach;
pub(crate) mod rows_walked;
pub(crate) mod sample;
mod splice;
pub(crate) mod transaction;
pub(crate) mod transfer;
pub(crate) mod txn;
mod unread_deletes;
mod unread_puts;
pub(crate) mod versions;
pub(crate) mod view;
pub(crate) mod walk;
pub(crate) mod whole;
