//! TTL, PTTL, EXPIRETIME and PEXPIRETIME: when a key will go.

use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

/// The answer for a key that never expires.
const NEVER: i64 = -1;
/// The answer if there is no key.
const NO_KEY: i64 = -2;

pub(super) const TTL: Entry = Entry {
    spec: CommandSpec {
        name: "ttl",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Tells in how many seconds a key expires: -1 if never, -2 if there is no key.",
        examples: &[
            "TTL k => (integer) -2",
            "SET k v => OK",
            "TTL k => (integer) -1",
            "EXPIRE k 100 => (integer) 1",
            "TTL k => (integer) 100",
        ],
        tips: &["nondeterministic_output"],
        history: &[("2.8.0", "-2 for a key that does not exist.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(ttl),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const PTTL: Entry = Entry {
    spec: CommandSpec {
        name: "pttl",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "2.6.0",
        complexity: "O(1)",
        summary: "Tells in how many milliseconds a key expires: -1 if never, -2 if there is no key.",
        examples: &["PTTL k => (integer) -2", "SET k v => OK", "PTTL k => (integer) -1"],
        tips: &["nondeterministic_output"],
        history: &[("2.8.0", "-2 for a key that does not exist.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(pttl),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const EXPIRETIME: Entry = Entry {
    spec: CommandSpec {
        name: "expiretime",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "7.0.0",
        complexity: "O(1)",
        summary: "Tells at which second since 1970 a key expires: -1 if never, -2 if there is no key.",
        examples: &[
            "EXPIRETIME k => (integer) -2",
            "SET k v EXAT 33177117420 => OK",
            "EXPIRETIME k => (integer) 33177117420",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(expiretime),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

pub(super) const PEXPIRETIME: Entry = Entry {
    spec: CommandSpec {
        name: "pexpiretime",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "7.0.0",
        complexity: "O(1)",
        summary: "Tells at which millisecond since 1970 a key expires: -1 if never, -2 if there is no key.",
        examples: &[
            "SET k v => OK",
            "PEXPIRETIME k => (integer) -1",
            "PEXPIREAT k 33177117420123 => (integer) 1",
            "PEXPIRETIME k => (integer) 33177117420123",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(pexpiretime),
    traits: Traits { asks_heads: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn ttl(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = view.now_ms();
    answer(view, args, reply, |expire_ms| seconds(expire_ms.saturating_sub(now_ms)))
}

fn pttl(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = view.now_ms();
    answer(view, args, reply, |expire_ms| expire_ms.saturating_sub(now_ms))
}

fn expiretime(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    answer(view, args, reply, seconds)
}

fn pexpiretime(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    answer(view, args, reply, |expire_ms| expire_ms)
}

fn answer(
    view: &View<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    time: impl FnOnce(u64) -> u64,
) -> CommandResult {
    reply.integer(match view.head(args.key(0)).map(|head| head.expire_ms) {
        None => NO_KEY,
        Some(0) => NEVER,
        Some(expire_ms) => time(expire_ms) as i64,
    });
    Ok(())
}

/// Rounded as Redis rounds.
fn seconds(ms: u64) -> u64 {
    (ms + 500) / 1000
}
