//! The header of an entry, drawn in `entry.rs`.

use basalt_value::Kind;

pub(super) const HEADER_BYTES: usize = 8;
pub(super) const TYPE_MASK: u8 = 0x07;
pub(super) const TOMBSTONE: u8 = 0;
pub(super) const STRING: u8 = 1;
/// As many as the bytes that it stands for.
pub(super) const VERSIONED: u8 = 0x08;
pub(super) const EXPIRY: u8 = 0x10;
pub(super) const LONG_KEY: u8 = 0x20;
pub(super) const APART: u8 = 0x40;
pub(super) const EDITED: u8 = 0x80;
pub(super) const SHORT_KEY_BYTES_MAX: usize = 255;
const _: () = assert!(Kind::Queue as u8 <= TYPE_MASK, "the type has three bits");
