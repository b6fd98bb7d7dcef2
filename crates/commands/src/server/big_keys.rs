//! BIGKEYS: which keys are largest.

use super::key_report::{Extent, KeyReport};
use crate::generic::{encoding, length, type_name};
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group};

pub(super) const BIGKEYS: Entry = Entry {
    spec: CommandSpec {
        name: "bigkeys",
        synopsis: "[COUNT count] [TYPE type] [BY <BYTES | LENGTH>] [SAMPLES samples]",
        group: Group::Server,
        // It shows names of keys whatever patterns its user has.
        flags: Flags::of(&[Flag::Admin, Flag::Noscript]),
        acl: Some(Categories::of(&[Category::Keyspace])),
        since: "7.2.4",
        complexity: "O(N) with N samples, 100000 unless told, at most 1000000",
        summary: "Tells which keys of the selected database are largest, of a sample of those in memory: by the memory that they take, or by their length, the bytes of a string or the elements of anything else. Basalt's own.",
        examples: &[
            "BIGKEYS => [\"keys\", (integer) 0, \"sampled\", (integer) 0, \"bigkeys\", []]",
            "RPUSH l a b c => (integer) 3",
            "SET s v => OK",
            "BIGKEYS COUNT 1 BY LENGTH => (any)",
            "BIGKEYS TYPE hash => [\"keys\", (integer) 2, \"sampled\", (integer) 2, \"bigkeys\", []]",
            "BIGKEYS BY name => (error) ERR syntax error",
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(big_keys),
    traits: Traits { locks_partitions: true, ..Traits::LONG },
    ..Entry::DEFAULT
};

/// What makes a key big.
#[derive(Clone, Copy)]
enum By {
    Bytes,
    Length,
}

struct Options<'a> {
    extent: Extent,
    kind: Option<&'a [u8]>,
    by: By,
}

impl Options<'_> {
    fn parse<'a>(args: &Args<'a>) -> Result<Options<'a>, CommandError> {
        let mut options = Options { extent: Extent::DEFAULT, kind: None, by: By::Bytes };
        for at in (1..args.len()).step_by(2) {
            let word = args.opt(at + 1).ok_or(CommandError::SYNTAX)?;
            if args.is(at, "TYPE") {
                options.kind = Some(word);
            } else if args.is(at, "BY") && args.is(at + 1, "BYTES") {
                options.by = By::Bytes;
            } else if args.is(at, "BY") && args.is(at + 1, "LENGTH") {
                options.by = By::Length;
            } else if !options.extent.read(args, at)? {
                return Err(CommandError::SYNTAX);
            }
        }
        Ok(options)
    }
}

struct Figures {
    encoding: &'static str,
    bytes: usize,
    length: usize,
}

fn big_keys(ctx: &mut Context<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let options = Options::parse(args)?;
    let report = KeyReport::make(ctx, options.extent, |object| {
        if options.kind.is_some_and(|kind| !kind.eq_ignore_ascii_case(type_name(object).as_bytes()))
        {
            return None;
        }
        let (bytes, length) = (object.memory_bytes(), length(object));
        let rank = match options.by {
            By::Bytes => bytes,
            By::Length => length,
        };
        Some((rank, Figures { encoding: encoding(object), bytes, length }))
    });
    let Ok(report) = report else { return Ok(Flow::Wait(Wait::Held)) };
    report.reply("bigkeys", 3, reply, |figures, reply| {
        reply.bulk(b"encoding");
        reply.bulk(figures.encoding.as_bytes());
        reply.bulk(b"bytes");
        reply.integer(figures.bytes as i64);
        reply.bulk(b"length");
        reply.integer(figures.length as i64);
    });
    Ok(Flow::Done)
}
