//! PFSELFTEST: whether the estimator does what it promises on this machine.

use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_spec::{Audience, CommandSpec, Flag, Flags, Group};
use basalt_value::hll::{Element, HllBuf};

pub(super) const PFSELFTEST: Entry = Entry {
    spec: CommandSpec {
        name: "pfselftest",
        group: Group::Hyperloglog,
        flags: Flags::of(&[Flag::Admin]),
        since: "2.8.9",
        complexity: "O(1), some milliseconds",
        summary: "Counts known numbers of elements with a sparse and a dense HyperLogLog and compares.",
        examples: &["PFSELFTEST => OK"],
        audience: Audience::System,
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(pfselftest),
    ..Entry::DEFAULT
};

/// Few enough that other connections of the thread do not notice; Redis counts to ten million.
const ELEMENTS: u64 = 20_000;
/// The standard error with 16,384 registers.
const ERROR: f64 = 1.04 / 128.0;
/// Redis' tolerance, in standard errors.
const TOLERANCE: f64 = 6.0;

fn pfselftest(_: &mut Context<'_>, _: &Args<'_>, reply: &mut Reply<'_>) -> SessionResult {
    let mut dense = HllBuf::default();
    dense.make_dense().map_err(CommandError::from)?;
    let mut sparse = HllBuf::default();
    for number in 1..=ELEMENTS {
        let element = Element::new(&number.to_le_bytes());
        dense.add(element, 0).map_err(CommandError::from)?;
        sparse.add(element, SPARSE_BYTES_MAX).map_err(CommandError::from)?;
        if number.is_power_of_two() || number == ELEMENTS {
            let count = dense.hll().count().map_err(CommandError::from)?;
            check(number, count)?;
            if sparse.hll().count() != Ok(count) {
                return Err(CommandError::fixed("ERR TESTFAILED dense/sparse disagree"));
            }
        }
    }
    reply.ok();
    Ok(Flow::Done)
}

/// Above this, the sparse form becomes dense in the middle of the test.
const SPARSE_BYTES_MAX: usize = 3000;

fn check(number: u64, count: u64) -> Result<(), CommandError> {
    let allowed = (ERROR * TOLERANCE * number as f64).ceil() as u64;
    if count.abs_diff(number) <= allowed {
        return Ok(());
    }
    let text =
        format!("ERR TESTFAILED Too big error. card:{number} abserr:{}", count.abs_diff(number));
    Err(CommandError::new(text))
}
