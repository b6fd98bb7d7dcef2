//! HRANDFIELD.

use super::reply_item;
use crate::how_many::{HOW_MANY, check_picks};
use crate::number::integer;
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_env::Random;
use basalt_resp::{Protocol, Reply};
use basalt_service::args::Args;
use basalt_service::draws;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::hash::Field;
use basalt_value::{Collection, FormLimits, Hash, Set};

pub(super) const HRANDFIELD: Entry = Entry {
    spec: CommandSpec {
        name: "hrandfield",
        synopsis: "key [count [WITHVALUES]]",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[around("count").named("options")],
        since: "6.2.0",
        complexity: "O(N) with N fields returned, or looked at if they are a good part of the hash",
        summary: "Returns a random field of a hash, a few different ones, or, with a negative count, some that may be the same.",
        examples: &[
            "HRANDFIELD h => (nil)",
            "HSET h a 1 => (integer) 1",
            r#"HRANDFIELD h => "a""#,
            r#"HRANDFIELD h 3 WITHVALUES => ["a", "1"]"#,
            r#"HRANDFIELD h -3 => ["a", "a", "a"]"#,
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(hrandfield),
    traits: HOW_MANY,
    ..Entry::DEFAULT
};

/// What is told of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Names,
    /// As pairs in RESP3, one after the other in RESP2.
    NamesAndValues,
}

impl Told {
    fn begin(self, count: usize, reply: &mut Reply<'_>) {
        let nested = reply.protocol() == Protocol::Resp3;
        reply.array(if self == Told::Names || nested { count } else { 2 * count });
    }

    fn reply(self, field: Field<'_>, reply: &mut Reply<'_>) {
        if self == Told::NamesAndValues && reply.protocol() == Protocol::Resp3 {
            reply.array(2);
        }
        reply_item(field.name, reply);
        if self == Told::NamesAndValues {
            reply_item(field.value, reply);
        }
    }
}

fn hrandfield(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = view.now_ms();
    let Some(word) = args.opt(2) else {
        let hash = view.collection::<Hash>(args.key(0))?;
        match hash.and_then(|hash| hash.random(draws::draw(), now_ms)) {
            Some(field) => reply_item(field.name, reply),
            None => reply.null(),
        }
        return Ok(());
    };
    let (count, told) = options(word, args)?;
    let Some(hash) = view.collection::<Hash>(args.key(0))? else {
        reply.array(0);
        return Ok(());
    };
    let mut random = Random::new(draws::draw());
    if count < 0 {
        let picks = count.unsigned_abs();
        told.begin(picks as usize, reply);
        for _ in 0..picks {
            if let Some(field) = hash.random(random.next_u64(), now_ms) {
                told.reply(field, reply);
            }
        }
        return Ok(());
    }
    let len = hash.len_at(now_ms);
    let count = (count as usize).min(len);
    told.begin(count, reply);
    if count > len / 4 {
        // Looks at all, and takes each with the probability that makes `count` of them in the end.
        let (mut wanted, mut left) = (count as u64, len as u64);
        hash.visit(now_ms, |field| {
            if random.chance(wanted, left) {
                told.reply(field, reply);
                wanted -= 1;
            }
            left -= 1;
        });
    } else {
        let (mut drawn, limits) = (Set::new(), FormLimits::default());
        while drawn.len() < count {
            let Some(field) = hash.random(random.next_u64(), now_ms) else { break };
            if drawn.add_item(field.name, &limits) {
                told.reply(field, reply);
            }
        }
    }
    Ok(())
}

/// The count, and what is told.
fn options(word: &[u8], args: &Args<'_>) -> Result<(i64, Told), CommandError> {
    const OUT_OF_RANGE: CommandError = CommandError::fixed("ERR value is out of range");
    let count = integer(word)?;
    if count == i64::MIN {
        return Err(CommandError::fixed(
            "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
        ));
    }
    let told = match args.len() {
        3 => Told::Names,
        4 if args.is(3, "WITHVALUES") => Told::NamesAndValues,
        _ => return Err(CommandError::SYNTAX),
    };
    if told == Told::NamesAndValues && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return Err(OUT_OF_RANGE);
    }
    check_picks(count)?;
    Ok((count, told))
}
