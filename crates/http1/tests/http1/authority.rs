//! Hosts and ports.

use basalt_http1::Authority;

fn shown(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("ASCII")
}

#[test]
fn an_authority_is_a_host_and_perhaps_a_port() {
    let parse = |text: &'static str| {
        Authority::parse(text.as_bytes()).map(|found| (shown(found.host), found.port))
    };
    assert_eq!(parse("localhost"), Some(("localhost", None)));
    assert_eq!(parse("a_b.example:8085"), Some(("a_b.example", Some(8085))));
    assert_eq!(parse("a:"), Some(("a", None)));
    assert_eq!(parse("[::1]:80"), Some(("[::1]", Some(80))));
    for text in
        ["", ":1", "a:1:2", "a:+1", "a:65536", "[::1]x", "[]", "[::1", "a b", "u@a", "\u{e4}"]
    {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn urls_name_an_authority() {
    let of = |url: &'static str| {
        Authority::of_url(url.as_bytes(), "http")
            .map(|(found, rest)| (shown(found.host), found.port, shown(rest)))
    };
    assert_eq!(of("http://a:1/b?c"), Some(("a", Some(1), "/b?c")));
    assert_eq!(of("HTTP://a"), Some(("a", None, "")));
    assert_eq!(of("http://a#b"), Some(("a", None, "#b")));
    for url in ["null", "", "http", "https://a", "http:/a", "http://", "http://u@a/", "http:///a"] {
        assert_eq!(of(url), None, "{url}");
    }
}

#[test]
fn ports_of_the_scheme_need_not_be_named() {
    let is_same = |one: &str, other: &str| {
        let parse = |text| Authority::parse(text).expect("good");
        parse(one.as_bytes()).is_same(&parse(other.as_bytes()), 80)
    };
    assert!(is_same("a", "A:80") && is_same("a:80", "a") && is_same("a:81", "a:81"));
    assert!(!is_same("a", "a:81") && !is_same("a", "b") && !is_same("a:80", "a:443"));
}

#[test]
fn addresses_are_told_from_names() {
    let is_address = |text: &str| Authority::parse(text.as_bytes()).expect("good").is_address();
    assert!(is_address("127.0.0.1") && is_address("10.1.2.3:80") && is_address("[::1]"));
    assert!(!is_address("localhost") && !is_address("127.1") && !is_address("1.2.3.4.example"));
    assert!(!is_address("2130706433"));
}
