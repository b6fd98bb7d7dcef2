//! LMOVE and RPOPLPUSH.

use super::{popped, pushed, reply_item, side};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Deprecated, Flag, Flags, Group, KeyUse, around};
use basalt_value::List;
use basalt_value::item::{Item, NUMBER_CHARS_MAX};
use basalt_value::list::Side;

pub(super) const LMOVE: Entry = Entry {
    spec: CommandSpec {
        name: "lmove",
        synopsis: "source destination <LEFT | RIGHT> <LEFT | RIGHT>",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::TAKE, KeyUse::ADD],
        overrides: &[around("LEFT").named("whereto"), around("LEFT").first().named("wherefrom")],
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Moves an element from an end of one list to an end of another, or of the same, and returns it.",
        examples: &[
            "LMOVE a b LEFT RIGHT => (nil)",
            "RPUSH a 1 2 => (integer) 2",
            r#"LMOVE a b LEFT RIGHT => "1""#,
            r#"LMOVE a a LEFT RIGHT => "2""#,
            r#"LRANGE b 0 -1 => ["1"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(lmove),
    ..Entry::DEFAULT
};

pub(super) const RPOPLPUSH: Entry = Entry {
    spec: CommandSpec {
        name: "rpoplpush",
        synopsis: "source destination",
        group: Group::List,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::TAKE, KeyUse::ADD],
        since: "1.2.0",
        complexity: "O(1)",
        summary: "Moves the last element of one list to the head of another, or of the same, and returns it.",
        examples: &[
            "RPUSH a 1 2 => (integer) 2",
            r#"RPOPLPUSH a b => "2""#,
            r#"LRANGE b 0 -1 => ["2"]"#,
        ],
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`LMOVE` with the `RIGHT` and `LEFT` arguments",
        }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(rpoplpush),
    ..Entry::DEFAULT
};

/// From which end of the source to which end of the destination.
pub(super) struct Ends {
    from: Side,
    to: Side,
}

impl Ends {
    /// What RPOPLPUSH does.
    pub(super) const ROTATE: Ends = Ends { from: Side::Right, to: Side::Left };

    /// Reads the third and the fourth argument.
    pub(super) fn parse(args: &Args<'_>) -> Result<Ends, CommandError> {
        Ok(Ends { from: side(args, 3)?, to: side(args, 4)? })
    }

    /// Moves an element and replies with it; returns true if there was one.
    pub(super) fn run(
        &self,
        txn: &mut Txn<'_>,
        args: &Args<'_>,
        reply: &mut Reply<'_>,
    ) -> Result<bool, CommandError> {
        let (from, to) = (args.key(0), args.key(1));
        if txn.collection::<List>(from)?.is_none() {
            return Ok(false);
        }
        txn.collection::<List>(to)?;
        let limits = txn.limits();
        let mut moved = Vec::new();
        let keep = |item: Item<'_>, moved: &mut Vec<u8>| {
            moved.extend_from_slice(item.spell(&mut [0; NUMBER_CHARS_MAX]));
        };
        if from.bytes == to.bytes {
            // One edit: a list of one element must not vanish in between.
            txn.edit::<List, _>(from, Absent::Skip, |list, edits| {
                list.pop(self.from, 1, &limits, edits, |item| keep(item, &mut moved));
                list.push(self.to, &moved, &limits, edits);
            })?;
        } else {
            txn.edit::<List, _>(from, Absent::Skip, |list, edits| {
                list.pop(self.from, 1, &limits, edits, |item| keep(item, &mut moved));
            })?;
            txn.edit::<List, _>(to, Absent::Create, |list, edits| {
                list.push(self.to, &moved, &limits, edits);
            })?;
        }
        txn.notify(EventClass::List, pushed(self.to), to);
        txn.signal(to);
        txn.notify_taken(EventClass::List, popped(self.from), from);
        reply_item(Item::Bytes(&moved), reply);
        Ok(true)
    }
}

fn lmove(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    if !Ends::parse(args)?.run(txn, args, reply)? {
        reply.null();
    }
    Ok(())
}

fn rpoplpush(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    if !Ends::ROTATE.run(txn, args, reply)? {
        reply.null();
    }
    Ok(())
}
