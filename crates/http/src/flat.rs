//! Output as one piece, where it is looked at and not sent.

use basalt_resp::Output;
use std::io::IoSlice;

/// All of an output as one.
pub(crate) fn flat(mut taken: Output) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(taken.len());
    while !taken.is_empty() {
        let mut slices = [IoSlice::new(&[]); 16];
        let count = taken.io_slices(&mut slices);
        let before = bytes.len();
        slices[..count].iter().for_each(|slice| bytes.extend_from_slice(slice));
        taken.advance(bytes.len() - before);
    }
    bytes
}
