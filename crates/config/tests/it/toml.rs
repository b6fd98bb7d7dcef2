//! The TOML form.

use crate::{file, load, value};
use std::fs;

/// Text, and the values that it makes.
const READ: &[(&str, &[(&str, &str)])] = &[
    ("port = 7000\nhz = 20 # often\n", &[("port", "7000"), ("hz", "20")]),
    ("bind = [\"10.0.0.1\", \"-::1\"]", &[("bind", "10.0.0.1 -::1")]),
    ("bind = \"10.0.0.1 -::1\"", &[("bind", "10.0.0.1 -::1")]),
    ("bind = []", &[("bind", "")]),
    ("maxmemory = \"1gb\"", &[("maxmemory", "1073741824")]),
    ("maxmemory = 1_000", &[("maxmemory", "1000")]),
    ("appendonly = false", &[("appendonly", "no")]),
    ("appendonly = \"no\"", &[("appendonly", "no")]),
    ("enable-debug-command = true", &[("enable-debug-command", "yes")]),
    ("unixsocketperm = 0o770", &[("unixsocketperm", "770")]),
    ("unixsocketperm = 770", &[("unixsocketperm", "770")]),
    ("unixsocketperm = \"770\"", &[("unixsocketperm", "770")]),
    ("save = [\"900 1\", \"300 10\"]", &[("save", "900 1 300 10")]),
    ("save = [[900, 1], [300, 10]]", &[("save", "900 1 300 10")]),
    ("save = \"\"", &[("save", "")]),
    ("requirepass = \"a b\"", &[("requirepass", "a b")]),
    (
        "client-output-buffer-limit = [\"normal 1 2 3\", \"pubsub 0 0 0\"]",
        &[("client-output-buffer-limit", "normal 1 2 3 slave 268435456 67108864 60 pubsub 0 0 0")],
    ),
    (
        "latency-tracking-info-percentiles = [50, 99.5]",
        &[("latency-tracking-info-percentiles", "50 99.5")],
    ),
    ("PORT = 7000", &[("port", "7000")]),
];

#[test]
fn keys_become_values() {
    for (text, expected) in READ {
        let (_directory, path) = file("x.toml", text.as_bytes());
        let loaded = load(&[&path], b"").unwrap_or_else(|error| panic!("{text:?}: {error}"));
        for (name, wanted) in *expected {
            assert_eq!(value(&loaded.config, name), *wanted, "{text:?}");
        }
    }
}

/// Text, and the message after the path.
const REFUSED: &[(&str, &str)] = &[
    (
        "hz = 10\nport = \"7000\"",
        ":2: option 'port': the value is a string, so leave the quotes out; \
         it takes a number from 0 to 65535",
    ),
    (
        "\n\nrequirepass = 5",
        ":3: option 'requirepass': the value is of the type integer; it takes text",
    ),
    (
        "port = true",
        ":1: option 'port': the value is of the type boolean; it takes a number from 0 to 65535",
    ),
    (
        "port = [1]",
        ":1: option 'port': the value is of the type array; it takes a number from 0 to 65535",
    ),
    ("[port]\nx = 1", ":1: option 'port': the value is a table; it takes a number from 0 to 65535"),
    (
        "port = 99999",
        ":1: option 'port': argument must be between 0 and 65535 inclusive; \
         it takes a number from 0 to 65535",
    ),
    (
        "appendonly = 1",
        ":1: option 'appendonly': the value is of the type integer; it takes yes or no",
    ),
    (
        "maxmemory = 1.5",
        ":1: option 'maxmemory': the value is of the type float; it takes a size such as 64mb, or auto",
    ),
    ("include = 5", ":1: include takes a path or an array of paths, in quotes"),
];

#[test]
fn wrong_types_are_named_with_their_line() {
    for (text, message) in REFUSED {
        let (_directory, path) = file("x.toml", text.as_bytes());
        let error = load(&[&path], b"").err().unwrap_or_else(|| panic!("{text:?} is taken"));
        assert_eq!(error.to_string(), format!("{path}{message}"), "{text:?}");
    }
}

#[test]
fn what_is_no_toml_is_named_with_its_line() {
    for (text, line) in [("port = 1\nhz 5\n", 2), ("port = 1\nport = 2\n", 2), ("a = \"x\n", 1)] {
        let (_directory, path) = file("x.toml", text.as_bytes());
        let error = load(&[&path], b"").unwrap_err().to_string();
        assert!(error.starts_with(&format!("{path}:{line}: ")), "{error}");
        assert!(error.ends_with("; write options as name = value"), "{error}");
    }
    let (_directory, path) = file("x.toml", b"port = 1\n\xff\n");
    let error = load(&[&path], b"").unwrap_err().to_string();
    assert!(error.starts_with(&format!("{path}:2: the file is not UTF-8")), "{error}");
}

#[test]
fn unknown_keys_are_warned_of_once() {
    let text = "frob = 1\nport = 7\n[section]\nx = 1\n";
    let (_directory, path) = file("x.toml", text.as_bytes());
    let loaded = load(&[&path], b"").unwrap();
    let said: Vec<String> =
        loaded.warnings.iter().map(|w| w.to_string().replace(&path, "")).collect();
    assert_eq!(
        said,
        [
            ":1: option 'frob' is unknown and ignored; see basalt --help",
            ":3: option 'section' is unknown and ignored; see basalt --help",
        ]
    );
    assert_eq!(value(&loaded.config, "port"), "7");
}

#[test]
fn a_file_outranks_what_it_includes() {
    let (directory, path) = file("x.toml", b"");
    let other = directory.path().join("other.conf");
    fs::write(&other, "port 1\nhz 11\n").unwrap();
    fs::write(&path, format!("port = 2\ninclude = [\"{}\"]\n", other.display())).unwrap();
    let config = load(&[&path], b"").unwrap().config;
    assert_eq!((value(&config, "port"), value(&config, "hz")), ("2".into(), "11".into()));
}
