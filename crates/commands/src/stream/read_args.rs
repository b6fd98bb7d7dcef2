//! HOT PATH
//! The arguments of XREAD and XREADGROUP: options, then as many keys as identities.

use crate::number::integer;
use crate::timeout;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use std::time::Duration;

/// What is asked for.
#[derive(Debug)]
pub(super) struct ReadArgs<'a> {
    /// Group and consumer of XREADGROUP.
    pub(super) group: Option<(&'a [u8], &'a [u8])>,
    /// Most entries of each stream.
    pub(super) count_max: Option<u64>,
    /// Whether it waits if there is nothing.
    pub(super) block: BlockOption,
    /// Whether what is read counts as acknowledged.
    pub(super) is_acknowledged: bool,
    /// How many streams.
    pub(super) streams: usize,
    /// Where the first identity is.
    pub(super) first_id: usize,
}

/// Whether a command that finds nothing is to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockOption {
    /// It answers.
    None,
    /// It waits so long, says BLOCK, or for ever.
    Some(Option<Duration>),
}

/// Which of the two commands it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    /// XREAD
    Alone,
    /// XREADGROUP
    InGroup,
}

impl Reading {
    fn name(self) -> &'static str {
        match self {
            Reading::Alone => "xread",
            Reading::InGroup => "xreadgroup",
        }
    }

    /// The special identity that it has.
    fn symbol(self) -> char {
        match self {
            Reading::Alone => '$',
            Reading::InGroup => '>',
        }
    }
}

impl<'a> ReadArgs<'a> {
    const NOTHING: ReadArgs<'static> = ReadArgs {
        group: None,
        count_max: None,
        block: BlockOption::None,
        is_acknowledged: false,
        streams: 0,
        first_id: 0,
    };

    /// Reads them.
    pub(super) fn parse(args: &Args<'a>, reading: Reading) -> Result<ReadArgs<'a>, CommandError> {
        let mut read = ReadArgs::NOTHING;
        let mut index = 1;
        while read.streams == 0 {
            index = read.option(args, reading, index)?;
        }
        if reading == Reading::InGroup && read.group.is_none() {
            return Err(CommandError::fixed("ERR Missing GROUP option for XREADGROUP"));
        }
        // The keys were found by the first word that says STREAMS, which may be a consumer's name.
        let keys = args.keys().iter().map(|key| key.bytes);
        if !keys.eq(args.from(read.first_id - read.streams).take(read.streams)) {
            return Err(CommandError::SYNTAX);
        }
        Ok(read)
    }

    /// How many entries a call asks for of each stream; its keys have not been looked for.
    pub(super) fn entries(args: &Args<'a>, reading: Reading) -> usize {
        let mut read = ReadArgs::NOTHING;
        let mut index = 1;
        while read.streams == 0 {
            let Ok(next) = read.option(args, reading, index) else { return 0 };
            index = next;
        }
        read.count_max.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Reads one option; returns where the next one is.
    fn option(
        &mut self,
        args: &Args<'a>,
        reading: Reading,
        index: usize,
    ) -> Result<usize, CommandError> {
        let more = args.len().saturating_sub(index + 1);
        if args.is(index, "block") && more > 0 {
            self.block = BlockOption::Some(timeout::milliseconds(args.word(index + 1))?);
            return Ok(index + 2);
        }
        if args.is(index, "count") && more > 0 {
            // Not a limit below 1, as in Redis.
            self.count_max = u64::try_from(integer(args.word(index + 1))?).ok().filter(|&c| c > 0);
            return Ok(index + 2);
        }
        if args.is(index, "streams") && more > 0 {
            if !more.is_multiple_of(2) {
                return Err(unbalanced(reading));
            }
            self.streams = more / 2;
            self.first_id = index + 1 + self.streams;
            return Ok(args.len());
        }
        if args.is(index, "group") && more >= 2 {
            if reading == Reading::Alone {
                return Err(CommandError::fixed(
                    "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.",
                ));
            }
            self.group = Some((args.word(index + 1), args.word(index + 2)));
            return Ok(index + 3);
        }
        if args.is(index, "noack") {
            if reading == Reading::Alone {
                return Err(CommandError::fixed(
                    "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.",
                ));
            }
            self.is_acknowledged = true;
            return Ok(index + 1);
        }
        Err(CommandError::SYNTAX)
    }
}

#[cold]
fn unbalanced(reading: Reading) -> CommandError {
    let (name, symbol) = (reading.name(), reading.symbol());
    CommandError::new(format!(
        "ERR Unbalanced '{name}' list of streams: for each stream key an ID or '{symbol}' must be specified."
    ))
}
