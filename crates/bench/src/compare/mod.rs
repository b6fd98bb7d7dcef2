use crate::error::BenchError;
#[derive(Debug, clap::Parser)]
pub(crate) struct CompareArgs {}
pub(crate) fn run(_: &CompareArgs) -> Result<(), BenchError> { Ok(()) }
