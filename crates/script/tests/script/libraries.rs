//! The libraries.

use super::{Recorder, bulk, interpreter, run, run_from, run_in};
use basalt_resp::{Protocol, Value};

const DRAW: &str = "return math.random() .. ' ' .. math.random(100) .. ' ' .. math.random(5, 7)";

#[test]
fn random_numbers_go_on_from_script_to_script() {
    let (mut state, mut host) = (interpreter(), Recorder::default());
    let mut run = |text: &str| run_in(&mut state, &mut host, Protocol::Resp2, text);
    assert_ne!(run(DRAW), run(DRAW));
    assert_eq!(
        run("math.randomseed(0) return tostring(math.random())"),
        Some(bulk("0.17082803611217"))
    );
    // As in Redis: what a script has seeded stays seeded.
    run("math.randomseed(7)");
    let drawn = run(DRAW);
    run("math.randomseed(7)");
    assert_eq!(run(DRAW), drawn);
}

#[test]
fn a_script_that_begins_again_draws_the_same_numbers() {
    let (mut state, mut host) = (interpreter(), Recorder::default());
    let text = "redis.call('ECHO', math.random()) redis.call('GIVE-UP')";
    let given_up = run_from(&mut state, &mut host, text, None);
    run_in(&mut state, &mut host, Protocol::Resp2, DRAW);
    run_from(&mut state, &mut host, text, given_up);
    run_in(&mut state, &mut host, Protocol::Resp2, text);
    assert_eq!(host.calls[0], host.calls[2], "{:?}", host.calls);
    assert_ne!(host.calls[0], host.calls[4], "{:?}", host.calls);
}

#[test]
fn json_that_is_nested_too_deep_is_an_error() {
    let depth = |text: &str| match run(text) {
        Value::Error(error) => String::from_utf8(error).expect("text").contains("(129)"),
        other => panic!("{other:?}"),
    };
    assert!(depth("return cjson.decode(string.rep('[', 100000))"));
    assert!(depth("local t = {} t[1] = t local x = cjson.encode(t)"));
    let text = "return #cjson.encode(cjson.decode(string.rep('[', 128) .. string.rep(']', 128)))";
    assert_eq!(run(text), Value::Integer(256));
}
