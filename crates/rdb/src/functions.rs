//! Libraries of functions as `FUNCTION DUMP` gives them: each an opcode and a string, then the
//! footer of a DUMP payload.
//!
//! ```text
//! payload = (0xF5 text:string)* version:u16le crc64:u64le
//! ```

use crate::checksum::crc64;
use crate::decode::{RDB_VERSION_MAX, decode_body};
use crate::encode::{EncodeOptions, RDB_VERSION, encode_body};
use crate::limits::DecodeLimits;
use crate::model::{Bytes, Payload};
use crate::types;

/// `RDB_OPCODE_FUNCTION2`
const LIBRARY: u8 = 245;
/// `RDB_OPCODE_FUNCTION_PRE_GA`, of release candidates of Redis 7.0.
const LIBRARY_PRE_GA: u8 = 246;
/// Two bytes of version, eight of checksum.
const FOOTER_BYTES: usize = 10;

/// Why bytes are no libraries, in Redis' words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FunctionsError {
    /// The footer does not fit what stands before it, or the version is newer.
    #[error("DUMP payload version or checksum are wrong")]
    Footer,
    /// There is something else.
    #[error("given type is not a function")]
    NotALibrary,
    /// The form that release candidates wrote.
    #[error("Pre-GA function format not supported")]
    PreGa,
    /// A text cannot be read.
    #[error("failed loading the given functions payload")]
    Text,
}

/// Appends the payload of libraries with these texts.
pub fn encode_functions<'a>(texts: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    let (start, options) = (out.len(), EncodeOptions::default());
    for text in texts {
        out.push(LIBRARY);
        encode_body(&Payload::String(Bytes::from(text)), &options, out);
    }
    out.extend_from_slice(&RDB_VERSION.to_le_bytes());
    let checksum = crc64(0, &out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// The texts of a payload's libraries.
///
/// # Errors
/// It is none.
pub fn decode_functions<'a>(
    payload: &'a [u8],
    limits: &DecodeLimits,
) -> Result<Vec<Bytes<'a>>, FunctionsError> {
    let at = payload.len().checked_sub(FOOTER_BYTES).ok_or(FunctionsError::Footer)?;
    let (mut rest, footer) = payload.split_at(at);
    let (version, checksum) = footer.split_first_chunk().ok_or(FunctionsError::Footer)?;
    let summed = payload.len() - checksum.len();
    if u16::from_le_bytes(*version) > RDB_VERSION_MAX
        || crc64(0, &payload[..summed]).to_le_bytes() != checksum
    {
        return Err(FunctionsError::Footer);
    }
    let mut texts = Vec::new();
    while let Some((&kind, body)) = rest.split_first() {
        match kind {
            LIBRARY => {}
            LIBRARY_PRE_GA => return Err(FunctionsError::PreGa),
            _ => return Err(FunctionsError::NotALibrary),
        }
        match decode_body(types::STRING, body, limits) {
            Ok((Payload::String(text), len)) => {
                texts.push(text);
                rest = &body[len..];
            }
            _ => return Err(FunctionsError::Text),
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: DecodeLimits =
        DecodeLimits { string_bytes_max: 1 << 20, memory_bytes_max: 1 << 20 };

    fn payload(texts: &[Vec<u8>]) -> Vec<u8> {
        let mut out = Vec::new();
        encode_functions(texts.iter().map(Vec::as_slice), &mut out);
        out
    }

    fn with_footer(mut body: Vec<u8>) -> Vec<u8> {
        body.extend_from_slice(&RDB_VERSION.to_le_bytes());
        let checksum = crc64(0, &body);
        body.extend_from_slice(&checksum.to_le_bytes());
        body
    }

    #[test]
    fn what_is_no_payload_is_refused_in_redis_words() {
        let error = |bytes: &[u8]| decode_functions(bytes, &LIMITS).unwrap_err();
        assert_eq!(error(b""), FunctionsError::Footer);
        assert_eq!(error(b"0123456789"), FunctionsError::Footer);
        assert_eq!(error(&with_footer(vec![0, 1, b'x'])), FunctionsError::NotALibrary);
        assert_eq!(error(&with_footer(vec![LIBRARY_PRE_GA])), FunctionsError::PreGa);
        assert_eq!(error(&with_footer(vec![LIBRARY, 5, b'x'])), FunctionsError::Text);
        assert_eq!(error(&with_footer(vec![LIBRARY])), FunctionsError::Text);
    }

    proptest! {
        #[test]
        fn libraries_round_trip(texts in prop::collection::vec(
            prop::collection::vec(any::<u8>(), 0..200), 0..5)) {
            let bytes = payload(&texts);
            let read = decode_functions(&bytes, &LIMITS).unwrap();
            prop_assert_eq!(read.iter().map(|text| text.to_vec()).collect::<Vec<_>>(), texts);
        }

        #[test]
        fn foreign_bytes_never_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_functions(&body, &LIMITS);
            let _ = decode_functions(&with_footer(body.clone()), &LIMITS);
            let library = with_footer([vec![LIBRARY], body].concat());
            let _ = decode_functions(&library, &LIMITS);
        }
    }
}
