//! What memory is asked of the system in.

/// A chunk: the size of a huge page, and aligned to it.
pub(super) const CHUNK_BYTES: usize = 2 << 20;
/// Address space that is asked for at once. Only chunks that are used take memory.
pub(super) const REGION_BYTES: usize = if cfg!(miri) { CHUNK_BYTES } else { 64 << 20 };
