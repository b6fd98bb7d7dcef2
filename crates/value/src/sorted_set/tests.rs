//! Sorted sets against a plain model, in both forms.

use super::*;
use crate::ValueRef;
use crate::fetch::{Step as FetchStep, Way};
use crate::item::NUMBER_CHARS_MAX;
use crate::limits::PackedLimits;
use crate::seed::hash_member;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<Vec<u8>, f64>;
type Holds<'a> = Box<dyn Fn(&[u8]) -> bool + 'a>;

#[derive(Clone, Debug)]
enum Step {
    Set(u16, f64),
    Remove(u16),
    RemoveRanks(u8, u8),
    Pop(Direction),
    Reload,
    Duplicate,
}

/// Members of many lengths, some of which spell numbers.
fn member(number: u16) -> Vec<u8> {
    match number % 4 {
        0 => number.to_string().into_bytes(),
        1 => format!("-{number}").into_bytes(),
        2 => vec![(number >> 8) as u8, number as u8],
        _ => vec![number as u8; usize::from(number % 61) * usize::from(number % 13)],
    }
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (-3..3i32).prop_map(f64::from),
        4 => (0..1000i32).prop_map(|score| f64::from(score) / 8.0),
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(1e300)],
    ]
}

fn step(members: u16) -> impl Strategy<Value = Step> {
    prop_oneof![
        24 => (0..members, score()).prop_map(|(member, score)| Step::Set(member, score)),
        8 => (0..members).prop_map(Step::Remove),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(from, to)| Step::RemoveRanks(from, to)),
        2 => Just(Step::Pop(Direction::Forward)),
        2 => Just(Step::Pop(Direction::Backward)),
        1 => Just(Step::Reload),
        1 => Just(Step::Duplicate),
    ]
}

fn limits(entries_max: u32) -> FormLimits {
    let sorted_set = PackedLimits { entries_max, value_bytes_max: 1000 };
    FormLimits { sorted_set, ..FormLimits::default() }
}

fn in_order(model: &Model) -> Vec<(f64, Vec<u8>)> {
    let mut all: Vec<(f64, Vec<u8>)> =
        model.iter().map(|(member, &score)| (score, member.clone())).collect();
    all.sort_by(|one, other| {
        one.0.partial_cmp(&other.0).unwrap().then_with(|| one.1.cmp(&other.1))
    });
    all
}

fn listed(iter: Iter<'_>) -> Vec<(f64, Vec<u8>)> {
    iter.map(|element| {
        let member = element.member.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec();
        (element.score, member)
    })
    .collect()
}

fn encoded(set: &SortedSet) -> Vec<u8> {
    let mut bytes = Vec::new();
    set.encode(&mut bytes);
    bytes
}

fn check(set: &SortedSet, model: &Model) {
    let expected = in_order(model);
    assert_eq!(listed(set.elements()), expected);
    assert_eq!(set.len(), model.len());
    if let FormRef::Native(native) = set.0.read() {
        native.check();
    }
}

/// All that can be asked about ranks and bounds.
fn check_ranges(set: &SortedSet, model: &Model, probe: (u8, u8), scores: (f64, f64)) {
    let all = in_order(model);
    for (rank, (score, member)) in all.iter().enumerate() {
        assert_eq!(set.rank(member), Some((rank, *score)));
        assert_eq!(set.score(member), Some(*score));
    }
    assert_eq!(set.rank(b"absent member"), None);
    let (from, to) = (usize::from(probe.0), usize::from(probe.1));
    let within: Vec<_> = all.iter().take(to).skip(from).cloned().collect();
    assert_eq!(listed(set.iter(from..to.max(from), Direction::Forward)), within);
    let reversed: Vec<_> = within.into_iter().rev().collect();
    assert_eq!(listed(set.iter(from..to.max(from), Direction::Backward)), reversed);
    for min in [ScoreBound::Inclusive(scores.0), ScoreBound::Exclusive(scores.0)] {
        for max in [ScoreBound::Inclusive(scores.1), ScoreBound::Exclusive(scores.1)] {
            let ranks = set.ranks(&Bounds::Score { min, max });
            let holds = |score: f64| {
                let above = match min {
                    ScoreBound::Inclusive(min) => score >= min,
                    ScoreBound::Exclusive(min) => score > min,
                };
                let below = match max {
                    ScoreBound::Inclusive(max) => score <= max,
                    ScoreBound::Exclusive(max) => score < max,
                };
                above && below
            };
            let expected: Vec<_> = all.iter().filter(|(score, _)| holds(*score)).cloned().collect();
            assert_eq!(listed(set.iter(ranks, Direction::Forward)), expected);
        }
    }
}

fn run(entries_max: u32, steps: Vec<Step>, probes: ((u8, u8), (f64, f64))) {
    let limits = limits(entries_max);
    let (mut set, mut replica, mut model) = (SortedSet::new(), SortedSet::new(), Model::new());
    for (number, step) in steps.into_iter().enumerate() {
        let mut edits = Vec::new();
        match step {
            Step::Set(number, score) => {
                let (member, before) = (member(number), model.get(&member(number)).copied());
                let to = &mut Edits::to(&mut edits);
                let change = set.set(&member, &limits, to, |present| {
                    assert_eq!(present, before);
                    Some(score)
                });
                let expected = match before {
                    None => Change::Added,
                    Some(before) if before == score => Change::None,
                    Some(_) => Change::Updated,
                };
                assert_eq!(change, expected);
                if change != Change::None {
                    model.insert(member, score);
                }
            }
            Step::Remove(number) => {
                let was_there = model.remove(&member(number)).is_some();
                assert_eq!(set.remove(&member(number), &mut Edits::to(&mut edits)), was_there);
            }
            Step::RemoveRanks(from, to) => {
                let (from, to) = (usize::from(from.min(to)), usize::from(from.max(to)));
                let gone: Vec<_> = in_order(&model).into_iter().take(to).skip(from).collect();
                gone.iter().for_each(|(_, member)| {
                    model.remove(member);
                });
                let count = set.remove_ranks(from..to, &mut Edits::to(&mut edits));
                assert_eq!(count, gone.len());
            }
            Step::Pop(direction) => {
                let all = in_order(&model);
                let end = if direction == Direction::Forward { all.first() } else { all.last() };
                let mut shown = None;
                let popped = set.pop(direction, &mut Edits::to(&mut edits), |element| {
                    let member = element.member.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec();
                    shown = Some((element.score, member));
                });
                assert_eq!((popped, shown.as_ref()), (end.is_some(), end));
                shown.map(|(_, member)| model.remove(&member));
            }
            Step::Reload => set = SortedSet::decode(&encoded(&set), &limits).unwrap(),
            Step::Duplicate => set = set.duplicate(&limits),
        }
        assert_eq!(replica.apply(&edits, &limits), Ok(()));
        check(&set, &model);
        assert_eq!(encoded(&replica), encoded(&set));
        if number % 16 == 0 {
            check_ranges(&set, &model, probes.0, probes.1);
            let decoded = SortedSet::decode(&encoded(&set), &limits).unwrap();
            check(&decoded, &model);
        }
    }
}

#[test]
fn an_end_that_is_fetched_ahead_becomes_the_hash_of_its_member() {
    let (limits, mut set) = (limits(10), SortedSet::new());
    for number in 0..500u16 {
        let member = format!("member:{number}");
        set.set(member.as_bytes(), &limits, &mut Edits::none(), |_| Some(f64::from(number)));
    }
    for (direction, nth, number) in
        [(Direction::Forward, 3, 3), (Direction::Backward, 0, 499), (Direction::Backward, 100, 399)]
    {
        let mut way = Way::End(direction, nth);
        for step in FetchStep::ALL {
            let mut fetched = 0;
            ValueRef::SortedSet(&set).ahead(&mut way, step, &mut |_| fetched += 1);
            assert_eq!(fetched, 1, "{step:?}");
        }
        assert_eq!(way, Way::Hash(hash_member(format!("member:{number}").as_bytes())));
    }
    let mut beyond = Way::End(Direction::Backward, 500);
    ValueRef::SortedSet(&set)
        .ahead(&mut beyond, FetchStep::Order, &mut |_| panic!("nothing is there"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]

    #[test]
    fn behaves_as_a_map_packed(
        steps in proptest::collection::vec(step(40), 0..if cfg!(miri) { 40 } else { 200 }),
        ranks in any::<(u8, u8)>(),
        scores in (score(), score()),
    ) {
        run(1000, steps, (ranks, scores));
    }

    #[test]
    fn behaves_as_a_map_native(
        steps in proptest::collection::vec(step(1500), 0..if cfg!(miri) { 60 } else { 900 }),
        ranks in any::<(u8, u8)>(),
        scores in (score(), score()),
    ) {
        run(0, steps, (ranks, scores));
    }

    #[test]
    fn behaves_as_a_map_across_the_limit(
        steps in proptest::collection::vec(step(60), 0..if cfg!(miri) { 60 } else { 300 }),
        ranks in any::<(u8, u8)>(),
        scores in (score(), score()),
    ) {
        run(20, steps, (ranks, scores));
    }

    #[test]
    fn members_bound_ranges(
        members in proptest::collection::btree_set("[0-9a-c]{0,3}", 0..if cfg!(miri) { 30 } else { 200 }),
        ends in ("[0-9a-c]{0,3}", "[0-9a-c]{0,3}"),
        entries_max in prop_oneof![Just(0u32), Just(1000u32)],
    ) {
        let mut set = SortedSet::new();
        for member in &members {
            set.set(member.as_bytes(), &limits(entries_max), &mut Edits::none(), |_| Some(1.0));
        }
        let (min, max) = (ends.0.as_bytes(), ends.1.as_bytes());
        let cases: [(Bounds<'_>, Holds<'_>); 4] = [
            (lex(LexBound::Inclusive(min), LexBound::Exclusive(max)), Box::new(|it| it >= min && it < max)),
            (lex(LexBound::Exclusive(min), LexBound::Inclusive(max)), Box::new(|it| it > min && it <= max)),
            (lex(LexBound::Least, LexBound::Greatest), Box::new(|_| true)),
            (lex(LexBound::Greatest, LexBound::Least), Box::new(|_| false)),
        ];
        for (bounds, holds) in cases {
            let expected: Vec<&[u8]> =
                members.iter().map(|it| it.as_bytes()).filter(|it| holds(it)).collect();
            let found = listed(set.iter(set.ranks(&bounds), Direction::Forward));
            let found: Vec<&[u8]> = found.iter().map(|(_, member)| &member[..]).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn foreign_bytes_give_errors(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        for entries_max in [0, 100] {
            if let Ok(set) = SortedSet::decode(&bytes, &limits(entries_max)) {
                let again = SortedSet::decode(&encoded(&set), &limits(entries_max)).unwrap();
                prop_assert_eq!(listed(set.elements()), listed(again.elements()));
            }
            let mut set = SortedSet::new();
            for number in 0..20 {
                set.set(&member(number), &limits(entries_max), &mut Edits::none(), |_| Some(1.0));
            }
            for kind in 0..5 {
                let _ = set.apply(&[&[kind], &bytes[..]].concat(), &limits(entries_max));
            }
            if let FormRef::Native(native) = set.0.read() {
                native.check();
            }
        }
    }
}

fn lex<'a>(min: LexBound<'a>, max: LexBound<'a>) -> Bounds<'a> {
    Bounds::Lex { min, max }
}

#[test]
fn many_elements_keep_the_tree_in_shape() {
    let count: u32 = if cfg!(miri) { 150 } else { 40_000 };
    let limits = limits(0);
    let name = |number: u32| (number.wrapping_mul(2_654_435_761)).to_le_bytes();
    let (mut set, mut model) = (SortedSet::new(), Model::new());
    let put = |set: &mut SortedSet, model: &mut Model, number: u32, score: f64| {
        set.set(&name(number), &limits, &mut Edits::none(), |_| Some(score));
        model.insert(name(number).to_vec(), score);
    };
    (0..count).for_each(|number| put(&mut set, &mut model, number, f64::from(number)));
    check(&set, &model);
    for number in 0..count {
        put(&mut set, &mut model, number, f64::from(number.wrapping_mul(40_503) % count));
    }
    check(&set, &model);
    for (from, part) in [(0.0, 0.01), (0.3, 0.5), (0.9, 0.1), (0.1, 0.05), (0.0, 0.9)] {
        let len = set.len() as f64;
        let ranks = (len * from) as usize..(len * (from + part)) as usize;
        for (_, member) in in_order(&model).drain(ranks.start..ranks.end.min(model.len())) {
            model.remove(&member);
        }
        set.remove_ranks(ranks, &mut Edits::none());
        check(&set, &model);
    }
    for (member, _) in std::mem::take(&mut model) {
        assert!(set.remove(&member, &mut Edits::none()));
    }
    check(&set, &model);
}

#[test]
fn scans_see_every_member() {
    for entries_max in [0, 10_000] {
        let limits = limits(entries_max);
        let mut set = SortedSet::new();
        for number in 0..if cfg!(miri) { 100 } else { 1000u32 } {
            set.set(&number.to_le_bytes(), &limits, &mut Edits::none(), |_| Some(0.5));
        }
        let (mut seen, mut cursor) = (Model::new(), 0);
        loop {
            cursor = set.scan(cursor, 10, |element| {
                let member = element.member.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec();
                seen.insert(member, element.score);
            });
            if cursor == 0 {
                break;
            }
        }
        check(&set, &seen);
    }
}

#[test]
fn forms_follow_the_limits() {
    let limits = FormLimits {
        sorted_set: PackedLimits { entries_max: 2, value_bytes_max: 4 },
        ..FormLimits::default()
    };
    let none = &mut Edits::none();
    let mut set = SortedSet::new();
    set.set(b"a", &limits, none, |_| Some(1.0));
    set.set(b"b", &limits, none, |_| Some(1.0));
    assert_eq!(set.encoding(), "listpack");
    set.set(b"c", &limits, none, |_| Some(1.0));
    assert_eq!(set.encoding(), "skiplist");
    set.remove(b"c", none);
    assert_eq!(set.encoding(), "skiplist");
    assert_eq!(SortedSet::decode(&encoded(&set), &limits).unwrap().encoding(), "listpack");
    let mut set = SortedSet::new();
    set.set(b"abcde", &limits, none, |_| Some(1.0));
    assert_eq!(set.encoding(), "skiplist");
}

#[test]
fn members_that_stand_there_twice_are_refused() {
    let mut bytes = Vec::new();
    for (member, score) in [(&b"7"[..], 1.0), (b"", 2.0), (b"7", 3.0)] {
        Element { member: crate::item::Item::of(member), score }.put(&mut bytes);
    }
    for entries_max in [0, 100] {
        assert!(matches!(
            SortedSet::decode(&bytes, &limits(entries_max)),
            Err(DecodeError::Corrupt(_))
        ));
    }
}

/// Found by the fuzz target `sorted_set`.
#[test]
fn a_member_in_two_spellings_is_refused_in_both_forms() {
    let (number, text) = (&[0xDC, 0xD1][..], &[2, b'1', b'2', 0xD2][..]);
    for entries_max in [0, 100] {
        let decode = |parts: &[&[u8]]| SortedSet::decode(&parts.concat(), &limits(entries_max));
        assert!(matches!(decode(&[number, text]), Err(DecodeError::Corrupt(_))), "{entries_max}");
        let alone = decode(&[text]).unwrap();
        assert_eq!(alone.rank(b"12"), Some((0, 2.0)), "it is the member that it spells");
        let mut whole = Vec::new();
        alone.encode(&mut whole);
        assert_eq!(whole, [0xDC, 0xD2]);
    }
}

#[test]
fn minus_zero_is_zero_in_the_packed_form_only() {
    for (entries_max, text) in [(0, "-0"), (100, "0")] {
        let mut set = SortedSet::new();
        set.set(b"a", &limits(entries_max), &mut Edits::none(), |_| Some(-0.0));
        assert_eq!(set.score(b"a").unwrap().to_string(), text);
        let change = set.set(b"a", &limits(entries_max), &mut Edits::none(), |_| Some(0.0));
        assert_eq!(change, Change::None);
    }
}
