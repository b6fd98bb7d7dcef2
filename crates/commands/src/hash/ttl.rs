//! HTTL, HPTTL, HEXPIRETIME and HPEXPIRETIME.

use super::fields_option::{self, NOT_POSITIVE};
use crate::expire_time::{Base, ExpireTime, Unit};
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::Hash;
use basalt_value::item::Item;

/// What the four have in common.
const TELLS: CommandSpec = CommandSpec {
    synopsis: "key FIELDS (numfields field [field ...])",
    group: Group::Hash,
    flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
    keys: &[KeyUse::READ],
    overrides: &[around("numfields").named("fields")],
    since: "7.4.0",
    complexity: "O(1) a field",
    ..CommandSpec::DEFAULT
};

pub(super) const HTTL: Entry = Entry {
    spec: CommandSpec {
        name: "httl",
        summary: "Returns after how many seconds fields of a hash expire: -1 for never, -2 for no field.",
        examples: &[
            "HSET h a 1 b 2 => (integer) 2",
            "HEXPIRE h 100 FIELDS 1 a => [(integer) 1]",
            "HTTL h FIELDS 3 a b c => [(integer) 100, (integer) -1, (integer) -2]",
        ],
        tips: &["nondeterministic_output"],
        ..TELLS
    },
    run: Run::Read(|view, args, reply| tell(view, args, ExpireTime::SECONDS, reply)),
    ..Entry::DEFAULT
};

pub(super) const HPTTL: Entry = Entry {
    spec: CommandSpec {
        name: "hpttl",
        summary: "Returns after how many milliseconds fields of a hash expire: -1 for never, -2 for no field.",
        examples: &["HSET h a 1 => (integer) 1", "HPTTL h FIELDS 1 a => [(integer) -1]"],
        tips: &["nondeterministic_output"],
        ..TELLS
    },
    run: Run::Read(|view, args, reply| tell(view, args, ExpireTime::MILLISECONDS, reply)),
    ..Entry::DEFAULT
};

pub(super) const HEXPIRETIME: Entry = Entry {
    spec: CommandSpec {
        name: "hexpiretime",
        summary: "Returns at which Unix time in seconds fields of a hash expire: -1 for never, -2 for no field.",
        examples: &[
            "HSET h a 1 => (integer) 1",
            "HPEXPIREAT h 33177117420001 FIELDS 1 a => [(integer) 1]",
            "HEXPIRETIME h FIELDS 1 a => [(integer) 33177117421]",
        ],
        ..TELLS
    },
    run: Run::Read(|view, args, reply| tell(view, args, ExpireTime::UNIX_SECONDS, reply)),
    ..Entry::DEFAULT
};

pub(super) const HPEXPIRETIME: Entry = Entry {
    spec: CommandSpec {
        name: "hpexpiretime",
        summary: "Returns at which Unix time in milliseconds fields of a hash expire: -1 for never, -2 for no field.",
        examples: &[
            "HSET h a 1 => (integer) 1",
            "HPEXPIREAT h 33177117420001 FIELDS 1 a => [(integer) 1]",
            "HPEXPIRETIME h FIELDS 1 a => [(integer) 33177117420001]",
        ],
        ..TELLS
    },
    run: Run::Read(|view, args, reply| tell(view, args, ExpireTime::UNIX_MILLISECONDS, reply)),
    ..Entry::DEFAULT
};

fn tell(
    view: &View<'_>,
    args: &Args<'_>,
    time: ExpireTime,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let hash = view.collection::<Hash>(args.key(0))?;
    let now_ms = view.now_ms();
    let first = fields_option::parse(args, 2, NOT_POSITIVE)?;
    let since_ms = match time.base {
        Base::Now => now_ms,
        Base::UnixEpoch => 0,
    };
    reply.array(args.len() - first);
    for name in args.from(first) {
        let field = hash.and_then(|hash| hash.field(Item::of(name), now_ms));
        reply.integer(match field.map(|field| field.expire_ms) {
            None => -2,
            Some(0) => -1,
            // A field that is there expires later than now.
            Some(expire_ms) => match time.unit {
                Unit::Seconds => (expire_ms - since_ms).div_ceil(1000) as i64,
                Unit::Milliseconds => (expire_ms - since_ms) as i64,
            },
        });
    }
    Ok(())
}
