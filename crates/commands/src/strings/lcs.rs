//! The longest common subsequence of two strings: LCS.
//!
//! Dynamic programming as in any textbook: `table[i][j]` is the length of the answer for the first
//! `i` bytes of one string and the first `j` of the other. The walk back from the end follows
//! Redis' step by step, because several subsequences may be equally long and clients see which one
//! it is.

use super::bytes;
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Key, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const LCS: Entry = Entry {
    spec: CommandSpec {
        name: "lcs",
        synopsis: "key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]",
        group: Group::String,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "7.0.0",
        complexity: "O(N*M) with N and M the lengths of the strings",
        summary: "Finds the longest common subsequence of two strings: itself, its length, or where its parts are.",
        examples: &[
            "MSET a ohmytext b mynewtext => OK",
            r#"LCS a b => "mytext""#,
            "LCS a b LEN => (integer) 6",
            r#"LCS a b IDX MINMATCHLEN 4 => ["matches", [[[(integer) 4, (integer) 7], [(integer) 5, (integer) 8]]], "len", (integer) 6]"#,
            r#"LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN => ["matches", [[[(integer) 4, (integer) 7], [(integer) 5, (integer) 8], (integer) 4]], "len", (integer) 6]"#,
            "LCS a b LEN IDX => (error) ERR ...",
            r#"LCS a absent => """#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(lcs),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

/// Strings of this length and more are refused, in Redis' words.
const STRING_BYTES_LIMIT: usize = u32::MAX as usize - 1;

#[derive(Default)]
struct Options {
    length_only: bool,
    indexes: bool,
    match_lengths: bool,
    match_bytes_min: usize,
}

/// The table of lengths for all prefixes of two strings.
struct Table {
    cells: Vec<u32>,
    row_cells: usize,
}

/// A run of bytes that both strings have: where it begins in each, and how long it is.
#[derive(Clone, Copy)]
struct Match {
    a: usize,
    b: usize,
    len: usize,
}

fn lcs(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let a = operand(view, args.key(0))?;
    let b = operand(view, args.key(1))?;
    let options = parse(args)?;
    if a.len() >= STRING_BYTES_LIMIT || b.len() >= STRING_BYTES_LIMIT {
        return Err(CommandError::fixed("ERR String too long for LCS"));
    }
    let table = Table::build(a, b, view.value_bytes_max())?;
    let len = table.cell(a.len(), b.len());
    if options.indexes {
        reply_indexes(&options, &matches(a, b, &table), len, reply);
    } else if options.length_only {
        reply.integer(i64::from(len));
    } else {
        let matches = matches(a, b, &table);
        let mut common = Vec::with_capacity(len as usize);
        for found in matches.iter().rev() {
            common.extend_from_slice(&a[found.a..found.a + found.len]);
        }
        reply.bulk(&common);
    }
    Ok(())
}

fn operand<'v>(view: &'v View<'_>, key: &Key<'_>) -> Result<&'v [u8], CommandError> {
    match view.get(key) {
        Some(object) => bytes(object)
            .map_err(|_| CommandError::fixed("ERR The specified keys must contain string values")),
        None => Ok(&[]),
    }
}

fn parse(args: &Args<'_>) -> Result<Options, CommandError> {
    let mut options = Options::default();
    let mut index = 3;
    while index < args.len() {
        if args.is(index, "IDX") {
            options.indexes = true;
        } else if args.is(index, "LEN") {
            options.length_only = true;
        } else if args.is(index, "WITHMATCHLEN") {
            options.match_lengths = true;
        } else if args.is(index, "MINMATCHLEN") && index + 1 < args.len() {
            index += 1;
            options.match_bytes_min = integer(args.word(index))?.max(0) as usize;
        } else {
            return Err(CommandError::SYNTAX);
        }
        index += 1;
    }
    if options.indexes && options.length_only {
        return Err(CommandError::fixed(
            "ERR If you want both the length and indexes, please just use IDX.",
        ));
    }
    Ok(options)
}

impl Table {
    fn build(a: &[u8], b: &[u8], bytes_max: usize) -> Result<Table, CommandError> {
        let row_cells = b.len() + 1;
        let out_of_memory = CommandError::fixed(
            "ERR Insufficient memory, failed allocating transient memory for LCS",
        );
        let Some(cells) = row_cells.checked_mul(a.len() + 1) else { return Err(out_of_memory) };
        if cells.saturating_mul(size_of::<u32>()) > bytes_max {
            return Err(CommandError::fixed(
                "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len",
            ));
        }
        let mut table = Table { cells: Vec::new(), row_cells };
        if table.cells.try_reserve_exact(cells).is_err() {
            return Err(out_of_memory);
        }
        table.cells.resize(row_cells, 0);
        for (row, &byte) in a.iter().enumerate() {
            table.add_row(row, byte, b);
        }
        Ok(table)
    }

    /// Appends the row behind `row`: with one more byte of the first string.
    fn add_row(&mut self, row: usize, byte: u8, b: &[u8]) {
        let above = row * self.row_cells;
        let mut left = 0;
        self.cells.push(left);
        for (column, &other) in b.iter().enumerate() {
            let diagonal = self.cells[above + column];
            let upper = self.cells[above + column + 1];
            left = if byte == other { diagonal + 1 } else { upper.max(left) };
            self.cells.push(left);
        }
    }

    fn cell(&self, row: usize, column: usize) -> u32 {
        self.cells[row * self.row_cells + column]
    }
}

/// The runs that make up the subsequence, the last one first.
fn matches(a: &[u8], b: &[u8], table: &Table) -> Vec<Match> {
    let mut found: Vec<Match> = Vec::new();
    let (mut i, mut j) = (a.len(), b.len());
    while i > 0 && j > 0 {
        if a[i - 1] == b[j - 1] {
            match found.last_mut() {
                Some(run) if run.a == i && run.b == j => {
                    *run = Match { a: i - 1, b: j - 1, len: run.len + 1 };
                }
                _ => found.push(Match { a: i - 1, b: j - 1, len: 1 }),
            }
            (i, j) = (i - 1, j - 1);
        } else if table.cell(i - 1, j) > table.cell(i, j - 1) {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    found
}

fn reply_indexes(options: &Options, matches: &[Match], len: u32, reply: &mut Reply<'_>) {
    let is_shown = |found: &&Match| found.len >= options.match_bytes_min;
    reply.map(2);
    reply.bulk(b"matches");
    reply.array(matches.iter().filter(is_shown).count());
    for found in matches.iter().filter(is_shown) {
        reply.array(2 + usize::from(options.match_lengths));
        for start in [found.a, found.b] {
            reply.array(2);
            reply.integer(start as i64);
            reply.integer((start + found.len - 1) as i64);
        }
        if options.match_lengths {
            reply.integer(found.len as i64);
        }
    }
    reply.bulk(b"len");
    reply.integer(i64::from(len));
}
