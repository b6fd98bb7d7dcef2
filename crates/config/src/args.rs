//! The command line, by redis-server's rules.
//!
//! `basalt [server] [FILE] [-] [--option value …] …`: a first argument that does not begin with a
//! dash is the configuration file; `-` (first or last) reads more of it from standard input; then
//! come options, which outrank both. The argument after an option's name is its value, whatever it
//! looks like; a further argument that begins with `--` is the next option. Name and value may
//! share an argument (`"--port 7000"`, `--port=7000`), and `--save` may have no value.

use crate::config::Config;
use crate::load::Loader;
use crate::option::OptionId;
use crate::source::{ConfigFile, LoadError, SourcePlace, Syntax, Warning};
use crate::words;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What the command line asks for.
#[derive(Debug)]
pub enum Invocation {
    /// To run a server.
    Run(Box<Loaded>),
    /// To print [`crate::help_text`] and end.
    Help,
    /// To print the version and end.
    Version,
}

/// A configuration, and what the operator should be told about it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// To be logged once the log is open.
    pub warnings: Vec<Warning>,
    /// The options that were given, by the names of their table.
    pub given: Vec<&'static str>,
}

/// Reads the arguments after the program's name, and the files that they name.
///
/// # Errors
/// When a file cannot be read or a known option has a value that it does not take.
pub fn from_args(args: &[OsString], stdin: &mut dyn Read) -> Result<Invocation, LoadError> {
    let args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
    let args = match args.as_slice() {
        [b"server", rest @ ..] => rest,
        all => all,
    };
    match args {
        [b"-v" | b"--version", ..] => return Ok(Invocation::Version),
        [b"-h" | b"--help", ..] => return Ok(Invocation::Help),
        _ => {}
    }
    let place = SourcePlace::whole("command line");
    let (file, args) = match args {
        [first, rest @ ..] if !first.starts_with(b"-") => (Some(*first), rest),
        all => (None, all),
    };
    let (from_stdin, args) = match args {
        [b"-", rest @ ..] | [rest @ .., b"-"] => (true, rest),
        all => (false, all),
    };
    let mut loader = Loader::new();
    let file = file.map(|name| config_file(&place, name)).transpose()?;
    if let Some(file) = &file {
        loader.file(&place, &file.path)?;
    }
    if from_stdin {
        loader.stream(&SourcePlace::whole("standard input"), stdin)?;
    }
    read_options(&mut loader, &place, args)?;
    let given = loader.given();
    let (users, renames) = (loader.take_users(), loader.take_renames());
    let (values, warnings) = loader.finish()?;
    if let (Some(user), true) = (users.first(), values.path("aclfile").is_some()) {
        return Err(LoadError::Contradicts {
            place: user.place.clone(),
            name: "user",
            reason: "users are defined here or in the aclfile, not in both".to_owned(),
        });
    }
    let config = Config::new(values, file).with_users(users).with_renames(renames);
    Ok(Invocation::Run(Box::new(Loaded { config, warnings, given })))
}

fn config_file(place: &SourcePlace, name: &[u8]) -> Result<ConfigFile, LoadError> {
    let path = Path::new(OsStr::from_bytes(name));
    match std::path::absolute(path) {
        Ok(path) => Ok(ConfigFile { syntax: Syntax::of(&path), path }),
        Err(error) => Err(LoadError::Unreadable {
            place: place.clone(),
            path: path.to_string_lossy().into_owned(),
            error,
        }),
    }
}

fn read_options(loader: &mut Loader, place: &SourcePlace, args: &[&[u8]]) -> Result<(), LoadError> {
    let mut rest = args;
    while let Some((&first, after)) = rest.split_first() {
        let Some(text) = first.strip_prefix(b"--") else {
            let shown = String::from_utf8_lossy(first);
            let reason = format!("'{shown}' is no option; options begin with two dashes");
            return Err(LoadError::Malformed { place: place.clone(), reason });
        };
        let (name, mut values) = name_and_values(place, text)?;
        rest = after;
        if values.is_empty() {
            let save = name.eq_ignore_ascii_case("save");
            match rest.split_first() {
                Some((next, _)) if save && next.starts_with(b"--") => values.push(Vec::new()),
                Some((value, after)) => {
                    values.push(value.to_vec());
                    rest = after;
                }
                None if save => values.push(Vec::new()),
                None => {}
            }
        }
        while let Some((value, after)) = rest.split_first()
            && !value.starts_with(b"--")
        {
            values.push(value.to_vec());
            rest = after;
        }
        loader.assign(place, &name, &values)?;
    }
    Ok(())
}

/// Splits `name`, `name value …` (one argument with spaces in it) or `name=value`.
fn name_and_values(place: &SourcePlace, text: &[u8]) -> Result<(String, Vec<Vec<u8>>), LoadError> {
    if let Some(equals) = text.iter().position(|&byte| byte == b'=') {
        let name = String::from_utf8_lossy(&text[..equals]);
        if OptionId::find(&name).is_some() {
            return Ok((name.into_owned(), vec![text[equals + 1..].to_vec()]));
        }
    }
    let malformed =
        |reason: &str| LoadError::Malformed { place: place.clone(), reason: reason.to_owned() };
    let mut words = words::split(text).map_err(|words::Unbalanced| {
        malformed("unbalanced quotes in an option; close the quote")
    })?;
    if words.is_empty() {
        return Err(malformed("two dashes need the name of an option after them"));
    }
    let name = words.remove(0);
    Ok((String::from_utf8_lossy(&name).into_owned(), words))
}
