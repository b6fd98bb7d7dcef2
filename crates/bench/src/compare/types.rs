//! `compare types`: the server's CPU time per operation on each data type.
//!
//! Commands and sizes follow redis-benchmark where it has the test (one list, one set, one hash,
//! one sorted set, one stream; members `element:` and 12 digits out of a million; values of 3
//! bytes). The others ask what applications ask: a field of one of 100k small hashes, the score and
//! rank of a member among a million, the top hundred, a bit among a million of one of 256 bitmaps,
//! one of a hundred HyperLogLogs. What pops is filled with twice of what is popped, so that every
//! pop finds something and the structure is large to the end.

use serde::Serialize;

use crate::compare::Arena;
use crate::compare::scenario::{Manner, Round, Sending, empty, server_cpu_us};
use crate::compare::server::Contender;
use crate::compare::table::{Summary, summarise};
use crate::error::BenchError;

const CONNECTIONS: usize = 50;
const PIPELINE: u32 = 50;
/// As in redis-benchmark.
const VALUE_BYTES: usize = 3;
/// Requests of a cell whose replies have a hundred items or more, as a part of the others'.
const LONG_REPLY_DIVISOR: u64 = 10;

/// One test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TypeCell {
    pub(crate) name: &'static str,
    fill: Option<Sending>,
    test: Sending,
}

/// All tests, each with this number of requests on structures of `elements` elements.
pub(crate) fn cells(requests: u64, elements: u64) -> Vec<TypeCell> {
    let sizes = Sizes { requests, elements };
    let mut cells = sizes.lists();
    cells.extend(sizes.sets_and_hashes());
    cells.extend(sizes.sorted_sets());
    cells.extend(sizes.others());
    cells
}

struct Sizes {
    requests: u64,
    elements: u64,
}

impl Sizes {
    fn sending(&self, command: &str, keyspace: u64, requests: u64) -> Sending {
        let (keyspace, requests) = (keyspace.max(1), requests.max(1));
        Sending { command: command.into(), keyspace, value_bytes: VALUE_BYTES, requests }
    }

    /// A test that starts with nothing.
    fn bare(&self, name: &'static str, command: &str) -> TypeCell {
        TypeCell { name, fill: None, test: self.sending(command, self.elements, self.requests) }
    }

    /// A test on `elements` keys or elements, filled one each request.
    fn filled(&self, name: &'static str, fill: &str, command: &str) -> TypeCell {
        let fill = Some(self.sending(fill, self.elements, self.elements));
        TypeCell { fill, ..self.bare(name, command) }
    }

    /// A test that takes away half of what was filled.
    fn popping(&self, name: &'static str, fill: &str, command: &str) -> TypeCell {
        let fill = Some(self.sending(fill, self.requests * 2, self.requests * 2));
        TypeCell { fill, ..self.bare(name, command) }
    }

    /// Fewer requests, for long replies.
    fn long_reply(&self, mut cell: TypeCell) -> TypeCell {
        cell.test.requests = (cell.test.requests / LONG_REPLY_DIVISOR).max(1);
        cell
    }

    fn lists(&self) -> Vec<TypeCell> {
        let push = "RPUSH mylist __data__";
        vec![
            self.bare("lpush", "LPUSH mylist __data__"),
            self.bare("rpush", push),
            self.popping("lpop", push, "LPOP mylist"),
            self.long_reply(self.filled("lrange-100", push, "LRANGE mylist 0 99")),
            self.long_reply(self.filled("lrange-600", push, "LRANGE mylist 0 599")),
        ]
    }

    fn sets_and_hashes(&self) -> Vec<TypeCell> {
        let add = "SADD myset element:__rand_int__";
        let set = "HSET myhash element:__rand_int__ __data__";
        vec![
            self.bare("sadd", add),
            self.popping("spop", add, "SPOP myset"),
            self.filled("sismember", add, "SISMEMBER myset element:__rand_int__"),
            self.bare("hset", set),
            self.hashes("hget", 10, self.elements / 10, "HGET __key__ field:0__rand:10__"),
            self.filled("hget-large", set, "HGET myhash element:__rand_int__"),
            self.long_reply(self.hashes(
                "hgetall-100",
                100,
                self.elements / 100,
                "HGETALL __key__",
            )),
        ]
    }

    /// A test on `keys` hashes of `fields` fields.
    fn hashes(&self, name: &'static str, fields: usize, keys: u64, command: &str) -> TypeCell {
        let mut fill = "HSET __key__".to_owned();
        for field in 0..fields {
            fill.push_str(&format!(" field:{field:02} __data__"));
        }
        let fill = Some(self.sending(&fill, keys, keys));
        TypeCell { name, fill, test: self.sending(command, keys, self.requests) }
    }

    fn sorted_sets(&self) -> Vec<TypeCell> {
        let add = "ZADD myzset __rand:1000000__ element:__rand_int__";
        vec![
            self.bare("zadd", add),
            self.filled("zincrby", add, "ZINCRBY myzset 1 element:__rand_int__"),
            self.filled("zscore", add, "ZSCORE myzset element:__rand_int__"),
            self.filled("zrank", add, "ZRANK myzset element:__rand_int__"),
            self.long_reply(self.filled("zrange-100", add, "ZRANGE myzset 0 99")),
            self.popping("zpopmin", add, "ZPOPMIN myzset"),
        ]
    }

    fn others(&self) -> Vec<TypeCell> {
        let count = "PFADD hll:__rand:100__ element:__rand_int__";
        vec![
            self.bare("xadd", "XADD mystream * myfield __data__"),
            self.bare("incr", "INCR counter:__rand_int__"),
            self.bare("pfadd", count),
            self.filled("pfcount", count, "PFCOUNT hll:__rand:100__"),
            // A digit other than zero in front, since an offset must have no leading zeros.
            self.bare("setbit", "SETBIT bits:__rand:256__ 1__rand:1000000__ 1"),
        ]
    }
}

pub(super) fn run(arena: &Arena<'_>, cells: &[TypeCell]) -> Result<(), BenchError> {
    if cells.is_empty() {
        return Err(BenchError::Usage("no test has that name".into()));
    }
    let servers = arena.introduce()?;
    let rounds = arena.rounds(|round, contender| one_life(arena, cells, round, contender))?;
    arena.print(&format!(
        "{CONNECTIONS} connections, pipeline {PIPELINE}\n{}",
        table(arena, cells, &rounds)
    ))?;
    arena.write_json(servers, &rounds)
}

fn one_life(
    arena: &Arena<'_>,
    cells: &[TypeCell],
    round: usize,
    contender: &Contender,
) -> Result<Round, BenchError> {
    let life = arena.start(contender)?;
    let (server, display) = (&life.server, arena.display);
    let mut tests = Vec::with_capacity(cells.len());
    for cell in cells {
        empty(server)?;
        if let Some(fill) = &cell.fill {
            fill.run("filling", server, Manner::Fill { connections: CONNECTIONS }, display)?;
            server.wait_quiet();
        }
        let manner = Manner::Measure { connections: CONNECTIONS, pipeline: PIPELINE };
        tests.push((cell.name, cell.test.run(cell.name, server, manner, display)?));
    }
    life.server.stop()?;
    Ok(Round { round, side: contender.name, tests })
}

/// One line for each cell; for two sides the ratios, their median and their maximum.
fn table(arena: &Arena<'_>, cells: &[TypeCell], rounds: &[Round]) -> String {
    let mut text = format!("  {:14}", "server cpu µs/op");
    for contender in &arena.contenders {
        text.push_str(&format!(" {:>18}", contender.name));
    }
    text.push('\n');
    let mut ratios = Vec::new();
    for cell in cells {
        text.push_str(&format!("  {:16}", cell.name));
        let sides: Vec<Summary> = arena
            .contenders
            .iter()
            .map(|contender| server_cpu_us(rounds, contender.name, cell.name))
            .collect();
        for side in &sides {
            let number = format!("{:.3} ±{:2.0}%", side.median, side.spread * 100.0);
            text.push_str(&format!(" {number:>18}"));
        }
        if let [first, second] = sides[..] {
            let ratio = first.median / second.median;
            text.push_str(&format!(" {ratio:>8.2}x"));
            ratios.push((ratio, cell.name));
        }
        text.push('\n');
    }
    if let Some((worst, name)) = ratios.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0)) {
        let middle = summarise(ratios.iter().map(|(ratio, _)| *ratio)).median;
        text.push_str(&format!("  median {middle:.2}x, maximum {worst:.2}x ({name})\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_name_of_its_own_and_work_at_any_size() {
        for size in [1, 1000] {
            let mut names: Vec<&str> = Vec::new();
            for cell in cells(size, size) {
                assert!(cell.test.requests > 0 && cell.test.keyspace > 0, "{}", cell.name);
                assert!(cell.fill.is_none_or(|fill| fill.requests > 0), "{}", cell.name);
                assert!(!names.contains(&cell.name), "{}", cell.name);
                names.push(cell.name);
            }
        }
    }
}
