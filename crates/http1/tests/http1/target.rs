//! Segments of paths and parameters of queries.

use basalt_http1::target::{parameters, segments};

fn segments_of(path: &str) -> Vec<&str> {
    segments(path.as_bytes()).map(|range| &path[range]).collect()
}

fn parameters_of(query: &str) -> Vec<(&str, &str)> {
    let parameters = parameters(query.as_bytes());
    parameters.map(|found| (&query[found.name], &query[found.value])).collect()
}

#[test]
fn segments_are_between_slashes() {
    assert_eq!(segments_of("/v1/strings/a%2Fb"), ["v1", "strings", "a%2Fb"]);
    assert_eq!(segments_of("/v1/"), ["v1", ""]);
    assert_eq!(segments_of("//.."), ["", ".."]);
    assert_eq!(segments_of("/"), [""]);
    assert_eq!(segments_of(""), [""]);
}

#[test]
fn parameters_have_names_and_perhaps_values() {
    assert_eq!(parameters_of("a=1&b=2=3&c&d="), [("a", "1"), ("b", "2=3"), ("c", ""), ("d", "")]);
    assert_eq!(parameters_of("&&a=%26&"), [("a", "%26")]);
    assert_eq!(parameters_of("=x&="), [("", "x"), ("", "")]);
    assert_eq!(parameters_of("k=a?b/c"), [("k", "a?b/c")]);
    assert!(parameters_of("").is_empty());
}
