//! The table of verbs: all that huststore's interface can be asked for.

use super::verb::Methods::{Get, GetPost, GetPutPost, Post};
use super::verb::{Methods, Start, Verb};
use super::{
    cache, call, cluster, export, front_queue, kv, listing, push, queue, queues, rows, stat, tables,
};

/// Verbs of the database: `/hustdb/…`, and `/…` of the front.
pub(super) static DATABASE: &[Verb] = &[
    write("put", GetPost, GetPutPost, kv::put),
    read("get", Get, Get, kv::get),
    read("exist", Get, Get, kv::exist),
    write("del", Get, Get, kv::del),
    write("hset", GetPost, GetPutPost, tables::hset),
    read("hget", Get, Get, tables::hget),
    read("hexist", Get, Get, tables::hexist),
    write("hdel", Get, Get, tables::hdel),
    write("hincrby", Get, Get, tables::hincrby),
    write("sadd", GetPost, Post, tables::sadd),
    write("srem", GetPost, Post, tables::srem),
    read("sismember", GetPost, Post, tables::sismember),
    write("zadd", GetPost, GetPost, tables::zadd),
    write("zrem", GetPost, GetPost, tables::zrem),
    read("zscore", GetPost, GetPost, tables::zscore),
    read("zismember", GetPost, GetPost, tables::zismember),
    read("zrangebyrank", Get, Get, listing::zrangebyrank),
    read("zrangebyscore", Get, Get, listing::zrangebyscore),
    read("keys", Get, Get, rows::keys),
    read("hkeys", Get, Get, rows::hkeys),
    read("smembers", Get, Get, rows::smembers),
    read("stat", Get, Get, stat::stat),
    read("stat_all", Get, Get, stat::stat_all),
    write("export", Get, Get, export::export),
    read("task_status", Get, Get, export::task_status),
    read("file_count", Get, Get, cluster::file_count),
    write("binlog", GetPost, GetPost, cluster::binlog),
];

/// Verbs that the front alone has.
pub(super) static FRONT: &[Verb] = &[
    read("get2", Get, Get, kv::get),
    read("hget2", Get, Get, tables::hget),
    read("sismember2", Post, Post, tables::sismember),
    read("zscore2", GetPost, GetPost, tables::zscore),
    read("version", Get, Get, cluster::version),
    read("peer_count", Get, Get, cluster::peer_count),
    read("get_table", Get, Get, cluster::table),
    write("set_table", GetPost, GetPost, cluster::replace_table),
    read("sync_status", Get, Get, cluster::sync_status),
    read("sync_alive", Get, Get, cluster::sync_alive),
    write("pub", GetPutPost, GetPutPost, push::publish),
    read("sub", GetPost, GetPost, push::subscribe),
    read("evsub", Get, Get, push::wait),
    write("evget", Get, Get, queue::evget),
    write("do_get", Post, Post, call::ask),
    write("do_post", Post, Post, call::work),
    read("do_get_status", Get, Get, call::tasks),
    read("do_post_status", Get, Get, call::workers),
];

/// Verbs of the cache: `/hustcache/…`, and `/cache/…` of the front.
pub(super) static CACHE: &[Verb] = &[
    read("exist", Get, Get, cache::exist),
    write("del", Get, Get, cache::del),
    read("get", Get, Get, cache::get),
    read("ttl", Get, Get, cache::ttl),
    write("put", GetPost, GetPutPost, cache::put),
    write("append", GetPost, GetPutPost, cache::append),
    write("expire", Get, Get, cache::expire),
    write("persist", Get, Get, cache::persist),
    write("hset", GetPost, GetPutPost, cache::hset),
    read("hget", Get, Get, cache::hget),
    read("hexist", Get, Get, cache::hexist),
    write("hdel", Get, Get, cache::hdel),
    write("hincrby", Get, Get, cache::hincrby),
    write("hincrbyfloat", Get, Get, cache::hincrbyfloat),
];

/// Verbs of the queues that the front has otherwise.
pub(super) static FRONT_QUEUES: &[Verb] = &[
    write("ack", Get, Get, front_queue::ack),
    write("max", Get, Get, front_queue::max),
    read("worker", Get, Get, front_queue::worker),
    read("autost", Get, Get, front_queue::autost),
];

/// Verbs of the queues: `/hustmq/…`, and at the root of the front.
pub(super) static QUEUES: &[Verb] = &[
    write("put", GetPost, GetPutPost, queue::put),
    write("get", Get, Get, queue::get),
    write("ack", Get, Get, queue::ack),
    write("timeout", Get, Get, queue::timeout),
    write("lock", Get, Get, queue::lock),
    write("max", Get, Get, queue::max),
    write("purge", Get, Get, queue::purge),
    read("worker", Get, Get, queue::worker),
    read("stat", Get, Get, queue::stat),
    read("stat_all", Get, Get, queues::stat_all),
    write("pub", GetPost, GetPutPost, push::publish),
    read("sub", GetPost, GetPost, push::subscribe),
];

const fn read(name: &'static str, node: Methods, front: Methods, start: Start) -> Verb {
    Verb { name, node, front, is_write: false, start }
}

const fn write(name: &'static str, node: Methods, front: Methods, start: Start) -> Verb {
    Verb { name, node, front, is_write: true, start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_stands_once_in_its_table() {
        let front: Vec<_> = DATABASE.iter().chain(FRONT).collect();
        for table in [front, CACHE.iter().collect(), QUEUES.iter().collect()] {
            for (at, verb) in table.iter().enumerate() {
                assert!(table[..at].iter().all(|other| other.name != verb.name), "{}", verb.name);
            }
        }
    }
}
