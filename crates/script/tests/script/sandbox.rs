//! What a script can reach, and what it leaves behind.

use super::{Recorder, bulk, interpreter, run, run_in};
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
    assert_eq!(run(before), Some(Value::Integer(0)));
    for text in [
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
        assert_eq!(run(before), Some(Value::Integer(0)), "{text}");
        let whole =
            "return ('x'):upper() .. #_G .. #KEYS .. #ARGV .. tostring(redis.call('ECHO', 'y'))";
        assert_eq!(run(whole), Some(bulk("X012y")), "{text}");
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
