//! Q.HELD.

use super::options::value;
use super::{queue_at, reply_number, token};
use crate::timeout;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{View, WaitAnswer};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::queue::{MESSAGES_MAX, MessageId, Token};
use std::time::Duration;

pub(super) const Q_HELD: Entry = Entry {
    spec: CommandSpec {
        name: "q.held",
        synopsis: "key [BLOCK milliseconds] TOKENS token [token ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly, Flag::Blocking]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(log(N)) for each token with N messages",
        summary: "Returns when the lease of each delivery ends, unix milliseconds, or 0 if it is over. With BLOCK it waits while all of these messages are held, but no longer than to the end of the first lease.",
        examples: &[
            r#"Q.PUT q a => "0-1""#,
            "Q.GET QUEUES q => (any)",
            "Q.HELD q TOKENS 0-1-5 0-2-5 => [(integer) 0, (integer) 0]",
            "Q.HELD q BLOCK 0 TOKENS 0-1-5 => [(integer) 0]",
            "Q.HELD q TOKENS nonsense => (error) ERR invalid token",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(held),
    ..Entry::DEFAULT
};

fn held(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (block, first) = match args.is(2, "block") {
        true => (Some(timeout::milliseconds(value(args, 2)?)?), 4),
        false => (None, 2),
    };
    if !args.is(first, "tokens") || args.len() == first + 1 {
        return Err(CommandError::SYNTAX);
    }
    if args.len() - (first + 1) > MESSAGES_MAX {
        return Err(CommandError::fixed("ERR count is out of range: from 1 to 1000"));
    }
    let tokens: Vec<Token> = args.from(first + 1).map(token).collect::<Result<_, _>>()?;
    let now_ms = view.now_ms();
    let queue = queue_at(view, args.key(0))?;
    let until_ms = |&token: &Token| queue.map_or(0, |queue| queue.held_until_ms(token, now_ms));
    let ends: Vec<u64> = tokens.iter().map(until_ms).collect();
    let first_end = ends.iter().min().copied().unwrap_or(0);
    if let Some(time) = block
        && first_end > 0
    {
        let left = Duration::from_millis(first_end.saturating_sub(now_ms).max(1));
        let time = time.map_or(left, |time| time.min(left));
        let ids: Vec<MessageId> = tokens.iter().map(|token| token.id).collect();
        if view.wait_for_release(args.key(0), &ids, time) == WaitAnswer::Waits {
            return Ok(());
        }
    }
    reply.array(ends.len());
    ends.into_iter().for_each(|end| reply_number(end, reply));
    Ok(())
}
