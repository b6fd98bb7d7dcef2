//! HOT PATH
//! The first line of a reply, which says what the reply is.

/// What a reply is, as its first line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Nothing,
    Error(Vec<u8>),
    /// A string of this length, which begins there.
    Bulk(usize, usize),
    Integer(Vec<u8>),
    Double,
    Other,
}

impl Line {
    #[inline]
    pub(crate) fn of(reply: &[u8]) -> Line {
        let Some(end) = reply.iter().position(|&byte| byte == b'\r') else { return Line::Other };
        match reply[0] {
            b'_' => Line::Nothing,
            b'-' => Line::Error(reply[1..end].to_vec()),
            b':' => Line::Integer(reply[1..end].to_vec()),
            b',' => Line::Double,
            b'$' => {
                let len = number(&reply[1..end]);
                len.map_or(Line::Other, |len| Line::Bulk(end + 2, len as usize))
            }
            _ => Line::Other,
        }
    }
}

/// The number that these digits are. Not by way of text: that would be checked first.
#[inline]
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    (!digits.is_empty()).then_some(number)
}
