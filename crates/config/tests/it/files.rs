//! redis.conf's syntax, includes, and what is said about mistakes.

use crate::{file, load, value};
use basalt_config::{Loaded, SetOrigin};
use std::fs;

/// Lines of a file, and the values that they make.
const READ: &[(&str, &[(&str, &str)])] = &[
    ("port 7000\n", &[("port", "7000")]),
    ("  PORT\t7000  \r\nport 7001", &[("port", "7001")]),
    ("# port 1\n\n   # x\nport 2", &[("port", "2")]),
    ("bind 10.0.0.1 ::1\n", &[("bind", "10.0.0.1 ::1")]),
    ("bind \"10.0.0.1 ::1\"\n", &[("bind", "10.0.0.1 ::1")]),
    ("requirepass \"a b\\x41\\n\\\"\"", &[("requirepass", "a bA\n\"")]),
    ("requirepass 'a \\' \\n'", &[("requirepass", "a ' \\n")]),
    ("requirepass a\\n", &[("requirepass", "a\\n")]),
    ("requirepass \"\"", &[("requirepass", "")]),
    ("save 900 1\nsave 300 10\n", &[("save", "900 1 300 10")]),
    ("save 900 1\nsave \"\"\n", &[("save", "")]),
    ("save \"900 1 300 10\"\n", &[("save", "900 1 300 10")]),
    (
        "client-output-buffer-limit normal 1 2 3\nclient-output-buffer-limit replica 0 0 0\n",
        &[("client-output-buffer-limit", "normal 1 2 3 slave 0 0 0 pubsub 33554432 8388608 60")],
    ),
    ("slaveof 10.0.0.1 6380", &[("replicaof", "10.0.0.1 6380"), ("slaveof", "10.0.0.1 6380")]),
    ("replicaof no one", &[("replicaof", "")]),
    ("shutdown-on-sigterm now save", &[("shutdown-on-sigterm", "save now")]),
    ("unixsocketperm 0770", &[("unixsocketperm", "770")]),
    ("slave-priority 7", &[("replica-priority", "7")]),
];

#[test]
fn lines_become_values() {
    for (text, expected) in READ {
        let (_directory, path) = file("x.conf", text.as_bytes());
        let config = load(&[&path], b"").unwrap_or_else(|error| panic!("{text:?}: {error}")).config;
        for (name, wanted) in *expected {
            assert_eq!(value(&config, name), *wanted, "{text:?}");
        }
        // Standard input is read in the same syntax.
        let config = load(&["-"], text.as_bytes()).unwrap().config;
        assert_eq!(value(&config, expected[0].0), expected[0].1, "{text:?}");
    }
}

/// Files that are refused, with the message after the path.
const REFUSED: &[(&str, &str)] = &[
    (
        "# x\nport nine\n",
        ":2: option 'port': argument couldn't be parsed into an integer; \
         it takes a number from 0 to 65535",
    ),
    (
        "port 99999",
        ":1: option 'port': argument must be between 0 and 65535 inclusive; \
         it takes a number from 0 to 65535",
    ),
    ("port", ":1: option 'port': wrong number of arguments; it takes a number from 0 to 65535"),
    ("port 1 2", ":1: option 'port': wrong number of arguments; it takes a number from 0 to 65535"),
    (
        "\n\nunixsocketperm 9",
        ":3: option 'unixsocketperm': argument couldn't be parsed as an octal number; \
         it takes octal digits up to 777",
    ),
    (
        "maxmemory 1tb",
        ":1: option 'maxmemory': argument must be a memory value; it takes a size such as 64mb, or auto",
    ),
    (
        "appendfsync sometimes",
        ":1: option 'appendfsync': argument(s) must be one of the following: \
         everysec, always, no; it takes one of everysec, always, no",
    ),
    (
        "requirepass \"abc",
        ":1: unbalanced quotes in configuration line; close the quote and leave a space after it",
    ),
    (
        "requirepass \"abc\"def",
        ":1: unbalanced quotes in configuration line; close the quote and leave a space after it",
    ),
    ("include", ":1: include names no file; write include /path/to/file"),
    (
        "port 1\nrename-command FLUSHALL",
        ":2: rename-command takes the name of a command and a new one; \
         write rename-command FLUSHALL \"\" for none",
    ),
];

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, message) in REFUSED {
        let (_directory, path) = file("x.conf", text.as_bytes());
        let error = load(&[&path], b"").err().unwrap_or_else(|| panic!("{text:?} is taken"));
        assert_eq!(error.to_string(), format!("{path}{message}"), "{text:?}");
    }
    let error = load(&["/nonexistent/x.conf"], b"").unwrap_err().to_string();
    let expected = "command line: cannot read /nonexistent/x.conf: No such file or directory";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn what_is_unknown_or_has_no_effect_is_said_once() {
    let text = "frobnicate 1\nport 7000\nfrobnicate 2\nsentinel monitor x\nuser bob on\n\
                loadmodule /x.so\nactivedefrag yes\nactivedefrag yes\nhash-max-listpack-entries 512\n\
                daemonize yes\nlist-max-ziplist-entries 5\n";
    let (_directory, path) = file("x.conf", text.as_bytes());
    let loaded = load(&[&path], b"").unwrap();
    let said: Vec<String> =
        loaded.warnings.iter().map(|w| w.to_string().replace(&path, "")).collect();
    assert_eq!(
        said,
        [
            ":1: option 'frobnicate' is unknown and ignored; see basalt --help",
            ":4: option 'sentinel' is not supported: Basalt is no sentinel",
            ":6: option 'loadmodule' is not supported: Basalt loads no modules",
            ":11: option 'list-max-ziplist-entries' has no effect, as in Redis since 3.2",
            ":10: option 'daemonize' is accepted but has no effect: \
             Basalt stays in the foreground; let systemd or a container run it",
            ":8: option 'activedefrag' is accepted but has no effect: \
             memory is not moved to defragment it",
        ]
    );
    assert_eq!(value(&loaded.config, "port"), "7000");
}

/// The names, old and new, and the line of each directive.
fn renames(loaded: &Loaded, path: &str) -> Vec<(String, String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let renames = loaded.config.renames().iter();
    let line = |place: &str| place.replace(path, "");
    renames.map(|it| (text(&it.name), text(&it.new_name), line(&it.place.to_string()))).collect()
}

#[test]
fn commands_are_renamed_in_the_order_of_the_lines() {
    let own = |name: &str, new_name: &str, line: &str| {
        (name.to_owned(), new_name.to_owned(), line.to_owned())
    };
    let text = "rename-command CONFIG \"c f\\x00g\"\nport 7000\nRENAME-COMMAND flushall \"\"\n";
    let (_directory, path) = file("x.conf", text.as_bytes());
    let loaded = load(&[&path, "--rename-command", "KEYS", "k"], b"").unwrap();
    let expected = [
        own("CONFIG", "c f\0g", ":1"),
        own("flushall", "", ":3"),
        own("KEYS", "k", "command line"),
    ];
    assert_eq!(renames(&loaded, &path), expected);
    assert!(loaded.warnings.is_empty() && loaded.config.file().is_some());
    assert!(loaded.config.get(&[b"rename-command"]).is_empty());
    // It is kept where the file is written again.
    let port = [&b"port"[..], b"7001"];
    loaded.config.prepare_set(&port, SetOrigin::Server).unwrap().commit();
    loaded.config.rewrite().unwrap();
    let written = fs::read_to_string(&path).unwrap();
    assert_eq!(written, text.replace("port 7000", "port 7001"));

    let text = "rename-command = [\"CONFIG cfg\", \"FLUSHALL\"]\n";
    let (_directory, path) = file("x.toml", text.as_bytes());
    let loaded = load(&[&path], b"").unwrap();
    let expected = [own("CONFIG", "cfg", ":1"), own("FLUSHALL", "", ":1")];
    assert_eq!(renames(&loaded, &path), expected);
    for text in ["rename-command = \"CONFIG cfg\"", "rename-command = [\"a b c\"]"] {
        let (_directory, path) = file("x.toml", text.as_bytes());
        let error = load(&[&path], b"").unwrap_err().to_string();
        assert!(error.contains("rename-command takes"), "{error}");
    }
}

#[test]
fn includes_are_read_in_their_place() {
    let (directory, path) = file("main.conf", b"");
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("b.inc"), "hz 22\ntimeout 2\n").unwrap();
    fs::write(at("a.inc"), "hz 11\n").unwrap();
    fs::write(at("c.toml"), "maxclients = 33\n").unwrap();
    let (inc, toml, none) = (at("*.inc"), at("c.toml"), at("*.none"));
    let text = format!("timeout 1\nhz 1\ninclude {inc}\ninclude {toml} {none}\ntimeout 3\n");
    fs::write(&path, text).unwrap();
    let config = load(&[&path], b"").unwrap().config;
    for (name, expected) in [("hz", "22"), ("timeout", "3"), ("maxclients", "33")] {
        assert_eq!(value(&config, name), expected);
    }
    let config = load(&["--include", &at("a.inc"), "--timeout", "9"], b"").unwrap().config;
    assert_eq!((value(&config, "hz"), value(&config, "timeout")), ("11".into(), "9".into()));
}

#[test]
fn includes_end() {
    let (directory, path) = file("loop.conf", b"");
    fs::write(&path, format!("include {path}\ninclude {path}\n")).unwrap();
    let error = load(&[&path], b"").unwrap_err().to_string();
    assert!(error.contains("too many files are included"), "{error}");
    // Not deep, but many: each of ten files names the next one ten times.
    let at = |index: usize| directory.path().join(format!("{index}.conf"));
    for index in 0..10 {
        let line = format!("include {}\n", at(index + 1).display());
        fs::write(at(index), line.repeat(10)).unwrap();
    }
    fs::write(at(10), "hz 1").unwrap();
    let error = load(&[at(0).to_str().unwrap()], b"").unwrap_err().to_string();
    assert!(error.contains("too many files are included"), "{error}");
    fs::write(&path, "include /nonexistent/x").unwrap();
    let error = load(&[&path], b"").unwrap_err().to_string();
    assert!(error.contains("loop.conf:1: cannot read /nonexistent/x"), "{error}");
}

/// The file that Debian's redis-server 7.0 installs, without its comments.
#[test]
fn a_stock_redis_conf_is_taken_with_few_words() {
    let (_directory, path) = file("redis.conf", include_bytes!("../data/stock-redis.conf"));
    let loaded = load(&[&path, "--port", "7777"], b"").unwrap();
    assert_eq!(value(&loaded.config, "port"), "7777");
    assert_eq!(value(&loaded.config, "dir"), "/var/lib/redis");
    let said: Vec<String> = loaded.warnings.iter().map(|w| w.text.clone()).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("option 'daemonize'"), "{said:?}");
}
