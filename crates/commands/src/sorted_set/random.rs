//! ZRANDMEMBER.

use super::reply::{self, Scores};
use crate::how_many::{HOW_MANY, check_picks};
use crate::number::integer;
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_env::Random;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::draws;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::{Collection, SortedSet};
use std::collections::HashSet;

pub(super) const ZRANDMEMBER: Entry = Entry {
    spec: CommandSpec {
        name: "zrandmember",
        synopsis: "key [count [WITHSCORES]]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[around("count").named("options")],
        since: "6.2.0",
        complexity: "O(M log N) with N elements in the sorted set and M returned",
        summary: "Returns random members of a sorted set: different ones, or with a negative count any.",
        examples: &[
            "ZRANDMEMBER z => (nil)",
            "ZADD z 1 a => (integer) 1",
            r#"ZRANDMEMBER z => "a""#,
            r#"ZRANDMEMBER z 5 WITHSCORES => ["a", "1"]"#,
            r#"ZRANDMEMBER z -2 => ["a", "a"]"#,
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zrandmember),
    traits: HOW_MANY,
    ..Entry::DEFAULT
};

fn zrandmember(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(word) = args.opt(2) else {
        let set = view.collection::<SortedSet>(args.key(0))?;
        let mut random = Random::new(draws::draw());
        match set.and_then(|set| set.at(random.below(set.len() as u64) as usize)) {
            Some(element) => reply::member(reply, element.member),
            None => reply.null(),
        }
        return Ok(());
    };
    let (count, scores) = parse(word, args)?;
    let Some(set) = view.collection::<SortedSet>(args.key(0))? else {
        reply.array(0);
        return Ok(());
    };
    let asked = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let mut random = Random::new(draws::draw());
    if count < 0 {
        reply::header(reply, asked, scores);
        for _ in 0..asked {
            let rank = random.below(set.len() as u64) as usize;
            let element = set.at(rank).expect("the rank is below the length");
            reply::element(reply, element, scores);
        }
    } else if asked >= set.len() {
        reply::elements(reply, set.elements(), scores);
    } else {
        let ranks = different_ranks(asked, set.len(), &mut random);
        let elements =
            ranks.into_iter().map(|rank| set.at(rank).expect("the rank is below the length"));
        reply::elements(reply, elements, scores);
    }
    Ok(())
}

fn parse(word: &[u8], args: &Args<'_>) -> Result<(i64, Scores), CommandError> {
    let count = integer(word)?;
    if count == i64::MIN {
        return Err(CommandError::fixed(
            "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
        ));
    }
    if args.len() > 4 || args.len() == 4 && !args.is(3, "WITHSCORES") {
        return Err(CommandError::SYNTAX);
    }
    check_picks(count)?;
    if args.len() < 4 {
        return Ok((count, Scores::Without));
    }
    if !(-i64::MAX / 2..=i64::MAX / 2).contains(&count) {
        return Err(CommandError::fixed("ERR value is out of range"));
    }
    Ok((count, Scores::With))
}

/// This number of different numbers below `len`, each as likely as another (R. Floyd's sampling:
/// every step draws from one more number, and takes that if it has the drawn one already).
fn different_ranks(count: usize, len: usize, random: &mut Random) -> Vec<usize> {
    let mut taken = HashSet::with_capacity(count);
    let mut ranks = Vec::with_capacity(count);
    for last in len - count..len {
        let drawn = random.below(last as u64 + 1) as usize;
        let rank = if taken.insert(drawn) { drawn } else { last };
        taken.insert(rank);
        ranks.push(rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_different_and_about_equally_likely() {
        let (mut random, mut counts) = (Random::new(1), [0; 20]);
        for _ in 0..4000 {
            let ranks = different_ranks(5, 20, &mut random);
            assert_eq!(ranks.iter().collect::<HashSet<_>>().len(), 5);
            ranks.into_iter().for_each(|rank| counts[rank] += 1);
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
