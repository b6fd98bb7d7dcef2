//! The command line, by redis-server's rules.

use crate::{file, invoke, load, value};
use basalt_config::Invocation;

type Named = (&'static str, &'static str);

/// Arguments, and the values that they make.
const TAKEN: &[(&[&str], &[Named])] = &[
    (&[], &[("port", "6379")]),
    (&["--port", "7000"], &[("port", "7000")]),
    (&["server", "--port", "7000"], &[("port", "7000")]),
    (&["--PORT", "7000", "--hz", "50"], &[("port", "7000"), ("hz", "50")]),
    (&["--port 7000", "--hz 50"], &[("port", "7000"), ("hz", "50")]),
    (&["--port=7000"], &[("port", "7000")]),
    (&["--bind", "10.0.0.1", "-::1", "--hz", "50"], &[("bind", "10.0.0.1 -::1"), ("hz", "50")]),
    (&["--save", "", "--appendonly", "yes"], &[("save", ""), ("appendonly", "yes")]),
    (&["--save", "--appendonly", "no"], &[("save", ""), ("appendonly", "no")]),
    (&["--hz", "20", "--save"], &[("save", ""), ("hz", "20")]),
    (&["--save", "900", "1", "--save", "60 100"], &[("save", "900 1 60 100")]),
    (&["--requirepass", "--odd"], &[("requirepass", "--odd")]),
    (&["--requirepass", "a b"], &[("requirepass", "a b")]),
    (&["--requirepass", "\"a"], &[("requirepass", "\"a")]),
    (&["--requirepass=a=b"], &[("requirepass", "a=b")]),
    (
        &["--client-output-buffer-limit", "pubsub", "1", "2", "3"],
        &[("client-output-buffer-limit", "normal 0 0 0 slave 268435456 67108864 60 pubsub 1 2 3")],
    ),
];

#[test]
fn options_become_values() {
    for (args, expected) in TAKEN {
        let loaded = load(args, b"").unwrap_or_else(|error| panic!("{args:?}: {error}"));
        for (name, wanted) in *expected {
            assert_eq!(value(&loaded.config, name), *wanted, "{args:?}");
        }
        assert!(loaded.config.file().is_none());
    }
}

const REFUSED: &[(&[&str], &str)] = &[
    (&["--port"], "option 'port': wrong number of arguments"),
    (&["--port", "--hz", "5"], "option 'port': wrong number of arguments"),
    (&["--port", "0", "0"], "option 'port': wrong number of arguments"),
    (&["--port", "x"], "option 'port': argument couldn't be parsed into an integer"),
    (&["-port", "1"], "'-port' is no option; options begin with two dashes"),
    (&["--"], "two dashes need the name of an option after them"),
    (&["--port \"1"], "unbalanced quotes in an option; close the quote"),
];

#[test]
fn mistakes_are_named() {
    for (args, message) in REFUSED {
        let error = load(args, b"").err().unwrap_or_else(|| panic!("{args:?} is taken"));
        let error = error.to_string();
        assert!(error.starts_with(&format!("command line: {message}")), "{args:?}: {error}");
    }
}

#[test]
fn later_sources_win() {
    let (_directory, path) = file("x.conf", b"port 1\nhz 11\ntimeout 111\n");
    for args in [[&path, "-", "--timeout", "333"], [&path, "--timeout", "333", "-"]] {
        let config = load(&args, b"hz 22\ntimeout 222\n").unwrap().config;
        let values = ["port", "hz", "timeout"].map(|name| value(&config, name));
        assert_eq!(values, ["1", "22", "333"]);
        assert_eq!(config.file().unwrap().path.to_str(), Some(path.as_str()));
    }
}

#[test]
fn unknown_options_are_warned_of() {
    let loaded = load(&["--frob", "1", "--port", "7", "--frob", "2"], b"").unwrap();
    let said: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["command line: option 'frob' is unknown and ignored; see basalt --help"]);
    assert_eq!(value(&loaded.config, "port"), "7");
}

#[test]
fn help_and_version() {
    for arg in ["-v", "--version"] {
        assert!(matches!(invoke(&[arg], b""), Ok(Invocation::Version)));
    }
    for args in [&["-h"][..], &["--help"], &["server", "--help"]] {
        assert!(matches!(invoke(args, b""), Ok(Invocation::Help)));
    }
}
