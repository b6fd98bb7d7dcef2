//! DEBUG DIGEST and DIGEST-VALUE: numbers that are equal when the data is.
//!
//! Redis combines SHA-1 sums; here it is three 64-bit hashes with fixed seeds, 160 bits of them,
//! per key, added up so that the order does not matter. That finds every accident; it does not
//! withstand an adversary, and is not meant to.

use basalt_call::context::Context;
use basalt_engine::{CommandContext, Cursor, EntryValue, Key, Object, View, Walk, WalkLimits};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use std::sync::LazyLock;

static SECRETS: LazyLock<[RapidSecrets; 3]> =
    LazyLock::new(|| [1, 2, 3].map(RapidSecrets::seed_cpp));

/// 160 bits.
#[derive(Clone, Copy, Default)]
struct Digest([u64; 3]);

impl Digest {
    fn of(bytes: &[u8]) -> Digest {
        Digest(SECRETS.each_ref().map(|secrets| rapidhash_v3_seeded(bytes, secrets)))
    }

    fn add(&mut self, other: Digest) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, own)| *sum = sum.wrapping_add(own));
    }

    fn hex(self) -> String {
        let [first, second, third] = self.0;
        format!("{first:016x}{second:016x}{:08x}", third >> 32)
    }
}

/// Value and the fact that it expires, but, as in Redis, not when.
fn put_value(object: Object<'_>, bytes: &mut Vec<u8>) {
    bytes.push(u8::from(object.expire_ms() != 0));
    match object.value() {
        EntryValue::String(string) => bytes.extend_from_slice(string.bytes()),
        EntryValue::Collection(value) => {
            bytes.push(value.kind() as u8);
            let mut sum = Digest::default();
            value.visit_parts(&mut |part| sum.add(Digest::of(part)));
            bytes.extend_from_slice(sum.hex().as_bytes());
        }
    }
}

pub(super) fn everything(ctx: &mut Context<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let engine = &ctx.server.engine;
    let mut sum = Digest::default();
    let mut bytes = Vec::new();
    for db in 0..engine.databases() {
        let walk = Walk { db, ..ctx.walk() };
        let walked = engine.scan(walk, Cursor::START, &mut { WalkLimits::NONE }, |key, object| {
            bytes.clear();
            bytes.push(db);
            bytes.extend_from_slice(&(key.len() as u64).to_le_bytes());
            bytes.extend_from_slice(key);
            put_value(object, &mut bytes);
            sum.add(Digest::of(&bytes));
        });
        if walked != Ok(Cursor::START) {
            return Ok(Flow::Wait(match engine.incomplete(db, ctx.lock_wait) {
                Ok(incomplete) if !incomplete.is_empty() => Wait::Partitions(incomplete),
                Ok(_) | Err(_) => Wait::Held,
            }));
        }
    }
    reply.simple(sum.hex());
    Ok(Flow::Done)
}

pub(super) fn values(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let names: Vec<&[u8]> = args.from(2).collect();
    look_at_keys(ctx, &names, |found| {
        reply.array(found.len());
        for object in found {
            let digest = object.map_or(Digest::default(), |object| {
                let mut bytes = Vec::new();
                put_value(object, &mut bytes);
                Digest::of(&bytes)
            });
            reply.simple(digest.hex());
        }
        Ok(())
    })
}

/// Calls `look` with what is under some keys, without leaving a trace.
pub(super) fn look_at_keys(
    ctx: &Context<'_>,
    names: &[&[u8]],
    look: impl FnOnce(&[Option<Object<'_>>]) -> Result<(), CommandError>,
) -> SessionResult {
    let engine = &*ctx.server.engine;
    let keys: Vec<Key<'_>> = names.iter().map(|name| engine.key(name)).collect();
    let Some(mut locked) = engine.lock_within(&keys, ctx.lock_wait) else {
        return Ok(Flow::Wait(Wait::Held));
    };
    if let Some(missing) = engine.missing(&mut locked, ctx.session.db, &keys) {
        return Ok(Flow::Wait(Wait::Keys(missing)));
    }
    let session = CommandContext::background(ctx.session.db, ctx.now_ms);
    let view = View::new(engine, locked, session);
    let found: Vec<Option<Object<'_>>> = keys.iter().map(|key| view.peek(key)).collect();
    look(&found)?;
    Ok(Flow::Done)
}
