use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn member() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => (-300..300i64).prop_map(|number| number.to_string().into_bytes()),
        2 => any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        1 => proptest::collection::vec(b'a'..b'd', 0..4),
        1 => (60..70usize).prop_map(|len| vec![b'x'; len]),
    ]
}

fn spelled(item: Item<'_>) -> Vec<u8> {
    item.spell(&mut [0; crate::item::NUMBER_CHARS_MAX]).to_vec()
}

fn all(set: &Set) -> BTreeSet<Vec<u8>> {
    set.iter().map(spelled).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]
    #[test]
    fn behaves_as_a_set_and_edits_say_all(
        steps in proptest::collection::vec((0..3u8, member()), 1..if cfg!(miri) { 60 } else { 400 }),
        numbers_only in any::<bool>(),
        intset_entries_max in prop_oneof![Just(0u32), Just(8), Just(512)],
        entries_max in prop_oneof![Just(0u32), Just(16), Just(128)],
    ) {
        let mut limits = FormLimits { intset_entries_max, ..FormLimits::default() };
        limits.set.entries_max = entries_max;
        let (mut set, mut copy, mut model) = (Set::new(), Set::new(), BTreeSet::new());
        for (number, (step, member)) in steps.into_iter().enumerate() {
            let is_number = matches!(Item::of(&member), Item::Number(_));
            if numbers_only && !is_number {
                continue;
            }
            let mut out = Vec::new();
            let mut edits = Edits::to(&mut out);
            if step > 0 {
                prop_assert_eq!(set.add(&member, &limits, &mut edits), model.insert(member.clone()));
            } else {
                prop_assert_eq!(set.remove(&member, &mut edits), model.remove(&member));
            }
            copy.apply(&out, &limits).unwrap();
            prop_assert_eq!(set.len(), model.len());
            prop_assert_eq!(set.contains(Item::of(&member)), model.contains(&member));
            if number % 16 == 0 {
                prop_assert_eq!(&all(&set), &model);
                prop_assert_eq!(&all(&copy), &model);
                let mut encoded = Vec::new();
                set.encode(&mut encoded);
                prop_assert_eq!(&all(&Set::decode(&encoded, &limits).unwrap()), &model);
                let mut scanned = BTreeSet::new();
                let mut cursor = 0;
                loop {
                    cursor = set.scan(cursor, 5, |item| { scanned.insert(spelled(item)); });
                    if cursor == 0 { break; }
                }
                prop_assert_eq!(&scanned, &model);
                let random = set.random(number as u64 * 77).map(spelled);
                prop_assert_eq!(random.is_some(), !model.is_empty());
                prop_assert!(random.is_none_or(|member| model.contains(&member)));
            }
        }
    }

    #[test]
    fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let limits = FormLimits::default();
        let _ = Set::decode(&bytes, &limits);
        let mut set = Set::new();
        set.add(b"1", &limits, &mut Edits::none());
        let _ = set.apply(&bytes, &limits);
    }
}

#[test]
fn forms_change_where_redis_changes_them() {
    let limits = FormLimits::default();
    let mut set = Set::new();
    for number in 0..512 {
        set.add(number.to_string().as_bytes(), &limits, &mut Edits::none());
    }
    assert_eq!(set.encoding(), "intset");
    set.add(b"512", &limits, &mut Edits::none());
    assert_eq!(set.encoding(), "hashtable");
    let mut set = Set::new();
    set.add(b"1", &limits, &mut Edits::none());
    set.add(b"a", &limits, &mut Edits::none());
    assert_eq!(set.encoding(), "listpack");
    set.add(&[b'x'; 65], &limits, &mut Edits::none());
    assert_eq!(set.encoding(), "hashtable");
}

#[test]
fn a_member_in_two_spellings_is_refused_in_all_forms() {
    let (number, wide, text) = (&[0xDC][..], &[0xC1, 12][..], &[2, b'1', b'2'][..]);
    let (word, long) = (&[1, b'a'][..], &[0xC0, 1, b'a'][..]);
    for (intset_entries_max, entries_max) in [(512, 128), (0, 128), (0, 0)] {
        let mut limits = FormLimits { intset_entries_max, ..FormLimits::default() };
        limits.set.entries_max = entries_max;
        for whole in [vec![number, text], vec![text, number], vec![text], vec![wide], vec![long]] {
            let whole = whole.concat();
            let is_refused = matches!(Set::decode(&whole, &limits), Err(DecodeError::Corrupt(_)));
            assert!(is_refused, "{whole:x?}");
        }
        let set = || Set::decode(&[number, word].concat(), &limits).unwrap();
        assert_eq!(set().len(), 2);
        for member in [wide, text, long] {
            for code in [ADD, REMOVE] {
                let edit = [&[code], member].concat();
                let applied = set().apply(&edit, &limits);
                assert!(matches!(applied, Err(DecodeError::Corrupt(_))), "{edit:x?}");
            }
        }
    }
}
