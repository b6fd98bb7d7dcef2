//! LOLWUT: a picture. Ours are columns of basalt, seen from above and from the side.

use crate::number::integer;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_env::Random;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::server::BASALT_VERSION;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group};

pub(super) const LOLWUT: Entry = Entry {
    spec: CommandSpec {
        name: "lolwut",
        synopsis: "[VERSION version]",
        group: Group::Server,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        since: "5.0.0",
        complexity: "O(N) with N columns",
        summary: "Draws columns of basalt, other ones each time, and tells the version.",
        examples: &[
            "LOLWUT => (any)",
            "LOLWUT VERSION 5 3 => (any)",
            "LOLWUT VERSION x => (error) ERR value is not an integer or out of range",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(lolwut),
    ..Entry::DEFAULT
};

/// Columns, if the call does not say how many …
const COLUMNS: i64 = 12;
/// … and the most that are drawn.
const COLUMNS_MAX: i64 = 200;
/// Lines of the tallest column.
const HEIGHT: usize = 9;

/// `VERSION` names a picture in Redis; here all versions are one, and the word behind it is the
/// number of columns.
fn lolwut(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let mut at = 1;
    if args.is(1, "version") && args.len() > 2 {
        integer(args.word(2))?;
        at = 3;
    }
    let columns = match args.opt(at) {
        Some(word) => integer(word)?.clamp(1, COLUMNS_MAX),
        None => COLUMNS,
    };
    let mut random = Random::new(ctx.server.env.entropy.seed());
    let heights: Vec<usize> =
        (0..columns).map(|_| 2 + random.next_u64() as usize % (HEIGHT - 2)).collect();
    let mut text = draw(&heights);
    text.push_str(&format!("\nBasalt ver. {BASALT_VERSION}\n"));
    reply.verbatim(*b"txt", text.as_bytes());
    Ok(Flow::Done)
}

/// Each column is a hexagon on a shaft.
fn draw(heights: &[usize]) -> String {
    let mut text = String::new();
    for line in (0..HEIGHT + 2).rev() {
        let mut row = String::new();
        for &height in heights {
            row.push_str(match line.checked_sub(height) {
                None => "|  |",
                Some(0) => "\\__/",
                Some(1) => "/  \\",
                Some(2) => " __ ",
                Some(_) => "    ",
            });
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn a_column_has_a_top_and_a_shaft() {
        let lines = draw(&[2, 3]);
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(
            &lines[lines.len() - 6..],
            ["     __", " __ /  \\", "/  \\\\__/", "\\__/|  |", "|  ||  |", "|  ||  |",]
        );
    }
}
