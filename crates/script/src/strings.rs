//! The functions of `string` that match patterns, on the matcher in `pattern.rs`.
//!
//! They are called by the prelude, which has checked the arguments. What is wrong with a pattern
//! they give back, as `false` and a text: only Lua can raise a string that tells the line of the
//! script.

use crate::current::Current;
use crate::pattern::{self, Anchor, Capture, Match, Stop};
use memchr::memmem;
use mlua::{IntoLuaMulti, Lua, LuaString, MultiValue, Table, Value};
use std::rc::Rc;

const UNFINISHED: &str = "unfinished capture";

/// Puts the functions into the table of native ones.
pub(crate) fn add(lua: &Lua, native: &Table, current: &Rc<Current>) -> mlua::Result<()> {
    let state = Rc::clone(current);
    let find = move |lua: &Lua, (subject, pattern, from, plain): Finding| {
        let (subject_bytes, pattern_bytes) = (subject.as_bytes(), pattern.as_bytes());
        if plain || pattern::is_plain(&pattern_bytes) {
            let found = memmem::find(&subject_bytes[from..], &pattern_bytes);
            return match found {
                Some(at) => (from + at + 1, from + at + pattern_bytes.len()).into_lua_multi(lua),
                None => Value::Nil.into_lua_multi(lua),
            };
        }
        let found = search(&subject_bytes, &pattern_bytes, from, Anchor::Heeded, &state);
        answer(lua, found, |found| {
            let place = (found.start + 1, found.end).into_lua_multi(lua)?;
            with_captures(lua, place, &subject_bytes, &found.captures)
        })
    };
    native.set("find", lua.create_function(find)?)?;
    let state = Rc::clone(current);
    let next = move |lua: &Lua, (subject, pattern, from, anchored, captures_max): Next| {
        let (subject_bytes, pattern_bytes) = (subject.as_bytes(), pattern.as_bytes());
        let anchor = if anchored { Anchor::Heeded } else { Anchor::Ignored };
        let found = search(&subject_bytes, &pattern_bytes, from, anchor, &state);
        answer(lua, found, |found| {
            let place = (found.start, found.end).into_lua_multi(lua)?;
            let mut captures = captures_or_all(&found);
            captures.truncate(captures_max);
            with_captures(lua, place, &subject_bytes, &captures)
        })
    };
    native.set("next_match", lua.create_function(next)?)?;
    let state = Rc::clone(current);
    let replace = move |lua: &Lua, (subject, pattern, with, count): Replacing| {
        let replaced =
            replace(&subject.as_bytes(), &pattern.as_bytes(), &with.as_bytes(), count, &state);
        match replaced {
            Ok((text, count)) => (lua.create_string(text)?, count).into_lua_multi(lua),
            Err(stop) => problem(lua, stop),
        }
    };
    native.set("replace", lua.create_function(replace)?)
}

/// Subject, pattern, where to begin, counted from 0, and a switch.
type Finding = (LuaString, LuaString, usize, bool);
/// Subject, pattern, where to begin, a switch, and how many captures are asked for.
type Next = (LuaString, LuaString, usize, bool, usize);
/// Subject, pattern, replacement, and how often at most.
type Replacing = (LuaString, LuaString, LuaString, f64);

fn search(
    subject: &[u8],
    pattern: &[u8],
    from: usize,
    anchor: Anchor,
    current: &Current,
) -> Result<Option<Match>, Stop<mlua::Error>> {
    pattern::find(subject, pattern, from, anchor, &mut || current.go_on())
}

fn answer(
    lua: &Lua,
    found: Result<Option<Match>, Stop<mlua::Error>>,
    values: impl FnOnce(Match) -> mlua::Result<MultiValue>,
) -> mlua::Result<MultiValue> {
    match found {
        Ok(Some(found)) => values(found),
        Ok(None) => Value::Nil.into_lua_multi(lua),
        Err(stop) => problem(lua, stop),
    }
}

fn problem(lua: &Lua, stop: Stop<mlua::Error>) -> mlua::Result<MultiValue> {
    match stop {
        Stop::Malformed(text) => (false, text).into_lua_multi(lua),
        Stop::Ended(error) => Err(error),
    }
}

/// A match without captures is its own.
fn captures_or_all(found: &Match) -> Vec<Capture> {
    match found.captures.is_empty() {
        true => vec![Capture::Text(found.start, found.end)],
        false => found.captures.clone(),
    }
}

/// A place and captures, or the problem with one of them.
fn with_captures(
    lua: &Lua,
    mut values: MultiValue,
    subject: &[u8],
    captures: &[Capture],
) -> mlua::Result<MultiValue> {
    for capture in captures {
        values.push_back(match *capture {
            Capture::Text(start, end) => Value::String(lua.create_string(&subject[start..end])?),
            Capture::Place(place) => Value::Number((place + 1) as f64),
            Capture::Unfinished => return problem(lua, Stop::Malformed(UNFINISHED)),
        });
    }
    Ok(values)
}

/// `gsub` with a text.
fn replace(
    subject: &[u8],
    pattern: &[u8],
    with: &[u8],
    count_max: f64,
    current: &Current,
) -> Result<(Vec<u8>, usize), Stop<mlua::Error>> {
    let bytes_max = current.memory_bytes_max();
    let anchored = pattern.first() == Some(&b'^');
    let (mut text, mut at, mut count) = (Vec::new(), 0, 0);
    while (count as f64) < count_max {
        let Some(found) = search(subject, pattern, at, Anchor::Heeded, current)? else { break };
        text.extend_from_slice(&subject[at..found.start]);
        count += 1;
        add_replacement(subject, &found, with, &mut text)?;
        if text.len() > bytes_max {
            return Err(Stop::Malformed("not enough memory"));
        }
        at = found.end;
        if found.end == found.start {
            let Some(&byte) = subject.get(at) else { break };
            text.push(byte);
            at += 1;
        }
        if anchored {
            break;
        }
    }
    text.extend_from_slice(&subject[at..]);
    Ok((text, count))
}

fn add_replacement(
    subject: &[u8],
    found: &Match,
    with: &[u8],
    text: &mut Vec<u8>,
) -> Result<(), Stop<mlua::Error>> {
    let mut bytes = with.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        // A `%` at the end escapes the zero byte that ends a string in C.
        let capture = match bytes.next().copied().unwrap_or(0) {
            b'0' => Capture::Text(found.start, found.end),
            digit @ b'1'..=b'9' => {
                let index = usize::from(digit - b'1');
                let capture = captures_or_all(found).get(index).copied();
                capture.ok_or(Stop::Malformed("invalid capture index"))?
            }
            other => {
                text.push(other);
                continue;
            }
        };
        match capture {
            Capture::Text(start, end) => text.extend_from_slice(&subject[start..end]),
            Capture::Place(place) => text.extend_from_slice((place + 1).to_string().as_bytes()),
            Capture::Unfinished => return Err(Stop::Malformed(UNFINISHED)),
        }
    }
    Ok(())
}
