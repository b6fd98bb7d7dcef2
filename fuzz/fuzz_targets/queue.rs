//! Bytes as a log or a cold tier would hold them for a queue: neither decoding nor applying panics,
//! and what comes of it can be used, encoded and read back as the same.
#![no_main]

use basalt_value::queue::{Demand, Hold, Queue, Revived, State};
use basalt_value::{Collection, Edits, FormLimits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = FormLimits::default();
    let decoded = Queue::decode(bytes, &limits).ok();
    let mut applied = Queue::new();
    // Whatever edits came before the first that is wrong.
    let _ = applied.apply(bytes, &limits);
    for mut queue in decoded.into_iter().chain([applied]) {
        let (mut once, mut again) = (Vec::new(), Vec::new());
        queue.encode(&mut once);
        Queue::decode(&once, &limits).expect("it was just encoded").encode(&mut again);
        assert_eq!(once, again);
        let demand = Demand { count: 8, hold: Hold::Lease(Some(5)), worker: b"w" };
        for now_ms in [0, 1 << 20, 1 << 41] {
            queue.deliver(&demand, now_ms, &mut Edits::none(), &mut |_| ());
            queue.revive(Revived::All, now_ms, &mut Edits::none());
            queue.counts(now_ms);
        }
        queue.purge(&State::ALL, None, 1 << 42, &mut Edits::none());
    }
});
