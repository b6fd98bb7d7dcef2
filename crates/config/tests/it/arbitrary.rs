//! Arbitrary input: nothing panics, and what is written reads back.

use crate::file;
use basalt_config::{Config, Invocation, OPTIONS, SetOrigin, from_args};
use proptest::collection::vec;
use proptest::prelude::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Bytes that mean something to either syntax, among others.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let telling =
        prop::sample::select(b"\"'\\x0aF#= \t\n\r[]{}.,-*%/+0123456789noyesabkmg".to_vec());
    vec(prop_oneof![6 => telling, 1 => any::<u8>()], 0..80)
}

/// Lines that begin with a name of the table, so that the values are reached.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    let line = (0..OPTIONS.len(), prop::sample::select(vec![" ", "=", " = \"", "\t\""]), text());
    vec(line, 0..6).prop_map(|lines| {
        let mut all = Vec::new();
        for (index, between, rest) in lines {
            let named: [&[u8]; 4] =
                [OPTIONS[index].name.as_bytes(), between.as_bytes(), &rest, b"\n"];
            all.extend_from_slice(&named.concat());
        }
        // Includes would read whatever lies about on the machine.
        if all.windows(7).any(|window| window.eq_ignore_ascii_case(b"include")) {
            all.clear();
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_file_panics(text in prop_oneof![text(), lines()], toml in any::<bool>()) {
        let (_directory, path) = file(if toml { "x.toml" } else { "x.conf" }, &text);
        match from_args(&[path.into()], &mut &b""[..]) {
            Ok(Invocation::Run(loaded)) => {
                // What was read can be written and read again, and is the same.
                let before = loaded.config.get(&[b"*"]);
                loaded.config.rewrite().expect("an unchanged file needs no rewrite");
                prop_assert_eq!(loaded.config.get(&[b"*"]), before);
            }
            Ok(other) => prop_assert!(false, "{:?}", other),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn no_command_line_panics(args in vec(prop_oneof![text(), lines()], 0..5), dashed in any::<bool>()) {
        let args: Vec<OsString> = args
            .into_iter()
            .map(|arg| if dashed { [b"--", arg.as_slice()].concat() } else { arg })
            // A bare word would be read as a file.
            .filter(|arg| arg.starts_with(b"-"))
            .map(OsString::from_vec)
            .collect();
        let _ = from_args(&args, &mut &b""[..]);
    }

    #[test]
    fn no_set_or_get_panics(index in 0..OPTIONS.len(), value in text()) {
        let config = Config::default();
        config.get(&[&value]);
        let pair = [OPTIONS[index].name.as_bytes(), &value];
        if let Ok(prepared) = config.prepare_set(&pair, SetOrigin::Server) {
            prepared.commit();
        }
    }

    /// Whatever CONFIG SET takes survives CONFIG REWRITE and a start.
    #[test]
    fn what_is_written_reads_back(
        pairs in vec((0..OPTIONS.len(), text()), 1..8),
        secret in vec(1u8.., 0..20),
        toml in any::<bool>(),
    ) {
        let (_directory, path) = file(if toml { "x.toml" } else { "x.conf" }, b"# empty\n");
        let load = || match from_args(&[OsString::from(&path)], &mut &b""[..]) {
            Ok(Invocation::Run(loaded)) => loaded.config,
            other => panic!("{other:?}"),
        };
        let config = load();
        let mut all: Vec<(&[u8], &[u8])> = vec![(b"requirepass", &secret)];
        all.extend(pairs.iter().map(|(index, value)| (OPTIONS[*index].name.as_bytes(), &value[..])));
        for (name, value) in all {
            if toml && std::str::from_utf8(value).is_err() {
                continue;
            }
            if let Ok(prepared) = config.prepare_set(&[name, value], SetOrigin::Server) {
                prepared.commit();
            }
        }
        config.rewrite().expect("the file can be rewritten");
        prop_assert_eq!(load().get(&[b"*"]), config.get(&[b"*"]));
    }
}
