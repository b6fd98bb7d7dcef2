//! Bytes as a client would pass to FUNCTION RESTORE, with and without a footer that fits, and to
//! FUNCTION LOAD: no payload and no text makes the server fail, and a payload that was read is the
//! same when written again.
#![no_main]

use basalt_rdb::{DecodeLimits, crc64, decode_functions, encode_functions};
use basalt_script::{Interpreter, Level, LibrarySource, Look, Overseer, ScriptLimits};
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const LIMITS: DecodeLimits = DecodeLimits { string_bytes_max: 1 << 20, memory_bytes_max: 1 << 22 };
const SCRIPT_LIMITS: ScriptLimits = ScriptLimits { memory_bytes_max: 8 << 20 };
/// Looks after which a text has had its time.
const LOOKS_MAX: u32 = 1000;

/// Ends what takes long.
#[derive(Default)]
struct Impatient(AtomicU32);

impl Overseer for Impatient {
    fn look(&self) -> Look {
        match self.0.fetch_add(1, Ordering::Relaxed) < LOOKS_MAX {
            true => Look::GoOn,
            false => Look::End("ERR enough"),
        }
    }

    fn log(&self, _: Level, _: &[u8]) {}
}

thread_local! {
    static STATE: RefCell<Interpreter> =
        RefCell::new(Interpreter::new("7.2.4", 1).expect("there is memory"));
}

fn restore(bytes: &[u8]) {
    let Ok(texts) = decode_functions(bytes, &LIMITS) else { return };
    let mut again = Vec::new();
    encode_functions(texts.iter().map(|text| &text[..]), &mut again);
    let read = decode_functions(&again, &LIMITS).expect("our own bytes are good");
    assert_eq!(read, texts);
}

fn load(bytes: &[u8]) {
    let Ok(source) = LibrarySource::read(Arc::new(bytes.to_vec()), 1) else { return };
    STATE.with_borrow_mut(|state| {
        let loaded = state.load(&source, Arc::new(Impatient::default()), SCRIPT_LIMITS);
        assert!(loaded.map_or(true, |functions| !functions.is_empty()));
        state.forget(source.id);
    });
}

fuzz_target!(|bytes: &[u8]| {
    restore(bytes);
    let mut body = bytes.to_vec();
    body.extend_from_slice(&10_u16.to_le_bytes());
    let checksum = crc64(0, &body);
    body.extend_from_slice(&checksum.to_le_bytes());
    restore(&body);
    load(bytes);
    load(&[b"#!lua name=lib\n", bytes].concat());
});
