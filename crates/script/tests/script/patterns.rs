//! Functions on patterns and tables against Lua's own, on random arguments.

use super::{Recorder, interpreter, run, run_in};
use basalt_resp::{Protocol, Value};
use mlua::{Lua, LuaOptions, StdLib};

/// What the functions give, as one line; the arguments are subject, pattern, replacement, first
/// place.
const SHOW: &str = "
  local function show(...)
    local shown = {}
    for index = 1, select('#', ...) do shown[index] = tostring((select(index, ...))) end
    return table.concat(shown, '|')
  end
  local s, p, r, init = ...
  local seen = {
    show(pcall(string.find, s, p, init)), show(pcall(string.match, s, p, init)),
    show(pcall(string.gsub, s, p, r)), show(pcall(string.gsub, s, p, r, 2)),
    show(pcall(string.gsub, s, p, function(...) if #... > 1 then return show(...) end end)),
    show(pcall(string.gsub, s, p, {a = 'x', b = false, c = 3})),
    show(pcall(string.find, s, p, init, true)),
  }
  local count = 0
  seen[#seen + 1] = show(pcall(function()
    local all = {}
    for one, other in string.gmatch(s, p) do
      all[#all + 1] = show(one, other)
      count = count + 1
      if count > 30 then break end
    end
    return table.concat(all, ',')
  end))
  return table.concat(seen, ';')
";

/// Numbers as if drawn at random.
pub(super) struct Draw(pub(super) u64);

impl Draw {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn text(&mut self, pieces: &[&str], count_max: usize) -> String {
        (0..self.below(count_max + 1)).map(|_| pieces[self.below(pieces.len())]).collect()
    }
}

const SUBJECT: &[&str] = &["a", "b", "c", "A", "1", " ", "(", ")", "%", "-", "\u{0}", "]", "."];
const PATTERN: &[&str] = &[
    "a", "b", "c", ".", "%a", "%d", "%s", "%w", "%W", "%p", "%x", "%z", "%u", "%l", "%c", "[abc]",
    "[^a]", "[a-c]", "[%d%s]", "[]]", "[^]a]", "[a-]", "[", "]", "(", ")", "()", "(a", "b)", "%1",
    "%2", "%b()", "%bab", "%f[a]", "%f[^%w]", "%f", "*", "+", "-", "?", "^", "$", "%", "%%", "%.",
    "(%a)", "(.-)", "(a*)", "\u{0}",
];
const REPLACEMENT: &[&str] = &["x", "%0", "%1", "%2", "%%", "%", "y", "%a"];

#[test]
fn patterns_match_as_in_lua() {
    let libraries = StdLib::TABLE | StdLib::STRING;
    let lua = Lua::new_with(libraries, LuaOptions::new()).expect("there is memory");
    let own: mlua::Function =
        lua.load(SHOW).set_name("@user_script").into_function().expect("it is Lua");
    let script = format!(
        "local function all(...) {SHOW} end return all(ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]))"
    );
    let (mut interpreter, mut host) = (interpreter(), Recorder::default());
    let mut draw = Draw(1);
    for round in 0..4000 {
        let (subject, pattern) = (draw.text(SUBJECT, 10), draw.text(PATTERN, 6));
        let (with, from) = (draw.text(REPLACEMENT, 3), draw.below(16) as i64 - 5);
        let expected: mlua::LuaString =
            own.call((&*subject, &*pattern, &*with, from)).expect("it runs");
        let place = from.to_string();
        let args = [subject.as_bytes(), pattern.as_bytes(), with.as_bytes(), place.as_bytes()];
        let shown = super::run_with(&mut interpreter, &mut host, &script, &args);
        let Some(Value::Bulk(shown)) = shown else { panic!("{shown:?}") };
        assert_eq!(
            String::from_utf8_lossy(&shown),
            String::from_utf8_lossy(&expected.as_bytes()),
            "{subject:?} {pattern:?} {with:?} {from}, round {round}"
        );
    }
}

#[test]
fn tables_are_changed_as_in_lua() {
    let libraries = StdLib::TABLE | StdLib::STRING;
    let lua = Lua::new_with(libraries, LuaOptions::new()).expect("there is memory");
    for script in [
        "local t = {1, 2, 3} table.insert(t, 2, 'x') table.insert(t, 9) table.insert(t, 1, 0) return table.concat(t, ',')",
        "local t = {1, 2, 3} table.insert(t, 6, 'x') return #t .. tostring(t[6])",
        "local t = {1, 2, 3} table.insert(t, -2, 'x') return tostring(t[-2]) .. tostring(t[-1]) .. t[2] .. t[3] .. t[4]",
        "local t = {} for i = 1, 20001 do t[i] = i end table.insert(t, 2, 'x') return #t .. t[2] .. t[3] .. t[20002]",
        "local t = {} for i = 1, 20001 do t[i] = i end local x = table.remove(t, 2) return #t .. x .. t[2] .. t[20000]",
        "local t = {1, 2, 3} return (table.remove(t, 9) or 'none') .. #t .. table.remove(t) .. table.remove(t, 1) .. #t",
        "return tostring(pcall(table.insert, {}, 1, 2, 3))",
        "local t = {} for i = 1, 1000 do t[i] = (i * 7919) % 1009 end table.sort(t) return table.concat(t, ',')",
        "local t = {} for i = 1, 1000 do t[i] = i end table.sort(t, function(a, b) return a > b end) return t[1] .. t[1000]",
        "local n = 0 table.foreachi({1, 2, 3}, function(i, v) n = n + i * v end) return n .. ''",
        "return table.foreach({a = 'x'}, function(k, v) return k .. v end)",
        "return string.rep('ab', 3) .. string.rep('', 5) .. string.rep('x', -1)",
        "return (('x'):rep(3)):gsub('x', '%0%0') .. ('a,b'):match('(.),(.)') .. #('abc'):upper()",
    ] {
        let expected: mlua::LuaString = lua.load(script).eval().expect("it runs");
        assert_eq!(run(script), Value::Bulk(expected.as_bytes().to_vec()), "{script}");
    }
}

#[test]
fn what_is_wrong_is_said_with_the_line_of_the_script() {
    for (script, text) in [
        ("local x = string.find('a', '%')", "malformed pattern (ends with '%')"),
        ("local x = ('a'):match('[a')", "malformed pattern (missing ']')"),
        ("local x = ('a'):gsub('(a', '%1')", "unfinished capture"),
        ("for x in ('a'):gmatch('%') do end", "malformed pattern (ends with '%')"),
        (
            "local x = ('a'):gsub('a', function() return {} end)",
            "invalid replacement value (a table)",
        ),
        (
            "local x = string.find({}, 'a')",
            "bad argument #1 to 'find' (string expected, got table)",
        ),
        (
            "local x = string.match('a')",
            "bad argument #2 to 'match' (string expected, got no value)",
        ),
        ("table.sort(1)", "bad argument #1 to 'sort' (table expected, got number)"),
    ] {
        let reply = run_in(&mut interpreter(), &mut Recorder::default(), Protocol::Resp2, script);
        let Some(Value::Error(error)) = reply else { panic!("{script}: {reply:?}") };
        let error = String::from_utf8_lossy(&error).into_owned();
        assert!(error.starts_with(&format!("ERR user_script:1: {text}")), "{script}: {error}");
    }
}
