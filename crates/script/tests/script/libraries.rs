//! The libraries.

use super::{bulk, run};
use basalt_resp::Value;

#[test]
fn random_numbers_are_the_same_each_time() {
    let text = "return math.random() .. ' ' .. math.random(100) .. ' ' .. math.random(5, 7)";
    assert_eq!(run(text), run(text));
    assert_eq!(run("math.randomseed(0) return tostring(math.random())"), bulk("0.17082803611217"));
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
