//! Scripts that do not want to end.

use super::attack::{Scale, Stop};
use crate::server::Server;

/// Runs `script` again and again, whatever it answers.
fn repeat(server: &Server, script: &str, keys: &[&str], stop: &Stop) {
    let count = keys.len().to_string();
    let mut words = vec!["EVAL", script, &count];
    words.extend(keys);
    let mut connection = server.connect();
    while !stop.is_set() && connection.call(&words).is_ok() {}
}

pub(super) fn endless(server: &Server, _: Scale, stop: &Stop) {
    repeat(server, "while true do end", &[], stop);
}

pub(super) fn endless_with_a_key(server: &Server, _: Scale, stop: &Stop) {
    repeat(server, "while true do redis.call('GET', KEYS[1]) end", &["{x}key"], stop);
}

pub(super) fn endless_after_a_change(server: &Server, _: Scale, stop: &Stop) {
    repeat(server, "redis.call('SET', KEYS[1], 'x') while true do end", &["{x}key"], stop);
}

pub(super) fn swallows_errors(server: &Server, _: Scale, stop: &Stop) {
    let script = "while true do pcall(function() while true do end end) end";
    repeat(server, script, &[], stop);
}

pub(super) fn exponential_pattern(server: &Server, _: Scale, stop: &Stop) {
    let script = "return string.find(string.rep('a', 60), \
                  string.rep('a?', 60) .. string.rep('a', 60))";
    repeat(server, script, &[], stop);
}

pub(super) fn table_insert(server: &Server, _: Scale, stop: &Stop) {
    repeat(server, "table.insert(ARGV, -2147483648, 1)", &[], stop);
}

pub(super) fn large_string(server: &Server, _: Scale, stop: &Stop) {
    let script = "local s = 'x' while true do s = s .. s end";
    repeat(server, script, &[], stop);
}

/// The text of a library, again and again, by itself and in transactions.
pub(super) fn endless_library(server: &Server, _: Scale, stop: &Stop) {
    let load = ["FUNCTION", "LOAD", "#!lua name=endless\nwhile true do end"];
    let mut connection = server.connect();
    while !stop.is_set()
        && connection.call(&load).is_ok()
        && connection.call(&["MULTI"]).is_ok()
        && connection.call(&load).is_ok()
        && connection.call(&["EXEC"]).is_ok()
    {}
}
