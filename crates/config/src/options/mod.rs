//! The table of options, one file per group; an option's entry stands beside its typed field.

pub(crate) mod clients;
mod cluster;
pub(crate) mod http;
pub(crate) mod huststore;
pub(crate) mod memory;
pub(crate) mod network;
pub(crate) mod persistence;
mod redis_files;
mod redis_internals;
mod replication;
pub(crate) mod server;
pub(crate) mod tls;
pub(crate) mod types;

use crate::option::{Kind, OptionSpec};

/// The groups in the order of the reference page.
const TABLES: [&[OptionSpec]; 13] = [
    network::OPTIONS,
    http::OPTIONS,
    huststore::OPTIONS,
    clients::OPTIONS,
    memory::OPTIONS,
    persistence::OPTIONS,
    server::OPTIONS,
    types::OPTIONS,
    replication::OPTIONS,
    cluster::OPTIONS,
    tls::OPTIONS,
    redis_files::OPTIONS,
    redis_internals::OPTIONS,
];

/// Every option that Basalt knows: those of Redis 7 and its own.
pub static OPTIONS: [OptionSpec; COUNT] = joined();

const COUNT: usize = count();

const fn count() -> usize {
    let (mut total, mut table) = (0, 0);
    while table < TABLES.len() {
        total += TABLES[table].len();
        table += 1;
    }
    total
}

/// Joins the groups at compile time, so that one slice serves every reader.
const fn joined() -> [OptionSpec; COUNT] {
    let mut all = [network::OPTIONS[0]; COUNT];
    let (mut place, mut table) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            all[place] = TABLES[table][row];
            place += 1;
            row += 1;
        }
        table += 1;
    }
    all
}

/// A C `int` that may not be negative.
const INT: Kind = Kind::Int { min: 0, max: i32::MAX as i64 };
/// A C `int` above zero.
const INT_FROM_ONE: Kind = Kind::Int { min: 1, max: i32::MAX as i64 };
/// A 64-bit count.
const LONG: Kind = Kind::Int { min: 0, max: i64::MAX };
/// A TCP port.
const PORT: Kind = Kind::Int { min: 0, max: 65535 };
/// A number of bytes.
const SIZE: Kind = Kind::Memory { min: 0, max: i64::MAX as u64 };
/// The clients that may use something dangerous.
const PERMISSION: Kind = Kind::Enum(&["no", "yes", "local"]);

/// One mebibyte.
const MIB: u64 = 1024 * 1024;
/// One gibibyte.
const GIB: u64 = 1024 * MIB;
