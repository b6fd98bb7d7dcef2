//! What SSCAN, HSCAN and ZSCAN have in common.

use super::generic::parse_cursor;
use super::number;
use basalt_call::entry::Traits;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_stdx::glob::{Case, Pattern};

/// Elements that are looked at unless COUNT says otherwise.
const COUNT_DEFAULT: usize = 10;

/// With COUNT they look at many elements, if they are asked for.
pub(super) const SCANNING: Traits = Traits::working_on(5, |args, len| {
    ScanOptions::parse(args).map_or(0, |options| options.count.min(len))
});

/// What stands behind the key.
pub(super) struct ScanOptions {
    /// Which names are wanted.
    pattern: Option<Pattern>,
    /// About how many elements are looked at.
    pub(super) count: usize,
    /// NOVALUES: of a hash only the fields.
    pub(super) no_values: bool,
}

/// The cursor. It is read before the key is looked up, as in Redis.
pub(super) fn cursor(args: &Args<'_>) -> Result<u64, CommandError> {
    parse_cursor(args.word(2)).ok_or(CommandError::fixed("ERR invalid cursor"))
}

impl ScanOptions {
    /// Reads the words behind the cursor.
    pub(super) fn parse(args: &Args<'_>) -> Result<ScanOptions, CommandError> {
        let mut options = ScanOptions { pattern: None, count: COUNT_DEFAULT, no_values: false };
        let mut at = 3;
        while at < args.len() {
            if args.is(at, "NOVALUES") {
                options.no_values = true;
                at += 1;
                continue;
            }
            let word = args.opt(at + 1).ok_or(CommandError::SYNTAX)?;
            if args.is(at, "COUNT") {
                options.count = usize::try_from(number::integer(word)?)
                    .ok()
                    .filter(|&count| count > 0)
                    .ok_or(CommandError::SYNTAX)?;
            } else if args.is(at, "MATCH") {
                options.pattern = Some(Pattern::new(word, Case::Differs));
            } else {
                return Err(CommandError::SYNTAX);
            }
            at += 2;
        }
        Ok(options)
    }

    /// Whether a name is wanted.
    pub(super) fn wants(&self, name: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(name))
    }
}
