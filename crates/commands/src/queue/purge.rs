//! Q.PURGE and Q.REVIVE.

use super::options::{lane, state, value};
use super::{edit, message_id, reply_count, reply_number};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Absent, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::queue::{MessageId, Revived, State};

pub(super) const Q_PURGE: Entry = Entry {
    spec: CommandSpec {
        name: "q.purge",
        synopsis: "key [STATE <ready | delayed | leased | dead>] [PRIORITY priority]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::REMOVE],
        since: "0.1.0",
        complexity: "O(N) with N messages",
        summary: "Removes messages of a state, or all that nobody holds; settings stay. Returns how many.",
        examples: &[
            r#"Q.MPUT q 3 a b c => ["0-1", "0-2", "0-3"]"#,
            "Q.GET QUEUES q => (any)",
            "Q.PURGE q STATE dead => (integer) 0",
            "Q.PURGE q PRIORITY 9 => (integer) 0",
            "Q.PURGE q => (integer) 2",
            "Q.LEN q => (integer) 1",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(purge),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const Q_REVIVE: Entry = Entry {
    spec: CommandSpec {
        name: "q.revive",
        synopsis: "key <ALL | id [id ...]>",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::UPDATE],
        since: "0.1.0",
        complexity: "O(N*log(M)) with N messages of M, O(M) for all",
        summary: "Makes dead messages ready again, with as many deliveries before them as a new one. Returns how many.",
        examples: &[
            r#"Q.PUT q a => "0-1""#,
            "Q.REVIVE q 0-1 => (integer) 0",
            "Q.REVIVE q ALL => (integer) 0",
            "Q.REVIVE q 0 => (error) ERR invalid message id",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(revive),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn purge(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (mut of_state, mut of_lane) = (None, None);
    let mut index = 2;
    while index < args.len() {
        let value = value(args, index)?;
        if args.is(index, "state") {
            of_state = Some(state(value)?);
        } else if args.is(index, "priority") {
            of_lane = Some(lane(value)?);
        } else {
            return Err(CommandError::SYNTAX);
        }
        index += 2;
    }
    let unheld = [State::Ready, State::Delayed, State::Dead];
    let states = of_state.as_ref().map_or(&unheld[..], std::slice::from_ref);
    let purged = edit(txn, args.key(0), Absent::Skip, "q.purge", |queue, now_ms, edits| {
        queue.purge(states, of_lane, now_ms, edits)
    })?;
    if of_state == Some(State::Leased) {
        txn.release_all(args.key(0));
    }
    reply_number(purged.unwrap_or(0), reply);
    Ok(())
}

fn revive(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let is_all = args.len() == 3 && args.is(2, "all");
    let ids: Vec<MessageId> = match is_all {
        true => Vec::new(),
        false => args.from(2).map(message_id).collect::<Result<_, _>>()?,
    };
    let which = if is_all { Revived::All } else { Revived::Named(&ids) };
    let revived = edit(txn, args.key(0), Absent::Skip, "q.revive", |queue, now_ms, edits| {
        queue.revive(which, now_ms, edits)
    })?;
    reply_count(revived.unwrap_or(0), reply)
}
