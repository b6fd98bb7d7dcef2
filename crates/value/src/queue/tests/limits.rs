//! What a queue costs, and where it ends.

use super::*;

fn message(body: &[u8]) -> NewMessage<'_> {
    let lane = LaneNumber::default();
    NewMessage { lane, body, delay_ms: 0, ttl_ms: u64::MAX, dedup: None }
}

#[test]
fn a_ready_message_of_100_bytes_takes_at_most_120() {
    let mut queue = Queue::new();
    let count = if cfg!(miri) { 500 } else { 100_000u64 };
    for number in 0..count {
        queue.put(&message(&[b'x'; 100]), 1_700_000_000_000 + number, &mut Edits::none()).unwrap();
    }
    let bytes = queue.heap_bytes() as u64 / count;
    assert!(bytes <= if cfg!(miri) { 140 } else { 120 }, "{bytes}");
}

/// A queue of which all messages are held, by ten consumers.
fn held(count: u64) -> Queue {
    let mut queue = Queue::new();
    for number in 0..count {
        queue.put(&message(&[b'x'; 100]), 1_700_000_000_000 + number, &mut Edits::none()).unwrap();
    }
    for number in 0..count {
        let worker = format!("worker-{}.of.a.machine", number % 10);
        let hold = Hold::Lease(Some(10_000_000));
        let demand = Demand { count: 1, hold, worker: worker.as_bytes() };
        let now_ms = 1_700_001_000_000 + number / 10;
        queue.deliver(&demand, now_ms, &mut Edits::none(), &mut |_| ());
    }
    queue
}

/// What the allocator has to say of it: `a_held_message_of_100_bytes_takes_at_most_200` of
/// `dispatch/tests/memory`.
#[test]
fn a_held_message_of_100_bytes_takes_at_most_200() {
    let count = if cfg!(miri) { 500 } else { 100_000 };
    let queue = held(count);
    assert_eq!(queue.counts(0).leased, count);
    let bytes = queue.heap_bytes() as u64 / count;
    assert!(bytes <= if cfg!(miri) { 220 } else { 200 }, "{bytes}");
}

/// However many messages are held, or delayed, before it.
#[test]
fn the_oldest_ready_message_is_found_without_passing_over_others() {
    let count = if cfg!(miri) { 50 } else { 100_000 };
    let mut queue = held(count);
    for _ in 0..count {
        let later = NewMessage { delay_ms: 1_000_000, ..message(b"later") };
        queue.put(&later, 1_700_002_000_000, &mut Edits::none()).unwrap();
    }
    let now_ms = 1_700_002_000_007;
    queue.put(&message(b"ready"), now_ms, &mut Edits::none()).unwrap();
    // Over all messages this takes half an hour.
    for _ in 0..if cfg!(miri) { 1 } else { 10_000 } {
        assert_eq!(queue.oldest_ready_ms(now_ms), Some(now_ms));
    }
}

#[test]
fn what_is_done_leaves_nothing_behind() {
    let mut queue = Queue::new();
    let demand = Demand { count: 100, hold: Hold::Lease(Some(10)), worker: b"somebody" };
    for round in 0..if cfg!(miri) { 3 } else { 200 } {
        for _ in 0..100 {
            let message = NewMessage { ttl_ms: 50, ..message(&[b'y'; 300]) };
            queue.put(&message, round, &mut Edits::none()).unwrap();
        }
        let mut tokens = Vec::new();
        queue.deliver(&demand, round, &mut Edits::none(), &mut |it| tokens.push(it.token));
        assert_eq!(queue.acknowledge(&tokens, round, &mut Edits::none()), 100);
    }
    assert_eq!((queue.len(), queue.body_bytes()), (0, 0));
    assert_eq!(queue.next_expiry_ms(), u64::MAX);
    // The name of the last consumer stays.
    let bytes = queue.heap_bytes() - size_of::<Native>();
    assert!(bytes <= 256, "{bytes}");
}

/// One message that nobody takes does not keep those that stood around it.
#[test]
fn a_message_that_stays_does_not_keep_its_neighbours() {
    let mut queue = Queue::new();
    let demand = Demand { count: 1, hold: Hold::None, worker: b"" };
    for number in 0..if cfg!(miri) { 300 } else { 20_000 } {
        let delay_ms = if number % 100 == 0 { 1_000_000 } else { 0 };
        let message = NewMessage { delay_ms, ..message(&[b'z'; 200]) };
        queue.put(&message, 5, &mut Edits::none()).unwrap();
        queue.deliver(&demand, 5, &mut Edits::none(), &mut |_| ());
    }
    let bytes = queue.heap_bytes() as u64 / queue.counts(5).delayed;
    assert!(bytes <= 5_000, "{bytes}");
}

#[test]
fn a_clock_that_steps_back_stands_still_for_the_queue() {
    let mut queue = Queue::new();
    queue.put(&message(b"a"), 1_000, &mut Edits::none()).unwrap();
    let demand = Demand { count: 1, hold: Hold::Lease(Some(100)), worker: b"" };
    let mut stamps = Vec::new();
    for now_ms in [1_000, 500, 1_100, 1_050, 1_200] {
        queue.deliver(&demand, now_ms, &mut Edits::none(), &mut |it| stamps.push(it.token.stamp));
    }
    assert_eq!(stamps, [1_000, 1_100, 1_200]);
}

#[test]
fn many_messages_are_put_or_none() {
    let mut queue = Queue::new();
    let settings = Settings { max: 3, full: Full::DropOldest, ..Settings::DEFAULT };
    queue.set_settings(&settings, 5, &mut Edits::none());
    let bodies = [b"a", b"b", b"c", b"d"].map(|body| message(body));
    let put = |count: usize, queue: &mut Queue| {
        queue.put_all(bodies[..count].iter().copied(), 5, &mut Edits::none()).map(|ids| ids.len())
    };
    assert_eq!(put(2, &mut queue), Ok(2));
    let demand = Demand { count: 1, hold: Hold::Lease(None), worker: b"" };
    queue.deliver(&demand, 5, &mut Edits::none(), &mut |_| ());
    // One is held and stays, whatever gives way.
    assert_eq!(put(3, &mut queue), Err(Refused::Full));
    assert_eq!((queue.len(), queue.totals().dropped), (2, 0));
    assert_eq!(put(2, &mut queue), Ok(2));
    assert_eq!((queue.len(), queue.totals().dropped), (3, 1));
    let reject = Settings { full: Full::Reject, ..settings };
    queue.set_settings(&reject, 5, &mut Edits::none());
    assert_eq!((put(1, &mut queue), put(4, &mut queue)), (Err(Refused::Full), Err(Refused::Full)));
    assert_eq!(queue.len(), 3);
}

/// However many messages come due at once, a change does a bounded part of it.
#[test]
fn what_comes_due_at_once_is_settled_in_parts() {
    let mut queue = Queue::new();
    let count = if cfg!(miri) { 20 } else { 20_000 };
    let max = count / 4;
    for _ in 0..count {
        let message = NewMessage { delay_ms: 10, ..message(b"a") };
        queue.put(&message, 0, &mut Edits::none()).unwrap();
    }
    let mut copy = Queue::new();
    let mut bytes = Vec::new();
    queue.encode(&mut bytes);
    copy.apply(&bytes, &FormLimits::default()).unwrap();
    for part in 1..=4 {
        let mut edits = Vec::new();
        assert!(queue.settle(10, max, &mut Edits::to(&mut edits)));
        copy.apply(&edits, &FormLimits::default()).unwrap();
        assert_eq!(queue.native().ready(), (part * max) as u64);
        assert_eq!(parts(&copy), parts(&queue));
    }
    assert!(!queue.settle(10, max, &mut Edits::none()));
    let demand = Demand { count: 5, hold: Hold::Lease(Some(10)), worker: b"" };
    assert_eq!(queue.deliver(&demand, 10, &mut Edits::none(), &mut |_| ()), 5);
}

#[test]
fn a_time_beyond_all_times_is_never() {
    let mut queue = Queue::new();
    let message = NewMessage { delay_ms: u64::MAX, ..message(b"a") };
    queue.put(&message, 1_000, &mut Edits::none()).unwrap();
    assert_eq!(queue.next_expiry_ms(), u64::MAX);
    assert_eq!(queue.counts(u64::MAX - 1).delayed, 1);
}
