//! The table of paths: all that HTTP can be asked for. A file for each type.

mod collections;
mod groups;
mod keys;
mod lists;
mod parameters;
mod queues;
mod service;
mod sorted_sets;
mod streams;
mod strings;

use crate::operation::Route;

pub(crate) use parameters::{
    AFTER, BASE64, CREDIT, DB, EXPIRIES, KEY, LEASE_MS, NOACK, PATTERN, WORKER,
};

/// All paths. Those that must be found soonest come first.
pub(crate) static ROUTES: &[Route] = &[
    strings::STRING,
    collections::HASH,
    collections::FIELD,
    collections::SET,
    collections::MEMBER,
    sorted_sets::SORTED_SET,
    sorted_sets::MEMBER,
    lists::LIST,
    lists::ELEMENT,
    streams::STREAM,
    groups::GROUPS,
    groups::GROUP,
    groups::PENDING,
    groups::DELIVERED,
    groups::CONSUMERS,
    groups::ONE_CONSUMER,
    streams::ENTRY,
    streams::CHANNEL,
    queues::QUEUES,
    queues::QUEUE,
    queues::MESSAGES_OF_QUEUE,
    queues::DELIVERY,
    queues::SETTINGS,
    queues::WORKERS,
    keys::KEYS,
    keys::KEY,
    service::COMMAND,
    service::BATCH,
    service::LOGIN,
    service::INFO,
    service::DOCUMENT,
    service::METRICS,
    service::LIVE,
    service::READY,
];
