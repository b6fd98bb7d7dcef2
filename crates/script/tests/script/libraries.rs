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
        Value::Error(error) => String::from_utf8(error).expect("text").contains("(1001)"),
        other => panic!("{other:?}"),
    };
    assert!(depth("return cjson.decode(string.rep('[', 100000))"));
    assert!(depth("local t = {} t[1] = t local x = cjson.encode(t)"));
    let text = "return #cjson.encode(cjson.decode(string.rep('[', 1000) .. string.rep(']', 1000)))";
    assert_eq!(run(text), Value::Integer(2000));
}

#[test]
fn what_is_nested_without_end_takes_no_stack() {
    let text = "return cmsgpack.unpack(string.rep('\\145', 100000))";
    let Value::Error(error) = run(text) else { panic!("it is unpacked") };
    assert!(String::from_utf8_lossy(&error).contains("stack overflow"), "{error:?}");
    let text = "return #cmsgpack.unpack(string.rep('\\145', 999) .. '\\145\\1')";
    assert_eq!(run(text), Value::Integer(1));
}

#[test]
fn settings_of_cjson_end_with_the_script() {
    let (mut state, mut host) = (interpreter(), Recorder::default());
    let mut run = |text: &str| run_in(&mut state, &mut host, Protocol::Resp2, text);
    let text = "cjson.encode_number_precision(3) local own = cjson.new() \
                return cjson.encode(1/3) .. own.encode(1/3)";
    assert_eq!(run(text), Some(bulk("0.3330.33333333333333")));
    assert_eq!(run("return cjson.encode(1/3)"), Some(bulk("0.33333333333333")));
}
