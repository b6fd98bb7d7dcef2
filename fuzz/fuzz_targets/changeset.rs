//! Bytes as a log would hold them: decoding never panics, and what was decoded means the same when
//! encoded again.
#![no_main]

use basalt_change::op::{self, Op, Scope};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|record: &[u8]| {
    let Ok((scope, ops)) = op::decode(record) else { return };
    let decoded: Vec<Result<Op<'_>, _>> = ops.collect();
    let errors = decoded.iter().filter(|op| op.is_err()).count();
    assert!(errors <= 1, "an error ends the record");
    assert!(errors == 0 || decoded.last().is_some_and(Result::is_err));
    let decoded: Vec<Op<'_>> = decoded.into_iter().flatten().collect();
    let mut again = Vec::new();
    match scope {
        Scope::Partition(partition) => op::begin(&mut again, partition),
        Scope::Shard => op::begin_shard(&mut again),
    }
    decoded.iter().for_each(|op| op.encode(&mut again));
    let (scope_again, ops) = op::decode(&again).expect("what was encoded can be decoded");
    assert_eq!(scope_again, scope);
    assert_eq!(ops.collect::<Result<Vec<_>, _>>(), Ok(decoded));
});
