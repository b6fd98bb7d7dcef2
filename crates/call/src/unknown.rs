//! The errors for names that are no commands.

use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_spec::CommandTable;

/// Bytes that are shown of a name, and of all arguments together.
const SHOWN_BYTES_MAX: usize = 128;

/// The error for a name that is no command, or a container with a wrong subcommand.
#[cold]
pub fn unknown(table: &CommandTable, args: &Args<'_>) -> CommandError {
    if table.lookup(args.word(0)).is_some() {
        return unknown_subcommand(args);
    }
    let mut arguments = String::new();
    for word in args.from(1) {
        if arguments.len() >= SHOWN_BYTES_MAX {
            break;
        }
        let room = SHOWN_BYTES_MAX - arguments.len();
        arguments.push_str(&format!("'{}' ", shown(word, room)));
    }
    CommandError::new(format!(
        "ERR unknown command '{}', with args beginning with: {arguments}",
        shown(args.word(0), SHOWN_BYTES_MAX)
    ))
}

/// The error for a subcommand that a container does not have.
#[cold]
pub fn unknown_subcommand(args: &Args<'_>) -> CommandError {
    let sub = shown(args.opt(1).unwrap_or_default(), SHOWN_BYTES_MAX);
    let container = String::from_utf8_lossy(args.word(0)).to_uppercase();
    CommandError::new(format!("ERR unknown subcommand '{sub}'. Try {container} HELP."))
}

/// `ERR unknown subcommand or wrong number of arguments …`, for what a subcommand finds out itself.
#[cold]
pub fn wrong_subcommand(args: &Args<'_>) -> CommandError {
    let sub = shown(args.opt(1).unwrap_or_default(), SHOWN_BYTES_MAX);
    let container = String::from_utf8_lossy(args.word(0)).to_uppercase();
    CommandError::new(format!(
        "ERR unknown subcommand or wrong number of arguments for '{sub}'. Try {container} HELP."
    ))
}

/// As Redis prints words in errors: not beyond a zero byte.
fn shown(word: &[u8], bytes_max: usize) -> String {
    let word = word.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(&word[..word.len().min(bytes_max)]).into_owned()
}
