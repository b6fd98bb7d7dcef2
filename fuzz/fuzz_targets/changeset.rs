//! Bytes as a log would hold them: decoding never panics, and what was decoded means the same when
//! encoded again, and what is cut is whole when it is put together.
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
    assert_eq!(ops.collect::<Result<Vec<_>, _>>(), Ok(decoded.clone()));
    decoded.into_iter().for_each(cut);
});

/// Cuts an op and joins the bytes of its pieces.
fn cut(op: Op<'_>) {
    const PIECE_BYTES_MAX: usize = 5;
    let bytes_of = |op: Op<'_>| match op {
        Op::Put(put) => put.value.to_vec(),
        Op::Splice { bytes, .. } => bytes.to_vec(),
        Op::Replace(replace) => replace.bytes.to_vec(),
        _ => Vec::new(),
    };
    let mut joined = Vec::new();
    op.cut(PIECE_BYTES_MAX, |piece| {
        assert!(!piece.can_be_cut(PIECE_BYTES_MAX));
        assert_eq!(piece.key(), op.key());
        joined.extend(bytes_of(piece));
    });
    assert_eq!(joined, bytes_of(op));
}
