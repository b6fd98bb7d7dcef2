use super::*;
use crate::item::NUMBER_CHARS_MAX;
use crate::limits::PackedLimits;
use crate::spread::elements::Spread;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<Vec<u8>, (Vec<u8>, u64)>;

#[derive(Clone, Debug)]
enum Step {
    Set(Vec<u8>, Vec<u8>),
    SetKeeping(Vec<u8>, Vec<u8>),
    SetExpiring(Vec<u8>, Vec<u8>, u64),
    Remove(Vec<u8>),
    Expire(Vec<u8>, u64),
    Wait(u64),
    RemoveExpired(usize),
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => (-40..40i64).prop_map(|number| number.to_string().into_bytes()),
        3 => (0..60u32).prop_map(|number| format!("field:{number}").into_bytes()),
        1 => (60..70usize).prop_map(|len| vec![b'x'; len]),
    ]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        3 => proptest::collection::vec(any::<u8>(), 0..12),
        1 => (60..70usize).prop_map(|len| vec![b'v'; len]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (name(), value()).prop_map(|(name, value)| Step::Set(name, value)),
        2 => (name(), value()).prop_map(|(name, value)| Step::SetKeeping(name, value)),
        2 => (name(), value(), 1..40u64).prop_map(|(name, value, ms)| Step::SetExpiring(name, value, ms)),
        4 => name().prop_map(Step::Remove),
        3 => (name(), 0..40u64).prop_map(|(name, ms)| Step::Expire(name, ms)),
        2 => (0..8u64).prop_map(Step::Wait),
        1 => (0..5usize).prop_map(Step::RemoveExpired),
    ]
}

fn spelled(item: Item<'_>) -> Vec<u8> {
    item.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec()
}

/// What is stored, expired or not.
fn all(hash: &Hash) -> Model {
    let mut fields = Model::new();
    hash.visit(0, |field| {
        fields.insert(spelled(field.name), (spelled(field.value), field.expire_ms));
    });
    fields
}

fn is_live(expire_ms: u64, now_ms: u64) -> bool {
    expire_ms == 0 || expire_ms > now_ms
}

fn field<'a>(name: &'a [u8], value: &'a [u8], expire_ms: u64) -> Field<'a> {
    Field { name: Item::of(name), value: Item::of(value), expire_ms }
}

/// Does a step to both; returns true if they answered alike.
fn run(step: &Step, hash: &mut Hash, model: &mut Model, terms: &Terms, out: &mut Vec<u8>) -> bool {
    let now_ms = terms.now_ms;
    let edits = &mut Edits::to(out);
    let live = |model: &Model, name: &Vec<u8>| {
        model.get(name).filter(|(_, expire_ms)| is_live(*expire_ms, now_ms)).cloned()
    };
    match step {
        Step::Set(name, value) => {
            let is_new = live(model, name).is_none();
            model.insert(name.clone(), (value.clone(), 0));
            hash.set(field(name, value, 0), OldExpiry::Forget, terms, edits) == is_new
        }
        Step::SetKeeping(name, value) => {
            let before = live(model, name);
            let expire_ms = before.as_ref().map_or(0, |(_, expire_ms)| *expire_ms);
            model.insert(name.clone(), (value.clone(), expire_ms));
            hash.set(field(name, value, 0), OldExpiry::Keep, terms, edits) == before.is_none()
        }
        Step::SetExpiring(name, value, ms) => {
            let is_new = live(model, name).is_none();
            model.insert(name.clone(), (value.clone(), now_ms + ms));
            hash.set(field(name, value, now_ms + ms), OldExpiry::Forget, terms, edits) == is_new
        }
        Step::Remove(name) => {
            let was_live = live(model, name).is_some();
            model.remove(name);
            hash.remove(Item::of(name), now_ms, edits) == was_live
        }
        Step::Expire(name, ms) => {
            let expire_ms = if *ms == 0 { 0 } else { now_ms + ms };
            if let Some((_, before)) = model.get_mut(name) {
                *before = expire_ms;
            }
            hash.set_expiry(Item::of(name), expire_ms, edits);
            true
        }
        Step::Wait(_) => true,
        Step::RemoveExpired(max) => {
            let expired = model.values().filter(|(_, ms)| !is_live(*ms, now_ms)).count();
            let removed = hash.remove_expired(now_ms, *max, edits);
            let left = all(hash);
            model.retain(|name, (_, ms)| is_live(*ms, now_ms) || left.contains_key(name));
            removed == expired.min(*max)
        }
    }
}

fn check(hash: &Hash, model: &Model, now_ms: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!(&all(hash), model);
    let live: Vec<&Vec<u8>> =
        model.iter().filter(|(_, (_, ms))| is_live(*ms, now_ms)).map(|(name, _)| name).collect();
    prop_assert_eq!(hash.len_at(now_ms), live.len());
    prop_assert_eq!(hash.is_gone_at(now_ms), live.is_empty() && !model.is_empty());
    let never = |&ms: &u64| if ms == 0 { u64::MAX } else { ms };
    let gone = model.values().map(|(_, ms)| never(ms)).max();
    prop_assert_eq!(hash.gone_ms(), gone.unwrap_or(u64::MAX));
    let next = model.values().map(|&(_, ms)| ms).filter(|&ms| ms != 0).min();
    prop_assert_eq!(hash.next_expiry_ms(), next.unwrap_or(u64::MAX));
    let random = hash.random(now_ms.wrapping_mul(0x9E37_79B9_7F4A_7C15), now_ms);
    prop_assert_eq!(random.is_some(), !live.is_empty());
    prop_assert!(random.is_none_or(|field| live.contains(&&spelled(field.name))));
    let mut scanned = Vec::new();
    let mut cursor = 0;
    loop {
        cursor = hash.scan(cursor, 5, now_ms, |field| scanned.push(spelled(field.name)));
        if cursor == 0 {
            break;
        }
    }
    scanned.sort();
    prop_assert!(scanned.iter().eq(live));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]
    #[test]
    fn behaves_as_a_map_and_edits_say_all(
        steps in proptest::collection::vec(step(), 1..if cfg!(miri) { 40 } else { 300 }),
        entries_max in prop_oneof![Just(0u32), Just(16), Just(512)],
    ) {
        let hash_limits = PackedLimits { entries_max, value_bytes_max: 64 };
        let limits = FormLimits { hash: hash_limits, ..FormLimits::default() };
        let (mut hash, mut copy, mut model) = (Hash::new(), Hash::new(), Model::new());
        let mut now_ms = 1000;
        for (number, step) in steps.iter().enumerate() {
            let terms = Terms { now_ms, limits };
            let mut out = Vec::new();
            let lasted = hash.len() > 0 && hash.gone_ms() == u64::MAX;
            prop_assert!(run(step, &mut hash, &mut model, &terms, &mut out), "{step:?}");
            copy.apply(&out, &limits).unwrap();
            let lasts = Hash::lasts_through(&out).unwrap();
            prop_assert!(!lasted || !lasts || hash.gone_ms() == u64::MAX, "{step:?}");
            prop_assert!(lasts || !matches!(step, Step::Set(..) | Step::SetKeeping(..)));
            prop_assert_eq!(hash.len(), model.len());
            if let Step::Wait(ms) = step {
                now_ms += ms;
            }
            if number % 8 == 0 {
                check(&hash, &model, now_ms)?;
                check(&copy, &model, now_ms)?;
                let mut encoded = Vec::new();
                hash.encode(&mut encoded);
                check(&Hash::decode(&encoded, &limits).unwrap(), &model, now_ms)?;
            }
        }
    }

    #[test]
    fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let limits = FormLimits::default();
        if let Ok(mut hash) = Hash::decode(&bytes, &limits) {
            hash.remove_expired(1000, 3, &mut Edits::none());
        }
        let mut hash = Hash::new();
        let terms = Terms { now_ms: 1, limits };
        hash.set(field(b"1", b"2", 5), OldExpiry::Forget, &terms, &mut Edits::none());
        let _ = hash.apply(&bytes, &limits);
    }
}

#[test]
fn forms_change_where_redis_changes_them() {
    let mut terms = Terms { now_ms: 1, limits: FormLimits::default() };
    let count = if cfg!(miri) { 16 } else { 512 };
    if cfg!(miri) {
        terms.limits.hash.entries_max = count;
    }
    let edits = &mut Edits::none();
    let mut hash = Hash::new();
    for number in 0..count {
        let name = number.to_string();
        hash.set(field(name.as_bytes(), b"v", 0), OldExpiry::Forget, &terms, edits);
    }
    assert_eq!(hash.encoding(), "listpack");
    hash.set_expiry(Item::of(b"7"), 5, edits);
    assert_eq!(hash.encoding(), "listpackex");
    hash.set(field(b"512", b"v", 0), OldExpiry::Forget, &terms, edits);
    assert_eq!(hash.encoding(), "hashtable");
    assert_eq!(hash.next_expiry_ms(), 5);
    for long in [field(b"a", &[b'v'; 65], 0), field(&[b'n'; 65], b"v", 0)] {
        let mut hash = Hash::new();
        hash.set(long, OldExpiry::Forget, &terms, edits);
        assert_eq!(hash.encoding(), "hashtable");
    }
}

#[test]
fn what_changes_nothing_writes_nothing() {
    let terms = Terms { now_ms: 1, limits: FormLimits::default() };
    let mut hash = Hash::new();
    hash.set(field(b"a", b"1", 9), OldExpiry::Forget, &terms, &mut Edits::none());
    let mut out = Vec::new();
    let edits = &mut Edits::to(&mut out);
    hash.set(field(b"a", b"1", 9), OldExpiry::Forget, &terms, edits);
    hash.set(field(b"a", b"1", 0), OldExpiry::Keep, &terms, edits);
    hash.set_expiry(Item::of(b"a"), 9, edits);
    hash.set_expiry(Item::of(b"none"), 9, edits);
    hash.remove(Item::of(b"none"), 1, edits);
    hash.remove_expired(8, 10, edits);
    assert_eq!(out, []);
}

/// A packed hash finds its way by how long a number is when it is written as [`Item`] writes it.
#[test]
fn a_number_that_is_longer_than_it_need_be_is_refused() {
    for bytes in [&[1, 0, 0, 0xC1, 1][..], &[0, 0xC1, 1, 0], &[0, 0, 0xC3, 200, 0, 0]] {
        assert!(Hash::decode(bytes, &FormLimits::default()).is_err(), "{bytes:x?}");
    }
    assert!(Hash::decode(&[1, 0, 0, 0xD1], &FormLimits::default()).is_ok());
    assert!(Hash::decode(&[0, 0, 0xC2, 200, 0], &FormLimits::default()).is_ok());
}

#[test]
fn a_field_twice_is_refused_in_both_forms() {
    let twice = [0, 1, b'a', 1, b'b', 1, b'a', 1, b'c'];
    for entries_max in [0, 512] {
        let hash = PackedLimits { entries_max, value_bytes_max: 64 };
        let limits = FormLimits { hash, ..FormLimits::default() };
        assert!(matches!(Hash::decode(&twice, &limits), Err(DecodeError::Corrupt(_))));
        assert!(Hash::decode(&twice[..5], &limits).is_ok());
    }
}

#[test]
fn a_name_in_two_spellings_is_refused_in_both_forms() {
    let (number, wide, text) = (&[0xDC][..], &[0xC1, 12][..], &[2, b'1', b'2'][..]);
    for entries_max in [0, 512] {
        let hash = PackedLimits { entries_max, value_bytes_max: 64 };
        let limits = FormLimits { hash, ..FormLimits::default() };
        let value = number;
        for fields in [vec![number, value, text, value], vec![text, value], vec![number, text]] {
            let whole = [&[0], &fields.concat()[..]].concat();
            let is_refused = matches!(Hash::decode(&whole, &limits), Err(DecodeError::Corrupt(_)));
            assert!(is_refused, "{whole:x?}");
        }
        let hash = || Hash::decode(&[0, 0xDC, 0xDC], &limits).unwrap();
        for (name, value) in [(text, number), (wide, number), (number, text), (number, wide)] {
            for code in [edit::SET, edit::CHANGE] {
                let edit = [&[code], name, value].concat();
                let applied = hash().apply(&edit, &limits);
                assert!(matches!(applied, Err(DecodeError::Corrupt(_))), "{edit:x?}");
            }
        }
        assert!(hash().adopt(b"12", text, &limits).is_err(), "a value, too, has one spelling");
        assert!(hash().adopt(b"12", number, &limits).is_ok());
    }
}
