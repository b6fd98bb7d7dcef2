//! Making values for Lua without looking at its limit each time.
//!
//! Under a limit each string and each table is made in a protected call, since it may fail, which
//! costs ten times of making it. Where what is made fits into what is left by far, the limit is
//! lifted meanwhile.

use mlua::Lua;

/// Bytes that a value takes in Lua for each byte of the reply or request that it is made of, at
/// most: `:1\r\n` becomes a place in a table that doubles as it grows, `$0\r\n\r\n` a string's head
/// and such a place.
const BYTES_A_BYTE_MAX: usize = 16;
/// What a value may take besides.
const BYTES_MAX: usize = 1024;

/// Calls `make`, which makes values of this many bytes, without the limit if they fit into it.
pub(crate) fn with_room<R>(
    lua: &Lua,
    memory_bytes_max: usize,
    bytes: usize,
    make: impl FnOnce() -> R,
) -> R {
    let needed = bytes.saturating_mul(BYTES_A_BYTE_MAX).saturating_add(BYTES_MAX);
    if lua.used_memory().saturating_add(needed) > memory_bytes_max {
        return make();
    }
    let lifted = lua.set_memory_limit(0);
    let made = make();
    if let Ok(limit) = lifted {
        // What could be changed can be changed back.
        let _ = lua.set_memory_limit(limit);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_lifted_for_what_fits_and_is_there_again() {
        let lua = Lua::new();
        let limit = lua.used_memory() + (1 << 20);
        lua.set_memory_limit(limit).expect("it is Lua's own allocator");
        let is_limited = |bytes: usize| {
            with_room(&lua, limit, bytes, || lua.create_string(vec![b'x'; 2 << 20]).is_err())
        };
        assert!(!is_limited(1));
        lua.gc_collect().expect("nothing has a finalizer");
        assert!(is_limited(1 << 20));
        assert!(lua.create_string(vec![b'x'; 2 << 20]).is_err());
    }
}
