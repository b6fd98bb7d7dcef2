//! How a request becomes a WebSocket (RFC 6455, section 4.2).

use crate::base64::{Alphabet, decode, encode};
use crate::field::{Field, elements};
use crate::head::Head;
use crate::method::Method;
use crate::refusal::Refusal;
use sha1_smol::Sha1;

/// What both sides append to the client's key (section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KEY_BYTES: usize = 16;

/// The lines of a response that agrees, but for the key.
pub const WEBSOCKET_LINES: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\n";

/// The value of `Sec-WebSocket-Accept`, if the request whose head this is asks for a WebSocket as
/// it should. `bytes` are those that the head was read from.
pub fn accept_websocket(head: &Head, bytes: &[u8]) -> Result<String, Refusal> {
    let value = |field| head.field(field).map_or(&b""[..], |range| &bytes[range]);
    let is_websocket = |protocol: &[u8]| protocol.eq_ignore_ascii_case(b"websocket");
    let asks = head.method == Method::Get
        && head.upgrades
        && elements(value(Field::Upgrade)).any(is_websocket);
    if !asks {
        return Err(Refusal::UpgradeMalformed);
    }
    if value(Field::SecWebSocketVersion) != b"13" {
        return Err(Refusal::WebSocketVersionUnknown);
    }
    let key = value(Field::SecWebSocketKey);
    if decode(&mut key.to_vec(), Alphabet::Standard) != Ok(KEY_BYTES) {
        return Err(Refusal::UpgradeMalformed);
    }
    let mut digest = Sha1::from(key);
    digest.update(GUID);
    let mut accept = Vec::new();
    encode(&digest.digest().bytes(), Alphabet::Standard, &mut accept);
    Ok(accept.into_iter().map(char::from).collect())
}
