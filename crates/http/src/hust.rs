//! huststore's interface: the verbs of its storage node, `/hustdb/…`, `/hustcache/…` and
//! `/hustmq/…`, and those of the front that it had before its nodes, at the root.
//!
//! ```text
//! path ─▶ table ─▶ talk ─▶ words of a command ─▶ batch ─▶ reply ─▶ talk ─▶ answer
//!                    ▲                                              │
//!                    └────────────── another command ◀──────────────┘
//! ```
//! A verb is a [`Talk`](talk::Talk): most take one command, and some ask first what is there. What
//! a verb does otherwise than huststore is on the page `docs/huststore.md`, with its reason.

pub(crate) mod answer;
mod cache;
mod call;
mod cluster;
mod export;
mod find;
mod front_queue;
mod given;
mod kv;
mod listing;
mod names;
mod page;
mod push;
mod queue;
mod queues;
mod replica;
mod reply;
mod respond;
mod rows;
mod stat;
mod table;
mod tables;
pub(crate) mod talk;
pub(crate) mod talks;
mod verb;

pub(crate) use answer::Answered;
pub(crate) use find::{Asked, Port, find};
pub(crate) use given::Given;
pub(crate) use talks::{Said, Talking, Talks};
