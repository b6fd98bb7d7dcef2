//! Errors that a command answers. Their texts are Redis', code first.

use basalt_engine::{Fate, Refusal, TooLarge, WrongType};
use basalt_value::hll::{Corrupted, NotHll};
use std::borrow::Cow;

/// An error reply: a code in capitals, a space, the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandError(Cow<'static, str>);

/// What a command without a result of its own gives.
pub type CommandResult = Result<(), CommandError>;

impl CommandError {
    /// The key holds a value of another type.
    pub const WRONG_TYPE: CommandError =
        CommandError::fixed("WRONGTYPE Operation against a key holding the wrong kind of value");
    /// Options that contradict each other or make no sense.
    pub const SYNTAX: CommandError = CommandError::fixed("ERR syntax error");
    /// A number was expected.
    pub const NOT_INTEGER: CommandError =
        CommandError::fixed("ERR value is not an integer or out of range");
    /// A floating point number was expected.
    pub const NOT_FLOAT: CommandError = CommandError::fixed("ERR value is not a valid float");
    /// A key that must exist does not.
    pub const NO_SUCH_KEY: CommandError = CommandError::fixed("ERR no such key");
    /// A database number beyond the configured ones.
    pub const DB_OUT_OF_RANGE: CommandError = CommandError::fixed("ERR DB index is out of range");
    /// An index beyond what is allowed.
    pub const OFFSET_OUT_OF_RANGE: CommandError = CommandError::fixed("ERR offset is out of range");

    /// Memory use is over `maxmemory`.
    pub const OUT_OF_MEMORY: CommandError =
        CommandError::fixed("OOM command not allowed when used memory > 'maxmemory'.");

    /// The reply of a command that changes nothing takes more memory than a reply may.
    pub const REPLY_TOO_LARGE: CommandError =
        CommandError::fixed("ERR the reply is too large, ask for less at once");

    /// The replies of a transaction take more memory already than further reads may add to.
    pub const REPLIES_TOO_LARGE: CommandError = CommandError::fixed(
        "ERR the replies of this transaction are too large, this command was not run",
    );

    /// `CLIENT UNBLOCK … ERROR`.
    pub const UNBLOCKED: CommandError =
        CommandError::fixed("UNBLOCKED client unblocked via CLIENT UNBLOCK");

    /// What others are told while a script takes long.
    pub const BUSY: CommandError = CommandError::fixed(
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    );
    /// What others are told while a function takes long.
    pub const BUSY_FUNCTION: CommandError = CommandError::fixed(
        "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
    );
    /// SCRIPT KILL, when nothing takes long.
    pub const NOT_BUSY: CommandError =
        CommandError::fixed("NOTBUSY No scripts in execution right now.");
    /// SCRIPT KILL, when all that could be killed has changed something.
    pub const UNKILLABLE: CommandError = CommandError::fixed(
        "UNKILLABLE Sorry the script already executed write commands against the dataset. You can \
         either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE \
         command.",
    );

    /// An error with a constant text.
    pub const fn fixed(text: &'static str) -> CommandError {
        CommandError(Cow::Borrowed(text))
    }

    /// An error with a text made for the occasion.
    #[cold]
    pub fn new(text: impl Into<String>) -> CommandError {
        CommandError(Cow::Owned(text.into()))
    }

    /// `ERR` and what another layer says.
    #[cold]
    pub fn because(error: impl std::fmt::Display) -> CommandError {
        CommandError::new(format!("ERR {error}"))
    }

    /// Why a change is not taken, in Redis' words where it has some.
    #[cold]
    pub fn log_refused(refusal: &Refusal) -> CommandError {
        CommandError::new(format!("MISCONF Errors writing to the AOF file: {refusal}"))
    }

    /// What is answered in the place of a reply that waited for the log, when the log has said that
    /// it will not acknowledge what the reply tells.
    pub fn of_outcome(fate: Fate) -> Option<CommandError> {
        match fate {
            Fate::Pending | Fate::Acknowledged => None,
            Fate::Lost => Some(CommandError::fixed(
                "TRYAGAIN the log has lost what this request changed or read: nothing was done",
            )),
            Fate::Unknown => Some(CommandError::fixed(
                "OUTCOMEUNKNOWN the log has failed: what this request changed or read may be there after a \
                 restart or not",
            )),
        }
    }

    /// A whole transaction is dropped because of this.
    #[cold]
    #[must_use]
    pub fn discarding_transaction(&self) -> CommandError {
        let reason = self.text().strip_prefix("ERR ").unwrap_or(self.text());
        CommandError::new(format!("EXECABORT Transaction discarded because of: {reason}"))
    }

    /// Code and text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// `ERR wrong number of arguments for '…' command`; a subcommand's name has its container's in
    /// front: `client|list`.
    #[cold]
    pub fn wrong_arity(full_name: &str) -> CommandError {
        CommandError::new(format!("ERR wrong number of arguments for '{full_name}' command"))
    }

    /// What a subscriber that speaks RESP2 is told of any other command.
    #[cold]
    pub fn for_subscribers_only(full_name: &str) -> CommandError {
        CommandError::new(format!(
            "ERR Can't execute '{full_name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / \
             RESET are allowed in this context"
        ))
    }

    /// `ERR invalid expire time in '…' command`.
    #[cold]
    pub fn invalid_expire_time(command: &str) -> CommandError {
        CommandError::new(format!("ERR invalid expire time in '{command}' command"))
    }
}

impl From<TooLarge> for CommandError {
    #[cold]
    fn from(refused: TooLarge) -> CommandError {
        CommandError::new(format!("TOOLARGE {refused}"))
    }
}

impl From<WrongType> for CommandError {
    fn from(_: WrongType) -> CommandError {
        CommandError::WRONG_TYPE
    }
}

impl From<NotHll> for CommandError {
    #[cold]
    fn from(_: NotHll) -> CommandError {
        CommandError::fixed("WRONGTYPE Key is not a valid HyperLogLog string value.")
    }
}

impl From<Corrupted> for CommandError {
    #[cold]
    fn from(_: Corrupted) -> CommandError {
        CommandError::fixed("INVALIDOBJ Corrupted HLL object detected")
    }
}
