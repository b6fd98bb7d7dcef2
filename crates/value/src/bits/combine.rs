//! Strings combined bit by bit: `BITOP`.

/// What is done with the bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Set where all are.
    And,
    /// Set where one is.
    Or,
    /// Set where an odd number is.
    Xor,
    /// Set where the first string's is not.
    Not,
}

/// The strings combined, as long as the longest; shorter ones count as filled up with zeros.
pub fn combine<'a>(
    operation: Operation,
    strings: impl Iterator<Item = &'a [u8]> + Clone,
) -> Vec<u8> {
    let longest = strings.clone().map(<[u8]>::len).max().unwrap_or(0);
    let mut result = Vec::with_capacity(longest);
    let mut strings = strings;
    result.extend_from_slice(strings.next().unwrap_or_default());
    combine_into(operation, &mut result, strings);
    result
}

/// Combines the first string, which is in `result` and becomes the result, with the others; NOT has
/// no others. Memory is only needed if one of them is longer than `result` has room for. The loops
/// over bytes become loops over vectors.
pub fn combine_into<'a>(
    operation: Operation,
    result: &mut Vec<u8>,
    others: impl Iterator<Item = &'a [u8]> + Clone,
) {
    if operation == Operation::Not {
        result.iter_mut().for_each(|byte| *byte = !*byte);
        return;
    }
    let longest = others.clone().map(<[u8]>::len).fold(result.len(), usize::max);
    result.resize(longest, 0);
    for string in others {
        let (both, beyond) = result.split_at_mut(string.len());
        let pairs = both.iter_mut().zip(string);
        match operation {
            Operation::And => {
                pairs.for_each(|(byte, other)| *byte &= other);
                beyond.fill(0);
            }
            Operation::Or => pairs.for_each(|(byte, other)| *byte |= other),
            Operation::Xor | Operation::Not => pairs.for_each(|(byte, other)| *byte ^= other),
        }
    }
}
