use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
enum Step {
    Push(bool, Vec<u8>),
    Pop(bool, usize),
    Set(u16, Vec<u8>),
    Insert(u16, Vec<u8>),
    RemoveEqual(i64, Vec<u8>),
    Trim(u16, u16),
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => (0..20i64).prop_map(|number| number.to_string().into_bytes()),
        8 => proptest::collection::vec(any::<u8>(), 0..40),
        2 => proptest::collection::vec(any::<u8>(), 100..1000),
        1 => (0..9000usize).prop_map(|len| vec![b'v'; len]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (any::<bool>(), value()).prop_map(|(left, value)| Step::Push(left, value)),
        4 => (any::<bool>(), 0..6usize).prop_map(|(left, count)| Step::Pop(left, count)),
        2 => (any::<u16>(), value()).prop_map(|(index, value)| Step::Set(index, value)),
        4 => (any::<u16>(), value()).prop_map(|(index, value)| Step::Insert(index, value)),
        1 => (-3..3i64, value()).prop_map(|(count, value)| Step::RemoveEqual(count, value)),
        1 => (0..4u16, any::<u16>()).prop_map(|(start, count)| Step::Trim(start, count)),
    ]
}

fn side(left: bool) -> Side {
    if left { Side::Left } else { Side::Right }
}

fn spelled(item: Item<'_>) -> Vec<u8> {
    item.spell(&mut [0; crate::item::NUMBER_CHARS_MAX]).to_vec()
}

fn elements(list: &List) -> Vec<Vec<u8>> {
    list.iter_from(0).map(spelled).collect()
}

/// Does a step to both.
fn run(
    step: Step,
    list: &mut List,
    model: &mut VecDeque<Vec<u8>>,
    limits: &FormLimits,
    edits: &mut Edits<'_>,
) {
    match step {
        Step::Push(left, value) => {
            list.push(side(left), &value, limits, edits);
            if left { model.push_front(value) } else { model.push_back(value) }
        }
        Step::Pop(left, count) => {
            let mut popped = Vec::new();
            list.pop(side(left), count, limits, edits, |item| popped.push(spelled(item)));
            let expected: Vec<_> = (0..count)
                .map_while(|_| if left { model.pop_front() } else { model.pop_back() })
                .collect();
            assert_eq!(popped, expected);
        }
        Step::Set(index, value) if !model.is_empty() => {
            let index = usize::from(index) % model.len();
            list.set(index, &value, limits, edits);
            model[index] = value;
        }
        Step::Set(..) => {}
        Step::Insert(index, value) => {
            let index = usize::from(index) % (model.len() + 1);
            list.insert(index, &value, limits, edits);
            model.insert(index, value);
        }
        Step::RemoveEqual(count, value) => {
            let value = model.get(value.len() / 2).cloned().unwrap_or(value);
            let mut expected = 0;
            let most = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
            while expected < most {
                let found = if count < 0 {
                    model.iter().rposition(|it| *it == value)
                } else {
                    model.iter().position(|it| *it == value)
                };
                let Some(index) = found else { break };
                model.remove(index);
                expected += 1;
            }
            assert_eq!(list.remove_equal(&value, count, limits, edits), expected);
        }
        Step::Trim(start, count) => {
            let (start, count) = (usize::from(start), usize::from(count));
            list.trim(start, count, limits, edits);
            *model = model.iter().skip(start).take(count).cloned().collect();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]
    #[test]
    fn behaves_as_a_deque_and_edits_say_all(
        steps in proptest::collection::vec(step(), 1..if cfg!(miri) { 30 } else { 300 }),
        list_node in prop_oneof![Just(-2), Just(-1), Just(4), Just(128)],
    ) {
        let limits = FormLimits { list_node, ..FormLimits::default() };
        let (mut list, mut copy, mut model) = (List::new(), List::new(), VecDeque::new());
        for (number, step) in steps.into_iter().enumerate() {
            let mut edits = Vec::new();
            run(step, &mut list, &mut model, &limits, &mut Edits::to(&mut edits));
            copy.apply(&edits, &limits).unwrap();
            prop_assert_eq!(list.len(), model.len());
            prop_assert_eq!(list.is_empty(), model.is_empty());
            if number % 8 == 0 {
                let expected: Vec<_> = model.iter().cloned().collect();
                prop_assert_eq!(&elements(&list), &expected);
                prop_assert_eq!(&elements(&copy), &expected);
                let backwards: Vec<_> = list.iter_backwards().map(spelled).collect();
                prop_assert!(backwards.iter().eq(expected.iter().rev()));
                for index in 0..=expected.len().min(50) {
                    prop_assert_eq!(list.get(index).map(spelled), expected.get(index).cloned());
                }
                let mut encoded = Vec::new();
                list.encode(&mut encoded);
                prop_assert_eq!(&elements(&List::decode(&encoded, &limits).unwrap()), &expected);
            }
        }
    }

    #[test]
    fn foreign_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let limits = FormLimits::default();
        let _ = List::decode(&bytes, &limits);
        let mut list = List::new();
        list.push(Side::Left, b"x", &limits, &mut Edits::none());
        let _ = list.apply(&bytes, &limits);
    }
}

#[test]
fn forms_change_where_redis_changes_them() {
    let limits = FormLimits { list_node: 4, ..FormLimits::default() };
    let mut list = List::new();
    for number in 0..5 {
        assert_eq!(list.encoding(), "listpack");
        list.push(Side::Right, &[number], &limits, &mut Edits::none());
    }
    assert_eq!(list.encoding(), "quicklist");
    list.pop(Side::Left, 2, &limits, &mut Edits::none(), |_| ());
    assert_eq!(list.encoding(), "quicklist");
    list.pop(Side::Left, 1, &limits, &mut Edits::none(), |_| ());
    assert_eq!(list.encoding(), "listpack");
}

#[test]
fn many_elements_take_little_more_than_their_bytes() {
    let limits = FormLimits::default();
    let mut list = List::new();
    for number in 0..if cfg!(miri) { 3_000 } else { 100_000 } {
        list.push(Side::Right, format!("element:{number}").as_bytes(), &limits, &mut Edits::none());
    }
    let bytes_each = list.heap_bytes() / list.len();
    assert!(bytes_each <= 16, "{bytes_each} bytes an element of 13 with its lengths 15");
}

#[test]
fn a_queue_takes_no_more_as_it_moves_along() {
    let limits = FormLimits { list_node: 4, ..FormLimits::default() };
    let none = &mut Edits::none();
    let mut list = List::new();
    // For Miri fewer, which are larger.
    let (len, moves, width) = if cfg!(miri) { (20, 200, 100) } else { (1_000, 20_000, 8) };
    let value = |number: usize| format!("element:{number:width$}");
    (0..len).for_each(|number| list.push(Side::Right, value(number).as_bytes(), &limits, none));
    let bytes = list.heap_bytes();
    for number in 0..moves {
        list.pop(Side::Left, 1, &limits, none, |item| {
            assert_eq!(spelled(item), value(number).into_bytes());
        });
        list.push(Side::Right, value(number + len).as_bytes(), &limits, none);
        assert!(list.heap_bytes() <= bytes + (16 << 10), "{}", list.heap_bytes());
    }
    // And back, into the gap that the pops have left.
    for number in (0..moves).rev() {
        list.pop(Side::Right, 1, &limits, none, |_| ());
        list.push(Side::Left, value(number).as_bytes(), &limits, none);
        assert!(list.heap_bytes() <= bytes + (16 << 10), "{}", list.heap_bytes());
    }
    assert!(elements(&list).into_iter().eq((0..len).map(|number| value(number).into_bytes())));
}

/// As in Redis: a limit on elements alone would let a few large ones make a node of any size.
#[test]
fn a_limit_on_elements_does_not_pack_large_ones() {
    let limits = FormLimits { list_node: 1_000, ..FormLimits::default() };
    let mut list = List::new();
    for (number, encoding) in ["listpack", "quicklist"].into_iter().enumerate() {
        list.push(Side::Right, &[number as u8; 5_000], &limits, &mut Edits::none());
        assert_eq!(list.encoding(), encoding);
    }
}
