//! Bytes as the cold tier would hold them: decoding rows, marks and keys never panics, and what was
//! decoded means the same when encoded again.
#![no_main]

use basalt_change::place::PartitionId;
use basalt_change::row::{
    Mark, ObjectRow, SpreadHead, hash_in_object_key, object_key, split_object_key,
};
use basalt_change::seed::{decode_seed, encode_seed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(row) = ObjectRow::decode(bytes) {
        let mut again = Vec::new();
        row.encode(&mut again);
        assert_eq!(ObjectRow::decode(&again), Ok(row));
    }
    if let Ok(head) = SpreadHead::decode(bytes) {
        let mut again = Vec::new();
        head.encode(&mut again);
        assert_eq!(SpreadHead::decode(&again), Ok(head));
    }
    if let Ok(mark) = Mark::decode(bytes) {
        let mut again = Vec::new();
        mark.encode(&mut again);
        assert_eq!(Mark::decode(&again), Ok(mark));
    }
    if let Ok(seed) = decode_seed(bytes) {
        let mut again = Vec::new();
        encode_seed(seed, &mut again);
        assert_eq!(again, bytes);
    }
    if let Some((generation, key)) = split_object_key(bytes) {
        let number = u16::from_be_bytes([bytes[0], bytes[1]]);
        if let Some(partition) = PartitionId::new(number) {
            let mut again = Vec::new();
            let hash = hash_in_object_key(bytes).expect("it is an object's");
            object_key(partition, generation, (hash, key), &mut again);
            assert_eq!(again, bytes);
        }
    }
});
