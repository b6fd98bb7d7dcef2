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
                let len = str::from_utf8(&reply[1..end]).ok().and_then(|text| text.parse().ok());
                len.map_or(Line::Other, |len| Line::Bulk(end + 2, len))
            }
            _ => Line::Other,
        }
    }
}
