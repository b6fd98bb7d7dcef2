//! HOT PATH
//! Integers as text, as strictly as Redis reads them.

/// The number that a string spells, as Redis' `string2ll` takes it: no plus, no leading zeros, no
/// minus zero.
#[inline]
pub fn parse_i64(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let mut value = 0u64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        // 19 digits fit 64 bits.
        value = value * 10 + u64::from(digit - b'0');
    }
    if negative { 0i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

#[cfg(test)]
mod tests {
    use super::parse_i64;

    #[test]
    fn reads_what_redis_reads() {
        for value in [0, 1, -1, 42, i64::MAX, i64::MIN, 1_000_000_000_000] {
            assert_eq!(parse_i64(value.to_string().as_bytes()), Some(value));
        }
        for text in [
            "",
            "-",
            "+1",
            " 1",
            "1 ",
            "01",
            "-0",
            "-01",
            "1.0",
            "1e3",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "a",
            "1a",
        ] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text}");
        }
    }
}
