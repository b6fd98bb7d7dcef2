//! What a script can reach, and what it leaves behind.

use super::{Recorder, bulk, interpreter, run, run_in, run_with};
use basalt_resp::{Protocol, Value};

fn error(text: &str) -> String {
    match run(text) {
        Value::Error(error) => String::from_utf8(error).expect("text"),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn nothing_outside_of_the_sandbox_has_a_name() {
    for name in [
        "io", "require", "package", "module", "dofile", "loadfile", "print", "debug", "getfenv",
        "setfenv", "newproxy", "jit", "bit32",
    ] {
        let said = error(&format!("return {name}"));
        assert!(said.contains("nonexistent global variable"), "{name}: {said}");
    }
    for path in
        ["os.execute", "os.getenv", "os.exit", "os.remove", "string.undump", "redis.sha256hex"]
    {
        assert_eq!(run(&format!("return type({path})")), bulk("nil"), "{path}");
    }
    assert_eq!(run("return type(os.clock())"), bulk("number"));
}

#[test]
fn there_is_no_way_around_the_sandbox() {
    let kinds = "local t = {} for _, f in ipairs({pcall, xpcall, loadstring, load, redis.call, redis.pcall}) do \
                 t[#t + 1] = type(f) end return table.concat(t, ' ')";
    assert_eq!(run(kinds), bulk("function function function function function function"));
    for text in [
        "return getmetatable(_G) or 'nothing'",
        "return getmetatable(redis) or 'nothing'",
        "return loadstring(string.dump(function() return 1 end)) or 'nothing'",
        "return load(function() return nil end) and 'nothing'",
        "return loadstring('return io')  and pcall(loadstring('return io')) or 'nothing'",
        "return select(2, pcall(rawset, redis, 'call', 1)) and 'nothing'",
        "return rawget(_G, 'io') or 'nothing'",
    ] {
        let reply = run(text);
        assert!(matches!(reply, Value::Null) || reply == bulk("nothing"), "{text}: {reply:?}");
    }
}

#[test]
fn one_script_leaves_nothing_for_the_next() {
    let (mut state, mut host) = (interpreter(), Recorder::default());
    let mut run = |text: &str| run_in(&mut state, &mut host, Protocol::Resp2, text);
    let before = "local t = {} for name, value in pairs({s = string, t = table, r = redis, m = math}) do \
                  for key in pairs(value) do t[#t + 1] = key end end return #t";
    let fields = run(before);
    assert!(matches!(fields, Some(Value::Integer(50..))), "{fields:?}");
    for text in [
        "local _, t = pairs(redis) rawset(t, 'x', 1)",
        "local _, t = pairs(redis) t.x = 1",
        "for name in pairs(redis) do rawset(redis, name, nil) end",
        "rawset(table, 'x', 1)",
        "table.insert(table, 'x')",
        "table.insert(_G, 'x')",
        "for i = 1, 1000 do table.insert(redis, i) end",
        "getmetatable('').__add = function() return 1 end",
        "getmetatable('').__index.upper = nil",
        "string.upper = nil",
        "_G.new = 1",
        "new = 1",
        "setmetatable(_G, nil)",
        "redis.setresp(3)",
    ] {
        run(text);
        assert_eq!(run(before), fields, "{text}");
        let whole =
            "return ('x'):upper() .. #_G .. #KEYS .. #ARGV .. tostring(redis.call('ECHO', 'y'))";
        assert_eq!(run(whole), Some(bulk("X012y")), "{text}");
    }
}

#[test]
fn what_a_script_sees_can_be_listed() {
    let list = |table: &str| {
        run(&format!(
            "local t = {{}} for name, value in pairs({table}) do if value == {table}[name] then \
             t[#t + 1] = name end end table.sort(t) return table.concat(t, ' ')"
        ))
    };
    assert_eq!(list("coroutine"), bulk("create resume running status wrap yield"));
    let Value::Bulk(globals) = list("_G") else { panic!("it is text") };
    let globals = String::from_utf8(globals).expect("text");
    let has = |name: &&str| globals.split(' ').any(|found| found == *name);
    assert!(["KEYS", "ARGV", "redis", "pairs", "_G"].iter().all(has), "{globals}");
    let each =
        "local t = {} table.foreach(coroutine, function(name) t[#t + 1] = name end) return #t";
    assert_eq!(run(each), Value::Integer(6));
    assert_eq!(
        run("local n = 0 for _ in pairs({1, x = 2}) do n = n + 1 end return n"),
        Value::Integer(2)
    );
    for (wrong, got) in [("nil", "nil"), ("5", "number"), ("'x'", "string")] {
        let said = error(&format!("for _ in pairs({wrong}) do end"));
        let expected =
            format!("ERR user_script:1: bad argument #1 to 'pairs' (table expected, got {got})");
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn lines_are_those_of_the_script() {
    for (text, line) in [
        ("\n\nerror('x')", 3),
        ("\nlocal f = function()\n  redis.call('NO')\nend\nf()", 3),
        ("\nreturn redis.call('NO')", 2),
        ("#!lua\nreturn redis.call('NO')", 2),
        ("\nlocal t = nil\nlocal x = t.y", 3),
    ] {
        assert!(error(text).ends_with(&format!(", on @user_script:{line}.")), "{text}");
    }
}

/// What a call is given is copied outside of Lua, and must fit into as much memory as the script
/// may have.
#[test]
fn the_words_of_a_call_are_bounded_like_the_memory_of_the_script() {
    let (mut state, mut host) = (interpreter(), Recorder::default());
    let mut run = |text: &str| run_in(&mut state, &mut host, Protocol::Resp2, text);
    let make = "local t, s = {}, string.rep('x', 1000000) for i = 1, 20 do t[i] = s end ";
    let too_large = "ERR the arguments of the call are larger than 'script-memory-max'";
    let reply = run(&format!("{make} return redis.pcall('ECHO', unpack(t))"));
    assert_eq!(reply, Some(Value::Error(too_large.as_bytes().to_vec())));
    let Some(Value::Error(text)) = run(&format!("{make} return redis.call('ECHO', unpack(t))"))
    else {
        panic!("the call is refused");
    };
    assert!(text.starts_with(too_large.as_bytes()), "{}", text.escape_ascii());
    let reply = run(&format!("{make} return #redis.call('ECHO', t[1])"));
    assert_eq!(reply, Some(Value::Integer(1_000_000)));
    assert_eq!(host.calls.len(), 1, "what is refused does not reach the host");
}

#[test]
fn a_reply_that_scripts_have_no_memory_for_is_not_copied() {
    let (mut state, mut host) = (interpreter(), Recorder::default());
    let reply = run_in(&mut state, &mut host, Protocol::Resp2, "return redis.pcall('BIG')");
    let too_large = "ERR the reply to the call is larger than 'script-memory-max'";
    assert_eq!(reply, Some(Value::Error(too_large.as_bytes().to_vec())));
}

/// A list without words is made when it is asked for, and is no less a script's own.
#[test]
fn lists_of_words_are_there_however_they_are_asked_for() {
    let (mut state, mut host) = (interpreter(), Recorder::default());
    let mut with = |text: &str, args: &[&[u8]]| {
        run_with(&mut state, &mut host, text, args).expect("it is not given up")
    };
    for text in [
        "return #ARGV == 0 and type(ARGV) == 'table' and ARGV == ARGV and rawget(_G, 'ARGV') == ARGV",
        "return type(rawget(_G, 'ARGV')) == 'table' and #ARGV == 0",
        "ARGV[1] = 'x' return ARGV[1] == 'x' and _G.ARGV == ARGV",
        "return ARGV[1] == nil and next(ARGV) == nil and #KEYS == 1",
        "rawset(ARGV, 'x', 1) KEYS[2] = 'y' return ARGV.x == 1",
        "return ARGV.x == nil and #KEYS == 1",
        "local ok = pcall(function() ARGV = {} end) return not ok and #ARGV == 0",
        "local ok = pcall(rawset, _G, 'ARGV', {1}) return not ok and #ARGV == 0",
        "return next(_G) == nil and rawget(_G, 'KEYZ') == nil",
    ] {
        assert_eq!(with(text, &[]), Value::Integer(1), "{text}");
        assert_eq!(with("return #ARGV .. ARGV[2]", &[b"a", b"b"]), bulk("2b"), "after {text}");
    }
    let long = vec![b'x'; 10_000];
    assert_eq!(with("return #ARGV[1]", &[&long]), Value::Integer(10_000));
    assert_eq!(with("return #ARGV", &[]), Value::Integer(0));
}

/// Replies of one piece become values without a detour, and are of the types that they have with
/// one.
#[test]
fn plain_replies_have_the_types_of_redis() {
    for (call, shown) in [
        ("redis.call('ECHO', '')", "string:"),
        ("redis.call('ECHO', 'a\\0b')", "string:a\0b"),
        ("redis.call('INT')", "number:9007199254740993"),
        ("redis.call('OK').ok", "string:fine"),
        ("next(redis.call('OK'), 'ok')", "nil:nil"),
        ("redis.pcall('INT')", "number:9007199254740993"),
        ("redis.call('NULL')", "boolean:false"),
        ("(redis.setresp(3) or redis.call('NULL'))", "nil:nil"),
        ("coroutine.wrap(function() return redis.call('ECHO', 'x') end)()", "string:x"),
        ("select('#', redis.call('ECHO', 'x'))", "number:1"),
    ] {
        let show = "local function show(v) if type(v) == 'number' and v > 2 then v = '9007199254740993' \
                    return 'number:' .. v end return type(v) .. ':' .. tostring(v) end ";
        let reply = run(&format!("{show} return show({call})"));
        assert_eq!(reply, bulk(shown), "{call}");
    }
}

/// An error leaves nothing in the state: the next script runs as in a new one.
#[test]
fn a_state_takes_any_number_of_errors() {
    let (mut state, mut host) = (interpreter(), Recorder::default());
    let mut run = |text: &str| run_in(&mut state, &mut host, Protocol::Resp2, text);
    for round in 0..10 {
        for text in [
            "return redis.call('NO')",
            "return redis.call({})",
            "return redis.call()",
            "error({})",
            "return nil .. 'x'",
            "local function f() return 1 + f() end return f()",
            "return string.rep('x', 100000000)",
        ] {
            assert!(matches!(run(text), Some(Value::Error(_))), "{text}");
        }
        assert_eq!(run("redis.call('GIVE-UP')"), None);
        assert_eq!(run("return redis.call('ECHO', #KEYS .. #ARGV)"), Some(bulk("12")), "{round}");
    }
}
