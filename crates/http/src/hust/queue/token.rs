//! Tokens of deliveries, as queues and as clients of huststore spell them.

/// `1-2-3` of a token `1:2.3`.
pub(in crate::hust) fn of_queue(token: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(token).ok()?;
    let (priority, rest) = text.split_once(':')?;
    let (sequence, stamp) = rest.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let are_numbers = [priority, sequence, stamp].into_iter().all(is_number);
    are_numbers.then(|| format!("{priority}-{sequence}-{stamp}").into_bytes())
}

/// `1:2.3` of a token `1-2-3`.
pub(in crate::hust) fn of_hust(token: &[u8]) -> Option<String> {
    let text = str::from_utf8(token).ok()?;
    let mut parts = text.split('-');
    let (priority, sequence, stamp) = (parts.next()?, parts.next()?, parts.next()?);
    Some(format!("{priority}:{sequence}.{stamp}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_spelled_in_two_ways() {
        assert_eq!(of_hust(b"2-17-1764000000000").as_deref(), Some("2:17.1764000000000"));
        assert_eq!(of_queue(b"2:17.1764000000000"), Some(b"2-17-1764000000000".to_vec()));
        for wrong in ["", "2", "2:17", "2:17.", "2:x.1", "2-17-1", ":1.1", "1:2.3.4"] {
            assert_eq!(of_queue(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
