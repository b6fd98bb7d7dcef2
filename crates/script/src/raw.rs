//! HOT PATH. Running a script, and `redis.call`, by Lua's own interface in C. The only file of this
//! crate with `unsafe`.
//!
//! ```text
//! Entrance::run ▸ lua_pcall ▸ enter: KEYS, ARGV ▸ lua_call(script) ▸ ask: words ▸ WayOut::ask
//!        ▲           │ error: explain                                   │ a plain reply: pushed
//!        └───────────┴─── what it returned                              └ any other: finish
//! ```
//! Through mlua each value that passes between Rust and Lua costs a check of the stack, a place in
//! a table of references and, under a limit of memory, a protected call. A script that gets one
//! key passes a dozen values. Here they are pushed and read where they stand, and one protected
//! call holds the whole run. What is rare goes through mlua still: errors, replies and answers
//! that are tables, and whatever the limit of memory may be too small for.
//!
//! JUSTIFICATION: a call of a script that gets its key took 19,550 instructions by mlua and 13,650
//! by this file, counted by callgrind as `cargo xtask instructions` does.
//!
//! # Why it is sound
//!
//! *The state.* An [`Entrance`] has a handle of the Lua state, so its pointer is good as long as
//! the entrance is there. It is neither `Send` nor `Sync`, and nor is mlua's handle: one thread
//! uses both, one after the other. Whatever mlua finds is as it left it: each function here leaves
//! the stack as high as it found it, but for its results.
//!
//! *Errors.* An error of Lua's jumps to the protected call and runs no destructors on its way. So
//! no frame here that it can jump over owns anything: [`enter`] and [`ask`] hold references,
//! numbers and pointers only, and call nothing in Rust that calls Lua. What can raise an error is
//! called within `enter` or `ask`, or is below in "Outside of the protected call".
//!
//! *Panics.* One must not unwind through Lua, which would not know that its frames have gone. What
//! can panic is called by `WayOut::ask`, which catches it; mlua raises it again in a function of
//! its own, as any other. The rest of [`ask`] indexes nothing and unwraps nothing, and [`enter`]
//! takes words of which [`checked_bytes`] has seen that they are there.
//!
//! *Pointers into Rust.* `enter` gets a pointer to the [`Start`] in the frame of
//! [`Entrance::run`], which outlives the protected call and is only read. `ask` gets a pointer to
//! the `WayOut` as an upvalue; the other upvalue is a function of mlua's that owns a reference of
//! it, and lives as long as the closure does. A script cannot reach upvalues: there is no library
//! `debug`. A reply's bytes are in the `WayOut`'s buffer, which is not written to before the next
//! call of `WayOut::ask`; `lua_pushlstring` copies them, and a step of the collector in it runs no
//! Lua and none of our functions but destructors of errors.
//!
//! *Pointers into Lua.* `lua_tolstring` is called for strings only, so it converts and allocates
//! nothing. The bytes stay where they are as long as the string is on the stack, and are copied
//! before it goes.
//!
//! *Room on the stack.* A function in C has `LUA_MINSTACK` (20) places besides its arguments. None
//! uses more than eight, and outside of any function nothing is left on the stack.
//!
//! *Outside of the protected call* an error would end the process. Called there are pushes of what
//! exists already (`lua_rawgeti` of the registry, numbers, `nil`), which allocate nothing, and two
//! kinds of assignments, which do not either: to an element of an array that is there from the
//! start (`held`), and to a field that has a value other than `nil` (`KEYS` and `ARGV`, unless
//! they are [`ListField::Absent`]).
//!
//! *The table that is used again* is one that no program has changed or holds a reference of, since
//! it is given to none but those of which `list_use.rs` has read in their code that they do
//! neither.

use crate::answer::{Returned, Text, TextRoom};
use crate::current::{Current, ListField, Source};
use crate::input::Input;
use crate::list_use::{ListUse, ListUses};
use crate::way_out::{Came, WayOut};
use crate::words::{NOT_A_WORD, Refused, Words};
use basalt_resp::Arg;
use mlua::ffi;
use mlua::{Function, Lua, RegistryKey, Table, Value};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

/// The upvalues of `ask`.
const WAY_OUT: c_int = ffi::lua_upvalueindex(1);
const FINISH: c_int = ffi::lua_upvalueindex(2);

/// A longer answer is kept where it is until it is written.
const COPIED_BYTES_MAX: usize = 4096;

/// `KEYS` and `ARGV` are left until the next run if they take no more.
const LEFT_BYTES_MAX: usize = 4096;

/// What a string or a table takes of Lua's memory besides its bytes, at most.
const VALUE_BYTES_MAX: usize = 128;

/// As many words as fit into [`LEFT_BYTES_MAX`].
const REUSED_WORDS_MAX: usize = LEFT_BYTES_MAX / VALUE_BYTES_MAX;

/// Where a function stands that is kept for runs, and what it does with its lists.
#[derive(Clone, Copy)]
pub(crate) struct Slot(c_int, ListUses);

/// A function that is kept for runs.
pub(crate) struct Kept(RegistryKey, ListUses);

impl Kept {
    pub(crate) fn slot(&self) -> Slot {
        Slot(self.0.id(), self.1)
    }
}

/// How a run ended.
pub(crate) enum Ended {
    Returned(Returned),
    /// With this error, explained if that was possible.
    Failed(Value),
}

/// What the prelude has made that a run needs.
pub(crate) struct Parts {
    /// The table behind the globals.
    pub(crate) globals: Table,
    /// What scripts see as `redis`.
    pub(crate) redis_of_scripts: Table,
    /// What functions of libraries do.
    pub(crate) redis_of_functions: Table,
    /// Handles errors.
    pub(crate) explain: Function,
}

/// See the head of this file.
pub(crate) struct Entrance {
    lua: Lua,
    state: *mut ffi::lua_State,
    enter: RegistryKey,
    explain: RegistryKey,
    globals: RegistryKey,
    redis_of_scripts: RegistryKey,
    redis_of_functions: RegistryKey,
    names: Names,
    keys: Reused,
    args: Reused,
    /// For strings that scripts return.
    room: Rc<TextRoom>,
    /// One element: a value on its way to mlua.
    held: Table,
    held_key: RegistryKey,
    /// Which library `redis` is now.
    source: Cell<Source>,
    current: Rc<Current>,
}

/// The names of globals that change.
struct Names {
    keys: RegistryKey,
    args: RegistryKey,
    redis: RegistryKey,
}

/// A table that is filled for each run that only reads it. It has room for
/// [`REUSED_WORDS_MAX`] elements.
struct Reused {
    table: RegistryKey,
    /// It has no elements beyond these.
    len: Cell<usize>,
}

/// What a run begins with.
struct Start<'a> {
    function: c_int,
    source: Source,
    globals: c_int,
    /// Which library `redis` is, and which it is to be.
    redis: (&'a Cell<Source>, c_int, c_int),
    buffer: &'a [u8],
    keys: List<'a>,
    args: List<'a>,
    /// A list was made in the run before.
    was_made: &'a Cell<bool>,
}

/// A list of words.
struct List<'a> {
    /// The name of the global.
    name: c_int,
    words: &'a [Arg],
    used: ListUse,
    field: &'a Cell<ListField>,
    reused: &'a Reused,
}

impl Entrance {
    pub(crate) fn new(lua: &Lua, current: &Rc<Current>, parts: Parts) -> mlua::Result<Entrance> {
        let keep = |value: Value| lua.create_registry_value(value);
        let name = |name: &str| keep(Value::String(lua.create_string(name)?));
        // SAFETY: `enter` is called as its head says, by `run`.
        let enter = unsafe { lua.create_c_function(enter)? };
        let held = lua.create_sequence_from([false])?;
        let reused = || {
            let table = lua.create_table_with_capacity(REUSED_WORDS_MAX, 0)?;
            Ok::<Reused, mlua::Error>(Reused {
                table: keep(Value::Table(table))?,
                len: Cell::new(0),
            })
        };
        Ok(Entrance {
            lua: lua.clone(),
            state: lua.exec_raw_lua(|raw| raw.state()),
            enter: keep(Value::Function(enter))?,
            explain: keep(Value::Function(parts.explain))?,
            globals: keep(Value::Table(parts.globals))?,
            redis_of_scripts: keep(Value::Table(parts.redis_of_scripts))?,
            redis_of_functions: keep(Value::Table(parts.redis_of_functions))?,
            names: Names { keys: name("KEYS")?, args: name("ARGV")?, redis: name("redis")? },
            keys: reused()?,
            args: reused()?,
            room: Rc::default(),
            held_key: keep(Value::Table(held.clone()))?,
            held,
            source: Cell::new(Source::Script),
            current: Rc::clone(current),
        })
    }

    /// Keeps a function that uses its lists like this for runs, until that is dropped.
    pub(crate) fn keep(&self, function: Function, uses: ListUses) -> mlua::Result<Kept> {
        Ok(Kept(self.lua.create_registry_value(function)?, uses))
    }

    /// Runs a script or a function that is kept.
    pub(crate) fn run(&self, function: Slot, source: Source, input: &Input<'_>) -> Ended {
        let bytes = checked_bytes(input);
        let Slot(function, uses) = function;
        let lists = self.current.lists();
        let used = |used| match used {
            // A longer list is not left in a table that stays.
            ListUse::Read if bytes > LEFT_BYTES_MAX => ListUse::Kept,
            other => other,
        };
        let start = Start {
            function,
            source,
            globals: self.globals.id(),
            redis: (&self.source, self.names.redis.id(), self.redis_of(source).id()),
            buffer: input.buffer,
            keys: List {
                name: self.names.keys.id(),
                words: input.keys,
                used: used(uses.keys),
                field: &lists.keys,
                reused: &self.keys,
            },
            args: List {
                name: self.names.args.id(),
                words: input.args,
                used: used(uses.args),
                field: &lists.args,
                reused: &self.args,
            },
            was_made: &lists.made,
        };
        let state = self.state;
        // SAFETY: see the head of this file, "Outside of the protected call" above all; `start`
        // outlives it.
        let status = unsafe {
            push(state, self.explain.id());
            push(state, self.enter.id());
            ffi::lua_pushlightuserdata(state, (&raw const start).cast_mut().cast::<c_void>());
            ffi::lua_pcall(state, 1, 1, -3)
        };
        // SAFETY: as above: the protected call has left one value above `explain`, and the fields
        // have values if they are cleared.
        let returned = unsafe {
            if bytes > LEFT_BYTES_MAX {
                push(state, start.globals);
                clear(state, &start.keys);
                clear(state, &start.args);
                ffi::lua_pop(state, 1);
            }
            let returned = if status == ffi::LUA_OK { returned(state, &self.room) } else { None };
            if returned.is_none() {
                push(state, self.held_key.id());
                ffi::lua_insert(state, -2);
                ffi::lua_rawseti_(state, -2, 1);
            }
            // What was returned, or where it is held, and `explain`.
            ffi::lua_pop(state, 2);
            returned
        };
        match (returned, status) {
            (Some(returned), _) => Ended::Returned(returned),
            (None, ffi::LUA_OK) => Ended::Returned(Returned::Other(self.take_held())),
            (None, _) => Ended::Failed(self.take_held()),
        }
    }

    fn redis_of(&self, source: Source) -> &RegistryKey {
        match source {
            Source::Script => &self.redis_of_scripts,
            Source::Function => &self.redis_of_functions,
        }
    }

    #[cold]
    fn take_held(&self) -> Value {
        let taken = self.held.raw_get(1).and_then(|value| {
            self.held.raw_set(1, false)?;
            Ok(value)
        });
        taken.unwrap_or_else(|error| Value::Error(Box::new(error)))
    }
}

/// `redis.call` or `redis.pcall`: what is no plain reply, `finish` makes a value of, or an error.
pub(crate) fn asking(lua: &Lua, way_out: &Rc<WayOut>, finish: Function) -> mlua::Result<Function> {
    let pointer = Rc::as_ptr(way_out).cast_mut().cast::<c_void>();
    // SAFETY: the call is protected; the first argument is `finish`, and there is room for one more
    // value and the closure. `ask` is given the upvalues that its head asks for.
    unsafe {
        lua.exec_raw(finish, |state| {
            ffi::lua_pushlightuserdata(state, pointer);
            ffi::lua_insert(state, -2);
            ffi::lua_pushcclosure(state, ask, 2);
        })
    }
}

/// Sets what a run begins with, and runs.
///
/// # Safety
/// Lua calls it with a pointer to a [`Start`] that lives as long as the call.
unsafe extern "C-unwind" fn enter(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: by the contract above, and the head of this file.
    unsafe {
        let start = &*ffi::lua_touserdata(state, 1).cast::<Start<'_>>();
        let Start { buffer, keys, args, .. } = start;
        push(state, start.globals);
        let (source, name, redis) = start.redis;
        if source.replace(start.source) != start.source {
            push(state, name);
            push(state, redis);
            ffi::lua_rawset(state, -3);
        }
        if start.was_made.replace(false) {
            remove(state, keys);
            remove(state, args);
        }
        match start.source {
            Source::Script => {
                set(state, buffer, keys);
                set(state, buffer, args);
                push(state, start.function);
                ffi::lua_call(state, 0, 1);
            }
            Source::Function => {
                clear(state, keys);
                clear(state, args);
                push(state, start.function);
                let count = pass(state, buffer, keys) + pass(state, buffer, args);
                ffi::lua_call(state, count, 1);
            }
        }
    }
    1
}

/// Asks the host to run a command.
///
/// # Safety
/// Lua calls it, as a closure with two upvalues: a pointer to a [`WayOut`] that lives as long as
/// the closure, and a function.
unsafe extern "C-unwind" fn ask(state: *mut ffi::lua_State) -> c_int {
    // SAFETY: by the contract above, and the head of this file.
    unsafe {
        let way_out = &*ffi::lua_touserdata(state, WAY_OUT).cast::<WayOut>();
        let came = way_out.ask(|words, bytes_max| take_words(state, words, bytes_max));
        match came {
            Came::Text(text) if has_room(state, way_out, text.len()) => push_text(state, &*text),
            Came::Status(text) if has_room(state, way_out, text.len()) => {
                ffi::lua_createtable(state, 0, 1);
                push_text(state, b"ok");
                push_text(state, &*text);
                ffi::lua_rawset(state, -3);
            }
            Came::Number(number) => ffi::lua_pushnumber(state, number),
            Came::False => ffi::lua_pushboolean(state, 0),
            Came::Nil => ffi::lua_pushnil(state),
            Came::Text(_) | Came::Status(_) | Came::Other => {
                ffi::lua_pushvalue(state, FINISH);
                ffi::lua_call(state, 0, 1);
            }
        }
    }
    1
}

/// Adds the arguments of a function to `words`.
///
/// # Safety
/// Called in a function that Lua has called with them.
unsafe fn take_words(
    state: *mut ffi::lua_State,
    words: &mut Words,
    bytes_max: usize,
) -> Result<(), Refused> {
    // SAFETY: the positions are those of arguments, and nothing here raises an error.
    unsafe {
        for position in 1..=ffi::lua_gettop(state) {
            match ffi::lua_type(state, position) {
                ffi::LUA_TSTRING => words.push_text(text(state, position), bytes_max)?,
                ffi::LUA_TNUMBER => words.push_number(ffi::lua_tonumber(state, position)),
                _ => return Err(NOT_A_WORD),
            }
        }
    }
    Ok(())
}

/// What a script has returned, if that is no table and not long: it is on top of the stack.
///
/// # Safety
/// There is a value on the stack.
unsafe fn returned(state: *mut ffi::lua_State, room: &Rc<TextRoom>) -> Option<Returned> {
    // SAFETY: by the contract above; nothing here raises an error.
    unsafe {
        Some(match ffi::lua_type(state, -1) {
            ffi::LUA_TNIL => Returned::Nil,
            ffi::LUA_TBOOLEAN => Returned::Truth(ffi::lua_toboolean(state, -1) != 0),
            ffi::LUA_TNUMBER => Returned::Number(ffi::lua_tonumber(state, -1)),
            ffi::LUA_TSTRING => match text(state, -1) {
                text if text.len() <= COPIED_BYTES_MAX => Returned::Text(Text::copy(text, room)),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Whether a value of this many bytes surely fits into what the script may still take.
///
/// # Safety
/// The state is open.
unsafe fn has_room(state: *mut ffi::lua_State, way_out: &WayOut, bytes: usize) -> bool {
    // SAFETY: by the contract above; asking for the figure raises no error.
    let used_kib = unsafe { ffi::lua_gc(state, ffi::LUA_GCCOUNT, 0) };
    let used = (used_kib as usize + 1) << 10;
    used + bytes + VALUE_BYTES_MAX <= way_out.memory_bytes_max()
}

/// What the words take in Lua, about.
///
/// # Panics
/// If they are no ranges of the buffer: better here than in [`enter`].
fn checked_bytes(input: &Input<'_>) -> usize {
    let mut bytes = 0;
    for word in input.keys.iter().chain(input.args) {
        assert!(word.start.saturating_add(word.len) <= input.buffer.len(), "a word of the buffer");
        bytes += word.len + VALUE_BYTES_MAX;
    }
    bytes
}

/// Pushes what is kept in the registry.
///
/// # Safety
/// The state is open, and its stack has room for one value.
unsafe fn push(state: *mut ffi::lua_State, slot: c_int) {
    // SAFETY: by the contract above.
    unsafe { ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, slot) }
}

/// Sets a list of the globals, which are on top of the stack. It may raise an error.
///
/// # Safety
/// In a protected call, with the globals on the stack and room for three values.
unsafe fn set(state: *mut ffi::lua_State, buffer: &[u8], list: &List<'_>) {
    // SAFETY: by the contract above.
    unsafe {
        match list.used {
            ListUse::Unseen => {}
            ListUse::Read if list.field.get() == ListField::Reused => {
                push_reused(state, buffer, list);
                ffi::lua_pop(state, 1);
            }
            ListUse::Kept if list.words.is_empty() => clear(state, list),
            ListUse::Read | ListUse::Kept => {
                push(state, list.name);
                push_list(state, buffer, list);
                ffi::lua_rawset(state, -3);
                let is_reused = list.used == ListUse::Read;
                list.field.set(if is_reused { ListField::Reused } else { ListField::Own });
            }
        }
    }
}

/// Pushes a list as the next parameter, if the function has it; returns how many were pushed. It
/// may raise an error.
///
/// # Safety
/// In a protected call, with room for two values.
unsafe fn pass(state: *mut ffi::lua_State, buffer: &[u8], list: &List<'_>) -> c_int {
    if list.used == ListUse::Unseen {
        return 0;
    }
    // SAFETY: by the contract above.
    unsafe { push_list(state, buffer, list) }
    1
}

/// Clears a list of the globals, which are on top of the stack, if it is set.
///
/// # Safety
/// The globals are on the stack, with room for two values; what is said to be set is.
unsafe fn clear(state: *mut ffi::lua_State, list: &List<'_>) {
    if list.field.get() != ListField::Absent {
        // SAFETY: by the contract above.
        unsafe { remove(state, list) }
    }
}

/// Removes a list of the globals, which are on top of the stack. It may raise an error if there was
/// none.
///
/// # Safety
/// They are there, with room for two values; in a protected call if there may be none.
unsafe fn remove(state: *mut ffi::lua_State, list: &List<'_>) {
    // SAFETY: by the contract above.
    unsafe {
        push(state, list.name);
        ffi::lua_pushnil(state);
        ffi::lua_rawset(state, -3);
    }
    list.field.set(ListField::Absent);
}

/// Pushes the table of a list that can be seen. It may raise an error.
///
/// # Safety
/// In a protected call, with room for two values.
unsafe fn push_list(state: *mut ffi::lua_State, buffer: &[u8], list: &List<'_>) {
    // SAFETY: by the contract above.
    unsafe {
        match list.used {
            ListUse::Read => push_reused(state, buffer, list),
            ListUse::Kept | ListUse::Unseen => push_words(state, buffer, list.words),
        }
    }
}

/// Pushes the table that is used again, filled with the words of a list. It may raise an error.
///
/// # Safety
/// In a protected call, with room for two values.
unsafe fn push_reused(state: *mut ffi::lua_State, buffer: &[u8], list: &List<'_>) {
    let Reused { table, len } = list.reused;
    let (before, now) = (len.get(), list.words.len());
    // If an error ends this early, there may be as many.
    len.set(before.max(now));
    // SAFETY: by the contract above.
    unsafe {
        push(state, table.id());
        fill(state, buffer, list.words);
        for index in now..before {
            ffi::lua_pushnil(state);
            ffi::lua_rawseti_(state, -2, index as c_int + 1);
        }
    }
    len.set(now);
}

/// Pushes a table of words. It may raise an error.
///
/// # Safety
/// In a protected call, with room for two values.
unsafe fn push_words(state: *mut ffi::lua_State, buffer: &[u8], words: &[Arg]) {
    // SAFETY: by the contract above.
    unsafe {
        ffi::lua_createtable(state, words.len() as c_int, 0);
        fill(state, buffer, words);
    }
}

/// Makes words the first elements of the table on top of the stack. It may raise an error.
///
/// # Safety
/// In a protected call, with room for one value.
unsafe fn fill(state: *mut ffi::lua_State, buffer: &[u8], words: &[Arg]) {
    for (index, word) in words.iter().enumerate() {
        // SAFETY: by the contract above.
        unsafe {
            push_text(state, word.of(buffer));
            ffi::lua_rawseti_(state, -2, index as c_int + 1);
        }
    }
}

/// Pushes a copy of these bytes. It may raise an error.
///
/// # Safety
/// In a protected call, with room for one value.
unsafe fn push_text(state: *mut ffi::lua_State, text: &[u8]) {
    // SAFETY: by the contract above.
    unsafe { ffi::lua_pushlstring_(state, text.as_ptr().cast(), text.len()) }
}

/// The bytes of a string on the stack.
///
/// # Safety
/// There is one at this position, and it stays there while the bytes are in use.
unsafe fn text<'a>(state: *mut ffi::lua_State, position: c_int) -> &'a [u8] {
    let mut len = 0;
    // SAFETY: by the contract above, so that nothing is converted and the pointer is not null.
    unsafe {
        let bytes = ffi::lua_tolstring(state, position, &raw mut len);
        std::slice::from_raw_parts(bytes.cast(), len)
    }
}
