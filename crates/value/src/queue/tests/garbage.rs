//! Foreign bytes give an error or a queue, and never a panic.

use super::*;
use proptest::prelude::*;

fn use_it(queue: &mut Queue) {
    is_read_back(queue);
    let demand = Demand { count: 5, hold: Hold::Lease(Some(10)), worker: b"w" };
    for now_ms in [0, 1_000, 1 << 40] {
        let mut tokens = Vec::new();
        queue.deliver(&demand, now_ms, &mut Edits::none(), &mut |it| tokens.push(it.token));
        queue.counts(now_ms);
        queue.oldest_ready_ms(now_ms);
        queue.acknowledge(&tokens[tokens.len() / 2..], now_ms, &mut Edits::none());
        queue.settle(now_ms + 100, 3, &mut Edits::none());
        queue.revive(Revived::All, now_ms, &mut Edits::none());
    }
    queue.purge(&State::ALL, None, 1 << 41, &mut Edits::none());
    is_read_back(queue);
}

fn is_read_back(queue: &Queue) {
    let (mut once, mut again) = (Vec::new(), Vec::new());
    queue.encode(&mut once);
    let read = Queue::decode(&once, &FormLimits::default()).expect("it was just encoded");
    read.encode(&mut again);
    assert_eq!(once, again);
}

/// Real edits, of which some bytes are others.
fn damaged(seed: u64, at: usize, byte: u8) -> Vec<u8> {
    let mut world = World::new(seed, Canary::None);
    let mut edits = Vec::new();
    for _ in 0..20 {
        world.step().unwrap();
        edits.extend_from_slice(&world.edits);
    }
    if seed.is_multiple_of(2) {
        edits.clear();
        world.queue.encode(&mut edits);
    }
    let len = edits.len().max(1);
    if let Some(there) = edits.get_mut(at % len) {
        *there = byte;
    }
    edits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 1_000 }))]

    #[test]
    fn foreign_edits_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut queue = Queue::new();
        let _ = queue.apply(&bytes, &FormLimits::default());
        use_it(&mut queue);
    }

    #[test]
    fn damaged_edits_never_panic(seed in 0..1_000u64, at in any::<usize>(), byte in any::<u8>()) {
        let mut queue = Queue::new();
        let _ = queue.apply(&damaged(seed, at, byte), &FormLimits::default());
        use_it(&mut queue);
    }
}
