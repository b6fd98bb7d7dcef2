//! Tests of the configuration through its public interface, mostly tables of data.

#![forbid(unsafe_code)]

mod arbitrary;
mod arguments;
mod files;
mod live;
mod names;
mod rewriting;
mod set_answers;
mod tls;
mod toml;

use basalt_config::{Config, Invocation, LoadError, Loaded, SetOrigin, from_args};
use std::ffi::OsString;

/// Runs a command line with this standard input.
fn invoke(args: &[&str], stdin: &[u8]) -> Result<Invocation, LoadError> {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    from_args(&args, &mut &stdin[..])
}

/// Loads what a command line asks for.
fn load(args: &[&str], stdin: &[u8]) -> Result<Loaded, LoadError> {
    match invoke(args, stdin)? {
        Invocation::Run(loaded) => Ok(*loaded),
        other => panic!("{args:?} asks for {other:?}"),
    }
}

/// The value of one option.
fn value(config: &Config, name: &str) -> String {
    match config.get(&[name.as_bytes()]).as_slice() {
        [one] => String::from_utf8_lossy(&one.value).into_owned(),
        other => panic!("{name} is reported {} times", other.len()),
    }
}

/// CONFIG SET by a local client.
fn set(config: &Config, arguments: &[&str]) -> Result<(), String> {
    let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_bytes()).collect();
    match config.prepare_set(&arguments, SetOrigin::LocalClient) {
        Ok(prepared) => {
            prepared.commit();
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// A file of this name and text in a directory of its own.
fn file(name: &str, text: &[u8]) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join(name);
    std::fs::write(&path, text).expect("a file in it");
    let path = path.to_str().expect("a path in UTF-8").to_owned();
    (directory, path)
}
