//! DEBUG OBJECT.

use super::digest::look_at_keys;
use crate::generic::encoding;
use basalt_call::context::Context;
use basalt_engine::{EntryValue, Object};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::SessionResult;

pub(super) fn object(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let now_s = (ctx.now_ms / 1000) as u32;
    look_at_keys(ctx, &[args.word(2)], |found| {
        let object = found[0].ok_or(CommandError::NO_SUCH_KEY)?;
        let idle_s = object.access().idle_seconds(now_s);
        reply.simple(format!(
            "Value at:{:p} refcount:1 encoding:{} serializedlength:{} lru:{} lru_seconds_idle:{idle_s}",
            address(object),
            encoding(object),
            serialized_len(object),
            now_s.wrapping_sub(idle_s) & LRU_CLOCK_MASK,
        ));
        Ok(())
    })
}

fn address(object: Object<'_>) -> *const u8 {
    match object.value() {
        EntryValue::String(string) => string.bytes().as_ptr(),
        EntryValue::Collection(value) => value.address(),
    }
}

/// Redis' clock of last use has 24 bits of seconds.
const LRU_CLOCK_MASK: u32 = 0x00FF_FFFF;

/// Bytes that the value would take in an RDB file without compression.
fn serialized_len(object: Object<'_>) -> usize {
    let bytes = match object.value() {
        EntryValue::String(string) => string.bytes(),
        EntryValue::Collection(value) => {
            let mut encoded = Vec::new();
            value.encode(&mut encoded);
            return encoded.len();
        }
    };
    match parse_i64(bytes).filter(|_| encoding(object) == "int") {
        Some(-0x80..=0x7F) => 2,
        Some(-0x8000..=0x7FFF) => 3,
        Some(-0x8000_0000..=0x7FFF_FFFF) => 5,
        _ => match bytes.len() {
            len @ ..64 => len + 1,
            len @ ..16_384 => len + 2,
            len => len + 5,
        },
    }
}
