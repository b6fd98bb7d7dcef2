//! HOT PATH
//! LLEN, LINDEX, LRANGE and LPOS.

use super::{Range, index, reply_item};
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Point, View};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::item::Item;
use basalt_value::{Collection, List};

pub(super) const LLEN: Entry = Entry {
    spec: CommandSpec {
        name: "llen",
        synopsis: "key",
        group: Group::List,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Returns the length of a list.",
        examples: &["LLEN l => (integer) 0", "RPUSH l a b => (integer) 2", "LLEN l => (integer) 2"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(llen),
    ..Entry::DEFAULT
};

pub(super) const LINDEX: Entry = Entry {
    spec: CommandSpec {
        name: "lindex",
        synopsis: "key index",
        group: Group::List,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(N) with N chunks of elements between the index and the nearer end",
        summary: "Returns the element at an index, which counts from the tail if it is negative.",
        examples: &[
            "RPUSH l a b c => (integer) 3",
            r#"LINDEX l 0 => "a""#,
            r#"LINDEX l -1 => "c""#,
            "LINDEX l 3 => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(lindex),
    ..Entry::DEFAULT
};

pub(super) const LRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "lrange",
        synopsis: "key start stop",
        group: Group::List,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "1.0.0",
        complexity: "O(S+N) with S the way from the nearer end to the start and N elements returned",
        summary: "Returns the elements from one index to another, both included.",
        examples: &[
            "RPUSH l a b c => (integer) 3",
            r#"LRANGE l 0 1 => ["a", "b"]"#,
            r#"LRANGE l -2 100 => ["b", "c"]"#,
            "LRANGE l 2 1 => []",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(lrange),
    traits: Traits::working_on(4, range_len),
    ..Entry::DEFAULT
};

pub(super) const LPOS: Entry = Entry {
    spec: CommandSpec {
        name: "lpos",
        synopsis: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
        group: Group::List,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "6.0.6",
        complexity: "O(N) with N elements looked at",
        summary: "Returns the index of an element that is equal to a given one, or several such indexes.",
        examples: &[
            "RPUSH l a b c b => (integer) 4",
            "LPOS l b => (integer) 1",
            "LPOS l b RANK -1 => (integer) 3",
            "LPOS l b COUNT 0 => [(integer) 1, (integer) 3]",
            "LPOS l x => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(lpos),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn llen(point: &Point<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let list = point.collection::<List>()?;
    reply.integer(list.map_or(0, Collection::len) as i64);
    Ok(())
}

fn lindex(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(list) = view.collection::<List>(args.key(0))? else {
        reply.null();
        return Ok(());
    };
    match index(integer(args.word(2))?, list.len()).and_then(|index| list.get(index)) {
        Some(item) => reply_item(item, reply),
        None => reply.null(),
    }
    Ok(())
}

/// How many elements of a list are in a range.
fn range_len(args: &Args<'_>, len: usize) -> usize {
    Range::parse(args).map_or(0, |range| range.within(len).1)
}

fn lrange(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let range = Range::parse(args)?;
    let Some(list) = view.collection::<List>(args.key(0))? else {
        reply.array(0);
        return Ok(());
    };
    let (start, count) = range.within(list.len());
    reply.array(count);
    if count > 0 {
        list.iter_from(start).take(count).for_each(|item| reply_item(item, reply));
    }
    Ok(())
}

/// What stands behind LPOS' element.
struct Search {
    rank: i64,
    /// How many indexes are wanted, 0 for all; `None` for one that is not in an array.
    count: Option<usize>,
    /// Elements that are looked at at most.
    len_max: usize,
}

impl Search {
    fn parse(args: &Args<'_>) -> Result<Search, CommandError> {
        const RANK: CommandError = CommandError::fixed(
            "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... \
             or use negative to start from the end of the list",
        );
        const OUT_OF_RANGE: CommandError = CommandError::fixed(
            "ERR value is out of range, value must between -9223372036854775807 and \
             9223372036854775807",
        );
        const COUNT: CommandError = CommandError::fixed("ERR COUNT can't be negative");
        const LEN_MAX: CommandError = CommandError::fixed("ERR MAXLEN can't be negative");
        let mut search = Search { rank: 1, count: None, len_max: usize::MAX };
        let not_negative = |word| parse_i64(word).and_then(|number| usize::try_from(number).ok());
        for at in (3..args.len()).step_by(2) {
            let word = args.opt(at + 1).ok_or(CommandError::SYNTAX)?;
            if args.is(at, "RANK") {
                search.rank = integer(word)?;
                match search.rank {
                    0 => return Err(RANK),
                    i64::MIN => return Err(OUT_OF_RANGE),
                    _ => {}
                }
            } else if args.is(at, "COUNT") {
                search.count = Some(not_negative(word).ok_or(COUNT)?);
            } else if args.is(at, "MAXLEN") {
                search.len_max = not_negative(word).filter(|&len| len > 0).unwrap_or(usize::MAX);
                not_negative(word).ok_or(LEN_MAX)?;
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        Ok(search)
    }

    /// Calls `found` with the indexes that are searched for.
    fn run(&self, list: &List, element: &[u8], found: impl FnMut(usize)) {
        let wanted = Item::of(element);
        let is_wanted = |&(_, item): &(usize, Item<'_>)| item == wanted;
        let skipped = (self.rank.unsigned_abs() - 1) as usize;
        let count = match self.count {
            None => 1,
            Some(0) => usize::MAX,
            Some(count) => count,
        };
        if self.rank > 0 {
            let items = list.iter_from(0).enumerate().take(self.len_max).filter(is_wanted);
            items.map(|(index, _)| index).skip(skipped).take(count).for_each(found);
        } else {
            let last = list.len() - 1;
            let items = list.iter_backwards().enumerate().take(self.len_max).filter(is_wanted);
            items.map(|(index, _)| last - index).skip(skipped).take(count).for_each(found);
        }
    }
}

fn lpos(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let search = Search::parse(args)?;
    let list = view.collection::<List>(args.key(0))?;
    let element = args.word(2);
    if search.count.is_some() {
        let place = reply.array_deferred();
        let mut count = 0;
        if let Some(list) = list {
            search.run(list, element, |index| {
                reply.integer(index as i64);
                count += 1;
            });
        }
        reply.array_end(place, count);
        return Ok(());
    }
    let mut first = None;
    if let Some(list) = list {
        search.run(list, element, |index| first = Some(index));
    }
    match first {
        Some(index) => reply.integer(index as i64),
        None => reply.null(),
    }
    Ok(())
}
